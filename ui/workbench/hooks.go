package workbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/trust"
	"hermes/ui"
)

// hooks shows the programs that take part in what the agent does on a card, or asks whether those
// of the project may.
func (w *workbench) hooks(arg string) tea.Cmd {
	return w.task(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
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
		words := broughtWords(b)
		if len(words) > maxAsked {
			return nil, errors.New("they are too long to be shown here whole: `hermes hooks trust` shows them and asks")
		}
		return ui.ShowOverlay{Overlay: ui.NewConfirm("Run these programs of the project with your rights?", words, func() tea.Cmd {
			return w.task(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				return ui.Toast(event.Info, "The project's hooks are trusted"), app.TrustHooks(b, true)
			})
		})}, nil
	})
}

// maxAsked is how many characters the question shows whole.
const maxAsked = 600

// broughtWords is what a person decides by.
func broughtWords(b *hook.Brought) string {
	out := b.Folder + ":"
	for _, h := range b.Hooks {
		out += " " + strings.TrimSuffix(string(h.Event)+" of "+h.Matcher, " of ") + " runs " + h.Command + ";"
	}
	return strings.TrimSuffix(out, ";")
}

// hookWords completes the argument of /hooks.
func (w *workbench) hookWords(prefix string) []string {
	return slices.DeleteFunc([]string{"trust", "refuse"}, func(word string) bool { return !strings.HasPrefix(word, prefix) })
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
		text := fmt.Sprintf("%s  They do not run (%s): /hooks trust asks, /hooks refuse says no", broughtWords(b), b.State)
		facts = append(facts, ui.Fact{Name: "project", Text: text, Wrong: true})
	}
	if len(facts) == 0 {
		facts = append(facts, ui.Fact{Name: "none", Text: "programs of yours can take part in what the agent does: hooks in /config, docs/hooks.md"})
	}
	return facts
}
