package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/core/clip"
	"hermes/core/content"
	"hermes/core/event"
	"hermes/core/secret"
)

// Submit takes what somebody says. It returns once the text is safe: stored as a prompt when the
// session is idle, else in the stored queue. In mode interrupt the running turn is stopped; in mode
// steer the model sees the text at its next step.
func (a *Agent) Submit(ctx context.Context, session string, in Input) error {
	if strings.TrimSpace(in.Text) == "" && len(in.Parts) == 0 {
		return errors.New("nothing to send: the message is empty")
	}
	w, err := a.workerOf(ctx, session)
	if err != nil {
		return err
	}
	if names := in.Names(); strings.Contains(names, "@") {
		info, err := a.d.Sessions.Get(ctx, session)
		if err != nil {
			return err
		}
		in.Parts = slices.Concat(in.Parts, content.Mentioned(info.Cwd, names, in.Parts...))
	}
	in.Parts = a.readDocuments(ctx, in.Parts)
	in = w.hideSecrets(in)
	in.Parts = a.d.Sessions.KeepParts(ctx, session, in.Parts)
	w.change.Lock()
	defer w.change.Unlock()
	if w.isBusy() {
		return w.enqueueInput(ctx, in)
	}
	if a.isClosed() {
		return ErrClosed
	}
	return w.withLease(ctx, func() error {
		prompt := userMessage(in.From, in.Text, in.Parts)
		err := a.d.Sessions.Append(ctx, session, &prompt)
		return w.answerPrompt(prompt, err)
	})
}

// hideSecrets hides secrets in what a person typed or pasted, before it is kept anywhere, and says
// so.
func (w *worker) hideSecrets(in Input) Input {
	in.From.ID = oneLine(secret.Clean(in.From.ID))
	text := secret.Clean(in.Text)
	hidden := text != in.Text
	in.Text, in.Parts = text, slices.Clone(in.Parts)
	for i, a := range in.Parts {
		in.Parts[i].Text = secret.Clean(a.Text)
		hidden = hidden || in.Parts[i].Text != a.Text
	}
	if hidden && !in.From.Other() {
		w.publish(event.Notice{
			Level: event.Warn, Text: "a secret in your message was hidden: neither the model nor the disk has it",
			Hint: "put it into .env and name it in terminal.env_passthrough, so that commands can use it; security.redact_secrets: false sends messages as they are",
		})
	}
	return in
}

// oneLine bounds a name that somebody else chose.
func oneLine(s string) string { return clip.Runes(strings.Join(strings.Fields(s), " "), 80, "…") }

// enqueueInput keeps input that came while a turn runs. What interrupts or steers goes before what
// waits for its turn.
func (w *worker) enqueueInput(ctx context.Context, in Input) error {
	in.Mode = cmp.Or(in.Mode, w.a.d.Settings(w.uid).Busy, event.InputInterrupt)
	item := event.QueuedInput{ID: w.a.newQueueID(), From: in.From, Text: in.Text, Mode: in.Mode, Parts: slices.Clone(in.Parts)}
	err := w.setQueue(ctx, func(q []event.QueuedInput) []event.QueuedInput { return slices.Insert(q, queuePlace(q, in.Mode), item) })
	if err != nil {
		return err
	}
	w.releaseQueue()
	if in.Mode == event.InputInterrupt {
		w.interruptTurn()
	}
	return nil
}

// queuePlace is where an item of a mode belongs: behind those of its kind, interrupts first, then
// steers, then the rest.
func queuePlace(q []event.QueuedInput, mode event.InputMode) int {
	rank := map[event.InputMode]int{event.InputInterrupt: 0, event.InputSteer: 1, event.InputQueue: 2}
	for i, x := range q {
		if rank[x.Mode] > rank[mode] {
			return i
		}
	}
	return len(q)
}

// releaseQueue lets the queue go on: a person who adds to it sees what is in it.
func (w *worker) releaseQueue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
}

// Queue returns what waits in a session, first to be taken up first.
func (a *Agent) Queue(session string) []event.QueuedInput {
	w := a.knownWorker(session)
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.queue)
}

// Open loads what a crash or a restart left in a session's queue and publishes it. It starts
// nothing. Call it when a session is resumed.
func (a *Agent) Open(ctx context.Context, session string) error {
	_, err := a.workerOf(ctx, session)
	return err
}

// EditQueued replaces the text of a queued input. Its author stays: who edits a text of somebody
// else has not written all of it.
func (a *Agent) EditQueued(ctx context.Context, session, id, text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the new text is empty: drop the queued message instead")
	}
	return a.changeQueued(ctx, session, id, func(q []event.QueuedInput, i int) []event.QueuedInput {
		q[i].Text = secret.Clean(text)
		return q
	})
}

// DropQueued removes a queued input.
func (a *Agent) DropQueued(ctx context.Context, session, id string) error {
	return a.changeQueued(ctx, session, id, func(q []event.QueuedInput, i int) []event.QueuedInput {
		return slices.Delete(q, i, i+1)
	})
}

// PromoteQueued changes the mode of a queued input, as if it were submitted with that mode now.
// When the session is idle it becomes the next prompt at once.
func (a *Agent) PromoteQueued(ctx context.Context, session, id string, mode event.InputMode) error {
	err := a.changeQueued(ctx, session, id, func(q []event.QueuedInput, i int) []event.QueuedInput {
		item := q[i]
		item.Mode = mode
		q = slices.Delete(q, i, i+1)
		return slices.Insert(q, queuePlace(q, mode), item)
	})
	if err != nil {
		return err
	}
	w := a.knownWorker(session)
	w.change.Lock()
	defer w.change.Unlock()
	w.releaseQueue()
	if !w.isBusy() {
		return w.startQueued(ctx)
	}
	if mode == event.InputInterrupt {
		w.interruptTurn()
	}
	return nil
}

// Resume sends on what a crash, a failure or an interrupt left in the queue.
func (a *Agent) Resume(ctx context.Context, session string) error {
	w, err := a.workerOf(ctx, session)
	if err != nil {
		return err
	}
	w.change.Lock()
	defer w.change.Unlock()
	w.releaseQueue()
	if w.isBusy() {
		return nil
	}
	return w.startQueued(ctx)
}

// startQueued begins a turn with the head of the queue. The caller holds change and knows that
// nothing runs.
func (w *worker) startQueued(ctx context.Context) error {
	items := w.takeUp(event.TurnDone)
	if len(items) == 0 {
		return nil
	}
	return w.withLease(ctx, func() error {
		prompt := joinInputs(items)
		err := w.acceptPrompt(ctx, &prompt, items)
		return w.answerPrompt(prompt, err)
	})
}

func (a *Agent) changeQueued(ctx context.Context, session, id string, edit func([]event.QueuedInput, int) []event.QueuedInput) error {
	w, err := a.workerOf(ctx, session)
	if err != nil {
		return err
	}
	w.change.Lock()
	defer w.change.Unlock()
	i := slices.IndexFunc(a.Queue(session), func(x event.QueuedInput) bool { return x.ID == id })
	if i < 0 {
		return fmt.Errorf("queued message %s is gone: it was sent on or dropped", id)
	}
	return w.setQueue(ctx, func(q []event.QueuedInput) []event.QueuedInput { return edit(q, i) })
}
