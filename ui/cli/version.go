package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hermes/ui/cli/base"
)

func (c *command) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Say which program this is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return base.WriteJSON(cmd.OutOrStdout(), c.Version(), true)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), c.Version())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
