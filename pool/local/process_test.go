package local

import (
	"context"
	"testing"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/pool"
)

// The end of a process in the background is told once, however it ended.
func TestTheEndOfAProcessIsTold(t *testing.T) {
	kind := New()
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	p, err := pool.New(pool.Config{}, map[string]pool.Kind{Name: kind}, bus)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	for _, command := range []string{"exit 3", "exec sleep 100"} {
		if _, err := p.Start(ctx, backend.Request{Session: "s", CallID: "call", Command: command}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Wait(ctx, "s", "p1", 0); err != nil {
		t.Fatal(err)
	}
	if err := p.CloseSession(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	got := map[string]event.ProcessEnded{}
	for _, e := range box.Drain() {
		if end, ok := e.Event.(event.ProcessEnded); ok {
			if _, twice := got[end.ID]; twice || e.Session != "s" || end.CallID != "call" || end.Backend != "default" || end.Took <= 0 {
				t.Errorf("%+v", e)
			}
			got[end.ID] = end
		}
	}
	if len(got) != 2 || got["p1"].ExitCode != 3 || got["p1"].Command != "exit 3" || got["p2"].ExitCode != 143 {
		t.Errorf("%+v", got)
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := kind.Close(ctx); err != nil {
		t.Error(err)
	}
}
