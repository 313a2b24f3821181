package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/core/store"
)

// leased is the store's view of sessions, with another process in between.
type leased struct {
	*session.Service
	elsewhere atomic.Bool
	mine      atomic.Int32
}

func (l *leased) Lease(ctx context.Context, uid string) (func(), error) {
	if l.elsewhere.Load() {
		return nil, &store.InUseError{UID: uid, PID: 4711}
	}
	release, err := l.Service.Lease(ctx, uid)
	l.mine.Add(1)
	return func() { release(); l.mine.Add(-1) }, err
}

// While another process works in a session, nothing here changes it; a turn has the session from
// its prompt to its end.
func TestTurnsLeaseTheirSession(t *testing.T) {
	r, token := gatedRig(t, callsTools(fakeCall{"token", "{}"}), says("done"))
	l := &leased{Service: r.svc}
	r.deps.Sessions = l
	r.agent = New(r.deps)
	ctx := context.Background()
	l.elsewhere.Store(true)
	_, undo := r.agent.Undo(ctx, r.uid, 1)
	for what, err := range map[string]error{
		"submit": r.agent.Submit(ctx, r.uid, Input{Text: "hello"}), "retry": r.agent.Retry(ctx, r.uid), "undo": undo,
		"compress": r.agent.Compress(ctx, r.uid, ""),
		"drop": r.agent.Drop(ctx, r.uid, func() error {
			t.Error("dropped although another process works in it")
			return nil
		}),
	} {
		var used *store.InUseError
		if !errors.As(err, &used) || used.PID != 4711 {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantShape(t, r)
	l.elsewhere.Store(false)
	if _, err := r.agent.Undo(ctx, r.uid, 1); err == nil || l.mine.Load() != 0 {
		t.Errorf("undo of nothing: %v, and %d leases are left", err, l.mine.Load())
	}
	r.submit("hello", "")
	token <- struct{}{}
	if l.mine.Load() != 1 {
		t.Errorf("%d leases while a turn runs", l.mine.Load())
	}
	r.idle()
	if l.mine.Load() != 0 {
		t.Errorf("%d leases after it", l.mine.Load())
	}
	wantShape(t, r, "user:hello", "assistant:+1", "tool:got", "assistant:done")
}

// What another process left half done is closed when a turn takes the session up, also long after
// it was opened here.
func TestTurnClosesWhatAnotherProcessLeft(t *testing.T) {
	r := newRig(t, says("one"), says("two"))
	r.submit("a", "")
	r.idle()
	for _, m := range []chat.Message{
		{Role: chat.RoleUser, Text: "b"},
		{Role: chat.RoleAssistant, Text: "half", Status: chat.StatusPartial, Calls: []chat.ToolCall{{ID: "x", Name: "echo"}}},
	} {
		if err := r.svc.Append(context.Background(), r.uid, &m); err != nil {
			t.Fatal(err)
		}
	}
	r.submit("c", "")
	r.idle()
	got := shape(r.history())
	if len(got) != 7 || got[3] != "assistant:half+1!cancelled" || got[5] != "user:c" || got[6] != "assistant:two" {
		t.Errorf("%q", got)
	}
}

// A screen that was open while another process worked in the session reads it anew with the next
// turn, and only then.
func TestScreensCatchUpWithAnotherProcess(t *testing.T) {
	r := newRig(t, says("one"), callsTools(fakeCall{"echo", `{"text":"x"}`}), says("two"), says("three"))
	changed := func(turns int) (n int) {
		r.ended(turns)
		r.sink.until(func(all []event.Envelope) bool {
			n = 0
			for _, e := range all {
				if _, ok := e.Event.(event.HistoryChanged); ok {
					n++
				}
			}
			return true
		})
		return n
	}
	for i, text := range []string{"a", "b"} {
		r.submit(text, "")
		r.idle()
		if n := changed(i + 1); n != 0 {
			t.Errorf("turn %d: read anew %d times, though nobody else was there", i+1, n)
		}
	}
	if err := r.svc.Append(context.Background(), r.uid, &chat.Message{Role: chat.RoleUser, Text: "from elsewhere"}); err != nil {
		t.Fatal(err)
	}
	r.submit("c", "")
	r.idle()
	if n := changed(3); n != 1 {
		t.Errorf("read anew %d times", n)
	}
}
