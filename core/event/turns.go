package event

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/chat"
)

// QueuedInput is a prompt that waits for its turn.
type QueuedInput struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	Mode InputMode `json:"mode"`

	From  chat.Author `json:"from,omitzero"`
	Parts []chat.Part `json:"parts,omitempty"`
}

// InputMode says what happens to input that arrives while a turn runs.
type InputMode string

// Busy-input modes.
const (
	InputInterrupt InputMode = "interrupt" // stop the turn, then take this up
	InputQueue     InputMode = "queue"     // take this up after the turn
	InputSteer     InputMode = "steer"     // show it to the model at its next step in this turn
)

// QueueChanged carries the whole queue of a session, first to be taken up first.
type QueueChanged struct {
	fact
	Items []QueuedInput `json:"items"`
}

// TurnStarted opens a turn. The prompt was persisted before.
type TurnStarted struct {
	fact
	Prompt int64  `json:"prompt"` // id of the user message
	Model  string `json:"model"`
}

// PhaseKind is what a running turn does.
type PhaseKind string

// Kinds of phase. What else of TurnPhase is set stands behind each.
const (
	PhaseWaiting     PhaseKind = "waiting"          // for the model: Model
	PhaseStreaming   PhaseKind = "streaming"        // the model answers
	PhaseWritingCall PhaseKind = "writing_call"     // the model writes a call of Tool
	PhaseApproval    PhaseKind = "waiting_approval" // a call of Tool waits for a decision
	PhaseRunning     PhaseKind = "running"          // Tool runs
	PhaseRetrying    PhaseKind = "retrying"         // the model failed with Cause; Model is asked at Until
	PhaseCompressing PhaseKind = "compressing"      // Count messages
	PhaseOver        PhaseKind = "over"             // work that was no turn ended: no TurnEnded follows
)

// TurnPhase tells what a running turn does now, for status lines. Each way in has its own words for
// it.
type TurnPhase struct {
	delta
	Turn  string    `json:"turn"`
	Kind  PhaseKind `json:"phase"`
	Tool  string    `json:"tool,omitempty"`
	Model string    `json:"model,omitempty"`
	Until time.Time `json:"until,omitzero"`
	Cause *Cause    `json:"cause,omitempty"`
	Count int       `json:"count,omitempty"`
	Step  int       `json:"step"` // model calls so far in this turn
}

// Cause is why the model could not answer.
type Cause struct {
	Class string `json:"class"`          // provider.Class
	HTTP  int    `json:"http,omitempty"` // status of the answer, when there was one

	Offline bool `json:"offline,omitempty"` // no server can be found: this machine has no network
}

// String is the cause in short: "429 rate limit".
func (c Cause) String() string {
	if c.Offline {
		return "no network"
	}
	words := strings.ReplaceAll(c.Class, "_", " ")
	if c.HTTP == 0 {
		return words
	}
	return fmt.Sprintf("%d %s", c.HTTP, words)
}

// AttemptFailed says that one call of a model failed. It was stored before, with the message that
// the call was to answer; what follows is a TurnPhase, a ModelMoved, or the end of the turn.
type AttemptFailed struct {
	fact
	Ref   string        `json:"ref"`           // provider/model
	Key   int           `json:"key,omitempty"` // which of the provider's keys, from 1, when it has several
	Took  time.Duration `json:"took"`
	Bytes int64         `json:"bytes,omitempty"` // of the answer that came before
	Cause Cause         `json:"cause"`
	Err   string        `json:"err"` // for people
}

// ModelMoved says that what is left of the turn goes to another model, or to the same one with
// another key.
type ModelMoved struct {
	fact
	From    string    `json:"from"` // provider/model
	To      string    `json:"to"`
	Key     int       `json:"key,omitempty"`      // the key of To from now on, from 1, when its provider has several
	Keys    int       `json:"keys,omitempty"`     // how many it has
	FromKey string    `json:"from_key,omitempty"` // where the key stands that it is about: the name of a variable or setting
	Cause   Cause     `json:"cause"`
	Rested  time.Time `json:"rested,omitzero"` // From was not called: it rests until then
}

// JoinHints is a hint and the words for what to do next, in one line.
func JoinHints(hint string, do []Remedy, words func(Remedy) string) string {
	var all []string
	if hint != "" {
		all = append(all, hint)
	}
	for _, r := range do {
		all = append(all, words(r))
	}
	return strings.Join(all, "; ")
}

// Remedy is something that a person can do next. Each way in says how: a command, a key, a button.
type Remedy string

// Remedies.
const (
	RemedyRetry       Remedy = "retry"        // the prompt again
	RemedyContinue    Remedy = "continue"     // let the turn go on from where it stands
	RemedyChooseModel Remedy = "choose_model" // another model for the session
	RemedyCompress    Remedy = "compress"     // the conversation
	RemedyShowQueue   Remedy = "show_queue"   // send, edit or drop what waits
	RemedyRollback    Remedy = "rollback"     // see and bring back files as they were
	RemedyLogs        Remedy = "logs"         // read the log file
	RemedyConnect     Remedy = "connect"      // a model server, or another key for this one
)

// TurnReason says why a turn ended.
type TurnReason string

// Turn end reasons.
const (
	TurnDone        TurnReason = "done"
	TurnInterrupted TurnReason = "interrupted"
	TurnFailed      TurnReason = "error"
	TurnBudget      TurnReason = "budget" // iteration budget used up
)

// TurnEnded closes a turn.
type TurnEnded struct {
	fact
	Reason TurnReason    `json:"reason"`
	Usage  chat.Usage    `json:"usage"`
	Took   time.Duration `json:"took"`
	Steps  int           `json:"steps"`           // model calls
	Err    string        `json:"err,omitempty"`   // for people
	Hint   string        `json:"hint,omitempty"`  // what to do next, said without any way in
	Do     []Remedy      `json:"do,omitempty"`    // what to do next, in codes
	Class  string        `json:"class,omitempty"` // provider.Class of the failure; empty when no provider failed
	// Foreign says whose words besides the person's the conversation has read, as far as that is
	// known.
	Foreign string `json:"foreign,omitempty"`
}
