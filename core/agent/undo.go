package agent

import (
	"context"
	"fmt"

	"hermes/core/chat"
)

// Undo takes back the last n exchanges of an idle session, or the compression that came after them,
// and returns the first prompt taken back, so that it can be changed and sent again.
func (a *Agent) Undo(ctx context.Context, session string, n int) (prompt chat.Message, err error) {
	err = a.whenIdle(ctx, session, func(*worker) error {
		prompt, err = a.d.Sessions.Undo(ctx, session, max(n, 1))
		return err
	})
	return prompt, err
}

// Retry takes back the last answer of an idle session and asks for it again, with the same prompt
// and its parts.
func (a *Agent) Retry(ctx context.Context, session string) error {
	return a.whenIdle(ctx, session, func(w *worker) error {
		last, err := a.lastPrompt(ctx, session)
		if err != nil {
			return err
		}
		again := userMessage(last.From, last.Text, last.Parts)
		err = a.d.Sessions.Append(ctx, session, &again)
		return w.answerPrompt(again, err)
	})
}

// Drop runs remove, which takes a session away, while nothing can start in it and no other process
// works in it, and forgets the session when it worked.
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

// lastPrompt takes back the last exchange and returns its prompt. A compression that came after it
// goes first.
func (a *Agent) lastPrompt(ctx context.Context, session string) (chat.Message, error) {
	for {
		m, err := a.d.Sessions.Undo(ctx, session, 1)
		if err != nil {
			return m, fmt.Errorf("nothing to retry: %w", err)
		}
		if m.ID != 0 {
			return m, nil
		}
	}
}

// whenIdle runs f while nothing else can start in the session.
func (a *Agent) whenIdle(ctx context.Context, session string, f func(w *worker) error) error {
	w, err := a.workerOf(ctx, session)
	if err != nil {
		return err
	}
	w.change.Lock()
	defer w.change.Unlock()
	if w.isBusy() {
		return ErrBusy
	}
	return w.withLease(ctx, func() error { return f(w) })
}
