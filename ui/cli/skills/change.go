package skills

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) skillsNew() *cobra.Command {
	var category, about string
	cmd := &cobra.Command{
		Use: "new <name>", Aliases: []string{"create"}, Short: "Begin a skill and open it in your editor", Args: cobra.ExactArgs(1),
		Long:              "Begin a skill in the skills folder of the home and open it in your editor. Without a terminal only the file is made.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, _, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			if s := lib.Catalog(cmd.Context(), "").Find(args[0]); s != nil && s.Source == skills.User {
				return base.Failed(base.ExitUsage, "there is a skill %s already (%s); `hermes skills edit %s` opens it", s.Name, text.Sanitize(s.Dir), s.Name)
			}
			change, err := lib.Plan(cmd.Context(), skills.Request{
				Op: skills.Create, Name: args[0], Category: category, Content: skills.Template(args[0], about),
			})
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			if err := lib.Apply(change, "user"); err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			c.Note("%s", change.Path())
			if !base.IsTerminal(c.Streams.In) {
				return nil
			}
			return c.editSkill(cmd.Context(), change.Path())
		},
	}
	cmd.Flags().StringVar(&category, "category", "", "put it into this `folder`, for example devops")
	cmd.Flags().StringVar(&about, "description", "", "one sentence that says when it is of use")
	return cmd
}

func (c *command) skillsEdit() *cobra.Command {
	return &cobra.Command{
		Use: "edit <name>", Short: "Open a skill in your editor, then check it", Args: cobra.ExactArgs(1), ValidArgsFunction: c.CompleteSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			if p := procedureCalled(cmd.Context(), lib, project, args[0]); p != nil && p.Source != skills.Builtin {
				return c.editSkill(cmd.Context(), p.File)
			}
			s, err := c.skillCalled(cmd.Context(), lib, project, args[0])
			if err != nil {
				return err
			}
			if s.Source == skills.Builtin {
				return base.Failed(base.ExitUsage, "%s comes with the program; `hermes skills new %s` makes your own, which then counts", s.Name, s.Name)
			}
			return c.editSkill(cmd.Context(), s.Path(skills.File))
		},
	}
}

// editSkill opens a SKILL.md and says what is wrong with it afterwards.
func (c *command) editSkill(ctx context.Context, file string) error {
	if err := c.OpenEditor(ctx, file); err != nil {
		return err
	}
	found, err := c.check(ctx, []string{file})
	if err != nil || len(found.Problems)+len(found.Hits) == 0 {
		return err
	}
	return c.printChecked(found, false, base.ExitFailed)
}

func (c *command) skillsSwitch(on bool) *cobra.Command {
	cmd := &cobra.Command{Use: "disable <name>...", Short: "Neither offer nor use these skills", Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.CompleteSkills}
	if on {
		cmd.Use, cmd.Short = "enable <name>...", "Offer these skills again"
	}
	asJSON := base.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		lib, project, start, err := c.SkillLibrary()
		if err != nil {
			return err
		}
		for _, name := range names {
			if procedureCalled(cmd.Context(), lib, project, name) != nil {
				continue
			}
			if _, err := c.skillCalled(cmd.Context(), lib, project, name); err != nil && !slices.Contains(start.Config.Skills.Disabled, name) {
				return err
			}
		}
		if err := core.SwitchSkills(start.Config, on, names...); err != nil || !*asJSON {
			return err
		}
		return base.WriteJSON(c.Streams.Out, map[string]any{"names": names, "on": on}, true)
	}
	return cmd
}

