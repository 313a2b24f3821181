package workbench

import (
	"context"
	"testing"

	"hermes/core/chat"
	"hermes/core/learn"
	"hermes/core/session"
)

// pages is a session of one page.
type pages []chat.Message

func (p pages) Messages(context.Context, string, session.Page) ([]chat.Message, bool, error) {
	return p, false, nil
}

// The last turn is that of the newest message that somebody said, whatever is kept of turns.
func TestTheLastTurnIsThatOfTheNewestMessage(t *testing.T) {
	t.Parallel()
	got, err := lastTurn(t.Context(), pages{{ID: 4, From: chat.Person()}, {ID: 7}, {ID: 9, From: chat.Summary()}}, "s")
	if err != nil || got != (learn.Turn{Session: "s", Message: 7}) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := lastTurn(t.Context(), pages{}, "s"); err == nil {
		t.Error("an empty session has a last turn")
	}
}
