package workbench

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/backend"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/panes/shell"
	"hermes/ui"
)

// openShell opens a shell in a back end, beside the conversation.
func (w *workbench) openShell(arg string) tea.Cmd {
	return w.runInApp(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		name, err := shellPlace(app.Backends().List(uid), arg)
		if err != nil {
			return nil, err
		}
		return ui.OpenPane{Pane: shell.New(shellDeps(app, app.Cwd()), uid, name)}, nil
	})
}

// shellPlace is the back end that was named, or the session's own. Here a wrong name is no reason
// to take another place.
func shellPlace(list []backend.Status, name string) (string, error) {
	for _, s := range list {
		if s.Name == name || name == "" && s.Selected {
			return s.Name, nil
		}
	}
	return "", fmt.Errorf("there is no back end %q; the pane of the back ends lists them", name)
}

func shellDeps(app client.Client, cwd string) shell.Deps {
	return shell.Deps{
		Start: func(ctx context.Context, session, name string, w, h int, sink func(event.Stream, []byte)) (shell.Process, error) {
			p, err := app.Backends().Start(ctx, backend.Request{
				Session: session, Backend: name, Command: backend.Interactive, Shown: backend.InteractiveShown, Home: homeOf(app, name, session, cwd), PTY: &backend.Size{Rows: h, Cols: w}, Sink: sink,
			})
			if err != nil {
				return nil, err
			}
			return attached{app.Backends(), session, p.ID}, nil
		},
		Changed: func(id string) { app.Events().Publish(event.Header{}, event.TerminalChanged{ID: id}) },
	}
}

// homeOf is where a first shell on this machine starts: where the session works. Elsewhere that
// folder means nothing.
func homeOf(app client.Client, name, session, cwd string) string {
	for _, s := range app.Backends().List(session) {
		if s.Name == name && s.Traits.Local {
			return cwd
		}
	}
	return ""
}

// attached is a process of the pool, as the pane knows it.
type attached struct {
	pool    backend.Pool
	session string
	id      string
}

var _ shell.Process = attached{}

func (a attached) Write(data []byte) error { return a.pool.Write(a.session, a.id, data, false) }

func (a attached) Resize(w, h int) error {
	return a.pool.Resize(a.session, a.id, backend.Size{Rows: h, Cols: w})
}

func (a attached) Wait() { _, _ = a.pool.Wait(context.Background(), a.session, a.id, 0) }

// Exit is asked after Wait, so it does not wait.
func (a attached) Exit() int {
	p, err := a.pool.Wait(context.Background(), a.session, a.id, 1)
	if err != nil {
		return 0
	}
	return p.ExitCode
}

func (a attached) Kill(ctx context.Context) error {
	_, err := a.pool.Kill(ctx, a.session, a.id)
	return err
}
