package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hermes/core/agent"
	"hermes/core/event"
	"hermes/core/store"
)

func TestDeleteSession(t *testing.T) {
	x := newPlace(t).open(nil)
	defer x.close()
	ctx := context.Background()
	if err := x.Submit(ctx, uid, agent.Input{Text: "ask which one?"}); err != nil {
		t.Fatal(err)
	}
	wait[event.QuestionAsked](x, nil) // the turn waits for a person
	if err := x.DeleteSession(ctx, uid); err == nil || !strings.Contains(err.Error(), "is working") {
		t.Fatal(err)
	}
	x.Agent.Interrupt(uid)
	if err := x.Agent.Wait(ctx, uid); err != nil {
		t.Fatal(err)
	}
	if len(x.pool.ended) != 0 {
		t.Fatal("processes of a session that stays were ended")
	}
	known := &recordingPart{closed: new([]string)}
	x.parts = append(x.parts, known)
	if err := x.DeleteSession(ctx, uid); err != nil {
		t.Fatal(err)
	}
	wait[event.SessionDeleted](x, nil)
	if !slices.Equal(x.pool.ended, []string{uid}) || known.forgot != uid {
		t.Errorf("ended %q, forgotten %q", x.pool.ended, known.forgot)
	}
	if _, open := x.open.Load(uid); open {
		t.Error("it counts as open still")
	}
	if err := x.DeleteSession(ctx, uid); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if end := x.say(uid, "$ true"); end.Reason != event.TurnDone { // the same name begins anew
		t.Errorf("%+v", end)
	}
}
