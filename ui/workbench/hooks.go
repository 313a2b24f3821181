package workbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/trust"
	"hermes/ui"
	"hermes/ui/text"
)

// showHooks shows the programs that take part in what the agent does on a card, or asks whether
// those of the project may.
func (w *workbench) showHooks(arg string) tea.Cmd {
	return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		word := strings.TrimSpace(arg)
		if word == "" {
			return ui.ShowOverlay{Overlay: ui.NewCard("Hooks", hookFacts(app))}, nil
		}
		b, err := app.ProjectHooks()
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			return nil, fmt.Errorf("this project brings no hooks: it has no %s", hook.ProjectFile)
		case word == "refuse":
			return ui.Toast(event.Info, "The project's hooks are not run"), app.TrustHooks(b, false)
		case word != "trust":
			return nil, errors.New("write /hooks trust or /hooks refuse")
		}
		return ui.ShowOverlay{Overlay: ui.NewConfirm("Run these programs of the project with your rights?", broughtWords(b), func() tea.Cmd {
			return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				return ui.Toast(event.Info, "The project's hooks are trusted"), app.TrustHooks(b, true)
			})
		})}, nil
	})
}

// broughtWords is what a person decides by, a line for each program.
func broughtWords(b *hook.Brought) string {
	out := []string{decidingLine(b.Folder + ":")}
	for _, h := range b.Hooks {
		out = append(out, decidingLine(strings.TrimSuffix(string(h.Event)+" of "+h.Matcher, " of ")+" runs "+h.Command))
	}
	return strings.Join(out, "\n")
}

// decidingLine is a fact that a person decides by, in one line: a line break in it is seen, and
// looks like no other fact.
func decidingLine(s string) string {
	return text.MarkLines(s)
}

// hookWords completes the argument of /hooks.
func hookFacts(app *core.App) []ui.Fact {
	var facts []ui.Fact
	for _, h := range app.HookSet.List() {
		words := fmt.Sprintf("%s: %s", h.Name, h.Command)
		if h.Matcher != "" {
			words += "  for " + h.Matcher
		}
		words += fmt.Sprintf("  (%s, %s, on error %s)", h.Owner, h.Timeout, h.OnError)
		facts = append(facts, ui.Fact{Name: string(h.Event), Text: words})
	}
	b, err := app.ProjectHooks()
	switch {
	case err != nil:
		facts = append(facts, ui.Fact{Name: "project", Text: err.Error(), Wrong: true})
	case b != nil && b.State != trust.Trusted:
		words := fmt.Sprintf("%s\nThey do not run (%s): /hooks trust asks, /hooks refuse says no", broughtWords(b), b.State)
		facts = append(facts, ui.Fact{Name: "project", Text: words, Wrong: true})
	}
	if len(facts) == 0 {
		facts = append(facts, ui.Fact{Name: "none", Text: "programs of yours can take part in what the agent does: hooks in /config, docs/hooks.md"})
	}
	return facts
}
