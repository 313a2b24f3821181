package base

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/mcp"
	"hermes/ui/text"
)

// LogsCommand makes `logs <name>` for programs that bring tools: servers, and those of plugins.
func (c *Command) LogsCommand(short string, complete cobra.CompletionFunc) *cobra.Command {
	var lines int
	cmd := &cobra.Command{
		Use: "logs <name>", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: complete,
		RunE: func(_ *cobra.Command, args []string) error {
			paths, err := c.Paths()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(mcp.LogFile(paths.Home, args[0]))
			if errors.Is(err, fs.ErrNotExist) {
				c.Note("%s has said nothing yet", args[0])
				return nil
			}
			if err != nil {
				return err
			}
			all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
			for _, line := range all[max(0, len(all)-lines):] {
				fmt.Fprintln(c.Streams.Out, text.Sanitize(line))
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "so many lines")
	return cmd
}
