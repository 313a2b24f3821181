package event

import (
	"strings"
	"time"

	"hermes/core/chat"
)

// ApprovalAsked says that a call waits for a decision.
type ApprovalAsked struct {
	fact
	ID       string        `json:"id"`
	Call     chat.ToolCall `json:"call"`
	Title    string        `json:"title"`            // "Run this in here (this machine, no sandbox)?"
	Detail   string        `json:"detail"`           // the command or the diff, plain text
	Effects  []string      `json:"effects"`          // "deletes recursively: build/"
	Span     [2]int        `json:"span"`             // byte range of the dangerous part of Detail; zero when none
	Scope    string        `json:"scope"`            // what "this session" and "always" would cover, in words
	Diff     string        `json:"diff,omitempty"`   // unified diff for file changes
	Backend  string        `json:"backend"`          // where it would run
	Deadline time.Time     `json:"deadline"`         // denies itself then
	Choices  []Decision    `json:"choices"`          // what may be chosen; DecisionDeny is always there
	Reason   string        `json:"reason,omitempty"` // why it is asked
	Level    int           `json:"level"`            // how far it goes: 0 reads ... 3 is sensitive, 4 is always asked
	Spans    [][2]int      `json:"spans,omitempty"`  // all dangerous parts of Detail; Span is the worst
	Prefix   string        `json:"prefix,omitempty"` // the first words that the ...:prefix choices would cover
	// Withheld are the answers that other calls have and this one has not, and why.
	Withheld []Withheld `json:"withheld,omitempty"`
}

// Withheld is an answer that is not offered.
type Withheld struct {
	Decision Decision `json:"decision"`
	Why      string   `json:"why"`
}

// Decision is a person's (or a rule's) answer to ApprovalAsked.
type Decision string

// Decisions.
const (
	DecisionOnce    Decision = "once"
	DecisionSession Decision = "session"
	DecisionProject Decision = "project" // from this folder, in every session, until it expires
	DecisionAlways  Decision = "always"  // from every folder
	DecisionDeny    Decision = "deny"
	// DecisionEdited lets the call run with a command of the person's in place of its own.
	DecisionEdited Decision = "edited"

	// The same for every command that begins with ApprovalAsked.Prefix.
	DecisionSessionPrefix Decision = "session:prefix"
	DecisionProjectPrefix Decision = "project:prefix"
	DecisionAlwaysPrefix  Decision = "always:prefix"
)

// Span is d without whether it is for a prefix: how long it counts.
func (d Decision) Span() Decision {
	span, _, _ := strings.Cut(string(d), ":")
	return Decision(span)
}

// Prefix reports whether d is for every command that begins with ApprovalAsked.Prefix.
func (d Decision) Prefix() bool { return strings.HasSuffix(string(d), ":prefix") }

// Decider is who or what decided about a call, or answered a question.
type Decider string

// Deciders.
const (
	ByUser      Decider = "user"
	ByRule      Decider = "rule"      // what a person allowed before
	ByReadOnly  Decider = "read-only" // the call changes nothing
	ByLevel     Decider = "level"     // what it does is within the approval level
	BySettings  Decider = "settings"  // a list of the settings
	ByPolicy    Decider = "policy"    // nothing is asked, or nobody is there to be asked
	BySmart     Decider = "smart"     // a model
	ByFloor     Decider = "floor"     // what never runs
	ByTimeout   Decider = "timeout"
	ByInterrupt Decider = "interrupt"
)

// ApprovalSettled closes an ApprovalAsked.
type ApprovalSettled struct {
	fact
	ID       string   `json:"id"`
	CallID   string   `json:"call_id"`
	Decision Decision `json:"decision"`
	By       Decider  `json:"by"`
	Level    int      `json:"level,omitempty"`
	Reason   string   `json:"reason,omitempty"` // why it was asked or refused
	Scope    string   `json:"scope,omitempty"`  // what is remembered, in words; "" when nothing is
}

// QuestionAsked is a question to the person: of the model (the clarify tool), or of an MCP server.
type QuestionAsked struct {
	fact
	ID      string   `json:"id"`
	CallID  string   `json:"call_id"`
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
	Server  string   `json:"server,omitempty"` // the name of the MCP server that asks
}

// QuestionAnswered closes a QuestionAsked.
type QuestionAnswered struct {
	fact
	ID     string  `json:"id"`
	Answer string  `json:"answer"`
	By     Decider `json:"by"` // ByUser, ByTimeout or ByInterrupt
}
