package workbench

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/mcp"
	view "hermes/panes/servers"
	"hermes/ui"
)

// serversOverlay shows the servers that bring tools, on the one that is named. Who looks at them
// wants them started.
func (w *workbench) serversOverlay(name string) tea.Cmd {
	return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		app.MCP.Want()
		return ui.ShowOverlay{Overlay: view.New(w.serverActions(), serverRows(app), name)}, nil
	})
}

func serverRows(app *core.App) view.Listed {
	brought, err := app.ProjectServers()
	m := view.Listed{Rows: app.MCP.List(), Brought: brought}
	if err != nil {
		m.Trouble = err.Error()
	}
	return m
}

// mcpNames completes the argument of /mcp.
func (w *workbench) mcpNames(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		for _, s := range app.MCP.List() {
			out = append(out, s.Name)
		}
		return out
	})
}

// serverActions are what the overlay asks of the program.
func (w *workbench) serverActions() view.Actions {
	then := func(f func(app *core.App) error) tea.Cmd {
		return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
			if err := f(app); err != nil {
				return nil, err
			}
			return serverRows(app), nil
		})
	}
	return view.Actions{
		Again: func() tea.Cmd { return then(func(*core.App) error { return nil }) },
		Restart: func(name string) tea.Cmd {
			return then(func(app *core.App) error { return app.MCP.Restart(name) })
		},
		Log: func(name string) tea.Cmd {
			return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				lines, err := app.MCP.Log(name)
				return view.LogRead{Name: name, Lines: lines}, err
			})
		},
		Review: func(name string) tea.Cmd {
			return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				list, err := app.MCP.Reviews(name)
				return view.Reviewed{Name: name, List: list}, err
			})
		},
		Accept: func(name string, seen []mcp.Review) tea.Cmd {
			return then(func(app *core.App) error { return app.MCP.Accept(name, seen) })
		},
		Toggle: func(s mcp.Status) tea.Cmd {
			return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				_, own := app.Config().MCPServers[s.Name]
				if !own && app.IsPlugin(s.Name) {
					return nil, fmt.Errorf("%s is a plugin: /plugins disable %s does without it", s.Name, s.Name)
				}
				if !own {
					return nil, fmt.Errorf("%s is of this project (%s): t takes the trust away", s.Name, mcp.ProjectFile)
				}
				word := "no"
				if s.State == mcp.StateOff {
					word = "yes"
				}
				// The watcher of the settings sees it.
				return ui.Toast(event.Info, "%s: enabled: %s", s.Name, word), config.Set(app.Config().Paths(), "mcp_servers."+s.Name+".enabled", word)
			})
		},
		Login: w.serverLogin,
		Trust: func(b *mcp.Brought, yes bool) tea.Cmd {
			return then(func(app *core.App) error { return app.TrustServers(b, yes) })
		},
	}
}

// serverLogin begins a login. What it shows comes back at once; the login itself goes on until the
// browser came back, the person gave it up, or a while has passed.
func (w *workbench) serverLogin(name string) tea.Cmd {
	const patience = 5 * time.Minute
	return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		shown, pasted, done := make(chan string, 1), make(chan string, 1), make(chan error, 1)
		crash.Go("mcp login", func() {
			defer stop()
			done <- app.MCP.Login(ctx, name, mcp.LoginTalk{Show: func(address string) { shown <- address }, Paste: pasted})
		})
		ended := func(err error) tea.Msg {
			m := view.LoginEnded{Listed: serverRows(app), Name: name}
			if err != nil {
				m.Err = err.Error()
			}
			return m
		}
		paste := func(text string) {
			select {
			case pasted <- text:
			default: // the one before is being looked at
			}
		}
		select {
		case address := <-shown:
			return view.LoginShown{Name: name, Address: address, Paste: paste, Stop: stop, Wait: func() tea.Msg { return ended(<-done) }}, nil
		case err := <-done: // before there was an address
			m := serverRows(app)
			if err != nil {
				m.Trouble = err.Error()
			}
			return m, nil
		}
	})
}

// promptCommands are the prompts of servers as slash commands.
func (w *workbench) promptCommands() []ui.Action {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	var out []ui.Action
	for _, p := range app.MCP.Prompts() {
		out = append(out, ui.Action{
			ID: "prompt." + p.Command, Slash: p.Command, Arg: p.Usage(), Title: "Prompt of " + p.Server + ": " + p.About, Group: "servers",
			Run: func(arg string) tea.Cmd {
				return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
					return nil, app.SubmitPrompt(ctx, uid, p, arg)
				})
			},
		})
	}
	return out
}

// listResources lists what servers let be read, as a message names it after @.
func (w *workbench) listResources() []string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	var out []string
	for _, r := range app.MCP.Resources() {
		out = append(out, r.Mention())
	}
	return out
}
