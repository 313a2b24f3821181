// Package event is the vocabulary of everything that happens in the program, and the one bus that carries it.
//
// The contract:
//
//   - One Bus, one sequence. Every event gets the next sequence number, and every subscriber sees events in that order.
//   - An event is a Fact or a Delta; the type decides. Facts are never merged and never dropped. Deltas merge by
//     key inside a subscriber's Mailbox while they wait: text and tool output append, statistics keep the latest.
//   - A delta never moves across a fact of the same session. A sealed message cannot overtake its last delta.
//   - Publish never blocks and never drops. Past a hard cap a mailbox becomes one explicit Resync: the subscriber then
//     reloads from the store, where every fact was written before it was published.
//   - Appending deltas carry the byte offset of their first byte, so a gap or a repeat is detectable.
//
// It imports the standard library and core/chat (plain data) only. Start reading here.
package event

import (
	"strings"
	"time"

	"hermes/core/chat"
)

// Event is anything that can happen. The set is sealed: only this package declares events. Publish values, not pointers.
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

// ---- sessions ----

// SessionInfo is the list row of a session.
type SessionInfo struct {
	UID      string     `json:"uid"`
	Title    string     `json:"title"`
	Source   string     `json:"source"`           // "tui", "run", "import:hermes", ...
	Parent   string     `json:"parent,omitempty"` // uid of the session it was forked from
	Model    string     `json:"model"`
	Cwd      string     `json:"cwd"`
	Project  string     `json:"project"` // repository root, else Cwd
	Preview  string     `json:"preview"` // first user message, at most 120 runes
	Started  time.Time  `json:"started"`
	Last     time.Time  `json:"last"`
	Messages int        `json:"messages"`
	Usage    chat.Usage `json:"usage"`
	Archived bool       `json:"archived,omitempty"`
	Pinned   bool       `json:"pinned,omitempty"`
}

// SessionOpened says that a session exists and is live (new, resumed, forked or imported).
type SessionOpened struct {
	fact
	Info SessionInfo `json:"info"`
	How  string      `json:"how"` // "new", "resume", "fork", "import"
}

// SessionChanged says that a session's row changed (title, archive, pin, model, ...).
type SessionChanged struct {
	fact
	Info SessionInfo `json:"info"`
}

// SessionDeleted says that a session is gone for good.
type SessionDeleted struct{ fact }

// HistoryChanged says that messages were removed or replaced (undo, retry, compression): reload the transcript.
type HistoryChanged struct {
	fact
	Why string `json:"why"`
}

// ---- turns ----

// QueuedInput is a prompt that waits for its turn.
type QueuedInput struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	Mode InputMode `json:"mode"`

	Attachments []chat.Attachment `json:"attachments,omitempty"`
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

// TurnPhase tells what a running turn does now, for status lines.
type TurnPhase struct {
	delta
	Turn  string `json:"turn"`
	Phase string `json:"phase"` // "waiting for model", "streaming", "running terminal", "retrying in 4 s (429)", ...
	Step  int    `json:"step"`  // model calls so far in this turn
}

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
	Hint   string        `json:"hint,omitempty"`  // what to do next
	Class  string        `json:"class,omitempty"` // provider.Class of the failure; empty when no provider failed
}

// ---- messages ----

// MessageAdded carries a complete message that was just persisted (user prompts, tool results).
type MessageAdded struct {
	fact
	Message chat.Message `json:"message"`
}

// MessageStarted announces an assistant message that will stream. Its row exists with StatusPartial.
type MessageStarted struct {
	fact
	MessageID int64  `json:"message_id"`
	Model     string `json:"model"`
}

// MessageSealed ends a streamed message; Message is the persisted truth and replaces what was streamed.
type MessageSealed struct {
	fact
	Message chat.Message `json:"message"`
}

// MessageDiscarded removes a streamed message that a retry replaces.
type MessageDiscarded struct {
	fact
	MessageID int64  `json:"message_id"`
	Why       string `json:"why"`
}

