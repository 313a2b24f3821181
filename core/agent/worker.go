package agent

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/chat"
	"hermes/core/crash"
	"hermes/core/event"
)

// storeTime bounds a write that must happen although its turn was interrupted.
const storeTime = 30 * time.Second

// worker is one session's side of the agent. Two locks: change orders everything that alters the
// queue or starts a turn and is held over the store; mu guards the fields and is never held over
// anything slow, so that a screen can ask at any time.
type worker struct {
	a   *Agent
	uid string

	change sync.Mutex
	loaded bool   // by change
	lease  func() // by change: ends what keeps other processes out; nil when nothing runs

	// By the running turn.
	pruned    cut       // what is shown to the model as one line
	tryAt     int       // tokens from which on a compression that failed is tried again
	useless   int       // compressions in a row that saved too little
	coolUntil time.Time // no model is asked for a summary before
	told      bool      // hooks know of the session

	// sent is pruned as the last request had it, for who asks from outside.
	sent atomic.Pointer[cut]

	warned sync.Map // texts that were told once

	strange atomic.Pointer[string] // why what the session remembers may not be the person's wish; nil when nothing is known

	// seen is how many messages the session had when this process last looked: more at the next
	// turn, and another process was at work.
	seen atomic.Int64

	mu      sync.Mutex
	given   *given // the tools that the session was given; nil when they are not read yet, or there are none
	offered string // what it was told last that it could take instead
	queue   []event.QueuedInput
	held    bool // the queue waits for a person
	turn    *turn
	idle    chan struct{} // closed when the turn's goroutine has nothing more to do; nil when none ran
}

// loadQueue reads the stored queue once. What a crash left there is shown and held.
func (w *worker) loadQueue(ctx context.Context) error {
	w.change.Lock()
	defer w.change.Unlock()
	if w.loaded {
		return nil
	}
	q, err := w.a.d.Sessions.LoadQueue(ctx, w.uid)
	if err != nil {
		return err
	}
	w.loaded = true
	if info, err := w.a.d.Sessions.Get(ctx, w.uid); err == nil {
		w.seen.Store(int64(info.Messages))
	}
	if len(q) == 0 {
		return nil
	}
	w.mu.Lock()
	w.queue, w.held = q, true
	w.mu.Unlock()
	w.publish(event.QueueChanged{Items: slices.Clone(q)})
	return nil
}

func (w *worker) publish(e event.Event) { w.a.d.Bus.Publish(event.Header{Session: w.uid}, e) }

func (w *worker) isBusy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turn != nil
}

func (w *worker) interruptTurn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn == nil {
		return false
	}
	w.turn.cancel()
	return true
}

