// Package model is the command `hermes model`: which model is used.
package model

import (
	"context"
	"fmt"
	"sort"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/nearest"
	"hermes/core/provider"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes model`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "model", Short: "Show or change the model", Args: cobra.NoArgs,
		Long: `Choose the model of new sessions from what the providers offer; without a terminal, show it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.models(cmd, func(ctx context.Context, m client.Models) error {
				if !asJSON && base.IsTerminal(c.Streams.In) && base.IsTerminal(c.Streams.Out) {
					return c.pickModel(ctx, m)
				}
				return c.showModel(ctx, m, "", asJSON)
			})
		},
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List what the providers offer (uses the network)", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.models(cmd, func(ctx context.Context, m client.Models) error {
				found := m.List(ctx)
				if all {
					found = append(found, m.Others()...)
				}
				return c.listModels(found, asJSON)
			})
		},
	}
	set := &cobra.Command{
		Use: "set <provider/model>", Short: "Use this model from now on", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.models(cmd, func(ctx context.Context, m client.Models) error {
				p, model, err := m.Resolve(ctx, args[0])
				if err != nil {
					return base.Failed(base.ExitUsage, "%w", err)
				}
				c.doubt(m.List(ctx), p.Name(), model.ID)
				return c.setModel(p.Name(), model.ID)
			})
		},
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	list.Flags().BoolVarP(&all, "all", "a", false, "those without a key too, as far as they are known")
	cmd.AddCommand(list, set, c.modelRefresh(), c.modelTier())
	return cmd
}

// modelRefresh fetches the public list of models.
func (c *command) modelRefresh() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use: "refresh", Short: "Fetch windows, prices and abilities of models from a public list", Args: cobra.NoArgs,
		Long: `Fetch windows, prices and abilities of models from a public list. Nothing else is taken from it: no address,
no variable of a key. It is kept beside config.yaml; models.yaml and what servers say win over it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.models(cmd, func(ctx context.Context, m client.Models) error {
				list, err := m.Refresh(ctx, from)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.Streams.Out, "%s of %s from %s\n", text.Count(list.Count(), "model", "models"),
					text.Count(len(list.Models), "vendor", "vendors"), base.OneLine(list.From))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", provider.PublicList, "another list in the same form")
	return cmd
}

// doubt says that a provider that lists its models does not list this one: a slip of the pen shows
// here, not in the first turn. Some servers know more than they list, so it is no refusal.
func (c *command) doubt(list []provider.Model, name, model string) {
	var ids []string
	for _, m := range list {
		if m.Provider != name {
			continue
		}
		if m.ID == model {
			return
		}
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 {
		return
	}
	fix := "`hermes model list` shows what it lists"
	if near, ok := nearest.Name(model, ids); ok {
		fix = "did you mean " + name + "/" + near + "?"
	}
	c.Note("%s does not list a model %q; %s", name, model, fix)
}

func (c *command) models(cmd *cobra.Command, work func(context.Context, client.Models) error) error {
	return c.WithStored(cmd, func(ctx context.Context, app client.Client) error { return work(ctx, app.Catalog()) })
}

func (c *command) setModel(providerName, model string) error {
	paths, err := c.Paths()
	if err != nil {
		return err
	}
	for _, s := range [][2]string{{"model.default", model}, {"model.provider", providerName}} {
		if err := config.Set(paths, s[0], s[1]); err != nil {
			return base.Failed(base.ExitUsage, "%w", err)
		}
	}
	c.Note("new sessions use %s/%s", providerName, model)
	return nil
}

type modelView struct {
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	Window   int             `json:"context_length,omitempty"`
	Output   int             `json:"max_output,omitempty"`
	Mode     string          `json:"api_mode,omitempty"`
	Key      bool            `json:"key"` // one is there, or none is needed
	Images   bool            `json:"images"`
	Files    bool            `json:"files"`
	Tools    bool            `json:"tools"`
	Thinks   bool            `json:"reasoning"`
	Cache    bool            `json:"cache"`
	Efforts  []string        `json:"efforts,omitempty"`
	Effort   string          `json:"reasoning_effort,omitempty"` // set for this model
	PriceIn  *float64        `json:"price_in,omitempty"`
	PriceOut *float64        `json:"price_out,omitempty"`
	Cached   *float64        `json:"price_cached_in,omitempty"`
	Written  *float64        `json:"price_cache_write,omitempty"`
	Over     []provider.Tier `json:"over,omitempty"` // prices of longer prompts
}

func viewModel(m provider.Model) modelView {
	v := modelView{
		Provider: m.Provider, Model: m.ID, Window: m.Window, Output: m.MaxOutput, Mode: m.Mode, Key: m.Key,
		Images: m.Images, Files: m.Files, Tools: m.Tools, Thinks: m.Reasoning, Cache: m.Cache, Efforts: m.Efforts, Effort: m.Effort,
	}
	if m.Priced {
		v.PriceIn, v.PriceOut, v.Over = &m.PriceIn, &m.PriceOut, m.Over
		v.Cached, v.Written = price(m.PriceCachedIn), price(m.PriceWrite)
	}
	return v
}

// price is a price that is known, else nil.
func price(p float64) *float64 {
	if p == 0 {
		return nil
	}
	return &p
}

func (c *command) showModel(ctx context.Context, m client.Models, ref string, asJSON bool) error {
	p, model, err := m.Resolve(ctx, ref)
	if err != nil {
		return base.Failed(base.ExitUsage, "%w", err)
	}
	model.Provider = p.Name()
	if asJSON {
		return base.WriteJSON(c.Streams.Out, viewModel(model), true)
	}
	_, err = fmt.Fprintln(c.Streams.Out, base.OneLine(p.Name()+"/"+model.ID))
	return err
}

func (c *command) listModels(list []provider.Model, asJSON bool) error {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Provider < list[j].Provider })
	if asJSON {
		views := make([]modelView, len(list))
		for i, m := range list {
			views[i] = viewModel(m)
		}
		return base.WriteJSON(c.Streams.Out, views, true)
	}
	t := base.Table{Head: []string{"MODEL", "CONTEXT", "$ IN", "$ OUT", "CAN", "KEY"}}
	for _, m := range list {
		window, in, out := "-", "-", "-"
		if m.Window > 0 {
			window = fmt.Sprint(m.Window)
		}
		if m.Priced {
			in, out = fmt.Sprintf("%.2f", m.PriceIn), fmt.Sprintf("%.2f", m.PriceOut)
		}
		key := "yes"
		if !m.Key {
			key = "none"
		}
		t.Row(m.Provider+"/"+m.ID, window, in, out, m.Abilities(), key)
	}
	return t.Write(c.Streams.Out)
}
