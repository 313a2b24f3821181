package backends

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
)

// change is one transition as it was heard.
type change struct {
	at time.Time
	event.BackendChanged
}

// maxLog bounds what is remembered: the oldest go first.
const maxLog = 2000

func (p *Pane) addToLog(at time.Time, e event.BackendChanged) {
	p.log = append(p.log, change{at, e})
	if len(p.log) > maxLog {
		p.log = append([]change(nil), p.log[len(p.log)-maxLog/2:]...)
	}
}

// showLog opens what happened to the back end under the cursor.
func (p *Pane) showLog(string) tea.Cmd {
	r := p.rows[p.cursor]
	o := &logView{name: r.Name, where: p.now().Location()}
	for _, c := range p.log {
		if c.Name == r.Name {
			o.changes = append(o.changes, c)
		}
	}
	return func() tea.Msg { return ui.ShowOverlay{Overlay: o} }
}

// logView is the overlay with the transitions of one back end, newest first.
type logView struct {
	name    string
	where   *time.Location
	changes []change
	styles  *style.Styles
	top     int
	h       int
}

var _ ui.Overlay = (*logView)(nil)

func (l *logView) Title() string           { return "What happened to " + text.Inline(l.name) }
func (l *logView) Hint() string            { return "up/down scroll  esc close" }
func (l *logView) Restyle(s *style.Styles) { l.styles = s }

func (l *logView) Size(w, h int) (int, int) {
	return min(100, w-4), min(max(len(l.changes), 3), h-6)
}

func (l *logView) Update(msg tea.Msg) (tea.Cmd, bool) {
	step := 0
	if m, ok := msg.(tea.KeyMsg); ok {
		switch m.String() {
		case "esc", "q", "l", "enter":
			return nil, true
		case "up", "k":
			step = -1
		case "down", "j":
			step = 1
		case "pgup":
			step = -l.h
		case "pgdown", " ":
			step = l.h
		case "home", "g":
			step = -len(l.changes)
		case "end", "G":
			step = len(l.changes)
		}
	}
	l.ScrollLines(step)
	return nil, false
}

// ScrollLines implements ui.Scroller.
func (l *logView) ScrollLines(step int) {
	l.top = max(0, min(l.top+step, len(l.changes)-max(l.h, 1)))
}

func (l *logView) View(w, h int) string {
	l.h = h
	if len(l.changes) == 0 {
		return text.Block([]string{"", " " + l.styles.Dim.Render("Nothing has happened to it since Hermes was started.")}, w, h)
	}
	var out []string
	for i := len(l.changes) - 1 - l.top; i >= 0 && len(out) < h; i-- {
		out = append(out, l.drawLine(l.changes[i], w))
	}
	return text.Block(out, w, h)
}

func (l *logView) drawLine(c change, w int) string {
	state := l.styles.Text
	switch c.To {
	case event.BackendReady:
		state = l.styles.Good
	case event.BackendFailed, event.BackendLost:
		state = l.styles.Bad
	default:
	}
	line := l.styles.Dim.Render(" "+c.at.In(l.where).Format("15:04:05")) + " " +
		fmt.Sprintf("%s %s %s", text.Fit(text.Inline(string(c.From)), 8), l.styles.Dim.Render(">"), state.Render(text.Fit(text.Inline(string(c.To)), 8))) +
		"  " + text.Inline(c.Cause)
	return text.Truncate(line, w, l.styles.Glyphs.Ellipsis)
}
