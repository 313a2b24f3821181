package workbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/learn"
	view "hermes/panes/learn"
	"hermes/skills"
	"hermes/ui"
)

// learnOverlay shows what was learned and waits for a word.
func (w *workbench) learnOverlay(string) tea.Cmd {
	return w.task(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		found, err := openProposals(app)
		return ui.ShowOverlay{Overlay: view.New(w.learnActions(), found)}, err
	})
}

func openProposals(app *core.App) (view.Listed, error) {
	list, err := app.Learn.Proposals()
	return view.Listed{Open: slices.DeleteFunc(list, func(p learn.Proposal) bool { return p.State != learn.StateOpen })}, err
}

func (w *workbench) learnActions() view.Actions {
	return view.Actions{
		Scan: func() tea.Cmd {
			return w.task(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) { return openProposals(app) })
		},
		Accept: func(id string) tea.Cmd {
			return w.task(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return acceptProposal(ctx, app, id, nil)
			})
		},
		Refuse: func(id string, never bool) tea.Cmd {
			return w.task(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				if err := app.Learn.Refuse(id, never); err != nil {
					return nil, err
				}
				return openProposals(app)
			})
		},
		Edit: w.editProposal,
	}
}

// acceptProposal carries a proposal out and shows what is left.
func acceptProposal(ctx context.Context, app *core.App, id string, edited *string) (tea.Msg, error) {
	p, err := app.Learn.Accept(ctx, id, "user", edited)
	if err != nil {
		return nil, err
	}
	app.RereadSkills(ctx)
	found, err := openProposals(app)
	said := fmt.Sprintf("%s has version %d; new sessions see it, u in /skills takes it back", p.Skill, p.Version)
	return tea.BatchMsg{
		func() tea.Msg { return found },
		func() tea.Msg { return ui.Toast(event.Info, "%s", said) },
	}, err
}

// editProposal opens what is proposed in the editor; what is saved is accepted.
func (w *workbench) editProposal(p learn.Proposal) tea.Cmd {
	return func() tea.Msg {
		dir, err := os.MkdirTemp("", "hermes-learn-")
		path := filepath.Join(dir, skills.File)
		if err == nil {
			err = os.WriteFile(path, []byte(p.After), 0o600)
		}
		if err != nil {
			return ui.Toast(event.Error, "%v", err)
		}
		return ui.RunProcess{Cmd: editor(path, 0), Done: func(err error) tea.Msg {
			defer func() { _ = os.RemoveAll(dir) }()
			if err != nil {
				return ui.Toast(event.Error, "editor: %v; set VISUAL or EDITOR to the editor that you want", err)
			}
			data, err := os.ReadFile(path)
			app, ok := w.boot.now()
			if err != nil || !ok {
				return ui.Toast(event.Error, "what was edited cannot be read: %v", err)
			}
			text := string(data)
			done, err := app.Learn.Accept(context.Background(), p.ID, "user", &text)
			if err != nil {
				return ui.Toast(event.Error, "%v", err)
			}
			app.Skills.Changed()
			return ui.Toast(event.Info, "%s has version %d; u in /skills takes it back", done.Skill, done.Version)
		}}
	}
}
