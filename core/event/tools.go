package event

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/chat"
)

// ToolStarted says that a tool call was accepted and runs (or waits for approval).
type ToolStarted struct {
	fact
	Call    chat.ToolCall `json:"call"`
	Gist    string        `json:"gist"`              // one line: the command, the path, ...
	Backend string        `json:"backend,omitempty"` // requested back end
	Beside  int           `json:"beside,omitempty"`  // other calls that run at the same time
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

// ToolOutput appends live output of a call. Data is raw bytes: hostile until sanitised. In JSON it
// is base64, because output need not be text. What the call left running in the background goes on
// under its id after ToolEnded; nothing else does.
type ToolOutput struct {
	delta
	CallID string `json:"call_id"`
	Stream Stream `json:"stream"`
	Offset int64  `json:"offset"` // bytes of this call and stream before Data
	Data   []byte `json:"data"`
}

// ToolFinished says that a call which runs beside others is over. Results come in the order of the
// calls: its own follows as ToolEnded, when those before it are over too.
type ToolFinished struct {
	fact
	CallID string        `json:"call_id"`
	Took   time.Duration `json:"took"`
	Failed bool          `json:"failed,omitempty"`
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
	Target  string       `json:"target"` // "memory", "user", "recall" (long-term memory)
	Action  MemoryAction `json:"action"`
	By      MemoryAuthor `json:"by"`
	Added   []string     `json:"added,omitempty"`   // entries that are new
	Removed []string     `json:"removed,omitempty"` // entries that are gone
	Reason  string       `json:"reason,omitempty"`  // of MemoryRefused, for people: nothing was written
	Text    string       `json:"text,omitempty"`    // of MemoryRefused: what should have been written
	Span    [2]int       `json:"span"`              // bytes of Text that were the reason
	Used    int          `json:"used"`              // characters
	Limit   int          `json:"limit"`
}

// MemoryAction is what became of a piece of memory.
type MemoryAction string

// Actions.
const (
	MemoryWritten MemoryAction = "write"
	MemoryUndone  MemoryAction = "undo"
	MemoryRefused MemoryAction = "refused"
	MemoryOnDisk  MemoryAction = "disk" // the file changed, whoever did it
)

// MemoryAuthor is who did something to memory.
type MemoryAuthor string

// Authors.
const (
	MemoryByAgent  MemoryAuthor = "agent"
	MemoryByPerson MemoryAuthor = "person"
	MemoryByDisk   MemoryAuthor = "disk" // somebody changed the file
)

// ToolsChanged says that there are other tools than those that the session was given, which it
// keeps until a person takes the new ones. With nothing in it they are the same again.
type ToolsChanged struct {
	fact
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
}

// Empty reports whether there is no difference.
func (t ToolsChanged) Empty() bool { return len(t.Added)+len(t.Removed)+len(t.Changed) == 0 }

// Words tells what is different in one line: "2 new (a, b), 1 gone (c)".
func (t ToolsChanged) Words() string {
	var parts []string
	for _, p := range []struct {
		names []string
		word  string
	}{{t.Added, "new"}, {t.Removed, "gone"}, {t.Changed, "changed"}} {
		if n := len(p.names); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", n, p.word, strings.Join(p.names, ", ")))
		}
	}
	if len(parts) == 0 {
		return "the same as when the session began"
	}
	return strings.Join(parts, "; ")
}

// ProcessEnded says that a command in the background is over. Its output stays readable for a while
// under its ID.
type ProcessEnded struct {
	fact
	ID       string        `json:"id"`      // "p1", "p2", ... within the session
	CallID   string        `json:"call_id"` // the tool call that started it
	Backend  string        `json:"backend"`
	Command  string        `json:"command"`
	ExitCode int           `json:"exit_code"` // 128+n for signal n
	Took     time.Duration `json:"took"`
}

// HookRan says what came of a program of the person's, a project's or a plugin's that took part in
// something.
type HookRan struct {
	fact
	Event   string        `json:"event"` // "pre_tool_call", ...
	Name    string        `json:"name"`
	Owner   string        `json:"owner"` // "settings", "project", "plugin:NAME"
	Tool    string        `json:"tool,omitempty"`
	CallID  string        `json:"call_id,omitempty"`
	Outcome HookOutcome   `json:"outcome"`
	Refused bool          `json:"refused,omitempty"` // what it was asked about does not happen
	Text    string        `json:"text,omitempty"`    // why, or what was added, for people
	Took    time.Duration `json:"took"`
}

// HookOutcome is what came of a hook.
type HookOutcome string

// Outcomes.
const (
	HookOK      HookOutcome = "ok" // it had nothing to say
	HookDenied  HookOutcome = "denied"
	HookChanged HookOutcome = "changed" // the arguments of the call
	HookAdded   HookOutcome = "added"   // text for the model
	HookFailed  HookOutcome = "failed"  // missing, broken, late
)

// Words tells in one line what the hook did; "" when it had nothing to say.
func (h HookRan) Words() string {
	of := h.Event
	if h.Tool != "" {
		of += " of " + h.Tool
	}
	who := "the hook " + h.Name + " (" + of + ") "
	if h.Owner != "settings" {
		who = "the hook " + h.Name + " of " + strings.Replace(h.Owner, ":", " ", 1) + " (" + of + ") "
	}
	switch h.Outcome {
	case HookDenied:
		return who + "refused it: " + h.Text
	case HookChanged:
		return strings.TrimSuffix(who+"changed the arguments: "+h.Text, ": ")
	case HookAdded:
		return who + "added: " + h.Text
	case HookFailed:
		if h.Refused {
			return who + "failed, so it was refused: " + h.Text
		}
		return who + "failed: " + h.Text
	case HookOK:
	}
	return ""
}
