// Package learn is the overlay of what was learned and waits for a word: each proposal with why and
// what it would change, line by line.
package learn

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/learn"
	"hermes/ui"
	"hermes/ui/diff"
	"hermes/ui/style"
	"hermes/ui/text"
)

// Listed are the proposals that wait, the newest first, and how learning stands.
type Listed struct {
	Open  []learn.Proposal
	Stand learn.Status
}

// Actions are what the overlay asks of the program. They bring back Listed.
type Actions struct {
	Scan   func() tea.Cmd
	Accept func(id string) tea.Cmd
	Refuse func(id string, never bool) tea.Cmd
	Edit   func(p learn.Proposal) tea.Cmd // in $EDITOR; what is saved is accepted
}

// Overlay shows the proposals, and the selected one as a diff.
type Overlay struct {
	do     Actions
	styles *style.Styles
	open   []learn.Proposal
	stand  learn.Status
	at     string // id of the selected one
	sure   string // id for which N was pressed once
	drawn  ui.DrawnRows
	ui.ScrolledText
}

// New makes the overlay.
func New(do Actions, found Listed) *Overlay {
	v := &Overlay{do: do}
	v.takeList(found)
	return v
}

func (v *Overlay) takeList(m Listed) {
	was := max(v.selected(), 0)
	v.open, v.stand, v.sure = m.Open, m.Stand, ""
	if v.selected() < 0 && len(v.open) > 0 {
		v.at, v.From = v.open[min(was, len(v.open)-1)].ID, 0
	}
}

func (v *Overlay) selected() int {
	for i, p := range v.open {
		if p.ID == v.at {
			return i
		}
	}
	return -1
}

// Title counts what waits.
func (v *Overlay) Title() string { return fmt.Sprintf("Learned (%d)", len(v.open)) }

// Restyle takes another theme.
func (v *Overlay) Restyle(s *style.Styles) { v.styles = s }

// Size is nearly all of w and h.
func (v *Overlay) Size(w, h int) (int, int) { return min(w-2, 130), max(h-4, 6) }

// Hint names the keys.
func (v *Overlay) Hint() string {
	switch {
	case len(v.open) == 0:
		return "esc close"
	case v.sure != "":
		return "N again: nothing like it is proposed again  esc back"
	default:
		return "y accept  e edit, then accept  n refuse  N never again  up/down another  esc close"
	}
}

// Cursor is nowhere.
func (v *Overlay) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Observe lists anew what waits.
func (v *Overlay) Observe(e event.Envelope) tea.Cmd {
	switch e.Event.(type) {
	case event.LearnProposed, event.LearnSettled, event.LearnReviewed:
		return v.do.Scan()
	}
	return nil
}

// Update implements ui.Overlay.
func (v *Overlay) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case Listed:
		v.takeList(msg)
	case tea.KeyMsg:
		return v.key(msg.String())
	}
	return nil, false
}

// RowAt implements ui.Lister.
func (v *Overlay) RowAt(x, y int) (row int, chosen, ok bool) {
	row, ok = v.drawn.At(x, y)
	return row, row == max(v.selected(), 0), ok && row < len(v.open)
}

// ChooseRow implements ui.Lister.
func (v *Overlay) ChooseRow(row int) tea.Cmd {
	v.at, v.From, v.sure = v.open[row].ID, 0, ""
	return nil
}

func (v *Overlay) key(key string) (tea.Cmd, bool) {
	sure := v.sure
	v.sure = ""
	i := v.selected()
	if key == "esc" || key == "q" {
		return nil, sure == ""
	}
	if v.TakePageKey(key) || i < 0 {
		return nil, false
	}
	p := v.open[i]
	switch key {
	case "up", "k":
		v.at, v.From = v.open[max(i-1, 0)].ID, 0
	case "down", "j":
		v.at, v.From = v.open[min(i+1, len(v.open)-1)].ID, 0
	case "y":
		return v.do.Accept(p.ID), false
	case "n":
		return v.do.Refuse(p.ID, false), false
	case "N":
		if sure != p.ID {
			v.sure = p.ID
			return nil, false
		}
		return v.do.Refuse(p.ID, true), false
	case "e":
		if p.Kind != learn.KindCreate && p.Kind != learn.KindChange {
			return func() tea.Msg { return ui.Toast(event.Info, "there is no new text to edit in it") }, false
		}
		return v.do.Edit(p), true
	}
	return nil, false
}

// View draws the list and below it the selected proposal.
func (v *Overlay) View(w, h int) string {
	if len(v.open) == 0 {
		out := text.WrapRendered("Nothing waits for a word. `hermes learn list --all` shows what was settled.", w, v.styles.Dim.Render)
		return text.Block(append(append(out, ""), v.standing(w)...), w, h)
	}
	at := max(v.selected(), 0)
	var foot []string
	if v.stand.Ceiling != "" {
		foot = text.WrapRendered("a ceiling is reached: "+v.stand.Ceiling, w, v.styles.Warn.Render)
		foot = foot[:min(len(foot), max(h-2, 0))]
		h -= len(foot)
	}
	high := min(len(v.open), max(h/4, 1))
	from, to := ui.RowsAround(at, len(v.open), high)
	v.drawn.PlaceFrom(0, 0, w, from, high)
	var out []string
	for i := from; i < to; i++ {
		mark, st := "  ", v.styles.Text
		if i == at {
			mark, st = v.styles.Glyphs.Closed+" ", v.styles.Selection
		}
		p := v.open[i]
		line := fmt.Sprintf("%-4s %-8s %s  %s", p.ID, p.Kind, text.OneLine(p.Skill), p.At.Local().Format("2006-01-02 15:04"))
		out = append(out, v.styles.Accent.Render(mark)+st.Render(text.Truncate(line, max(w-2, 1), v.styles.Glyphs.Ellipsis)))
	}
	look := append([]string{""}, v.look(v.open[at], w)...)
	view := text.Block(append(out, v.InSight(look, h-len(out))...), w, h)
	if len(foot) > 0 {
		view += "\n" + text.Block(foot, w, len(foot))
	}
	return view
}

// standing tells how learning stands.
func (v *Overlay) standing(w int) (out []string) {
	for _, line := range v.stand.Words() {
		out = append(out, text.WrapRendered(line, w, v.styles.Text.Render)...)
	}
	return out
}

func (v *Overlay) look(p learn.Proposal, w int) []string {
	var out []string
	add := func(s string, render func(...string) string) { out = append(out, text.WrapRendered(s, w, render)...) }
	add(p.Why, v.styles.Text.Render)
	from := fmt.Sprintf("from %d turns", len(p.Sources))
	if len(p.Sources) == 1 {
		from = "from 1 turn"
	}
	if len(p.Sources) > 0 {
		add(from, v.styles.Dim.Render)
	}
	for _, c := range p.Checks {
		render := v.styles.Dim.Render
		if c.Why != "" || c.After != learn.Passes {
			render = v.styles.Warn.Render
		}
		add(c.Words(), render)
	}
	if p.Waits != "" {
		add("waits for you in every mode: "+p.Waits, v.styles.Warn.Render)
	}
	if p.Tainted != "" {
		add("! read it closely: "+p.Tainted, v.styles.Warn.Render)
	}
	out = append(out, "")
	if p.Diff != "" {
		out = append(out, diff.Render(p.Diff, w, v.styles)...)
	}
	return out
}
