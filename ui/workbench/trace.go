package workbench

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/learn"
	"hermes/ui"
)

// showTrace shows what a turn was given, did and came to, on a card: the last one of the session,
// or the one that is named, with the other turns of its session beside it.
func (w *workbench) showTrace(arg string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		t, err := learn.Turn{Ref: arg}, error(nil)
		if arg == "" {
			t, err = lastTurn(ctx, app.History(), uid)
		}
		if err != nil {
			return nil, err
		}
		list, at, err := app.Learn.Traces(t)
		if err != nil {
			return nil, err
		}
		return ui.ShowOverlay{Overlay: ui.NewCards("Trace", len(list), at, func(i int) (facts []ui.Fact) {
			for _, l := range learn.TraceLines(list[i].Experience, list[i].Then) {
				facts = append(facts, ui.Fact{Name: l.What, Text: l.Text})
			}
			return facts
		})}, nil
	})
}
