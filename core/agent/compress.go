package agent

import (
	"context"
	"errors"
	"fmt"

	"hermes/core/chat"
	"hermes/core/event"
)

const (
	keepTurns = 2  // the newest exchanges stay word for word
	minGain   = 20 // percent of the tokens that a compression must save to be worth it
)

// Compress replaces the older part of a session, in what the model sees, by a summary. Focus says what must not get
// lost; it may be empty. The replaced messages stay in the store and are still found. It waits until the work is done;
// an interrupt or ctx ends it with the old context in place. A session with a running turn is refused.
func (a *Agent) Compress(ctx context.Context, session, focus string) error {
	failed := make(chan error, 1)
	err := a.whenIdle(ctx, session, func(w *worker) error {
		return w.start(func(t *turn) outcome {
			stop := context.AfterFunc(ctx, t.cancel)
			defer stop()
			failed <- t.compress(focus)
			return outcome{reason: event.TurnDone, silent: true}
		})
	})
	if err != nil {
		return err
	}
	return <-failed
}

func (t *turn) compress(focus string) error {
	if err := t.prepare(); err != nil {
		return err
	}
	return t.compact(focus)
}

// compact does the work on the history that the turn has.
func (t *turn) compact(focus string) error {
	cut := boundary(t.history)
	if cut == 0 {
		return fmt.Errorf("nothing to compress: only what is older than the last %d exchanges can be", keepTurns)
	}
	t.phase("compressing %s", plural(cut, "message"))
	before := estimate(t.history)
	text, err := t.summary(t.history[:cut], focus)
	if t.ctx.Err() != nil {
		return errors.New("the compression was stopped; nothing has changed")
	}
	if err != nil {
		text = digest(t.history[:cut], digestBytes)
		t.w.publish(event.Notice{
			Level: event.Warn, Text: "The model could not summarise (" + err.Error() + "); a plain extract is used instead.",
			Hint: "every message is still there to be read and searched",
		})
	}
	sum := chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: summaryHead + text + summaryTail}
	after := estimate(t.history[cut:]) + estimate([]chat.Message{sum})
	if after*100 > before*(100-minGain) {
		return fmt.Errorf("not compressed: it would save less than %d %% (%d of %d tokens)", minGain, max(0, before-after), before)
	}
	ctx, cancel := t.keep()
	defer cancel()
	if err := t.a.d.Sessions.Compact(ctx, t.w.uid, t.history[cut-1].ID, &sum); err != nil {
		return err
	}
	t.publish(event.Compressed{Before: before, After: after})
	return nil
}

// boundary is the index of the first message that stays: a prompt, so that no call is parted from its results.
func boundary(history []chat.Message) int {
	turns := 0
	for i := len(history) - 1; i > 0; i-- {
		if history[i].Role != chat.RoleUser || history[i-1].Role == chat.RoleTool {
			continue
		}
		if turns++; turns == keepTurns {
			return i
		}
	}
	return 0
}

// estimate counts tokens, four bytes each, envelopes and reasoning included.
func estimate(messages []chat.Message) int {
	const envelope = 16
	bytes := 0
	for _, m := range messages {
		bytes += envelope + len(m.Text) + len(m.Reasoning)
		for _, c := range m.Calls {
			bytes += envelope + len(c.Name) + len(c.Args) + len(c.Invalid)
		}
		for _, a := range m.Attachments {
			bytes += len(a.Text)
		}
		if m.Result != nil {
			bytes += len(m.Result.Text)
		}
	}
	return bytes / 4
}
