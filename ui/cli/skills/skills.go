// Package skills is the command `hermes skills`: skills: listed, written, checked, switched,
// trusted.
package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui/cli/base"
	"hermes/ui/cli/run"
	"hermes/ui/text"
)

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes skills`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	cmd := &cobra.Command{
		Use: "skills", Aliases: []string{"skill"}, Short: "Look at, write, check and switch skills: known ways to do things",
		Long: `Look at, write, check and switch skills: known ways to do things.

A skill is a folder with a SKILL.md. The agent sees name and description of each and reads it when it fits; you use one with
/name in the workbench or --skill name in hermes run. They come from the skills folder of the home, from skills.external_dirs, from the
program, and from .hermes/skills and .agents/skills of projects that you trust. Without a word after it this lists them.`,
		Example: `  hermes skills
  hermes skills new release-website
  hermes skills check ./my-skill
  hermes skills trust`,
		Args: cobra.ArbitraryArgs, SuggestionsMinimumDistance: 2,
	}
	list := c.skillsList()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return base.Subcommands(cmd, args)
		}
		return list.RunE(cmd, args)
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, c.skillsView(), c.skillsCheck(), c.skillsLint(), run.ProcedureCommand(line), c.skillsNew(), c.skillsEdit(), c.skillsSwitch(true), c.skillsSwitch(false),
		c.skillsTrust(), c.skillsUntrust(), c.skillsAllow(), c.skillsRemove(), c.skillsUndo(), c.skillsHistory(), c.skillsDiff(), c.skillsRollback(), c.skillsInstall(), c.skillsUpdate(), c.skillsExport())
	return cmd
}

func (c *command) skillsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List skills with where they come from and how they stand", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			rows := lib.Rows(cmd.Context(), project)
			if asJSON {
				return base.WriteJSON(c.Streams.Out, rows, true)
			}
			return c.printSkills(cmd.Context(), lib, project, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// roomy is how many cells a terminal needs for all columns of a list.
const roomy = 70

func (c *command) printSkills(ctx context.Context, lib *skill.Library, project string, rows []skill.Row) error {
	t := base.Table{Head: []string{"NAME", "CATEGORY", "SOURCE", "STATE", "WHAT"}, Fit: c.Width()}
	narrow := t.Fit < roomy
	if narrow {
		t.Head = []string{"NAME", "STATE", "WHAT"}
	}
	for _, r := range rows {
		what := r.Description
		switch {
		case r.State == skill.Blocked:
			what = r.Hits[0].Reason
		case len(r.Problems) > 0 && r.State != skill.On && r.State != skill.Off:
			what = r.Problems[0].Why
		}
		if what = base.Cut(what, 90); narrow {
			t.Row(r.Name, string(r.State), what)
			continue
		}
		t.Row(r.Name, base.OrDash(r.Category), string(r.Source), string(r.State), what)
	}
	if err := t.Write(c.Streams.Out); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Asks != nil && r.State == skill.On {
			c.Note("%s asks for %s (%s): hermes skills allow %s", text.Sanitize(r.Name), text.Sanitize(r.Asks.Asks()), r.Asks.State, text.Sanitize(r.Name))
		}
	}
	catalog := lib.Catalog(ctx, project)
	if b := catalog.Project; b != nil && b.State != skills.Accepted && b.State != skills.Denied {
		c.Note("hermes: %s", text.Sanitize(skill.Untrusted(b)))
	}
	if n := wrong(catalog, rows); n > 0 {
		c.Note("hermes: %s; `hermes skills check` shows them", text.Count(n, "problem", "problems"))
	}
	return nil
}

// wrong counts what check would show.
func wrong(catalog *skills.Catalog, rows []skill.Row) int {
	n := len(catalog.Problems)
	for _, r := range rows {
		n += len(r.Hits)
	}
	return n
}

// viewJSON is what `hermes skills view --json` prints.
type viewJSON struct {
	Name   string        `json:"name"`
	Source skills.Source `json:"source"`
	File   string        `json:"file"`
	Text   string        `json:"text"`
	Files  []string      `json:"files"` // beside it
	Asks   *skill.Wish   `json:"asks"`
	Hits   []skill.Hit   `json:"hits"` // orders to the agent
}

func (c *command) skillsView() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "view <name> [file]", Aliases: []string{"show"}, Short: "Print a skill, or a file of it, as it stands on disk", Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			if p := procedureCalled(cmd.Context(), lib, project, args[0]); p != nil {
				if asJSON {
					return base.WriteJSON(c.Streams.Out, viewJSON{
						Name: p.Name, Source: p.Source, File: p.File, Text: p.Text, Files: []string{}, Hits: append([]skill.Hit{}, p.Hits...),
					}, true)
				}
				_, err := fmt.Fprintln(c.Streams.Out, strings.TrimRight(text.Sanitize(p.Text), "\n"))
				return err
			}
			s, err := c.skillCalled(cmd.Context(), lib, project, args[0])
			if err != nil {
				return err
			}
			var body string
			switch {
			case len(args) > 1:
				body, err = s.Read(args[1])
			default:
				var raw []byte
				raw, err = s.Raw()
				body = string(raw)
			}
			if err != nil {
				return base.Failed(base.ExitFailed, "skill %s: %w", args[0], err)
			}
			if asJSON {
				file := append(args, skills.File)[1]
				w, err := lib.WishOf(s)
				if err != nil {
					return base.Failed(base.ExitFailed, "skill %s: %w", args[0], err)
				}
				return base.WriteJSON(c.Streams.Out, viewJSON{
					Name: s.Name, Source: s.Source, File: s.Path(file), Text: body, Files: append([]string{}, s.Files()...), Asks: w,
					Hits: append([]skill.Hit{}, skill.CheckAll(s)...),
				}, true)
			}
			if _, err = fmt.Fprintln(c.Streams.Out, strings.TrimRight(text.Sanitize(body), "\n")); err != nil {
				return err
			}
			for _, f := range s.Files() {
				if len(args) == 1 {
					c.Note("file: %s", text.Sanitize(f))
				}
			}
			if w, err := lib.WishOf(s); w != nil || err != nil {
				c.noteWish(w, err)
			}
			for _, h := range skill.CheckAll(s) {
				c.Note("blocked: %s", text.Sanitize(h.String()))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// noteWish says what a skill asks for, and what was answered.
func (c *command) noteWish(w *skill.Wish, err error) {
	if err != nil {
		c.Note("%s", text.Sanitize(err.Error()))
		return
	}
	c.Note("asks for %s: %s", text.Sanitize(w.Asks()), w.State)
}

// procedureCalled finds the procedure of that name, where no skill has it, or of that key; nil when
// there is none.
func procedureCalled(ctx context.Context, lib *skill.Library, project, name string) *skill.Procedure {
	name, isKey := skills.SplitKey(name)
	if !isKey && lib.Catalog(ctx, project).Find(name) != nil {
		return nil
	}
	for _, p := range lib.Procedures(ctx, project) {
		if p.Name == name {
			return &p
		}
	}
	return nil
}

// skillCalled finds any skill of that name, one that is switched off or cannot be used too.
func (c *command) skillCalled(ctx context.Context, lib *skill.Library, project, name string) (*skills.Skill, error) {
	if s := lib.Catalog(ctx, project).Find(name); s != nil {
		return s, nil // the one that counts
	}
	for _, r := range lib.Glance(ctx, project) {
		if r.Name == name && r.Skill != nil {
			return r.Skill, nil
		}
	}
	_, err := lib.Find(ctx, project, name)
	return nil, base.Failed(base.ExitUsage, "%w", err)
}
