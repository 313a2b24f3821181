package learn

import (
	"context"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
)

// A review that a turn interrupts writes nothing beside it: its claim stays until the turn is over,
// and then the model is asked again.
func TestNothingIsWrittenBesideATurn(t *testing.T) {
	t.Parallel()
	s := settings(Propose)
	s.Alike, s.Every = 1, 0
	d := newDesk(t, s)
	asked, broken := make(chan int), make(chan int)
	d.o.Ask = func(ctx context.Context, _, _, _ string) (string, error) {
		asked <- 1
		<-ctx.Done()
		broken <- 1
		return "", ctx.Err()
	}
	ctx, stop := context.WithCancel(t.Context())
	claimed := func() time.Time {
		st, err := d.file.readState()
		if err != nil || len(st.Due) != 1 {
			t.Fatalf("%+v, %v", st.Due, err)
		}
		return st.Due[0].Taken
	}
	d.turn(1, "make it work", "go test ./...", 0, event.TurnEnded{})
	d.beginReview(ctx)
	<-asked
	first := claimed()
	if first.IsZero() {
		t.Fatal("it is not claimed")
	}
	h := event.Header{Session: "s", Turn: "t2", At: d.now}
	d.takeEvent(ctx, event.Envelope{Header: h, Event: event.MessageAdded{Message: chat.Message{Role: chat.RoleUser, Text: "go on", From: chat.Person()}}})
	d.takeEvent(ctx, event.Envelope{Header: h, Event: event.TurnStarted{Model: "m"}})
	<-broken
	for range 200 { // whatever it would write now it would write at once
		if !claimed().Equal(first) {
			t.Fatal("it was given back while the turn goes on")
		}
	}
	d.takeEvent(ctx, event.Envelope{Header: h, Event: event.TurnEnded{Reason: event.TurnDone}})
	<-asked // again, without waiting for another turn
	stop()
	<-broken
	d.work.Wait()
	if !claimed().IsZero() {
		t.Error("it was not given back at the end")
	}
}

// The count is that of the file, whoever changed it.
func TestWaitingIsWhatTheFileSays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, settings(Propose))
	if n := d.Waiting(); n != 0 {
		t.Errorf("%d wait, and nothing is kept", n)
	}
	other := New(d.o)
	for want := 1; want < 4; want++ {
		p := Proposal{Kind: KindCreate, Skill: "a", After: "x"}
		if _, err := other.keepProposal(p); err != nil {
			t.Fatal(err)
		}
		if n := d.Waiting(); n != want {
			t.Errorf("%d wait, want %d", n, want)
		}
	}
}
