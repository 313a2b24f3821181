package plugins

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/plugin"
	"hermes/core/quarantine"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// installing is one `hermes plugins install`.
type installing struct {
	quarantine.Request
	name    string // of the one to take, where there are several
	update  bool
	yes     bool
	asJSON  bool
	oldHash string
}

func (c *command) install() *cobra.Command {
	var in installing
	cmd := &cobra.Command{
		Use: "install <folder, archive or git address> [name]", Short: "Install a plugin from elsewhere, after a look at it", Args: cobra.RangeArgs(1, 2),
		Long: `Install a plugin from a folder, an archive (.zip, .tar, .tar.gz, .tgz) or a git repository, after a look at it.

It is fetched into a quarantine, in which nothing runs. Its manifest and its files are scanned, you see what it runs, is given and
takes part in, and are asked once. Then it is put into ~/.hermes/plugins and enabled; where it came from, and the hash of its files,
stands in plugins/.hub/lock.json.`,
		Example: `  hermes plugins install ./diary
  hermes plugins install https://git.example.com/team/plugins.git --ref v2 --path diary`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Source, in.name = args[0], strings.Join(args[1:], "")
			return c.fetch(cmd.Context(), in)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&in.Ref, "ref", "", "this branch or `tag` of the repository")
	fl.StringVar(&in.Path, "path", "", "look in this `folder` of it")
	fl.BoolVarP(&in.yes, "yes", "y", false, "do not ask")
	fl.BoolVar(&in.asJSON, "json", false, "print what was installed as JSON")
	return cmd
}

func (c *command) update() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "update <name>", Short: "Fetch an installed plugin again from where it came from", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, _, err := c.library()
			if err != nil {
				return err
			}
			list, err := quarantine.List(l.LockPath())
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			e, ok := list[args[0]]
			if !ok {
				return base.UsageError("%s was not installed from elsewhere", base.OneLine(args[0]))
			}
			return c.fetch(cmd.Context(), installing{
				Request: quarantine.Request{Source: e.Source, Ref: e.Ref, Path: e.Path}, name: args[0], update: true, yes: yes, asJSON: asJSON, oldHash: e.Hash,
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was installed as JSON")
	return cmd
}

func (c *command) fetch(ctx context.Context, in installing) error {
	l, _, err := c.library()
	if err != nil {
		return err
	}
	got, err := l.Fetch(ctx, in.Request)
	if err != nil {
		return base.Failed(base.ExitFailed, "nothing was installed: %w", err)
	}
	defer func() { _ = got.Close() }()
	for _, note := range got.Notes {
		c.Note("%s", base.OneLine(note))
	}
	found, err := chosen(got.Dir, in.name)
	if err != nil {
		return base.Failed(base.ExitUsage, "nothing was installed: %w", err)
	}
	if in.update && found.Hash == in.oldHash {
		c.Note("%s is as it was", found.Name)
		return nil
	}
	if !in.asJSON {
		shown := found.Plugin
		shown.Folder = filepath.Join(l.Folder(), found.Name)
		c.describe(shown)
	}
	c.warn(found)
	if len(found.Problems) > 0 {
		return base.Failed(base.ExitFailed, "nothing was installed: %s", base.OneLine(found.Problems[0]))
	}
	if !in.yes {
		if ok, err := c.Confirm("Install it and let this program run with your rights?"); err != nil || !ok {
			return err
		}
	}
	if err := l.Install(found, got, in.Request, in.update); err != nil {
		return base.Failed(base.ExitFailed, "nothing was installed: %w", err)
	}
	if in.asJSON {
		found.Folder, found.State = filepath.Join(l.Folder(), found.Name), plugin.Enabled
		return base.WriteJSON(c.Streams.Out, found, true)
	}
	c.Note("%s is installed and enabled", found.Name)
	return nil
}

// chosen is the plugin that was named, or the only one.
func chosen(dir, name string) (plugin.Report, error) {
	list, err := plugin.Find(dir)
	if err != nil {
		return plugin.Report{}, err
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	if name != "" {
		list = slices.DeleteFunc(list, func(r plugin.Report) bool { return r.Name != name })
	}
	switch {
	case len(names) == 0:
		return plugin.Report{}, fmt.Errorf("there is no folder with a %s in it", plugin.ManifestFile)
	case len(list) != 1:
		return plugin.Report{}, fmt.Errorf("name one of these: %s", strings.Join(names, ", "))
	}
	return list[0], nil
}

// warn prints what was found wrong.
func (c *command) warn(r plugin.Report) {
	for _, p := range r.Problems {
		c.Note("! %s", base.OneLine(p))
	}
	for _, w := range r.Warnings {
		c.Note("look: %s", base.OneLine(w))
	}
}

func (c *command) lint() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "lint <folder>", Short: "Say what is wrong with a plugin, without running anything of it", Args: cobra.ExactArgs(1),
		Long: `Say what is wrong with a plugin, without running anything of it: its manifest, its program, links, secrets in its files, text that
reads like orders to the agent. It ends with 1 when the plugin could not be enabled.`,
		RunE: func(_ *cobra.Command, args []string) error {
			r := plugin.Lint(filepath.Clean(args[0]))
			if asJSON {
				if err := base.WriteJSON(c.Streams.Out, r, true); err != nil {
					return err
				}
			} else {
				c.warn(r)
			}
			if len(r.Problems) > 0 {
				return base.Failed(base.ExitFailed, "%s", text.Count(len(r.Problems), "problem", "problems"))
			}
			if !asJSON {
				c.Note("%s can be enabled", r.Name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) remove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "remove <name>", Aliases: []string{"rm"}, Short: "Remove a plugin and its files", Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			p, l, err := c.named(args[0])
			if err != nil {
				return err
			}
			if !yes {
				if ok, err := c.Confirm(fmt.Sprintf("Remove %s?", base.OneLine(p.Folder))); err != nil || !ok {
					return err
				}
			}
			if err := l.Remove(p); err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			c.Note("%s is removed; what it kept is in %s", p.Name, l.Data(p.Name))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
