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
	return w.task(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		found, err := openProposals(ctx, app)
		return ui.ShowOverlay{Overlay: view.New(w.learnActions(), found)}, err
	})
}

func openProposals(ctx context.Context, app *core.App) (view.Listed, error) {
	list, err := app.Learn.Proposals()
	if err != nil {
		return view.Listed{}, err
	}
	stand, err := app.Learn.Status(ctx)
	return view.Listed{Open: slices.DeleteFunc(list, func(p learn.Proposal) bool { return p.State != learn.StateOpen }), Stand: stand}, err
}

// markTurn keeps the person's word about a turn.
func (w *workbench) markTurn(t learn.Turn, says learn.Outcome, why string) tea.Cmd {
	return w.task(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		if t == (learn.Turn{}) {
			t.Ref = uid
		}
		m, err := app.Learn.ToggleMark(t, says, why)
		if err != nil {
			return nil, err
		}
		return ui.ShowUndo{Text: m.Words(), Undo: func() tea.Msg {
			if _, err := app.Learn.SetMark(learn.Turn{Ref: m.Of.ID}, m.Was); err != nil {
				return ui.Toast(event.Error, "%v", err)
			}
			return nil
		}}, nil
	})
}

// markMessage marks the turn of a message.
func (w *workbench) markMessage(uid string, message int64, good bool) tea.Cmd {
	says := learn.Bad
	if good {
		says = learn.Good
	}
	return w.markTurn(learn.Turn{Session: uid, Message: message}, says, "")
}

// markLast marks the last turn of the session.
func (w *workbench) markLast(says learn.Outcome) func(string) tea.Cmd {
	return func(why string) tea.Cmd { return w.markTurn(learn.Turn{}, says, why) }
}

func (w *workbench) learnActions() view.Actions {
	return view.Actions{
		Scan: func() tea.Cmd {
			return w.task(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return openProposals(ctx, app)
			})
		},
		Accept: func(id string) tea.Cmd {
			return w.task(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return acceptProposal(ctx, app, id, nil)
			})
		},
		Refuse: func(id string, never bool) tea.Cmd {
			return w.task(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				if err := app.Learn.Refuse(id, never); err != nil {
					return nil, err
				}
				return openProposals(ctx, app)
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
	found, err := openProposals(ctx, app)
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
