package workbench

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/trust"
	"hermes/ui"
)

// hooks shows the programs that take part in what the agent does, on a card.
func (w *workbench) hooks(string) tea.Cmd {
	return w.task(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		return ui.ShowOverlay{Overlay: ui.NewCard("Hooks", hookFacts(app))}, nil
	})
}

func hookFacts(app *core.App) []ui.Fact {
	var facts []ui.Fact
	for _, h := range app.HookSet.List() {
		text := fmt.Sprintf("%s: %s", h.Name, h.Command)
		if h.Matcher != "" {
			text += "  for " + h.Matcher
		}
		text += fmt.Sprintf("  (%s, %s, on error %s)", h.Owner, h.Timeout, h.OnError)
		facts = append(facts, ui.Fact{Name: string(h.Event), Text: text})
	}
	b, err := app.ProjectHooks()
	switch {
	case err != nil:
		facts = append(facts, ui.Fact{Name: "project", Text: err.Error(), Wrong: true})
	case b != nil && b.State != trust.Trusted:
		text := fmt.Sprintf("%s brings %d hooks that do not run (%s): `hermes hooks trust` shows them", b.Folder, len(b.Hooks), b.State)
		facts = append(facts, ui.Fact{Name: "project", Text: text, Wrong: true})
	}
	if len(facts) == 0 {
		facts = append(facts, ui.Fact{Name: "none", Text: "programs of yours can take part in what the agent does: hooks in /config, docs/hooks.md"})
	}
	return facts
}
