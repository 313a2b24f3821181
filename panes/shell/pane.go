// Package shell is the pane of a shell that a person has opened in a back end: a terminal that
// takes every key but one chord, with a history to look at. What programs in it write becomes cells
// (ui/emulator) and nothing else.
//
// The pane has two modes. Typing, all keys are the shell's, and only ctrl+] is ours: it goes to the
// other mode, where the keys are Hermes' again: scroll, close, another pane, or enter to type on.
// Exit in the shell closes the pane.
package shell

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
)

// PaneID is what the ids of these panes begin with: the back end's name follows.
const PaneID ui.ID = "shell"

// ID is that of the pane for a back end of a session.
func ID(session, name string) ui.ID { return PaneID + ":" + ui.ID(name) + "@" + ui.ID(session) }

// Process is a shell that runs.
type Process interface {
	// Write sends input. It may wait while the shell does not read.
	Write(data []byte) error
	// Resize changes the size of its terminal, in cells.
	Resize(w, h int) error
	// Wait returns when it has ended and all of its output has been given.
	Wait()
	// Exit is its exit code, once it has ended.
	Exit() int
	// Kill ends it and everything that runs in it.
	Kill(ctx context.Context) error
}

// Deps are what the pane needs.
type Deps struct {
	// Start runs a shell in the back end, in a terminal of w x h cells. Sink gets its output in
	// order, from one goroutine at a time.
	Start func(ctx context.Context, session, name string, w, h int, sink func(event.Stream, []byte)) (Process, error)
	// Changed tells everybody, by a TerminalChanged, that the terminal id shows something else. It
	// must not wait.
	Changed func(id string)
}

// startTimeout bounds how long a shell takes to appear: its image may have to be pulled first.
const (
	startTimeout = 30 * time.Minute
	killTimeout  = 20 * time.Second
	hasty        = 2 * time.Second // a shell that ends sooner, with a failure, has something to say
)

// Pane implements ui.Pane.
type Pane struct {
	deps          Deps
	session, name string
	styles        *style.Styles
	w, h          int
	focus         bool

	link    *link // nil before the start
	proc    Process
	started time.Time
	failed  error // of the start
	closing bool
	sized   [2]int // of the shell's terminal

	commands bool // keys are ours, not the shell's
	back     int  // lines of history above the first row

	memo   string
	memoOK bool
}

var (
	_ ui.Pane     = (*Pane)(nil)
	_ ui.Grabber  = (*Pane)(nil)
	_ ui.Typer    = (*Pane)(nil)
	_ ui.Cursorer = (*Pane)(nil)
	_ ui.Focuser  = (*Pane)(nil)
	_ ui.Waker    = (*Pane)(nil)
	_ ui.Copier   = (*Pane)(nil)
)

// New returns the pane; the shell starts once it has a size.
func New(deps Deps, session, name string) *Pane {
	return &Pane{deps: deps, session: session, name: name}
}

// ID implements ui.Pane.
func (p *Pane) ID() ui.ID { return ID(p.session, p.name) }

// Title implements ui.Pane.
func (p *Pane) Title() ui.Title {
	t := ui.Title{Text: "Shell ── " + p.name}
	switch {
	case p.failed != nil:
		t.Right = "failed"
	case p.hasEnded():
		t.Right = fmt.Sprintf("exit %d", p.proc.Exit())
	case p.proc == nil:
		t.Right = "starting"
	case p.back > 0:
		t.Right = fmt.Sprintf("%d lines up", p.back)
	case p.commands:
		t.Right = "not typing"
	}
	return t
}

func (p *Pane) hasEnded() bool { return p.proc != nil && p.link.hasEnded() }

// Resize implements ui.Pane. A hidden terminal keeps its size.
func (p *Pane) Resize(w, h int) {
	if w == p.w && h == p.h {
		return
	}
	p.w, p.h, p.memoOK = max(w, 0), max(h, 0), false
	if p.w > 0 && p.h > 0 && p.link != nil {
		p.link.term.Resize(p.w, p.h)
	}
}

