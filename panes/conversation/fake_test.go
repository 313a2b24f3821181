package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

var start = time.Date(2026, 3, 4, 14, 2, 0, 0, time.UTC)

// world is what the pane is given: a stored session and an agent that notes what it is asked.
type world struct {
	messages []chat.Message
	now      time.Time
	log      []string
	queue    []event.QueuedInput
	busy     bool
	asks     []event.ApprovalAsked
	question []event.QuestionAsked
	fail     error
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) Page(_ context.Context, session string, before, limit int) ([]chat.Message, bool, error) {
	w.note("page %s %d", session, before)
	all := w.messages
	if before > 0 {
		all = all[:before-1]
	}
	from := max(0, len(all)-limit)
	return all[from:], from > 0, w.fail
}

func (w *world) Around(_ context.Context, _ string, id int64, limit int) ([]chat.Message, bool, error) {
	from := max(0, int(id)-limit/2)
	return w.messages[from:min(len(w.messages), from+limit)], from > 0, w.fail
}

func (w *world) Submit(_ context.Context, session, text string, a []chat.Part, mode event.InputMode) error {
	w.note("submit %s %q %d %s", session, text, len(a), mode)
	return w.fail
}
func (w *world) Interrupt(s string) bool          { w.note("interrupt %s", s); return true }
func (w *world) Busy(string) bool                 { return w.busy }
func (w *world) Queue(string) []event.QueuedInput { return w.queue }

func (w *world) Waiting(string) ([]event.ApprovalAsked, []event.QuestionAsked) {
	return w.asks, w.question
}

func (w *world) EditQueued(_ context.Context, _, id, text string) error {
	w.note("edit %s %s", id, text)
	return w.fail
}

func (w *world) DropQueued(_ context.Context, _, id string) error {
	w.note("drop %s", id)
	w.queue = slices.DeleteFunc(w.queue, func(q event.QueuedInput) bool { return q.ID == id })
	return w.fail
}

func (w *world) PromoteQueued(_ context.Context, _, id string, mode event.InputMode) error {
	w.note("promote %s %s", id, mode)
	return w.fail
}

func (w *world) Resume(_ context.Context, s string) error { w.note("resume %s", s); return w.fail }

func (w *world) Answer(id string, d event.Decision) error { w.note("answer %s %s", id, d); return nil }

func (w *world) AnswerEdited(id, command string) error {
	w.note("edited %s %q", id, command)
	return w.fail
}

func (w *world) AnswerQuestion(id, text string) error { w.note("question %s %s", id, text); return nil }

func (w *world) Load(context.Context) ([]compose.Prompt, error) {
	return []compose.Prompt{{Text: "older prompt"}}, nil
}

func (w *world) Append(_ context.Context, p compose.Prompt) error {
	w.note("remember %s", p.Text)
	return nil
}

// disk is the files of a world.
type disk struct{ *world }

func (disk) Dropped(paste string) (string, bool) { return paste, strings.HasSuffix(paste, ".png") }

func (w disk) Clipboard(context.Context) (chat.Part, error) {
	return chat.Part{Kind: chat.PartImage, Name: "pasted.png", Width: 4, Height: 3, Data: []byte("x")}, w.fail
}

func (w disk) Load(_ context.Context, cwd, path string) (chat.Part, error) {
	w.note("load %s from %q", path, cwd)
	return chat.Part{Kind: chat.PartImage, Name: path, Width: 4, Height: 3, Data: []byte("x")}, w.fail
}

func (disk) Describe(_ context.Context, _ Folder, text string) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		out = append(out, strings.TrimPrefix(word, "@")+" · 2 kB")
	}
	return out
}

func (w *world) List(_ context.Context, _ Folder, _ string) []string {
	return []string{"main.go", "ui/list/list.go"}
}

type slash struct{}

func (slash) List() []ui.SlashCommand {
	return []ui.SlashCommand{{Name: "retry", Also: []string{"redo"}, Title: "Answer again"}, {Name: "resume", Title: "Open a session", Arg: "name"}, {Name: "undo", Title: "Undo", Why: "a turn runs"}}
}

func (slash) Run(line string) (tea.Cmd, bool) {
	return func() tea.Msg { return ui.ShowToast{Text: "ran " + line} }, strings.HasPrefix(line, "/retry") || strings.HasPrefix(line, "/redo")
}

func (slash) Unknown(name string) ui.FrameMsg {
	return ui.ShowToast{Level: event.Warn, Text: "There is no command /" + name}
}

func (slash) Complete(name string) func(context.Context) []string {
	if name == "undo" {
		return nil
	}
	return func(context.Context) []string { return []string{"one", "two"} }
}

func (w *world) deps() Deps {
	return Deps{
		Transcript: w, Agent: w, Files: disk{w}, History: w, Commands: slash{}, Now: func() time.Time { return w.now },
		NewSession: func(context.Context) (string, error) { w.note("new"); return "fresh", nil },
		Fork: func(_ context.Context, s string, id int64) (string, error) {
			w.note("fork %s %d", s, id)
			return "forked", nil
		},
		Retry: func(_ context.Context, s string) error { w.note("retry %s", s); return errors.New("no prompt") },
	}
}

// open returns a loaded pane of 80 x 24.
func open(tb testing.TB, w *world) *Pane {
	tb.Helper()
	if w.now.IsZero() {
		w.now = start.Add(time.Minute)
	}
	p := New(w.deps(), "s")
	p.Restyle(uitest.Styles(tb, style.None))
	p.Resize(80, 24)
	p.Focus(true)
	drain(p, p.Update(ui.OpenSession{UID: "s"}))
	return p
}

