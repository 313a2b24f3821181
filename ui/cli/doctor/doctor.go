// Package doctor is the command `hermes doctor`: what could go wrong, and where things are.
package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// verdict grades a finding of `doctor`.
type verdict string

const (
	good verdict = "ok"
	warn verdict = "warn" // works, but not as it could
	bad  verdict = "bad"  // makes doctor end with exit code 1
)

// finding is one line of `doctor`.
type finding struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Found   string  `json:"found"`
	Fix     string  `json:"fix,omitempty"`
}

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes doctor`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what could go wrong; exit code 1 when something will", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := c.examine(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				err = base.WriteJSON(c.Streams.Out, findings, true)
			} else {
				err = c.printFindings(findings)
			}
			if err != nil {
				return err
			}
			for _, f := range findings {
				if f.Verdict == bad {
					return base.SilentExit(base.ExitFailed)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(c.doctorEnvCommand())
	return cmd
}

func (c *command) examine(ctx context.Context) ([]finding, error) {
	start, err := c.Load()
	if err != nil {
		return nil, err
	}
	x := examination{c: c, start: start}
	for _, look := range []func(context.Context){
		x.checkProgram, x.checkSettings, x.checkHome, x.checkSecrets, x.checkDatabase, x.checkDisk, x.checkTerminal, x.checkBackends, x.checkSandbox, x.checkPermissions, x.checkTools, x.checkScripts, x.checkMemory, x.checkSkills, x.checkModel, x.checkFallbacks,
	} {
		look(ctx)
	}
	return x.findings, nil
}

func (c *command) printFindings(findings []finding) error {
	const indent = "                 "
	marks := map[verdict]string{good: "ok  ", warn: "warn", bad: "BAD "}
	wide := c.Width() - len(indent)
	for _, f := range findings {
		lines := text.Wrap(base.OneLine(f.Found), wide)
		if f.Fix != "" {
			lines = append(lines, text.Wrap(base.OneLine(f.Fix), wide)...)
		}
		if _, err := fmt.Fprintf(c.Streams.Out, "%s  %-10s %s\n", marks[f.Verdict], f.Name, strings.Join(lines, "\n"+indent)); err != nil {
			return err
		}
	}
	return nil
}
