// Package plugins is the command `hermes plugins`: folders with programs that bring tools, hooks
// and commands.
package plugins

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/plugin"
	"hermes/core/prompt"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes plugins`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "plugins", Aliases: []string{"plugin"}, Short: "Programs that bring tools, hooks and commands: list, install, enable, write one",
		Long: `Programs that bring tools, hooks and commands. Each is a folder in ~/.hermes/plugins, or in .hermes/plugins of a project.

Nothing of a plugin runs before you enabled it, and after any change of its files you are asked again. What its tools do is
asked about like everything else.`,
		Example: `  hermes plugins list
  hermes plugins enable notes
  hermes plugins new mine`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.AddCommand(c.list(), c.enable(), c.disable(), c.info(), c.create(), c.LogsCommand("Show what a plugin said beside the protocol, and what became of it", c.complete), c.install(), c.update(), c.lint(), c.remove())
	return cmd
}

// library is the plugins, and the project that may bring some.
func (c *command) library() (*plugin.Library, string, error) {
	start, err := c.LoadWith(base.OpenFlags{})
	if err != nil {
		return nil, "", err
	}
	return plugin.NewLibrary(start.Config.Paths().Home), prompt.ProjectRoot(start.Cwd), nil
}

func (c *command) loadPlugins() ([]plugin.Plugin, *plugin.Library, error) {
	l, project, err := c.library()
	if err != nil {
		return nil, nil, err
	}
	list, err := l.List(project)
	if err != nil {
		c.Note("hermes: %v", err)
	}
	return list, l, nil
}

func (c *command) named(name string) (plugin.Plugin, *plugin.Library, error) {
	list, l, err := c.loadPlugins()
	if err != nil {
		return plugin.Plugin{}, nil, err
	}
	var names []string
	for _, p := range list {
		if p.Name == name {
			return p, l, nil
		}
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return plugin.Plugin{}, nil, base.UsageError("there is no plugin %q, and none at all: a plugin is a folder in %s", name, l.Folder())
	}
	return plugin.Plugin{}, nil, base.UsageError("there is no plugin %q; there are: %s", name, strings.Join(names, ", "))
}

func (c *command) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the plugins and how they stand", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, l, err := c.loadPlugins()
			if err != nil {
				return err
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, append([]plugin.Plugin{}, list...), true)
			}
			if len(list) == 0 {
				c.Note("there are no plugins; one is a folder in %s, and `hermes plugins new NAME` begins one", l.Folder())
				return nil
			}
			t := base.Table{Head: []string{"NAME", "STATE", "VERSION", "FROM", "WHAT"}, Fit: c.Width()}
			for _, p := range list {
				from, what := "you", p.Manifest.Description
				if p.Project {
					from = "project"
				}
				if p.Problem != "" {
					what = p.Problem
				}
				t.Row(p.Name, string(p.State), base.OneLine(p.Manifest.Version), from, base.OneLine(what))
			}
			return t.Write(c.Streams.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) enable() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "enable <name>", Short: "Let a plugin run, after a look at what it does", Args: cobra.ExactArgs(1),
		Long: `Let a plugin run, after a look at what it does. It counts for exactly the files that are there now.

Its program runs with your rights, but without your keys and tokens. A hermes that runs takes it with /plugins.`,
		ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			p, l, err := c.named(args[0])
			if err != nil {
				return err
			}
			if p.State == plugin.Broken {
				return base.Failed(base.ExitFailed, "%s cannot be enabled: %s", p.Name, text.Sanitize(p.Problem))
			}
			c.describe(p)
			if !yes {
				if yes, err = c.Confirm("Let this program run with your rights?"); err != nil {
					return err
				}
				if !yes {
					c.Note("nothing was changed")
					return nil
				}
			}
			if err := l.Answer(p, true); err != nil {
				return err
			}
			c.Note("%s is enabled", p.Name)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *command) disable() *cobra.Command {
	return &cobra.Command{
		Use: "disable <name>", Short: "Do not run a plugin", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			p, l, err := c.named(args[0])
			if err != nil {
				return err
			}
			if err := l.Answer(p, false); err != nil {
				return err
			}
			c.Note("%s is disabled; a hermes that runs goes on with it until its end", p.Name)
			return nil
		},
	}
}

func (c *command) info() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "info <name>", Short: "Show what a plugin is and what it takes part in", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			p, _, err := c.named(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return base.WriteJSON(c.Streams.Out, p, true)
			}
			c.describe(p)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// describe prints what a person decides by.
func (c *command) describe(p plugin.Plugin) {
	out, m := c.Streams.Out, p.Manifest
	say := func(format string, args ...any) { fmt.Fprintf(out, "%s\n", base.OneLine(fmt.Sprintf(format, args...))) }
	say("%s %s (%s): %s", p.Name, m.Version, p.State, m.Description)
	if p.Problem != "" {
		say("! %s", p.Problem)
		return
	}
	say("folder: %s", p.Folder)
	for _, line := range p.Asks() {
		say("%s", line)
	}
	properties, _ := m.Settings["properties"].(map[string]any)
	var keys []string
	for key := range properties {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		form, err := json.Marshal(properties[key])
		if err != nil {
			form = nil
		}
		say("setting: plugins.%s.settings.%s %s", p.Name, key, form)
	}
}

func (c *command) create() *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use: "new <name>", Short: "Begin a plugin: a manifest and a program that works", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, _, err := c.library()
			if err != nil {
				return err
			}
			folder, build, err := l.Create(args[0], in)
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			fmt.Fprintln(c.Streams.Out, folder)
			next := "hermes plugins enable " + args[0]
			if build != "" {
				next = build + " && " + next
			}
			c.Note("edit it, then, in its folder: %s", next)
			return nil
		},
	}
	cmd.Flags().StringVar(&in, "language", plugin.DefaultLanguage, "what its program is written in: "+strings.Join(plugin.Languages(), " or "))
	return cmd
}

func (c *command) complete(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	list, _, err := c.loadPlugins()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, p := range list {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out, cobra.ShellCompDirectiveNoFileComp
}