// TextDelta appends to the text of a streaming message.
type TextDelta struct {
	delta
	MessageID int64  `json:"message_id"`
	Offset    int    `json:"offset"` // bytes before Text
	Text      string `json:"text"`
}

// ReasoningDelta appends to the reasoning of a streaming message.
type ReasoningDelta struct {
	delta
	MessageID int64  `json:"message_id"`
	Offset    int    `json:"offset"`
	Text      string `json:"text"`
}

// UsageTick is the session's token count so far; the latest wins.
type UsageTick struct {
	delta
	Session string     `json:"session"`
	Context int        `json:"context"` // tokens in the model's window now
	Window  int        `json:"window"`  // size of the window; 0 when unknown
	Total   chat.Usage `json:"total"`
}

// ---- tools ----

// ToolStarted says that a tool call was accepted and runs (or waits for approval).
type ToolStarted struct {
	fact
	Call    chat.ToolCall `json:"call"`
	Gist    string        `json:"gist"`              // one line: the command, the path, ...
	Backend string        `json:"backend,omitempty"` // requested back end
}

// Stream names where a chunk of tool output came from.
type Stream string

// Output streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
	PTY    Stream = "pty"
	Note   Stream = "note" // said by Hermes, not by the tool: warnings, fallbacks
)

// ToolOutput appends live output of a call. Data is raw bytes: hostile until sanitised. In JSON it is base64,
// because output need not be text. What the call left running in the background goes on under its id after ToolEnded;
// nothing else does.
type ToolOutput struct {
	delta
	CallID string `json:"call_id"`
	Stream Stream `json:"stream"`
	Offset int64  `json:"offset"` // bytes of this call and stream before Data
	Data   []byte `json:"data"`
}

// ToolEnded closes a call. The result was persisted before.
type ToolEnded struct {
	fact
	Result chat.ToolResult `json:"result"`
}

// TodoItem is one line of a session's todo list.
type TodoItem struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed, cancelled
}

// TodoChanged carries the whole todo list.
type TodoChanged struct {
	fact
	Items []TodoItem `json:"items"`
}

// MemoryChanged says what became of a piece of the agent's memory.
type MemoryChanged struct {
	fact
	Target  string   `json:"target"`            // "memory", "user"
	Action  string   `json:"action"`            // "write", "undo", "refused"; "disk": the file changed, whoever did it
	By      string   `json:"by"`                // "agent", "person", "disk"
	Added   []string `json:"added,omitempty"`   // entries that are new
	Removed []string `json:"removed,omitempty"` // entries that are gone
	Reason  string   `json:"reason,omitempty"`  // of "refused": nothing was written
	Text    string   `json:"text,omitempty"`    // of "refused": what should have been written
	Span    [2]int   `json:"span"`              // bytes of Text that were the reason
	Used    int      `json:"used"`              // characters
	Limit   int      `json:"limit"`
}

// ---- what waits for the person ----

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

// ApprovalSettled closes an ApprovalAsked.
type ApprovalSettled struct {
	fact
	ID       string   `json:"id"`
	CallID   string   `json:"call_id"`
	Decision Decision `json:"decision"`
	By       string   `json:"by"` // "user", "rule", "timeout", "interrupt", "floor", "settings", "policy"
	Level    int      `json:"level,omitempty"`
	Reason   string   `json:"reason,omitempty"` // why it was asked or refused
	Scope    string   `json:"scope,omitempty"`  // what is remembered, in words; "" when nothing is
}

// QuestionAsked is the clarify tool's question to the person.
type QuestionAsked struct {
	fact
	ID      string   `json:"id"`
	CallID  string   `json:"call_id"`
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
}

// QuestionAnswered closes a QuestionAsked.
type QuestionAnswered struct {
	fact
	ID     string `json:"id"`
	Answer string `json:"answer"`
	By     string `json:"by"` // "user", "timeout", "interrupt"
}

