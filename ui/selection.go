package ui

import (
	"strings"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"hermes/ui/layout"
	"hermes/ui/text"
)

// doubleClick is how soon the second click must follow the first.
const doubleClick = 400 * time.Millisecond

// cell is a place in a pane's inner rectangle.
type cell struct{ x, y int }

func (c cell) before(d cell) bool { return c.y < d.y || c.y == d.y && c.x < d.x }

// selection is text that a person draws over with the mouse. The pane stands still while they do:
// what they see marked is what is copied.
type selection struct {
	box      layout.Box
	pane     Pane
	lines    []string // of the pane when the button went down
	from, to cell
	moved    bool
}

// clicked is the last click, for the one that follows it.
type clicked struct {
	at   time.Time
	pane Pane
	sel  *selection
}

// beginSelection holds a press back until it is known whether a click or a selection was meant.
func (f *frame) beginSelection(b layout.Box, p Pane, msg tea.MouseMsg) {
	at := cell{msg.X - b.X - 1, msg.Y - b.Y - 1}
	f.selection = &selection{box: b, pane: p, lines: strings.Split(p.View(), "\n"), from: at, to: at}
}

// dragSelection follows the button that is held; its release copies, or is a click.
func (f *frame) dragSelection(msg tea.MouseMsg) tea.Cmd {
	s := f.selection
	f.dirty = true
	switch msg.Action {
	case tea.MouseActionMotion:
		s.to = s.nearestCell(msg.X, msg.Y)
		s.moved = s.moved || s.to != s.from
		return nil
	case tea.MouseActionRelease:
		f.selection = nil
		if !s.moved {
			return f.giveClick(s)
		}
		return f.copySelected(s.selectedText(), "selection")
	default: // another button, the wheel
		f.selection = nil
		return f.handleMouse(msg)
	}
}

// nearestCell is the cell of the pane that is next to a place on the screen.
func (s *selection) nearestCell(x, y int) cell {
	return cell{min(max(x-s.box.X-1, 0), s.box.W-3), min(max(y-s.box.Y-1, 0), s.box.H-3)}
}

// giveClick gives the pane the press that was held back. The second of two at one place copies the
// word there; the pane gets both, so that what the first one opened is closed again.
func (f *frame) giveClick(s *selection) tea.Cmd {
	press := tea.MouseMsg{X: s.from.x, Y: s.from.y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
	cmd := ownedCommand(s.pane, s.pane.Update(press))
	now, last := f.opt.Now(), f.clicked
	f.clicked = clicked{now, s.pane, s}
	if last.pane != s.pane || now.Sub(last.at) >= doubleClick || last.sel.from != s.from {
		return cmd
	}
	f.clicked = clicked{}
	if word := last.sel.clickedWord(); word != "" {
		return tea.Batch(cmd, f.copySelected(word, "word"))
	}
	return cmd
}

func (f *frame) copySelected(s, what string) tea.Cmd {
	return f.copyText(CopyText{Text: s, What: what, Hint: "shift+drag selects with the terminal; " + f.keys.firstKey("mouse", "alt+m") + " leaves it the mouse"})
}

// selectedCells is which cells of line y are selected; none when from is not before to.
func (s *selection) selectedCells(y int) (from, to int) {
	a, b := s.from, s.to
	if b.before(a) {
		a, b = b, a
	}
	from, to = 0, s.box.W-2
	if y == a.y {
		from = a.x
	}
	if y == b.y {
		to = b.x + 1
	}
	if y < a.y || y > b.y {
		return 0, 0
	}
	return from, to
}

// drawSelected draws the pane as it stood, with what is selected marked.
func (s *selection) drawSelected(mark styled) string {
	out := make([]string, len(s.lines))
	for y, l := range s.lines {
		from, to := s.selectedCells(y)
		if out[y] = l; from < to {
			out[y] = ansi.Cut(l, 0, from) + mark.Render(ansi.Strip(ansi.Cut(l, from, to))) + ansi.Cut(l, to, s.box.W)
		}
	}
	return strings.Join(out, "\n")
}

// selectedText is what is selected, without the blanks that only fill the pane: those behind the
// lines, and the margin that whole lines have.
func (s *selection) selectedText() string {
	var out []string
	margin, inside := -1, false
	for y, l := range s.lines {
		from, to := s.selectedCells(y)
		if from >= to {
			continue
		}
		got := strings.TrimRight(ansi.Strip(ansi.Cut(l, from, to)), " ")
		if strings.TrimSpace(ansi.Strip(ansi.Cut(l, 0, from))) == "" {
			got = strings.TrimRight(strings.Repeat(" ", from)+got, " ")
			if n := len(got) - len(strings.TrimLeft(got, " ")); got != "" && (margin < 0 || n < margin) {
				margin = n
			}
		} else {
			inside = len(out) == 0 // it begins within its first line
		}
		out = append(out, got)
	}
	for i, l := range out {
		if i > 0 || !inside {
			out[i] = l[min(max(margin, 0), len(l)):]
		}
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// clickedWord is what stands at the place that was clicked: a name, a path or an address, without
// the signs of the sentence around it.
func (s *selection) clickedWord() string {
	if s.from.y >= len(s.lines) {
		return ""
	}
	line, x, start := ansi.Strip(s.lines[s.from.y]), 0, 0
	for at := 0; at < len(line); {
		c, cells := text.Cluster(line[at:])
		if !isWord(c) {
			start = at + len(c)
		}
		if x += cells; x > s.from.x {
			end := at
			for rest := line[at:]; rest != ""; rest = line[end:] {
				c, _ := text.Cluster(rest)
				if !isWord(c) {
					break
				}
				end += len(c)
			}
			return strings.Trim(line[min(start, end):end], ".,:;-")
		}
		at += len(c)
	}
	return ""
}

func isWord(cluster string) bool {
	for _, r := range cluster {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("_-./~@:+%#?=&", r)
	}
	return false
}
