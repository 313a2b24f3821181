package skills

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/learn"
	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// versionJSON is a version for `hermes skills history --json`.
type versionJSON struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Op      skills.Op `json:"op"`
	Files   []string  `json:"files"`
	Hash    string    `json:"hash,omitempty"`
	To      *int      `json:"to,omitempty"` // of undo and rollback
	skills.Provenance
	Added   int     `json:"added"`
	Removed int     `json:"removed"`
	Gone    bool    `json:"gone"`
	Current bool    `json:"current"`
	Text    *string `json:"text"` // SKILL.md; null when there was none
	// Uses are what came of the turns in which this text was used; null: none is known.
	Uses *learn.Uses `json:"uses"`
}

func versionsJSON(h skills.History, uses map[string]learn.Uses) []versionJSON {
	out := []versionJSON{}
	for i, v := range h.Versions {
		row := versionJSON{
			Version: v.Number, At: v.At, Op: v.Op, Hash: v.Hash, Provenance: v.Provenance, Gone: v.Gone, Current: i == len(h.Versions)-1,
		}
		if v.Op == skills.Undo || v.Op == skills.Rollback {
			row.To = &v.To
		}
		for _, p := range v.Parts() {
			row.Files = append(row.Files, p.Rel)
		}
		for _, d := range skill.Compare(h, v.Number-1, v.Number) {
			row.Added, row.Removed = row.Added+d.Added, row.Removed+d.Removed
		}
		if t := h.Text(v.Number); t != nil {
			s := string(t)
			row.Text = &s
		}
		if u, ok := uses[v.Hash]; ok && v.Hash != "" {
			row.Uses = &u
		}
		out = append(out, row)
	}
	return out
}

func (c *command) skillsHistory() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "history <name>", Aliases: []string{"versions"}, Short: "List the versions of a skill: who made each, when and why", Args: cobra.ExactArgs(1),
		Long: `List the versions of a skill: who made each, when and why.

Every change that the agent, you through hermes, or an accepted proposal makes is kept whole and for good. Version 0 is the skill before
the first one. What somebody changes outside of hermes is kept when hermes would write over it.`,
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := c.historyOf(args[0])
			if err != nil {
				return err
			}
			uses, err := c.usesOf(args[0])
			if err != nil {
				return err
			}
			rows := versionsJSON(h, uses)
			if asJSON {
				return base.WriteJSON(c.Streams.Out, rows, true)
			}
			t := base.Table{Head: []string{"VERSION", "WHEN", "WHAT", "BY", "LINES", "GOOD/BAD", "WHY"}, Fit: c.Width()}
			for _, v := range rows {
				what := string(v.Op)
				if v.To != nil {
					what += fmt.Sprintf(" to %d", *v.To)
				}
				if files := strings.Join(v.Files, ", "); files != skills.File {
					what += " " + files
				}
				t.Row(strconv.Itoa(v.Version), base.DateTime(v.At), base.OneLine(what), base.OrDash(v.By), fmt.Sprintf("+%d -%d", v.Added, v.Removed), came(v.Uses), base.Cut(v.Why, 60))
			}
			return t.Write(c.Streams.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the text of each version")
	return cmd
}

// came tells what came of a text.
func came(u *learn.Uses) string {
	if u == nil || u.Good+u.Bad == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g/%.4g", u.Good, u.Bad)
}

func (c *command) usesOf(name string) (map[string]learn.Uses, error) {
	lib, _, start, err := c.SkillLibrary()
	if err != nil {
		return nil, err
	}
	uses, err := core.OpenLearning(start.Config, lib).Outcomes(name)
	if err != nil {
		return nil, base.Failed(base.ExitFailed, "%w", err)
	}
	return uses, nil
}

// historyOf is the history of a skill that has one.
func (c *command) historyOf(name string) (skills.History, error) {
	lib, _, _, err := c.SkillLibrary()
	if err != nil {
		return skills.History{}, err
	}
	h, err := lib.Edits.History(name)
	if err == nil && len(h.Versions) == 0 {
		return h, base.Failed(base.ExitUsage, "no change of the skill %s is kept: hermes has changed none of that name", text.Sanitize(name))
	}
	if err != nil {
		return h, base.Failed(base.ExitUsage, "%w", err)
	}
	return h, nil
}

// versionOf reads the number of a version; "v3" is 3.
func versionOf(h skills.History, s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "v"))
	if err != nil || n < 0 || n > len(h.Versions) {
		return 0, base.Failed(base.ExitUsage, "there is no version %s of %s; it has 0 to %d", text.Sanitize(s), h.Name, len(h.Versions))
	}
	return n, nil
}

func (c *command) skillsDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff <name> [from] [to]", Short: "Show what is different between two versions of a skill; without them what the last one changed", Args: cobra.RangeArgs(1, 3),
		Example: `  hermes skills diff release
  hermes skills diff release 2 5`,
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := c.historyOf(args[0])
			if err != nil {
				return err
			}
			to := len(h.Versions)
			from := to - 1
			if len(args) > 1 {
				if from, err = versionOf(h, args[1]); err != nil {
					return err
				}
			}
			if len(args) > 2 {
				if to, err = versionOf(h, args[2]); err != nil {
					return err
				}
			}
			for _, d := range skill.Compare(h, from, to) {
				if _, err := fmt.Fprint(c.Streams.Out, text.Sanitize(d.Unified)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (c *command) skillsRollback() *cobra.Command {
	return &cobra.Command{
		Use: "rollback <name> [version]", Short: "Make a skill what it was after a version; without one, before the last change", Args: cobra.RangeArgs(1, 2),
		Long: `Make a skill what it was after a version; without one, before the last change.

This is a new version, so it can be taken back as well: nothing is lost.`,
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := c.historyOf(args[0])
			if err != nil {
				return err
			}
			lib, _, _, err := c.SkillLibrary()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				what, err := lib.Undo(args[0])
				if err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				c.Note("taken back: %s", text.Sanitize(what))
				return nil
			}
			to, err := versionOf(h, args[1])
			if err != nil {
				return err
			}
			v, err := lib.Rollback(args[0], to, skills.Provenance{By: "user"})
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			c.Note("%s is as at version %d; that is version %d", args[0], to, v.Number)
			return nil
		},
	}
}
