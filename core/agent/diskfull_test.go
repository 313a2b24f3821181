package agent

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/core/store"
)

// fullDisk keeps messages aside, as the store does when it cannot write its database, and takes
// nothing else.
type fullDisk struct {
	*session.Service
	full atomic.Bool
	kept atomic.Int32
}

func (f *fullDisk) refuse() error {
	f.kept.Add(1)
	return &store.SpilledError{Path: "workbench.db.spill.jsonl", Cause: errors.New("disk is full")}
}

func (f *fullDisk) Append(ctx context.Context, uid string, m *chat.Message) error {
	if f.full.Load() {
		return f.refuse()
	}
	return f.Service.Append(ctx, uid, m)
}

func (f *fullDisk) Seal(ctx context.Context, m *chat.Message) error {
	if f.full.Load() {
		return f.refuse()
	}
	return f.Service.Seal(ctx, m)
}

func (f *fullDisk) SaveQueue(ctx context.Context, uid string, q []event.QueuedInput) error {
	if f.full.Load() {
		return errors.New("disk is full")
	}
	return f.Service.SaveQueue(ctx, uid, q)
}

func onDisk(r *rig) *fullDisk {
	f := &fullDisk{Service: r.svc}
	r.deps.Sessions = f
	r.agent = New(r.deps)
	return f
}

func wantAside(t *testing.T, end event.TurnEnded) {
	t.Helper()
	if end.Reason != event.TurnFailed || !strings.Contains(end.Err, "safe") || !strings.Contains(end.Err, "spill.jsonl") || !strings.Contains(end.Hint, "do not send it again") {
		t.Fatalf("%+v", end)
	}
}

func TestAPromptThatIsKeptAsideIsAccepted(t *testing.T) {
	r := newRig(t, says("on"))
	f := onDisk(r)
	f.full.Store(true)
	r.submit("hello", "")
	wantAside(t, r.ended(1))
	r.idle()
	if f.kept.Load() != 1 || len(r.model.seen()) != 0 {
		t.Fatalf("kept %d times, %d model calls", f.kept.Load(), len(r.model.seen()))
	}
	f.full.Store(false)
	r.submit("continue", "")
	if end := r.ended(2); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
}

// What waits leaves the queue with the prompt that it became: it must not be sent twice.
func TestAQueuedPromptThatIsKeptAsideLeavesTheQueue(t *testing.T) {
	for _, mode := range []event.InputMode{event.InputQueue, event.InputSteer, event.InputInterrupt} {
		t.Run(string(mode), func(t *testing.T) {
			r, token := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("1"), says("2"))
			f := &fullDisk{Service: r.svc}
			r.deps.Sessions = &refusesPrompts{fullDisk: f}
			r.agent = New(r.deps)
			r.submit("one", "")
			first[event.ToolStarted](r.sink)
			r.submit("two", mode)
			if mode != event.InputInterrupt {
				token <- struct{}{}
			}
			last := 2
			if mode == event.InputSteer {
				last = 1
			}
			wantAside(t, r.ended(last))
			r.idle()
			if q := r.agent.Queue(r.uid); len(q) != 0 || f.kept.Load() != 1 {
				t.Fatalf("queue %q, kept %d times", texts(q), f.kept.Load())
			}
		})
	}
}

// refusesPrompts keeps prompts aside from the second on and takes the rest.
type refusesPrompts struct {
	*fullDisk
	prompts atomic.Int32
}

func (f *refusesPrompts) Append(ctx context.Context, uid string, m *chat.Message) error {
	if m.Role == chat.RoleUser && f.prompts.Add(1) > 1 {
		return f.refuse()
	}
	return f.fullDisk.Append(ctx, uid, m)
}

func TestAnAnswerAndAResultThatAreKeptAsideAreShownAndEndTheTurn(t *testing.T) {
	begun := make(chan struct{})
	r := newRig(t, func(_ context.Context, _ provider.Request, yield func(provider.Chunk, error) bool) {
		_ = yield(textChunk("the answer"), nil)
		<-begun
		_ = yield(endChunk(chat.FinishStop), nil)
	})
	f := onDisk(r)
	r.submit("hello", "")
	first[event.MessageStarted](r.sink)
	f.full.Store(true)
	close(begun)
	wantAside(t, r.ended(1))
	r.idle()
	if m := first[event.MessageSealed](r.sink).Message; m.Text != "the answer" {
		t.Errorf("%+v", m)
	}

	r, token := gatedRig(t, callsTools(fakeCall{"token", "{}"}))
	f = onDisk(r)
	r.submit("hello", "")
	first[event.ToolStarted](r.sink)
	f.full.Store(true)
	token <- struct{}{}
	wantAside(t, r.ended(1))
	r.idle()
	if got := first[event.ToolEnded](r.sink).Result.Text; got != "got" || len(r.model.seen()) != 1 {
		t.Errorf("%q, %d model calls", got, len(r.model.seen()))
	}
}
