package skills

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui"
	"hermes/ui/diff"
	"hermes/ui/text"
)

// Versions are those of a skill, the newest first.
type Versions struct {
	Name string
	Rows []VersionRow
}

// VersionRow is a version as it is shown.
type VersionRow struct {
	Number int
	Line   string // when, what, by whom
	Why    string
	Diff   string // unified: what it changed
}

// showVersions shows the versions of a skill: not to one who does something else by now.
func (v *Overlay) showVersions(m Versions) {
	if v.mode != listing && v.mode != looking || len(m.Rows) == 0 {
		return
	}
	v.mode, v.past, v.pastAt, v.From = looking, m, 0, 0
}

// pastKey looks at the versions of a skill, or takes its last change back.
func (v *Overlay) pastKey(key string, r skill.Row, ok bool) tea.Cmd {
	switch {
	case !ok || r.Source != skills.User:
		return func() tea.Msg { return ui.Toast(event.Info, "only skills in your own folder have versions") }
	case key == "u":
		return v.do.Undo(r.Key())
	default:
		return v.do.History(r.Key())
	}
}

func (v *Overlay) versionKey(key string) tea.Cmd {
	step := 0
	switch key {
	case "esc", "q", "h":
		v.mode, v.past, v.From = listing, Versions{}, 0
		return nil
	case "r":
		return v.do.Rollback(v.past.Name, v.past.Rows[v.pastAt].Number)
	case "u":
		return v.do.Undo(v.past.Name)
	case "up", "k":
		step = -1
	case "down", "j":
		step = 1
	case "home":
		step = -len(v.past.Rows)
	case "end":
		step = len(v.past.Rows)
	default:
		v.TakePageKey(key)
		return nil
	}
	v.selectVersion(v.pastAt + step)
	return nil
}

// selectVersion selects a row of the versions, or the nearest one there is.
func (v *Overlay) selectVersion(row int) {
	v.pastAt, v.From = max(min(row, len(v.past.Rows)-1), 0), 0
}

// viewVersions draws the list of versions and below it what the selected one changed.
func (v *Overlay) viewVersions(w, h int) string {
	rows := v.past.Rows
	high := min(len(rows), max(h/3, 1))
	from, to := ui.RowsAround(v.pastAt, len(rows), high)
	v.lines.PlaceFrom(0, 0, w, from, high)
	var out []string
	for i := from; i < to; i++ {
		mark, st := "  ", v.styles.Text
		if i == v.pastAt {
			mark, st = v.styles.Glyphs.Closed+" ", v.styles.Selection
		}
		line := fmt.Sprintf("v%-3d %s", rows[i].Number, text.OneLine(rows[i].Line))
		out = append(out, v.styles.Accent.Render(mark)+st.Render(text.Truncate(line, max(w-2, 1), v.styles.Glyphs.Ellipsis)))
	}
	at := rows[v.pastAt]
	look := append([]string{""}, text.WrapRendered(at.Why, w, v.styles.Dim.Render)...)
	if at.Diff == "" {
		look = append(look, v.styles.Dim.Render(text.Truncate("nothing in its text changed", w, "")))
	} else {
		look = append(look, diff.Render(at.Diff, w, v.styles)...)
	}
	return text.Block(append(out, v.InSight(look, h-len(out))...), w, h)
}
