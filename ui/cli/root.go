package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"hermes/ui/cli/approvals"
	"hermes/ui/cli/audit"
	"hermes/ui/cli/base"
	"hermes/ui/cli/config"
	"hermes/ui/cli/doctor"
	"hermes/ui/cli/hooks"
	"hermes/ui/cli/learn"
	"hermes/ui/cli/logs"
	"hermes/ui/cli/mcp"
	"hermes/ui/cli/memory"
	"hermes/ui/cli/model"
	"hermes/ui/cli/picture"
	"hermes/ui/cli/plugins"
	"hermes/ui/cli/pool"
	"hermes/ui/cli/profile"
	"hermes/ui/cli/rollback"
	"hermes/ui/cli/run"
	"hermes/ui/cli/sessions"
	"hermes/ui/cli/setup"
	"hermes/ui/cli/skills"
	"hermes/ui/cli/spent"
	"hermes/ui/cli/tools"
)

// Groups of commands in `hermes help`.
const (
	groupTalk     = "talk"
	groupSettings = "settings"
	groupHealth   = "health"
)

// command is one command line.
type command struct{ *base.Command }

func (c *command) root() *cobra.Command {
	var open base.OpenFlags
	root := &cobra.Command{
		Use:   "hermes [prompt]",
		Short: "A full-screen workbench for an AI agent",
		Long: `A full-screen workbench for an AI agent.

Without a command it opens the workbench; with words it sends them there: hermes "fix the tests".
Settings and conversations live in ~/.hermes, or where HERMES_HOME says.

Exit codes: 0 ok, 1 failed, 2 wrong command line or setting, 3 needed approval and was refused,
4 no model answered, 130 interrupted.`,
		Args:          base.PromptArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       c.Version().String(),
		RunE:          func(cmd *cobra.Command, args []string) error { return c.workbench(cmd, open, strings.Join(args, " ")) },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVarP(&c.Profile, "profile", "p", "", "use the settings and conversations of profiles/`NAME`")
	root.PersistentFlags().StringArrayVar(&c.Set, "set", nil, "change a setting for this run: `key=value`")
	root.PersistentFlags().StringVar(&c.Home, "home", "", "use this `folder` instead of ~/.hermes")
	open.Add(root)
	root.AddGroup(
		&cobra.Group{ID: groupTalk, Title: "Conversations:"},
		&cobra.Group{ID: groupSettings, Title: "Settings:"},
		&cobra.Group{ID: groupHealth, Title: "Health:"},
	)
	line := c.Command
	for group, list := range map[string][]*cobra.Command{
		groupTalk: {
			run.Command(line), sessions.Command(line), rollback.Command(line), pool.Command(line), skills.Command(line), learn.Command(line),
			picture.Command(line),
		},
		groupSettings: {config.Command(line), profile.Command(line), setup.Command(line), model.Command(line), approvals.Command(line), mcp.Command(line), hooks.Command(line), plugins.Command(line), tools.Command(line)},
		groupHealth: {
			doctor.Command(line), audit.Command(line), learn.Trace(line), memory.Command(line), doctor.Status(line), spent.Command(line), logs.Command(line),
			c.versionCommand(),
		},
	} {
		for _, sub := range list {
			sub.GroupID = group
			root.AddCommand(sub)
		}
	}
	addCompletion(root)
	root.SetHelpCommandGroupID(groupHealth)
	c.refuseWhenDriven(root, openToPrograms())
	return root
}

func (c *command) workbench(cmd *cobra.Command, open base.OpenFlags, prompt string) error {
	if !base.IsTerminal(c.Streams.In) || !base.IsTerminal(c.Streams.Out) {
		return base.UsageError("the workbench needs a terminal; in scripts use `hermes run \"...\"`")
	}
	if c.Program.Workbench == nil {
		return base.Failed(base.ExitFailed, "this program was built without the workbench")
	}
	start, err := c.LoadWith(open)
	if err != nil {
		return err
	}
	start.Session.Source = "tui"
	return c.Program.Workbench(cmd.Context(), start, base.Workbench{Session: open.Session(), Prompt: prompt, Commands: base.Names(cmd.Root())})
}
