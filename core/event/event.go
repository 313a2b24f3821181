// Package event is the vocabulary of everything that happens in the program, and the one bus that
// carries it.
//
// The contract:
//
//   - One Bus, one sequence. Every event gets the next sequence number, and every subscriber sees
//     events in that order.
//   - An event is a Fact or a Delta; the type decides. Facts are never merged and never dropped.
//     Deltas merge by key inside a subscriber's Mailbox while they wait: text and tool output
//     append, statistics keep the latest.
//   - A delta never moves across a fact of the same session. A sealed message cannot overtake its
//     last delta.
//   - Publish never blocks and never drops. Past a hard cap a mailbox becomes one explicit Resync:
//     the subscriber then reloads from the store, where every fact was written before it was
//     published.
//   - Appending deltas carry the byte offset of their first byte, so a gap or a repeat is
//     detectable.
//
// It imports the standard library and core/chat (plain data) only. Start reading here.
package event

import "time"

// Event is anything that can happen. The set is sealed: only this package declares events. Publish
// values, not pointers.
type Event interface{ isEvent() }

// Fact is an event that is never merged and never dropped.
type Fact interface {
	Event
	isFact()
}

// Delta is an event that merges with a waiting one of the same key.
type Delta interface {
	Event
	key() deltaKey
}

// Header says when and where an event belongs.
type Header struct {
	Seq     uint64    `json:"seq"`               // set by the bus
	At      time.Time `json:"at"`                // set by the bus when zero
	Session string    `json:"session,omitempty"` // uid; empty for what concerns no session
	Turn    string    `json:"turn,omitempty"`    // id of the turn; empty outside a turn
	Parent  string    `json:"parent,omitempty"`  // id of the tool call this happened inside of
}

// Envelope is an event under its header, as subscribers receive it.
type Envelope struct {
	Header
	Event Event
}

type fact struct{}

func (fact) isEvent() {}
func (fact) isFact()  {}

type delta struct{}

func (delta) isEvent() {}

// Resync replaces everything a mailbox held when it passed its cap: reload from the store.
type Resync struct {
	fact
	Dropped int `json:"dropped"` // how many waiting events it replaced
}
