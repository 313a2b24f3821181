package run

import (
	"strings"

	"github.com/spf13/cobra"

	"hermes/skills/procedure/request"
	"hermes/ui/cli/base"
)

// ProcedureCommand makes `hermes skills run`.
func ProcedureCommand(line *base.Command) *cobra.Command {
	c := &command{line}
	var f runFlags
	var set []string
	var ask request.Request
	var asJSON bool
	cmd := &cobra.Command{
		Use: "run [name]", Short: "Run a procedure: a skill that is a list of steps", Args: cobra.MaximumNArgs(1),
		Long: `Run a procedure: a skill that is a list of steps.

Each step is an ordinary call under the usual approvals: nobody is there to be asked, so that what needs approval is refused unless
--yes is given. --dry-run says what would be done. A run that failed or was interrupted goes on with --resume and its id.`,
		Example: `  hermes skills run code_review --set target=develop --dry-run
  hermes skills run docker_deploy --set project_name=shop --set version=2 --set port=8080 --set internal_port=80 --yes
  hermes skills run --resume k3v9q2m8xa`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				ask.Name = args[0]
			}
			if asJSON {
				f.output = "json"
			}
			if ask.Name == "" && ask.Resume == "" {
				return base.Failed(base.ExitUsage, "name a procedure, or a run with --resume")
			}
			for _, s := range set {
				name, value, ok := strings.Cut(s, "=")
				if !ok || name == "" {
					return base.Failed(base.ExitUsage, "--set %s: write name=value", s)
				}
				if ask.Params == nil {
					ask.Params = map[string]any{}
				}
				ask.Params[name] = request.Value(value)
			}
			text := ask.String()
			if _, ok := request.Parse(text); !ok {
				return base.Failed(base.ExitUsage, "this cannot be a name, or a parameter: %s", text)
			}
			return c.run(cmd.Context(), f, []string{text})
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&set, "set", nil, "give a parameter a value: `name=value`; may be given more than once")
	fl.BoolVar(&ask.DryRun, "dry-run", false, "say what would be done, and do nothing")
	fl.StringVar(&ask.Resume, "resume", "", "go on with the run of this `id`")
	fl.StringVarP(&f.output, "output", "o", "text", "what stdout gets: text, json or jsonl")
	fl.BoolVar(&asJSON, "json", false, "the same as --output json")
	fl.VarP(&f.yes, "yes", "y", "run what would be asked for approval, up to a `level` (0 to 3) or all")
	fl.Lookup("yes").NoOptDefVal = "all"
	fl.StringVar(&f.backend, "backend", "", "run commands in the back end of this `name`")
	fl.StringVarP(&f.Model, "model", "m", "", "talk to this `model` in steps that ask one: provider/model, or a provider")
	fl.StringVar(&f.Cwd, "cwd", "", "work in this `folder`")
	fl.DurationVar(&f.timeout, "timeout", 0, "stop after this long, for example 10m")
	return cmd
}