// Compressed says that old messages were replaced by a summary. Tokens before and after.
type Compressed struct {
	fact
	Before int `json:"before"`
	After  int `json:"after"`
}

// ---- back ends ----

// BackendState is a state of the pool's state machine.
type BackendState string

// States of a back end.
const (
	BackendAbsent   BackendState = "absent"
	BackendPulling  BackendState = "pulling"
	BackendCreating BackendState = "creating"
	BackendStarting BackendState = "starting"
	BackendReady    BackendState = "ready"
	BackendStopping BackendState = "stopping"
	BackendStopped  BackendState = "stopped"
	BackendRemoving BackendState = "removing"
	BackendFailed   BackendState = "failed"
	BackendLost     BackendState = "lost"
)

// BackendChanged is one transition of a back end, with its cause.
type BackendChanged struct {
	fact
	Name  string       `json:"name"`
	Kind  string       `json:"kind"` // "local", "docker", "ssh"
	From  BackendState `json:"from"`
	To    BackendState `json:"to"`
	Cause string       `json:"cause"`           // "first use", "idle for 30m", "image not found", ...
	Image string       `json:"image,omitempty"` // or host for ssh
	Retry time.Time    `json:"retry,omitzero"`  // next try after a failure
}

// BackendActivity is the latest load of a back end; the latest wins.
type BackendActivity struct {
	delta
	Name      string        `json:"name"`
	Refs      int           `json:"refs"` // calls and background processes now
	Command   string        `json:"command,omitempty"`
	Session   string        `json:"session,omitempty"`
	IdleSince time.Time     `json:"idle_since,omitzero"` // zero while in use
	IdleTTL   time.Duration `json:"idle_ttl,omitempty"`  // 0: never stopped for idleness
}

// BackendStats is the resource use of a running back end; the latest wins.
type BackendStats struct {
	delta
	Name        string  `json:"name"`
	CPUPercent  float64 `json:"cpu_percent"`
	MemoryBytes int64   `json:"memory_bytes"`
	MemoryLimit int64   `json:"memory_limit,omitempty"` // 0: none
	Pids        int64   `json:"pids,omitempty"`
}

// Progress is the advance of something long (a pull, a rebuild); the latest wins.
type Progress struct {
	delta
	ID    string `json:"id"`
	Label string `json:"label"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // 0 when unknown
	Unit  string `json:"unit"`  // "bytes", "messages"
}

// TerminalChanged says that a terminal that a person has attached shows something else, or has ended. It carries no cells: whoever shows
// the terminal has them.
type TerminalChanged struct {
	delta
	ID string `json:"id"`
}

// BackendSelected says which back end a session uses when a call names none.
type BackendSelected struct {
	fact
	Name string `json:"name"`
}

// ---- program ----

// Level grades a Notice.
type Level string

// Notice levels.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Notice is something a person should know.
type Notice struct {
	fact
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"` // what to do next
}

// ConfigReloaded says that settings changed while the program runs.
type ConfigReloaded struct {
	fact
	Changed  []string `json:"changed"`  // dotted keys that took effect
	Problems []string `json:"problems"` // "config.yaml:12:3: unknown key ..." each
}

// SkillsChanged says what skills there are now.
type SkillsChanged struct {
	fact
	Count     int      `json:"count"`
	Problems  []string `json:"problems,omitempty"`  // "skills/x/SKILL.md:2: name: ..." each
	Untrusted string   `json:"untrusted,omitempty"` // what a project brings that nobody has said yes or no to
}

// ModelChanged says which model a session uses from now on.
type ModelChanged struct {
	fact
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Window   int    `json:"window"`
}

// Resync replaces everything a mailbox held when it passed its cap: reload from the store.
type Resync struct {
	fact
	Dropped int `json:"dropped"` // how many waiting events it replaced
}
