package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// Groups of commands in `hermes help`.
const (
	groupTalk     = "talk"
	groupSettings = "settings"
	groupHealth   = "health"
)

func (c *command) root() *cobra.Command {
	var open openFlags
	root := &cobra.Command{
		Use:   "hermes",
		Short: "A full-screen workbench for an AI agent",
		Long: `A full-screen workbench for an AI agent.

Without a command it opens the workbench. Settings and conversations live in ~/.hermes, or where HERMES_HOME says.

Exit codes: 0 ok, 1 failed, 2 wrong command line or setting, 3 needed approval and was refused,
4 no model answered, 130 interrupted.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       c.version().String(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return c.workbench(cmd, open) },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVarP(&c.profile, "profile", "p", "", "use the settings and conversations of profiles/`NAME`")
	root.PersistentFlags().StringArrayVar(&c.set, "set", nil, "change a setting for this run: `key=value`")
	root.PersistentFlags().StringVar(&c.home, "home", "", "use this `folder` instead of ~/.hermes")
	open.add(root)
	root.AddGroup(
		&cobra.Group{ID: groupTalk, Title: "Conversations:"},
		&cobra.Group{ID: groupSettings, Title: "Settings:"},
		&cobra.Group{ID: groupHealth, Title: "Health:"},
	)
	for group, list := range map[string][]*cobra.Command{
		groupTalk:     {c.runCommand(), c.sessionsCommand(), c.rollbackCommand(), c.poolCommand(), c.skillsCommand()},
		groupSettings: {c.configCommand(), c.setupCommand(), c.modelCommand(), c.approvalsCommand()},
		groupHealth:   {c.doctorCommand(), c.auditCommand(), c.memoryCommand(), c.statusCommand(), c.logsCommand(), c.versionCommand()},
	} {
		for _, sub := range list {
			sub.GroupID = group
			root.AddCommand(sub)
		}
	}
	root.InitDefaultCompletionCmd()
	for _, sub := range root.Commands() {
		if sub.Name() == "completion" {
			sub.Args, sub.RunE, sub.GroupID = cobra.ArbitraryArgs, subcommands, groupSettings
			sub.Short = "Print what makes a shell complete commands, keys and values by tab"
		}
	}
	root.SetHelpCommandGroupID(groupHealth)
	return root
}

// subcommands is what a command does that only holds others: show them, or say that the word is none of them.
func subcommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return usage("%s", unknownCommand(cmd, args[0]))
}

// openFlags choose a session and a model.
type openFlags struct {
	resume string
	last   bool
	model  string
	cwd    string
}

func (o *openFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.resume, "resume", "r", "", "go on with a `session`: its id, the start of it, or its title")
	f.BoolVarP(&o.last, "continue", "c", false, "go on with the newest session")
	f.StringVarP(&o.model, "model", "m", "", "talk to this `model`: provider/model, or a provider")
	f.StringVar(&o.cwd, "cwd", "", "work in this `folder`")
	cmd.MarkFlagsMutuallyExclusive("resume", "continue")
}

// session is the reference that the flags make, "" for a new session.
func (o *openFlags) session() string {
	if o.last {
		return "last"
	}
	return o.resume
}

func (c *command) workbench(cmd *cobra.Command, open openFlags) error {
	if !isTerminal(c.streams.In) || !isTerminal(c.streams.Out) {
		return usage("the workbench needs a terminal; in scripts use `hermes run \"...\"`")
	}
	if c.program.Workbench == nil {
		return failed(ExitFailed, "this program was built without the workbench")
	}
	start, err := c.start(open)
	if err != nil {
		return err
	}
	start.Session.Source = "tui"
	return c.program.Workbench(cmd.Context(), start, Workbench{Session: open.session()})
}

// start loads the settings for a run that talks.
func (c *command) start(open openFlags) (Start, error) {
	start, err := c.load()
	if err != nil {
		return start, err
	}
	start.Model = open.model
	start.Cwd, err = c.folder(open.cwd, start.Config.Terminal.Cwd)
	return start, err
}

// folder is the directory that new sessions work in: the flag, else the setting, else where we are.
func (c *command) folder(flag, setting string) (string, error) {
	dir := flag
	if dir == "" {
		dir = expandHome(setting, c.getenv("HOME"))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", usage("folder %s: %v", dir, err)
	}
	if !isFolder(abs) {
		if flag == "" {
			return "", usage("folder %s of the setting terminal.cwd is not there; change it with `hermes config set terminal.cwd .`", abs)
		}
		return "", usage("--cwd %s: there is no such folder", flag)
	}
	return abs, nil
}
