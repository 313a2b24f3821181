package output

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/text"
)

// While nothing runs the pane shows how the session stands above what was printed last: what fills
// the context, the to-do list, the files that it changed, what runs in the background.

// Overview is how a session stands.
type Overview struct {
	Window int     // of the model, in tokens; 0: not known
	Used   int     // tokens of it
	Shares []Share // what they are made of
	Todo   []event.TodoItem
	Files  []ChangedFile // the newest change first
	More   int           // changed files that are not among them
	Runs   []Process     // in the background
}

// Share is a part of the context.
type Share struct {
	Name   string
	Tokens int
}

// ChangedFile is a file that the session changed, with the lines that came and went.
type ChangedFile struct {
	Path           string
	Added, Removed int
}

// Process is a command in the background.
type Process struct {
	ID, Command string
	Since       time.Time
}

// Overviewer is a History that also knows how a session stands.
type Overviewer interface {
	Overview(ctx context.Context, session string) (Overview, error)
}

// overview is what was read, and whether it has to be read again.
type overview struct {
	session string
	shown   Overview
	stale   bool
	loading bool
}

type overviewMsg struct {
	session string
	found   Overview
	err     error
}

// Rows of the overview: at least so many stay for what was printed, and so many of a list are
// shown.
const (
	minOutputRows  = 6
	minOverview    = 12 // rows of a pane that has room for both
	maxListed      = 8
	overviewShares = 5
)

// noteOverview marks the overview as old when an event changed what it shows.
func (p *Pane) noteOverview(env event.Envelope) {
	switch e := env.Event.(type) {
	case event.TurnPhase:
		if e.Kind == event.PhaseOver {
			delete(p.busy, env.Session)
			break
		}
		p.busy[env.Session] = true
		return
	case event.TurnStarted:
		p.busy[env.Session] = true
		return
	case event.TurnEnded:
		delete(p.busy, env.Session)
	case event.Resync:
		clear(p.busy)
	default:
	}
	switch env.Event.(type) {
	case event.TurnEnded, event.TodoChanged, event.ProcessEnded, event.HistoryChanged, event.Compressed, event.ModelChanged,
		event.SessionConfigured, event.ToolEnded, event.Resync:
		if env.Session == p.session || env.Session == "" {
			p.over.stale = true
		}
	default:
	}
}

// isIdle reports whether nothing runs that would be worth the whole pane, and nobody reads.
func (p *Pane) isIdle() bool {
	c := p.currentCall()
	return !p.busy[p.session] && p.pinned == nil && p.view.follow && p.view.query == "" && (c == nil || !c.isRunning())
}

// loadOverview reads the overview again, when it is in sight.
func (p *Pane) loadOverview() tea.Cmd {
	o, ok := p.history.(Overviewer)
	if !ok || p.session == "" || p.over.loading || p.w <= 0 || !p.isIdle() || !p.over.stale && p.over.session == p.session {
		return nil
	}
	p.over.stale, p.over.loading = false, true
	uid := p.session
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		found, err := o.Overview(ctx, uid)
		return overviewMsg{uid, found, err}
	}
}

func (p *Pane) takeOverview(m overviewMsg) tea.Cmd {
	p.over.loading, p.memoOK = false, false
	if m.session != p.session {
		return p.loadOverview()
	}
	p.over.session = m.session
	if m.err == nil {
		p.over.shown = m.found
	}
	return p.loadOverview()
}

// overviewRows are the overview in at most h rows; none while it is not known, or not wanted.
func (p *Pane) overviewRows(h int) []string {
	if p.over.session != p.session || p.session == "" || !p.isIdle() {
		return nil
	}
	parts := [][]string{p.contextRows(), p.todoRows(), p.fileRows(), p.processRows()}
	out := joinParts(parts)
	if len(out) > h { // what is to be done goes before what the smaller parts of the context are
		parts[0] = parts[0][:min(len(parts[0]), 2)]
		out = joinParts(parts)
	}
	if len(out) > h {
		out = append(out[:max(0, h-1):max(0, h-1)], p.styles.Faint.Render(" "+p.styles.Glyphs.Ellipsis))
	}
	return out
}

// joinParts are parts one below the other, an empty row between them.
func joinParts(parts [][]string) (out []string) {
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, part...)
	}
	return out
}

func (p *Pane) heading(title, right string) string {
	left := " " + p.styles.Strong.Render(title)
	room := p.w - text.Width(left) - text.Width(right) - 1
	if room < 1 {
		return text.Truncate(left, p.w, p.styles.Glyphs.Ellipsis)
	}
	return left + text.Blank(room) + p.styles.Dim.Render(right) + " "
}

