package workbench

import (
	"context"
	"errors"

	"hermes/core"
	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/panes/conversation"
	"hermes/panes/output"
)

// talker gives the conversation pane its transcript and its agent.
type talker struct{ b *booting }

var (
	_ conversation.Transcript = talker{}
	_ conversation.Agent      = talker{}
	_ output.History          = talker{}
)

func (t talker) Page(ctx context.Context, uid string, beforeSeq, limit int) ([]chat.Message, bool, error) {
	return t.readMessages(ctx, uid, session.Page{BeforeSeq: beforeSeq, Limit: limit})
}

func (t talker) Around(ctx context.Context, uid string, id int64, limit int) ([]chat.Message, bool, error) {
	return t.readMessages(ctx, uid, session.Page{AroundID: id, Limit: limit})
}

// Recent gives the output pane the newest messages of a session. It resumes nothing: the
// conversation pane does, and must be the first, so that it never reads a call that a crash left
// open and that is being closed at this moment.
func (t talker) Recent(ctx context.Context, uid string, limit int) ([]chat.Message, error) {
	app, fresh, err := t.storedSession(ctx, uid)
	if fresh || err != nil {
		return nil, err
	}
	msgs, _, err := app.History().Messages(ctx, uid, session.Page{Limit: limit})
	return msgs, err
}

func (t talker) readMessages(ctx context.Context, uid string, p session.Page) ([]chat.Message, bool, error) {
	app, fresh, err := t.storedSession(ctx, uid)
	if fresh || err != nil {
		return nil, false, err
	}
	if _, err := app.Resume(ctx, uid); err != nil {
		return nil, false, err
	}
	return app.History().Messages(ctx, uid, p)
}

// storedSession returns the App, and whether the session is not in its store yet.
func (t talker) storedSession(ctx context.Context, uid string) (app *core.App, fresh bool,
	err error,
) {
	if app, err = t.b.waitForApp(ctx); err != nil {
		return nil, false, err
	}
	fresh, err = isFresh(ctx, app.Sessions, uid)
	return app, fresh, err
}

func (t talker) Submit(ctx context.Context, uid, text string, att []chat.Part, mode event.InputMode) error {
	return t.b.doInApp(ctx, func(app *core.App) error {
		return app.Submit(ctx, uid, agent.Input{From: chat.Person(), Text: text, Parts: att, Mode: mode})
	})
}

func (t talker) contentPath(blob string) string {
	app, ok := t.b.appIfReady()
	if !ok {
		return ""
	}
	return app.Sessions.ContentPath(blob)
}

func (t talker) Interrupt(uid string) bool {
	app, ok := t.b.appIfReady()
	return ok && app.Interrupt(uid)
}

func (t talker) Busy(uid string) bool {
	app, ok := t.b.appIfReady()
	return ok && app.Agent.Busy(uid)
}

func (t talker) Waiting(uid string) ([]event.ApprovalAsked, []event.QuestionAsked) {
	app, ok := t.b.appIfReady()
	if !ok {
		return nil, nil
	}
	return app.Gate.Pending(uid), app.Agent.Questions(uid)
}

// sessionStanding is Busy and Waiting for the status row.
func (t talker) sessionStanding(uid string) (busy bool, waits []string) {
	asks, questions := t.Waiting(uid)
	for _, a := range asks {
		waits = append(waits, a.ID)
	}
	for _, q := range questions {
		waits = append(waits, q.ID)
	}
	return t.Busy(uid), waits
}

// hurrySession has a session ask its model again at once, when it waits to.
func (t talker) hurrySession(uid string) {
	if app, ok := t.b.appIfReady(); ok {
		app.Agent.Hurry(uid)
	}
}

func (t talker) Queue(uid string) []event.QueuedInput {
	app, ok := t.b.appIfReady()
	if !ok {
		return nil
	}
	return app.Agent.Queue(uid)
}

func (t talker) EditQueued(ctx context.Context, uid, id, text string) error {
	return t.b.doInApp(ctx, func(app *core.App) error { return app.Agent.EditQueued(ctx, uid, id, text) })
}

func (t talker) DropQueued(ctx context.Context, uid, id string) error {
	return t.b.doInApp(ctx, func(app *core.App) error { return app.Agent.DropQueued(ctx, uid, id) })
}

func (t talker) PromoteQueued(ctx context.Context, uid, id string, mode event.InputMode) error {
	return t.b.doInApp(ctx, func(app *core.App) error { return app.Agent.PromoteQueued(ctx, uid, id, mode) })
}

func (t talker) Resume(ctx context.Context, uid string) error {
	return t.b.doInApp(ctx, func(app *core.App) error { return app.Agent.Resume(ctx, uid) })
}

func (t talker) Answer(id string, d event.Decision) error {
	return t.b.doQuickly(func(_ context.Context, app *core.App) error { return app.Answer(id, d) })
}

func (t talker) AnswerEdited(id, command string) error {
	return t.b.doQuickly(func(_ context.Context, app *core.App) error { return app.AnswerEdited(id, command) })
}

func (t talker) AnswerQuestion(id, text string) error {
	return t.b.doQuickly(func(_ context.Context, app *core.App) error { return app.AnswerQuestion(id, text) })
}

// isFresh reports whether a session was not stored yet: its first prompt makes it.
func isFresh(ctx context.Context, s *session.Service, uid string) (bool, error) {
	_, err := s.Get(ctx, uid)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return false, err
}
