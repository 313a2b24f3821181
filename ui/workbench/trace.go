package workbench

import (
	"cmp"
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/learn"
	"hermes/ui"
)

// trace shows what a turn was given, did and came to, on a card: the last one of the session, or
// the one that is named.
func (w *workbench) trace(arg string) tea.Cmd {
	return w.task(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		x, then, err := app.Learn.Trace(cmp.Or(arg, uid))
		if err != nil {
			return nil, err
		}
		var facts []ui.Fact
		for _, l := range learn.TraceLines(x, then) {
			facts = append(facts, ui.Fact{Name: l.What, Text: l.Text})
		}
		return ui.ShowOverlay{Overlay: ui.NewCard("Trace", facts)}, nil
	})
}