// drain runs a command and what follows from it, and returns what the frame would have got.
func drain(p *Pane, cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	var out []tea.Msg
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			out = append(out, drain(p, c)...)
		}
	case ui.FrameMsg:
		out = append(out, m)
	default:
		out = append(out, drain(p, p.Update(m))...)
	}
	return out
}

func keyMsg(name string) tea.KeyMsg {
	for t := tea.KeyType(-120); t < 128; t++ {
		for _, alt := range []bool{false, true} {
			if k := (tea.KeyMsg{Type: t, Alt: alt}); t != tea.KeyRunes && k.String() == name {
				return k
			}
		}
	}
	if r, ok := strings.CutPrefix(name, "alt+"); ok {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(r), Alt: true}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press sends keys the way the frame does: what the pane catches, then its actions, then what is
// left.
func press(p *Pane, keys ...string) (out []tea.Msg) {
	for _, k := range keys {
		out = append(out, pressOne(p, k)...)
	}
	return out
}

func pressOne(p *Pane, key string) []tea.Msg {
	if !p.Catches(key) {
		for _, a := range p.Actions() {
			if slices.Contains(a.Keys, key) && (len([]rune(key)) > 1 || !p.Typing()) && (a.Why == nil || a.Why() == "") {
				return drain(p, a.Run(""))
			}
		}
	}
	return drain(p, p.Update(keyMsg(key)))
}

func say(p *Pane, events ...event.Event) {
	for _, e := range events {
		p.Apply([]event.Envelope{{Header: event.Header{Session: "s", Turn: "t", At: start}, Event: e}})
	}
	drain(p, p.Wake())
}

func user(id int64, body string) chat.Message {
	return chat.Message{ID: id, Seq: int(id), Session: "s", At: start, Role: chat.RoleUser, Status: chat.StatusFinal, Text: body}
}

func assistant(id int64, body string, calls ...chat.ToolCall) chat.Message {
	return chat.Message{ID: id, Seq: int(id), Session: "s", At: start, Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: body, Model: "sonnet", Calls: calls}
}

func toolCall(id, command string) chat.ToolCall {
	args, _ := json.Marshal(map[string]string{"command": command})
	return chat.ToolCall{ID: id, Name: "terminal", Args: args}
}

const bomb = "\x1b[2J\x1b]0;owned\x07\u202eright\tto left\x1b[31m red \u009b5m👩‍👩‍👧 e\u0301 容器网络"

const fileDiff = "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n \tfor {\n-\t\tidle() < 30\n+\t\tidle() <= 30\n"

// story fills a pane with one of everything.
func story(tb testing.TB) *Pane {
	zero, one := 0, 1
	w := &world{messages: []chat.Message{
		user(1, "Run the tests in analytics. Why do they fail?\n"+bomb),
		{ID: 2, Seq: 2, Session: "s", At: start, Role: chat.RoleAssistant, Status: chat.StatusFinal, Model: "sonnet", Reasoning: "First the suite.\nThen the fix.", Text: "I'll run the **suite** first.\n\n```go\nfunc main() {\n\tprintln(\"容器\")\n}\n```\n\n| name | value |\n|---|--:|\n| ttl | 30 |\n\n" + bomb, Calls: []chat.ToolCall{toolCall("a", "pip install -r req.txt"), toolCall("b", "pytest -q "+bomb)}},
		{ID: 3, Seq: 3, Session: "s", At: start, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", Name: "terminal", Text: "ok", Backend: "analytics", ExitCode: &zero, Took: 6200 * time.Millisecond}},
		{ID: 4, Seq: 4, Session: "s", At: start, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "b", Name: "terminal", Text: "1 failed", Backend: "analytics", ExitCode: &one, Took: 41 * time.Second, Warnings: []string{"fell back"}, Diffs: []chat.FileDiff{{Path: "x.go", Op: chat.FileModified, Unified: fileDiff, Added: 1, Removed: 1}}}},
		assistant(5, "One test is too strict."),
	}}
	p := open(tb, w)
	say(p, event.SessionChanged{Info: event.SessionInfo{Title: "fix the flaky test"}},
		event.TurnStarted{Prompt: 6}, event.MessageAdded{Message: user(6, "fix it")}, event.TodoChanged{Items: []event.TodoItem{{Content: "read", Status: "completed"}, {Content: "fix", Status: "in_progress"}, {Content: "test", Status: "pending"}}},
		event.MessageStarted{MessageID: 7, Model: "sonnet"}, event.TextDelta{MessageID: 7, Text: "Working on it"}, event.MessageSealed{Message: assistant(7, "Working on it.", toolCall("c", "git push"))},
		event.ToolStarted{Call: toolCall("c", "git push"), Gist: "git push", Backend: "here"}, event.ToolOutput{CallID: "c", Data: []byte("Counting objects\nWriting 61%\r")},
		event.Notice{Level: event.Warn, Text: "The disk is nearly full", Hint: "remove old back ends"},
		event.ApprovalAsked{ID: "ap", Call: toolCall("c", "git push"), Title: "Run this in here?", Detail: "git push", Choices: []event.Decision{event.DecisionOnce}},
		event.QueueChanged{Items: []event.QueuedInput{{ID: "q1", Text: "then write the report", Mode: event.InputQueue}}})
	return p
}