// Restyle implements ui.Pane.
func (p *Pane) Restyle(s *style.Styles) { p.styles, p.memoOK = s, false }

// Focus implements ui.Focuser.
func (p *Pane) Focus(on bool) { p.focus, p.memoOK = on, false }

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	changed := false
	for _, env := range events {
		switch e := env.Event.(type) {
		case event.TerminalChanged:
			changed = changed || e.ID == string(p.ID())
		case event.Resync:
			changed = true
		case event.SessionDeleted:
			if env.Session == p.session {
				p.closing = true
			}
		}
	}
	if changed {
		p.memoOK = false
	}
	return changed
}

// Wake implements ui.Waker: it starts the shell, tells it of another size, and leaves when it has
// ended.
func (p *Pane) Wake() tea.Cmd {
	size := [2]int{p.w, p.h}
	switch {
	case p.closing:
		return p.closePane()
	case p.failed != nil || p.w <= 0 || p.h <= 0:
		return nil
	case p.link == nil:
		p.sized = size
		return p.startShell()
	case p.hasEnded() && (p.proc.Exit() == 0 || time.Since(p.started) > hasty):
		return p.closePane()
	case p.proc != nil && !p.hasEnded() && size != p.sized:
		p.sized = size
		proc := p.proc
		return func() tea.Msg {
			_ = proc.Resize(size[0], size[1]) // one that has just ended needs no size
			return nil
		}
	}
	return nil
}

// startedMsg is the end of a start.
type startedMsg struct {
	proc Process
	err  error
}

func (p *Pane) startShell() tea.Cmd {
	id, deps, session, name, w, h := string(p.ID()), p.deps, p.session, p.name, p.w, p.h
	p.link = newLink(w, h, func() { deps.Changed(id) })
	l := p.link
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		proc, err := deps.Start(ctx, session, name, w, h, l.takeOutput)
		if err != nil {
			l.stopGoroutines()
			return startedMsg{nil, err}
		}
		l.startLink(proc)
		return startedMsg{proc, nil}
	}
}

// closePane ends the shell and takes the pane away.
func (p *Pane) closePane() tea.Cmd {
	l, id, ended := p.link, p.ID(), p.hasEnded() || p.proc == nil
	return func() tea.Msg {
		if l != nil && !ended {
			ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
			defer cancel()
			if err := l.killShell(ctx); err != nil {
				return ui.ShowToast{Level: event.Error, Text: "shell: " + err.Error(), Hint: "it ends with the session at the latest"}
			}
		}
		return ui.ClosePane{Pane: id}
	}
}

// View implements ui.Pane.
func (p *Pane) View() string {
	if !p.memoOK {
		p.memo, p.memoOK = p.render(), true
	}
	return p.memo
}

func (p *Pane) render() string {
	switch {
	case p.w <= 0 || p.h <= 0:
		return ""
	case p.failed != nil:
		return p.emptyText("The shell could not be started.", p.failed.Error(), "ctrl+] and w close this pane.")
	case p.link == nil:
		return text.Block(nil, p.w, p.h)
	}
	level := p.styles.Level
	if p.styles.Plain {
		level = style.None
	}
	return text.Block(p.link.term.Rows(level, p.back), p.w, p.h)
}

func (p *Pane) emptyText(sentences ...string) string {
	var out []string
	for _, s := range sentences {
		for _, line := range text.Wrap(text.Sanitize(s), max(1, p.w-2)) {
			out = append(out, " "+line)
		}
	}
	return text.Block(out, p.w, p.h)
}

// Cursor implements ui.Cursorer.
func (p *Pane) Cursor() (x, y int, ok bool) {
	if p.link == nil || p.failed != nil || p.commands || p.back > 0 || p.hasEnded() {
		return 0, 0, false
	}
	x, y, ok = p.link.term.Cursor()
	return min(x, p.w-1), min(y, p.h-1), ok && p.focus
}
