package backends

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/progress"
	"hermes/ui/text"
)

// errand is something that a person asked for and that is not done yet.
type errand struct {
	what    string // "start", "pull"
	session string
	cancel  context.CancelFunc
}

// reversal takes a start or a stop back; nil for everything else.
func (e *errand) reversal(pool Pool, name string) tea.Cmd {
	back := map[string]func(ctx context.Context) error{
		"start": func(ctx context.Context) error { return pool.Stop(ctx, e.session, name, false) },
		"stop":  func(ctx context.Context) error { return pool.Up(ctx, e.session, name) },
	}[e.what]
	if back == nil {
		return nil
	}
	return func() tea.Msg {
		if err := back(context.Background()); err != nil {
			return ui.ShowToast{Level: event.Error, Text: "not taken back: " + err.Error()}
		}
		return nil
	}
}

// doneMsg is the end of an errand.
type doneMsg struct {
	errand *errand
	name   string
	said   string
	err    error
}

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	move := func(delta int) func(string) tea.Cmd {
		return func(string) tea.Cmd { p.moveCursor(delta); return nil }
	}
	force, busy := p.runningNote()
	r := p.currentRow()
	return []ui.Action{
		{ID: "backends.up", Keys: []string{"up", "k"}, Title: "Up", Hidden: true, Run: move(-1)},
		{ID: "backends.down", Keys: []string{"down", "j"}, Title: "Down", Hidden: true, Run: move(1)},
		{ID: "backends.use", Keys: []string{"u"}, Title: "Use for this session", Bar: "use", Help: "Commands that name no back end run here from now on.", InBar: true, Why: p.whyNotUse, Run: p.useRow},
		{ID: "backends.shell", Keys: []string{"enter"}, Title: "Open a shell there", Bar: "shell", Help: "For you, not for the agent: a terminal beside the conversation; exit closes it.", InBar: true, Why: p.whyNoShell, Run: p.openShell},
		{ID: "backends.start", Keys: []string{"s"}, Title: p.actionTitle("Start", ""), Bar: "start", Help: "As its first use would, pulling the image if it is missing.", InBar: p.whyNotStart() == "", Why: p.whyNotStart, Run: p.runAction("start", "is up", Pool.Up)},
		{ID: "backends.stop", Keys: []string{"x"}, Title: p.actionTitle("Stop", ""), Bar: "stop", Help: busy, Dangerous: force, InBar: p.whyNotStop() == "", Why: p.whyNotStop, Run: p.stopBackend(force)},
		{ID: "backends.restart", Keys: []string{"r"}, Title: p.actionTitle("Restart", ""), Help: orDefault(busy, "Ends the wait after a failure, too."), Dangerous: true, Why: p.whyNotRestart, Run: p.runAction("restart", "is up again", withForce(Pool.Restart, force))},
		{ID: "backends.remove", Keys: []string{"D"}, Title: p.actionTitle("Remove", " with its files"), Help: p.lossWarning(busy), Dangerous: true, Why: p.whyNotRemove, Run: p.runAction("remove", "is removed", withForce(Pool.Remove, force))},
		{ID: "backends.pull", Keys: []string{"p"}, Title: p.actionTitle("Pull", "'s image"), Help: "A newer one is used from the next start on.", Dangerous: true, Why: p.whyNotPull, Run: p.runAction("pull", "has its image", Pool.Pull)},
		{ID: "backends.whole", Keys: []string{"w"}, Title: "Show all of it", Help: "What went wrong, word for word, who uses it, and what happened to it.", Bar: "why", InBar: r != nil && isWrong(*r), Why: p.whyNoRow, Run: p.showWhole},
		{ID: "backends.log", Keys: []string{"l"}, Title: "What happened to it", Help: "Every change since the start of Hermes, with its time and cause.", Why: p.whyNoRow, Run: p.showLog},
		{ID: "backends.edit", Keys: []string{"ctrl+g"}, Title: "Edit its configuration", Help: "Opens config.yaml in $EDITOR where the back end stands.", Why: p.whyNoRow, Run: p.editSettings},
	}
}

// actionTitle is a title that says which back end it is about; in the documentation it is none.
func (p *Pane) actionTitle(do, rest string) string {
	r := p.currentRow()
	switch {
	case r != nil:
		return do + " " + text.Inline(r.Name) + rest
	case rest != "" && rest[0] == '\'':
		return do + " its" + rest[2:]
	default:
		return do + rest
	}
}

