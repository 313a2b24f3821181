package doctor

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/ui/cli/base"
)

// envFinding is what `doctor env` says about one variable.
type envFinding struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"` // pass or strip
	Reason  string `json:"reason"`
}

func (c *command) doctorEnvCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "env [NAME...]", Short: "Say which environment variables scripts of execute_code may see, and why",
		Long: "Say which environment variables scripts of execute_code may see, and why. Without names, or with -, they are read from standard input, " +
			"one a line; of NAME=value only the name counts.",
		Example: "  hermes doctor env PATH GITHUB_TOKEN\n  env | hermes doctor env --json",
		RunE: func(_ *cobra.Command, names []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			if names, err = c.envNames(names); err != nil {
				return err
			}
			rule := core.EnvRule(start.Config)
			for _, name := range names {
				f := envFinding{Name: name, Verdict: "strip"}
				pass, reason := rule.Judge(name)
				if f.Reason = reason; pass {
					f.Verdict = "pass"
				}
				if asJSON {
					err = base.WriteJSON(c.Streams.Out, f, false)
				} else {
					_, err = fmt.Fprintf(c.Streams.Out, "%-5s  %-24s %s\n", f.Verdict, base.OneLine(f.Name), f.Reason)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// envNames are the names on the command line, or those of standard input.
func (c *command) envNames(names []string) ([]string, error) {
	if len(names) > 0 && (len(names) > 1 || names[0] != "-") {
		return names, nil
	}
	if len(names) == 0 && base.IsTerminal(c.Streams.In) {
		return nil, base.UsageError("name the variables, or give them on standard input, one a line")
	}
	names = nil
	lines := bufio.NewScanner(c.Streams.In)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		name, _, _ := strings.Cut(strings.TrimSuffix(lines.Text(), "\r"), "=")
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, lines.Err()
}
