package model

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/tier"
	"hermes/ui/cli/base"
)

// modelTier tells how much a request asks of a model.
func (c *command) modelTier() *cobra.Command {
	return &cobra.Command{
		Use: "tier <request>", Short: "Tell how much a request asks of a model, and which one a new session would begin with", Args: cobra.MinimumNArgs(1),
		Long: `Tell how much a request asks of a model, from 0 to 1, and why: below 0.3 a small model is enough, below 0.7 the
standard one, else the strong one; code has one of its own. With model_tiers.enabled a new session begins with that.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			e := tier.Judge(strings.Join(args, " "))
			name, ref := core.TierModel(start.Config.ModelTiers, e)
			if asJSON, err := cmd.Flags().GetBool("json"); err == nil && asJSON {
				return base.WriteJSON(c.Streams.Out, tierView{e, string(name), ref, start.Config.ModelTiers.Enabled}, true)
			}
			if ref == "" {
				ref = "the usual model: model_tiers." + string(name) + " names none"
			}
			if !start.Config.ModelTiers.Enabled {
				ref += "; model_tiers.enabled is off"
			}
			_, err = fmt.Fprintf(c.Streams.Out, "%s: %s\n%s\n", name, e.Words(), base.OneLine(ref))
			return err
		},
	}
}

type tierView struct {
	tier.Estimate
	Tier    string `json:"tier"`
	Model   string `json:"model,omitempty"`
	Enabled bool   `json:"enabled"`
}
