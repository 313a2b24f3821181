package workbench

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/ui"
)

// switchModel switches, or shows what can be chosen. "list" and "set" are words of hermes model,
// and no names.
func (w *workbench) switchModel(arg string) tea.Cmd {
	if word, name, _ := strings.Cut(arg, " "); word == "list" || word == "set" {
		arg = strings.TrimSpace(name)
	}
	if arg != "" {
		return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
			return w.setModel(ctx, app, uid, arg)
		})
	}
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		now, err := app.Agent.Model(ctx, uid)
		if err != nil { // a session that has not begun
			if p, m, err := app.Catalog().Resolve(ctx, ""); err == nil {
				now = p.Name() + "/" + m.ID
			}
		}
		pick := func(it ui.Item) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return w.setModel(ctx, app, uid, it.ID)
			})
		}
		o := ui.PickerOptions{Title: "Model", Selected: now, Choose: pick, Placeholder: "name, vendor or what it can do"}
		o.Items = modelItems(app.Catalog().List(ctx), app.Catalog().Others())
		return ui.ShowOverlay{Overlay: ui.NewPicker(o)}, nil
	})
}

func (w *workbench) setModel(ctx context.Context, app *core.App, uid, ref string) (tea.Msg, error) {
	if err := app.Ensure(ctx, uid); err != nil {
		return nil, err
	}
	if err := app.SetModel(ctx, uid, ref); err != nil {
		return nil, err
	}
	name, err := app.Agent.Model(ctx, uid)
	return ui.Toast(event.Info, "this session talks to %s", name), err
}

// modelItems are models as a picker lists them: those that can be used by provider, then those
// without a key.
func modelItems(usable, others []provider.Model) []ui.Item {
	items := make([]ui.Item, 0, len(usable)+len(others))
	for _, m := range usable {
		it := ui.Item{ID: m.Provider + "/" + m.ID, Title: m.ID, Detail: modelDetail(m), Right: m.Figures(), Group: m.Provider}
		if !m.Key {
			it.Group += " · no key"
		}
		items = append(items, it)
	}
	for _, m := range others {
		why := "no key for " + m.Provider
		if v, ok := provider.Shipped().Named(m.Provider); ok && v.KeyEnv != "" {
			why = "needs " + v.KeyEnv
		}
		items = append(items, ui.Item{
			ID: m.Provider + "/" + m.ID, Title: m.ID, Right: m.Figures(), Group: m.Provider + " · no key", Why: why,
		})
	}
	return items
}

// modelDetail is what a model can do, and how long it is told to think.
func modelDetail(m provider.Model) string {
	words := m.Abilities()
	if m.Effort != "" {
		words = strings.TrimSpace(words + " · effort " + m.Effort)
	}
	return words
}
