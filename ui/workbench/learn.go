package workbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/learn"
	"hermes/core/session"
	view "hermes/panes/learn"
	"hermes/skills"
	"hermes/ui"
)

// learnOverlay shows what was learned and waits for a word.
func (w *workbench) learnOverlay(string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
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
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		meant := t
		if t == (learn.Turn{}) {
			var err error
			if meant, err = lastTurn(ctx, app.History(), uid); err != nil {
				return nil, err
			}
		}
		m, err := app.Learn.ToggleMark(meant, says, why)
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

// pager reads the messages of a session.
type pager interface {
	Messages(ctx context.Context, uid string, p session.Page) ([]chat.Message, bool, error)
}

// lastTurn names the last turn of a session by its newest message: what is kept of turns may end
// with an older one.
func lastTurn(ctx context.Context, history pager, uid string) (learn.Turn, error) {
	const some = 10 // a summary is of no turn
	list, _, err := history.Messages(ctx, uid, session.Page{Limit: some})
	if err != nil {
		return learn.Turn{}, err
	}
	for _, m := range slices.Backward(list) {
		if !m.From.IsSummary() {
			return learn.Turn{Session: uid, Message: m.ID}, nil
		}
	}
	return learn.Turn{}, errors.New("there is no turn in this session yet")
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
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return openProposals(ctx, app)
			})
		},
		Accept: func(id string) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return acceptProposal(ctx, app, id, nil)
			})
		},
		Refuse: func(id string, never bool) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
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
	said := fmt.Sprintf("%s has version %d; new sessions see it, u in /skills takes it back", skills.DescribeKey(p.Skill), p.Version)
	return tea.BatchMsg{
		func() tea.Msg { return found },
		func() tea.Msg { return ui.Toast(event.Info, "%s", said) },
	}, err
}

// editProposal opens what is proposed in the editor; what is saved is accepted.
func (w *workbench) editProposal(p learn.Proposal) tea.Cmd {
	return func() tea.Msg {
		dir, err := os.MkdirTemp("", "hermes-learn-")
		path := filepath.Join(dir, p.FileName())
		if err == nil {
			err = os.WriteFile(path, []byte(p.After), 0o600)
		}
		if err != nil {
			return ui.Toast(event.Error, "%v", err)
		}
		return ui.RunProcess{Cmd: editorCommand(path, 0), Done: func(err error) tea.Msg {
			defer func() { _ = os.RemoveAll(dir) }()
			if err != nil {
				return ui.Toast(event.Error, "editor: %v; set VISUAL or EDITOR to the editor that you want", err)
			}
			data, err := os.ReadFile(path)
			app, ok := w.boot.appIfReady()
			if err != nil || !ok {
				return ui.Toast(event.Error, "what was edited cannot be read: %v", err)
			}
			text := string(data)
			done, err := app.Learn.Accept(context.Background(), p.ID, "user", &text)
			if err != nil {
				return ui.Toast(event.Error, "%v", err)
			}
			app.Skills.Changed()
			return ui.Toast(event.Info, "%s has version %d; u in /skills takes it back", skills.DescribeKey(done.Skill), done.Version)
		}}
	}
}
