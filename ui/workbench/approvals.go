package workbench

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/ui"
)

// listApprovals lists what is allowed without asking; enter revokes.
func (w *workbench) listApprovals(string) tea.Cmd {
	return w.runInApp(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		entries, err := app.Gate.Remembered(uid)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			return ui.Toast(event.Info, "nothing is remembered: what is above the level of a session is asked each time"), nil
		}
		items := make([]ui.Item, 0, len(entries))
		for _, e := range entries {
			until := "until it is revoked"
			switch {
			case e.Scope == event.DecisionSession:
				until = "this session"
			case !e.Expires.IsZero():
				until = "until " + e.Expires.Local().Format("2006-01-02")
			}
			items = append(items, ui.Item{ID: e.ID, Title: e.Words(), Right: until, Group: string(e.Scope)})
		}
		revoke := func(it ui.Item) tea.Cmd {
			return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				return ui.Toast(event.Info, "revoked; it is asked again"), app.Gate.Revoke(uid, it.ID)
			})
		}
		return ui.ShowOverlay{Overlay: ui.NewPicker(ui.PickerOptions{
			Title: "Allowed without asking", Items: items, Hint: "enter revokes · type to find · esc closes", Choose: revoke,
		})}, nil
	})
}
