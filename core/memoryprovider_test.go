package core

import (
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
)

// A turn is told by its own words, though the next one has begun when its end is heard; a turn that
// somebody else began, or that did not end well, is told to nobody.
func TestAnExchangeIsOfItsTurn(t *testing.T) {
	said, told := exchanges{}, []exchange(nil)
	say := func(turn string, from chat.Author, text string) event.Envelope {
		return event.Envelope{Header: event.Header{Session: "s", Turn: turn}, Event: event.MessageAdded{Message: chat.Message{Role: chat.RoleUser, From: from, Text: text}}}
	}
	answer := func(turn, text string) event.Envelope {
		return event.Envelope{Header: event.Header{Session: "s", Turn: turn}, Event: event.MessageSealed{Message: chat.Message{Role: chat.RoleAssistant, Text: text}}}
	}
	end := func(turn string, why event.TurnReason) event.Envelope {
		return event.Envelope{Header: event.Header{Session: "s", Turn: turn}, Event: event.TurnEnded{Reason: why}}
	}
	for _, e := range []event.Envelope{
		say("t1", chat.Person(), "first"), answer("t1", "one"), say("t2", chat.Person(), "queued"), end("t1", event.TurnDone),
		answer("t2", "two"), end("t2", event.TurnDone),
		say("t3", chat.Author{Kind: chat.AuthorProcess}, "third"), answer("t3", "three"), end("t3", event.TurnDone),
		say("t4", chat.Person(), "fourth"), answer("t4", "four"), end("t4", event.TurnInterrupted),
	} {
		if x, whole := said.gather(e); whole {
			told = append(told, x)
		}
	}
	if len(told) != 2 || told[0].User != "first" || told[0].Answer != "one" || told[1].User != "queued" || told[1].Answer != "two" || len(said) > 0 {
		t.Errorf("%+v, left %v", told, said)
	}
}
