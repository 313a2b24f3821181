package skills

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/core"
	"hermes/core/chat"
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
	Text    *string `json:"text"` // SKILL.md, or the procedure; null when there was none
	// Uses are what came of the turns in which this text was used; null: none is known.
	Uses *learn.Uses `json:"uses"`
	// Measured is what a procedure's track_metrics asks for.
	Measured []learn.Metric `json:"measured,omitempty"`
}

func versionsJSON(h skills.History, uses map[string]learn.Uses, measured map[string][]learn.Metric) []versionJSON {
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
			row.Uses, row.Measured = &u, measured[v.Hash]
		}
		out = append(out, row)
	}
	return out
}

func (c *command) skillsHistory() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "history <name>", Aliases: []string{"versions"}, Short: "List the versions of a skill or procedure: who made each, when and why", Args: cobra.ExactArgs(1),
		Long: `List the versions of a skill or procedure: who made each, when and why. Where both have a name, procedure:NAME is the procedure.

Every change that the agent, you through hermes, or an accepted proposal makes is kept whole and for good. Version 0 is the skill before
the first one. What somebody changes outside of hermes is kept when hermes would write over it.`,
		ValidArgsFunction: c.CompleteSkills,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := c.historyOf(args[0])
			if err != nil {
				return err
			}
			uses, measured, err := c.usesOf(h)
			if err != nil {
				return err
			}
			rows := versionsJSON(h, uses, measured)
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
			if err := t.Write(c.Streams.Out); err != nil {
				return err
			}
			for _, m := range rows[len(rows)-1].Measured {
				c.Note("version %d, %s: %s %.4g", len(rows), text.Count(m.Of, "turn", "turns"), m.Name, m.Value)
			}
			return nil
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

// usesOf are what came of the texts of a history, and what was measured of each.
func (c *command) usesOf(h skills.History) (map[string]learn.Uses, map[string][]learn.Metric, error) {
	lib, _, start, err := c.SkillLibrary()
	if err != nil {
		return nil, nil, err
	}
	l := core.OpenLearning(start.Config, lib)
	uses, err := l.Outcomes(h.Name)
	if err != nil {
		return nil, nil, base.Failed(base.ExitFailed, "%w", err)
	}
	measured, err := l.Measure(h.Name)
	if err != nil {
		return nil, nil, base.Failed(base.ExitFailed, "%w", err)
	}
	return uses, measured, nil
}

// historyOf is the history of a skill or procedure that has one.
func (c *command) historyOf(name string) (skills.History, error) {
	lib, _, _, err := c.SkillLibrary()
	if err != nil {
		return skills.History{}, err
	}
	key := lib.KeyOf(context.Background(), name)
	h, err := lib.Edits.History(key)
	if err == nil && len(h.Versions) == 0 {
		return h, base.Failed(base.ExitUsage, "no change of %s is kept: hermes has changed none of that name", text.Sanitize(skills.DescribeKey(key)))
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
	var asJSON bool
	cmd := &cobra.Command{
		Use: "diff <name> [from] [to]", Short: "Show what is different between two versions of a skill or procedure; without them what the last one changed", Args: cobra.RangeArgs(1, 3),
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
			files := skill.Compare(h, from, to)
			if asJSON {
				return base.WriteJSON(c.Streams.Out, append([]chat.FileDiff{}, files...), true)
			}
			for _, d := range files {
				if _, err := fmt.Fprint(c.Streams.Out, text.Sanitize(d.Unified)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) skillsRollback() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "rollback <name> [version]", Short: "Make a skill or procedure what it was after a version; without one, before the last change", Args: cobra.RangeArgs(1, 2),
		Long: `Make a skill or procedure what it was after a version; without one, before the last change.

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
				what, err := lib.Undo(h.Name)
				if err != nil {
					return base.Failed(base.ExitFailed, "%w", err)
				}
				return c.tellChanged(lib, h.Name, asJSON, "taken back: %s", what)
			}
			to, err := versionOf(h, args[1])
			if err != nil {
				return err
			}
			v, err := lib.Rollback(h.Name, to, skills.Provenance{By: "user"})
			if err != nil {
				return base.Failed(base.ExitFailed, "%w", err)
			}
			return c.tellChanged(lib, h.Name, asJSON, "%s is as at version %d; that is version %d", args[0], to, v.Number)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the version that it made as JSON")
	return cmd
}

// tellChanged says what was done to a skill or procedure: in words, or as its newest version.
func (c *command) tellChanged(lib *skill.Library, key string, asJSON bool, format string, args ...any) error {
	var last any
	if asJSON {
		h, err := lib.Edits.History(key)
		if err != nil {
			return base.Failed(base.ExitFailed, "%w", err)
		}
		if rows := versionsJSON(h, nil, nil); len(rows) > 0 {
			last = rows[len(rows)-1]
		}
	}
	return c.TellDone(c.Streams.Err, asJSON, last, format, args...)
}
