package workbench

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/ui"
)

// asSettings is the word that takes back what was set for a session.
const asSettings = "settings"

// chooseLevel chooses what runs unasked in this session, or tells it.
func (w *workbench) chooseLevel(arg string) tea.Cmd {
	return w.configureSession(arg, func(c *session.Config) error {
		c.Policy = session.Policy{}
		if arg == asSettings {
			return nil
		}
		p, err := session.PolicyNamed(arg)
		c.Policy = p
		return err
	})
}

// planOnly lets nothing be changed in this session, and keeps what was to be planned in the line.
func (w *workbench) planOnly(prompt string) tea.Cmd {
	set := w.chooseLevel(session.LevelPlan)
	if prompt == "" {
		return set
	}
	return tea.Batch(set, func() tea.Msg { return ui.BeginText{Text: prompt} })
}

// chooseToolsets chooses the sets of tools of this session, or tells them.
func (w *workbench) chooseToolsets(arg string) tea.Cmd {
	return w.configureSession(arg, func(c *session.Config) error {
		c.Toolsets = nil
		if arg != asSettings {
			c.Toolsets = strings.FieldsFunc(arg, func(r rune) bool { return r == ',' || r == ' ' })
		}
		return nil
	})
}

// configureSession changes the session, unless arg is empty, and tells how it works then.
func (w *workbench) configureSession(arg string, change func(*session.Config) error) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		c, err := app.SessionConfig(ctx, uid)
		if arg != "" && err == nil {
			var wrong error
			if wrong = change(&session.Config{}); wrong != nil {
				return nil, wrong
			}
			c, err = app.Configure(ctx, uid, func(c *session.Config) { _ = change(c) })
		}
		if err != nil {
			return nil, err
		}
		return ui.Toast(event.Info, "%s", configWords(c)), nil
	})
}

// configWords say how a session works.
func configWords(c session.Config) string {
	level, sets := "as the settings say", "those of the settings"
	if name := c.Policy.LevelName(); name != "" {
		level = name
	}
	if len(c.Toolsets) > 0 {
		sets = strings.Join(c.Toolsets, ", ")
	}
	words := "runs unasked: " + level + "; tools: " + sets
	if c.Effort != "" {
		words += "; thinks: " + c.Effort
	}
	return words
}

func levelNames() []string {
	return slices.Concat([]string{session.LevelPlan}, session.Levels(), []string{session.LevelAll, asSettings})
}