// withForce makes one of the verbs that may end what runs into one like the others.
func withForce(f func(Pool, context.Context, string, string, bool) error, force bool) func(Pool, context.Context, string, string) error {
	return func(p Pool, ctx context.Context, session, name string) error { return f(p, ctx, session, name, force) }
}

func orDefault(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// runningNote says what runs in the row under the cursor: it would be ended.
func (p *Pane) runningNote() (bool, string) {
	r := p.currentRow()
	switch {
	case r == nil || r.Refs == 0:
		return false, ""
	case r.Refs == 1 && r.Command != "":
		return true, "This runs there, and is ended: " + text.Inline(r.Command)
	case r.Command != "":
		return true, fmt.Sprintf("%d commands run there, and are ended; the newest: %s", r.Refs, text.Inline(r.Command))
	default:
		return true, fmt.Sprintf("It is in use (%d), and what runs there is ended.", r.Refs)
	}
}

func (p *Pane) lossWarning(busy string) string {
	r := p.currentRow()
	if r == nil {
		return "Its files are lost; the next use makes a new one."
	}
	if busy != "" {
		busy = " " + busy
	}
	return fmt.Sprintf("The files in %s are lost; the next use makes a new one.%s", text.Inline(r.Name), busy)
}

// runAction makes an action's Run of something that takes its time. The row is that under the
// cursor when it is asked for: the list may move while a question stands.
func (p *Pane) runAction(what, done string, f func(Pool, context.Context, string, string) error) func(string) tea.Cmd {
	r := p.currentRow()
	if r == nil {
		return nil
	}
	session, name, pool := p.session, r.Name, p.pool
	return func(string) tea.Cmd {
		ctx, cancel := context.WithCancel(context.Background())
		e := &errand{what, session, cancel}
		p.doing[name], p.memoOK = e, false
		return func() tea.Msg {
			defer cancel()
			err := f(pool, ctx, session, name)
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				e.what = "" // nothing to be taken back
				return doneMsg{e, name, what + " of " + name + " was stopped", nil}
			}
			return doneMsg{e, name, name + " " + done, err}
		}
	}
}

func (p *Pane) actionDone(m doneMsg) tea.Cmd {
	if p.doing[m.name] == m.errand {
		delete(p.doing, m.name)
	}
	p.memoOK = false
	if m.errand.what == "pull" { // no transition tells of its end
		p.rowNamed(m.name).Pull = progress.Meter{}
	}
	toast := ui.ShowToast{Level: event.Info, Text: m.said}
	if m.err != nil {
		toast = ui.ShowToast{Level: event.Error, Text: m.errand.what + ": " + m.err.Error()}
	}
	if back := m.errand.reversal(p.pool, m.name); back != nil && m.err == nil {
		return func() tea.Msg { return ui.ShowUndo{Text: m.said, Undo: back} }
	}
	return func() tea.Msg { return toast }
}

// stopBackend stops the back end, or what the person began and does not want any more.
func (p *Pane) stopBackend(force bool) func(string) tea.Cmd {
	r := p.currentRow()
	if r == nil {
		return nil
	}
	if e := p.doing[r.Name]; e != nil && (e.what == "start" || e.what == "pull") {
		return func(string) tea.Cmd { e.cancel(); return nil }
	}
	return p.runAction("stop", "is stopped", withForce(Pool.Stop, force))
}

func (p *Pane) openShell(string) tea.Cmd {
	name := p.rows[p.cursor].Name
	return func() tea.Msg { return ui.RunAction{ID: "shell", Arg: name} }
}

func (p *Pane) editSettings(string) tea.Cmd {
	name := p.rows[p.cursor].Name
	return func() tea.Msg { return ui.RunAction{ID: "config", Arg: name} }
}

// useRow selects the row under the cursor, or the one named.
func (p *Pane) useRow(name string) tea.Cmd {
	if name == "" {
		if len(p.rows) == 0 {
			return nil
		}
		name = p.rows[p.cursor].Name
	}
	session, pool, was := p.session, p.pool, ""
	for _, r := range p.rows {
		if r.Selected {
			was = r.Name
		}
	}
	choose := func(name string) tea.Msg {
		if err := pool.Select(session, name); err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error(), Hint: "the session stays where it was"}
		}
		return nil
	}
	return func() tea.Msg {
		if failed := choose(name); failed != nil {
			return failed
		}
		return ui.ShowUndo{Text: "commands of this session run in " + name, Undo: func() tea.Msg { return choose(was) }}
	}
}
