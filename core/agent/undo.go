package agent

import (
	"context"
	"errors"

	"hermes/core/chat"
)

// Undo takes back the last n exchanges of an idle session and returns the text of the first prompt taken back, so that
// it can be changed and sent again.
func (a *Agent) Undo(ctx context.Context, session string, n int) (prompt string, err error) {
	err = a.whenIdle(ctx, session, func(*worker) error {
		prompt, err = a.d.Sessions.Undo(ctx, session, max(n, 1))
		return err
	})
	return prompt, err
}

// Retry takes back the last answer of an idle session and asks for it again, with the same prompt and attachments.
func (a *Agent) Retry(ctx context.Context, session string) error {
	return a.whenIdle(ctx, session, func(w *worker) error {
		history, err := a.d.Sessions.History(ctx, session)
		if err != nil {
			return err
		}
		last := lastPrompt(history)
		if last < 0 {
			return errors.New("nothing to retry: the session has no prompt yet")
		}
		again := userMessage(history[last].Text, history[last].Attachments)
		if _, err := a.d.Sessions.Undo(ctx, session, 1); err != nil {
			return err
		}
		err = a.d.Sessions.Append(ctx, session, &again)
		return w.answer(again, err)
	})
}

// Drop runs remove, which takes a session away, while nothing can start in it and no other process works in it, and forgets
// the session when it worked.
func (a *Agent) Drop(ctx context.Context, session string, remove func() error) error {
	return a.whenIdle(ctx, session, func(*worker) error {
		if err := remove(); err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.workers, session)
		return nil
	})
}

// lastPrompt is the index of the last user message that Undo takes back first, -1 when there is none.
func lastPrompt(history []chat.Message) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role == chat.RoleUser {
			return i
		}
	}
	return -1
}

// whenIdle runs f while nothing else can start in the session.
func (a *Agent) whenIdle(ctx context.Context, session string, f func(w *worker) error) error {
	w, err := a.worker(ctx, session)
	if err != nil {
		return err
	}
	w.change.Lock()
	defer w.change.Unlock()
	if w.busy() {
		return ErrBusy
	}
	return w.alone(ctx, func() error { return f(w) })
}