func (w *worker) waitIdle(ctx context.Context) error {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withLease runs f, which changes the conversation or starts a turn, while no other process works
// in the session. The caller holds change and knows that nothing runs. A turn that f started keeps
// the session until it is over.
func (w *worker) withLease(ctx context.Context, f func() error) (err error) {
	if w.lease, err = w.a.d.Sessions.Lease(ctx, w.uid); err != nil {
		return err
	}
	err = f()
	if !w.isBusy() {
		w.leaveSession()
	}
	return err
}

// leaveSession lets other processes work in the session. The caller holds change.
func (w *worker) leaveSession() {
	if w.lease != nil {
		w.lease()
		w.lease = nil
	}
}

// job is what a turn does; it ends the turn itself by its outcome.
type job func(t *turn) outcome

// startJob runs a job in the session's goroutine. The caller holds change and knows that nothing
// runs.
func (w *worker) startJob(j job) error {
	w.a.mu.Lock()
	defer w.a.mu.Unlock() // Close sees either no turn, or one that it can interrupt
	if w.a.closed {
		return ErrClosed
	}
	idle := make(chan struct{})
	first := newTurn(w)
	w.mu.Lock()
	w.turn, w.idle = first, idle
	w.mu.Unlock()
	crash.Go("session "+w.uid, func() {
		defer close(idle)
		for t := first; t != nil; {
			out := t.runJob(j)
			t, j = w.endTurn(t, out)
		}
	})
	return nil
}

// endTurn ends a turn and takes up what waits: the next turn and its job, or nil when the session
// becomes idle.
func (w *worker) endTurn(t *turn, out outcome) (*turn, job) {
	w.change.Lock()
	defer w.change.Unlock()
	defer t.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	items := w.takeUp(out.reason)
	var following *turn
	var answer job
	if len(items) > 0 {
		following = newTurn(w)
		prompt := joinInputs(items)
		err := w.acceptPrompt(ctx, &prompt, items)
		answer = answerJob(prompt, err)
		if err != nil && !keptInSpillFile(err) {
			following.cancel()
			following = nil
			w.publish(event.Notice{Level: event.Error, Text: "The queued message could not be saved and stays in the queue: " + err.Error()})
		}
	}
	waiting := w.setTurn(following)
	t.endFiles()
	t.endTurn(out)
	if following != nil {
		return following, answer
	}
	w.leaveSession()
	if waiting > 0 && !out.silent {
		w.noteHeld(waiting)
	}
	return nil, nil
}

// setTurn makes t the running turn, nil for none, and tells how many messages go on waiting then.
func (w *worker) setTurn(t *turn) int {
	w.a.mu.Lock()
	defer w.a.mu.Unlock() // as in start: Close interrupts every turn that began before it, and later ones here
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn = t
	switch {
	case t == nil:
		w.held = w.held || len(w.queue) > 0
	case w.a.closed:
		t.cancel()
	}
	return len(w.queue)
}

func (w *worker) noteHeld(n int) {
	w.publish(event.Notice{
		Level: event.Info, Text: plural(n, "queued message") + " kept and not sent, because the turn did not end by itself.",
		Do: []event.Remedy{event.RemedyShowQueue},
	})
}

// takeUp chooses what the next turn begins with: messages that interrupted, joined; else the first
// of the queue. After a turn that did not end well only what interrupted it goes on.
func (w *worker) takeUp(reason event.TurnReason) []event.QueuedInput {
	closed := w.a.isClosed() // before mu: the agent's lock comes first
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || closed {
		return nil
	}
	n := 0
	for n < len(w.queue) && w.queue[n].Mode == event.InputInterrupt {
		n++
	}
	if n > 0 {
		return slices.Clone(sameAuthor(w.queue[:n]))
	}
	if w.held || reason != event.TurnDone {
		return nil
	}
	for n < len(w.queue) && w.queue[n].Mode == event.InputSteer {
		n++
	}
	return slices.Clone(sameAuthor(w.queue[:max(n, 1)]))
}

// sameAuthor is the beginning of a queue that one author wrote: what a person says is never one
// message with what others say.
func sameAuthor(q []event.QueuedInput) []event.QueuedInput {
	n := 1
	for n < len(q) && q[n].From == q[0].From {
		n++
	}
	return q[:n]
}

// acceptPrompt stores prompt and takes items, of which it was made, out of the queue. In this
// order: a crash between the two leaves a message twice, never nowhere. A prompt that is kept aside
// leaves the queue too; the error says so.
func (w *worker) acceptPrompt(ctx context.Context, prompt *chat.Message, items []event.QueuedInput) error {
	stored := w.a.d.Sessions.Append(ctx, w.uid, prompt)
	if stored != nil && !keptInSpillFile(stored) {
		return stored
	}
	rest := slices.DeleteFunc(w.a.Queue(w.uid), func(x event.QueuedInput) bool {
		return slices.ContainsFunc(items, func(y event.QueuedInput) bool { return x.ID == y.ID })
	})
	err := w.a.d.Sessions.SaveQueue(ctx, w.uid, rest)
	if err != nil && stored == nil {
		return err
	}
	w.showQueue(rest) // also when it could not be saved for the same reason: the next change saves it
	return stored
}

// setQueue changes the queue, in the store first. The caller holds change.
func (w *worker) setQueue(ctx context.Context, edit func([]event.QueuedInput) []event.QueuedInput) error {
	w.mu.Lock()
	q := edit(slices.Clone(w.queue))
	w.mu.Unlock()
	if err := w.a.d.Sessions.SaveQueue(ctx, w.uid, q); err != nil {
		return err
	}
	w.showQueue(q)
	return nil
}

// showQueue makes q the queue that everybody sees.
func (w *worker) showQueue(q []event.QueuedInput) {
	w.mu.Lock()
	w.queue = q
	if len(q) == 0 {
		w.held = false
	}
	w.mu.Unlock()
	w.publish(event.QueueChanged{Items: slices.Clone(q)})
}

// joinInputs makes one prompt of several inputs of one author, in order.
func joinInputs(items []event.QueuedInput) chat.Message {
	m := userMessage(items[0].From, items[0].Text, items[0].Parts)
	for _, i := range items[1:] {
		m.Text += "\n\n" + i.Text
		m.Parts = append(m.Parts, i.Parts...)
	}
	return m
}

func userMessage(from chat.Author, text string, files []chat.Part) chat.Message {
	return chat.Message{Role: chat.RoleUser, From: from, Status: chat.StatusFinal, Text: text, Parts: slices.Clone(files)}
}