func (c *command) skillsTrust() *cobra.Command {
	var yes, no bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Let the project in this folder bring its skills, after a look at them", Args: cobra.NoArgs,
		Long: `Let the project in this folder bring its skills (.hermes/skills, .agents/skills), after a look at them.

Trust is for the folder with exactly these contents: when one byte changes, you are asked again. --no remembers that you do not want them.
Each text is scanned all the same before a model reads it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			return c.trust(cmd.Context(), lib, project, yes, no)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&no, "no", false, "do not use them, and do not ask again until they change")
	cmd.MarkFlagsMutuallyExclusive("yes", "no")
	return cmd
}

func (c *command) trust(ctx context.Context, lib *skill.Library, project string, yes, no bool) error {
	places := lib.Places(project)
	b := places.Look()
	switch {
	case places.Project == "":
		return base.Failed(base.ExitUsage, "skills of projects are switched off; `hermes config set skills.project true` switches them on")
	case b == nil:
		return base.Failed(base.ExitUsage, "%s brings no skills: it has neither .hermes/skills nor .agents/skills", project)
	case b.Hash == "":
		return base.Failed(base.ExitFailed, "the skills of %s cannot be trusted: %s", project, b.Why)
	case no:
		return lib.Trust().Refuse(places, b)
	}
	if err := c.show(ctx, places, b); err != nil {
		return err
	}
	if !yes {
		ok, err := c.Confirm(fmt.Sprintf("Trust these %s of %s?", text.Count(len(b.Skills), "skill", "skills"), text.Sanitize(project)))
		if err != nil || !ok {
			return err
		}
	}
	if err := lib.Trust().Accept(places, b); err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	c.Note("trusted until something in them changes; `hermes skills untrust` takes it back")
	return nil
}

// show lists what a project brings, with what is wrong with it.
func (c *command) show(ctx context.Context, places skills.Options, b *skills.Brought) error {
	t := base.Table{Head: []string{"NAME", "STATE", "FILES", "WHAT"}, Fit: c.Width()}
	for _, s := range places.Preview(ctx, b) {
		state, what := "on", s.Description
		switch hits := skill.CheckAll(s); {
		case !s.Usable() && len(s.Problems) > 0:
			state, what = "broken", s.Problems[0].Why
		case len(hits) > 0:
			state, what = "BLOCKED", fmt.Sprintf("line %d: %s", hits[0].Line, hits[0].Reason)
		}
		t.Row(s.Folder(), state, fmt.Sprint(len(s.Files())+1), base.Cut(what, 90))
	}
	return t.Write(c.Streams.Err)
}

func (c *command) skillsUntrust() *cobra.Command {
	return &cobra.Command{
		Use: "untrust [folder]", Short: "Take the trust in a project's skills back", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if project, err = filepath.Abs(args[0]); err != nil {
					return base.Failed(base.ExitUsage, "%w", err)
				}
			}
			found, err := lib.Trust().Revoke(project)
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			if !found {
				return base.Failed(base.ExitUsage, "nothing was said about %s", text.Sanitize(project))
			}
			c.Note("its skills are not read any more")
			return nil
		},
	}
}

func (c *command) skillsRemove() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "remove <name>", Aliases: []string{"rm", "delete"}, Short: "Remove a skill or procedure of the home; undo brings it back", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, project, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			key, source, err := c.textCalled(cmd.Context(), lib, project, args[0])
			switch {
			case err != nil:
				return err
			case source != skills.User:
				return base.Failed(base.ExitUsage, "%s is of another place (%s), and stays; `hermes skills disable %s` switches it off", args[0], source, args[0])
			}
			change, err := lib.Plan(cmd.Context(), skills.Request{Op: skills.Delete, Name: key})
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			if !yes {
				ok, err := c.Confirm(fmt.Sprintf("Remove %s (%s)?", skills.DescribeKey(key), text.Sanitize(change.Path())))
				if err != nil || !ok {
					return err
				}
			}
			if err := lib.Apply(change, "user"); err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			return c.tellChanged(lib, key, asJSON, "removed; `hermes skills undo %s` brings it back", key)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the version that it made as JSON")
	return cmd
}

// textCalled is the key of the skill or procedure of a name, and where it is from.
func (c *command) textCalled(ctx context.Context, lib *skill.Library, project, name string) (key string, source skills.Source, err error) {
	if p := procedureCalled(ctx, lib, project, name); p != nil {
		return p.Key(), p.Source, nil
	}
	s, err := c.skillCalled(ctx, lib, project, name)
	if err != nil {
		return "", "", err
	}
	return name, s.Source, nil
}

func (c *command) skillsUndo() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "undo <name>", Short: "Take back the last change of a skill or procedure that hermes made", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, _, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			key := lib.KeyOf(cmd.Context(), args[0])
			what, err := lib.Undo(key)
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			return c.tellChanged(lib, key, asJSON, "taken back: %s", what)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the version that it made as JSON")
	return cmd
}