// contextRows are what fills the model's window, the largest part first.
func (p *Pane) contextRows() []string {
	o := p.over.shown
	if o.Used == 0 {
		return nil
	}
	right := text.Thousands(o.Used) + " tokens"
	if o.Window > 0 {
		right = text.Percent(o.Used, o.Window) + " of " + text.Thousands(o.Window)
	}
	out := []string{p.heading("Context", right)}
	for _, s := range o.Shares[:min(len(o.Shares), overviewShares)] {
		name := text.Truncate("  "+text.Inline(s.Name), max(4, p.w-16), p.styles.Glyphs.Ellipsis)
		n := text.FitLeft(text.Thousands(s.Tokens), 6)
		bar := strings.Repeat("#", min(8, (s.Tokens*8+o.Used-1)/max(o.Used, 1)))
		if !p.styles.ASCII {
			bar = strings.ReplaceAll(bar, "#", "■")
		}
		out = append(out, text.Fit(name, max(4, p.w-17))+p.styles.Dim.Render(n)+" "+p.styles.Accent.Render(text.Fit(bar, 8))+" ")
	}
	return out
}

func (p *Pane) todoRows() []string {
	todo := p.over.shown.Todo
	done := 0
	for _, t := range todo {
		if t.Status == "completed" || t.Status == "cancelled" {
			done++
		}
	}
	if len(todo) == 0 || done == len(todo) {
		return nil
	}
	out := []string{p.heading("To do", fmt.Sprintf("%d of %d done", done, len(todo)))}
	left := maxListed
	for _, t := range todo {
		if t.Status == "completed" || t.Status == "cancelled" {
			continue
		}
		if left--; left < 0 {
			return append(out, p.styles.Dim.Render(fmt.Sprintf("  and %d more", len(todo)-done-maxListed)))
		}
		mark, st := "[ ] ", p.styles.Text
		if t.Status == "in_progress" {
			mark, st = "["+p.styles.Glyphs.Closed+"] ", p.styles.Accent
		}
		out = append(out, "  "+st.Render(text.Truncate(mark+text.Inline(t.Content), max(1, p.w-3), p.styles.Glyphs.Ellipsis)))
	}
	return out
}

func (p *Pane) fileRows() []string {
	files := p.over.shown.Files
	if len(files) == 0 {
		return nil
	}
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.Added, removed+f.Removed
	}
	n := len(files) + p.over.shown.More
	out := []string{p.heading("Changed files", fmt.Sprintf("%d  +%d -%d", n, added, removed))}
	for _, f := range files[:min(len(files), maxListed)] {
		plus, minus := fmt.Sprintf("+%d", f.Added), fmt.Sprintf("-%d", f.Removed)
		room := max(4, p.w-4-len(plus)-len(minus)-1)
		path := text.Inline(f.Path)
		if over := text.Width(path) - room; over > 0 { // the end of a path tells most
			path = p.styles.Glyphs.Ellipsis + tailThatFits(path, room-1)
		}
		out = append(out, "  "+text.Fit(path, room)+" "+p.styles.DiffAdd.Render(plus)+" "+p.styles.DiffDel.Render(minus)+" ")
	}
	if n > min(len(files), maxListed) {
		out = append(out, p.styles.Dim.Render(fmt.Sprintf("  and %d more", n-min(len(files), maxListed))))
	}
	return out
}

// tailThatFits is the end of s that fits into w cells.
func tailThatFits(s string, w int) string {
	for text.Width(s) > w {
		_, size := firstRune(s)
		s = s[size:]
	}
	return s
}

func firstRune(s string) (r rune, size int) {
	for i, c := range s {
		if i > 0 {
			return r, i
		}
		r = c
	}
	return r, len(s)
}

func (p *Pane) processRows() []string {
	runs := p.over.shown.Runs
	if len(runs) == 0 {
		return nil
	}
	out := []string{p.heading("In the background", fmt.Sprint(len(runs)))}
	for _, r := range runs[:min(len(runs), maxListed)] {
		since := "since " + r.Since.In(p.now().Location()).Format("15:04")
		room := max(4, p.w-len(since)-5)
		name := text.Truncate(text.Inline(r.ID)+"  "+text.Inline(r.Command), room, p.styles.Glyphs.Ellipsis)
		out = append(out, "  "+text.Fit(name, room)+" "+p.styles.Dim.Render(since))
	}
	return out
}

// withOverview draws the overview above rows that are made for the room that it leaves.
func (p *Pane) withOverview(draw func() []string) []string {
	room := p.h - minOutputRows
	if p.currentCall() == nil {
		room = p.h
	}
	var over []string
	if p.h >= minOverview {
		over = p.overviewRows(room)
	}
	if len(over) == 0 {
		return draw()
	}
	whole := p.h
	if c := p.currentCall(); c != nil {
		line := strings.Repeat(p.styles.Glyphs.Horizontal, p.w)
		over = append(over, p.styles.Border.Render(line))
	} else {
		return over
	}
	p.h = whole - len(over)
	rows := draw()
	p.h = whole
	return append(over, rows...)
}
