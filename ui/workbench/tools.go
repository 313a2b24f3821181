package workbench

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/tool"
	"hermes/ui"
)

// showTools shows the toolsets, and switches the one that is chosen: in the settings, for new
// sessions, and for this one. With "reload" it gives the session the tools as they are now.
func (w *workbench) showTools(arg string) tea.Cmd {
	if arg == "reload" {
		return w.reloadTools()
	}
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		chosen, err := chosenTools(ctx, app, uid)
		return ui.ShowOverlay{Overlay: w.toolPicker(app.Toolsets(chosen), arg)}, err
	})
}

// chosenTools are the toolsets of a session: its own, or those of the settings.
func chosenTools(ctx context.Context, app *core.App, uid string) ([]string, error) {
	c, err := app.SessionConfig(ctx, uid)
	if len(c.Toolsets) > 0 {
		return c.Toolsets, err
	}
	return app.Config().Toolsets, err
}

func (w *workbench) toolPicker(sets []tool.SetView, selected string) ui.Overlay {
	on := map[string]bool{}
	var items []ui.Item
	for _, s := range sets {
		on[s.Name] = s.On
		it := ui.Item{ID: s.Name, Title: checkMark(s.On) + s.Name, Detail: s.Description + ": " + inSet(s.Tools)}
		if s.Auto {
			it.Title, it.Why = "    "+s.Name, "it comes by itself, when it is needed"
		}
		items = append(items, it)
	}
	return ui.NewPicker(ui.PickerOptions{
		Title: "Tools", Items: items, Selected: selected, Placeholder: "toolset",
		Hint:   "type to search  enter switches it, here and for new sessions  esc close",
		Choose: func(it ui.Item) tea.Cmd { return w.switchTools(it.ID, !on[it.ID]) },
	})
}

func checkMark(on bool) string {
	if on {
		return "[x] "
	}
	return "[ ] "
}

// inSet names the tools of a set, and what keeps one away.
func inSet(tools []tool.View) string {
	var out []string
	for _, t := range tools {
		name := t.Name
		if t.Needs != "" {
			name += " (not here: " + t.Needs + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

func (w *workbench) switchTools(name string, on bool) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		now, err := chosenTools(ctx, app, uid)
		if err != nil {
			return nil, err
		}
		if now, err = app.SwitchToolset(now, name, on); err != nil {
			return nil, err
		}
		if err := config.Set(app.Config().Paths(), "toolsets", "["+strings.Join(now, ", ")+"]"); err != nil {
			return nil, err
		}
		if _, err := app.Configure(ctx, uid, func(c *session.Config) { c.Toolsets = now }); err != nil {
			return nil, err
		}
		said := name + " is off, here from the next turn on and in new sessions"
		if on {
			said = name + " is on, here from the next turn on and in new sessions"
		}
		return tea.BatchMsg{
			func() tea.Msg { return ui.Toast(event.Info, "%s", said) },
			w.showTools(name),
		}, nil
	})
}
