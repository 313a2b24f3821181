package workbench

import (
	"cmp"
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/ui"
)

// One key goes through what a session asks about, one through how long its model thinks.

// levelRound are the levels that the key goes through.
func levelRound() []string {
	return []string{"read", "standard", session.LevelAll, session.LevelPlan}
}

// nextLevel goes to the next level. The one that asks about nothing is asked about itself; who says
// no there, or presses the key again, has changed nothing.
func (w *workbench) nextLevel(string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		c, err := app.SessionConfig(ctx, uid)
		if err != nil {
			return nil, err
		}
		now := cmp.Or(c.Policy.LevelName(), levelOf(app.Gate.Policy()))
		next := nextInRound(levelRound(), now)
		if next == session.LevelAll {
			return ui.ShowOverlay{Overlay: w.allPicker()}, nil
		}
		return w.setLevel(ctx, app, uid, next)
	})
}

// allPicker asks whether nothing is to be asked, and offers what comes after that.
func (w *workbench) allPicker() ui.Overlay {
	items := []ui.Item{
		{ID: session.LevelPlan, Title: "Plan only", Detail: "nothing is changed"},
		{ID: session.LevelAll, Title: "Ask for nothing", Detail: "everything runs, what never runs apart"},
		{ID: "standard", Title: "Stay", Detail: "ask for risky things"},
	}
	choose := func(it ui.Item) tea.Cmd {
		return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
			return w.setLevel(ctx, app, uid, it.ID)
		})
	}
	return ui.NewPicker(ui.PickerOptions{Title: "What is asked in this session", Items: items, Choose: choose})
}

func (w *workbench) setLevel(ctx context.Context, app *core.App, uid, name string) (tea.Msg, error) {
	p, err := session.PolicyNamed(name)
	if err != nil {
		return nil, err
	}
	if _, err := app.Configure(ctx, uid, func(c *session.Config) { c.Policy = p }); err != nil {
		return nil, err
	}
	words, _ := ui.LevelWords(name)
	return ui.Toast(event.Info, "this session %s", words), nil
}

// Efforts are how long a model can be told to think, as agent.reasoning_effort.
func effortNames() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max", asSettings}
}

// chooseEffort chooses how long the model of this session thinks, or tells it.
func (w *workbench) chooseEffort(arg string) tea.Cmd {
	if arg != "" && !slices.Contains(effortNames(), arg) {
		return func() tea.Msg {
			return ui.Toast(event.Error, "there is no effort %q: choose %s", arg, joinWords(effortNames()))
		}
	}
	return w.configureSession(arg, func(c *session.Config) error {
		c.Effort = arg
		if arg == asSettings {
			c.Effort = ""
		}
		return nil
	})
}

// nextEffort goes to the next effort.
func (w *workbench) nextEffort(string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		c, err := app.SessionConfig(ctx, uid)
		if err != nil {
			return nil, err
		}
		next := nextInRound([]string{"", "low", "medium", "high"}, c.Effort)
		if _, err := app.Configure(ctx, uid, func(c *session.Config) { c.Effort = next }); err != nil {
			return nil, err
		}
		if next == "" {
			return ui.Toast(event.Info, "the model thinks as long as the settings say"), nil
		}
		return ui.Toast(event.Info, "the model thinks %s", next), nil
	})
}

// nextInRound is the one behind now, the first one behind the last or behind a stranger.
func nextInRound(round []string, now string) string {
	return round[(slices.Index(round, now)+1)%len(round)]
}

// setAway says that nobody answers in this session, or that somebody does again.
func (w *workbench) setAway(arg string) tea.Cmd {
	if arg != "" && arg != "on" && arg != "off" {
		return func() tea.Msg { return ui.Toast(event.Error, "away is on or off, not %q", arg) }
	}
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		if arg == "off" {
			return ui.Toast(event.Info, "questions of this session wait for you again"), app.SetAttended(ctx, uid, true)
		}
		return ui.Toast(event.Info, "this session refuses what it would ask, until /away off"), app.SetAttended(ctx, uid, false)
	})
}
