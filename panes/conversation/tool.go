package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/diff"
	"hermes/ui/markdown"
	"hermes/ui/text"
)

// What an opened call shows at most.
const (
	maxTail      = 8 << 10 // bytes of live output kept
	maxArgLines  = 20
	maxOutLines  = 40
	maxDiffLines = 24 // while closed; an open call shows all
)

// call is a tool call: one line while it is calm.
type call struct {
	base
	id, name, gist, backend string
	args                    string
	command                 string // the shell command that it runs, on one line
	started, ended          time.Time
	result                  *chat.ToolResult
	question                bool // it asked the person: what they answered stands below it
	most                    int  // last lines shown while it is closed; 0 for maxLast
	waits                   bool // for an approval
	denied                  bool
	over                    *event.ToolFinished // it has ended, and its result waits for those before it
	tail                    []byte
	up                      *call   // the call that this one happened inside of
	inside                  []*call // what happened inside of this one
}

// bumpVersion changes the version of the call and of those that it is drawn in.
func (c *call) bumpVersion() {
	for ; c != nil; c = c.up {
		c.version++
	}
}

func newCall(e *env, msg int64, c chat.ToolCall, at time.Time) *call {
	args := string(c.Args)
	if c.Invalid != "" {
		args = c.Invalid
	}
	return &call{
		base: base{e: e, msg: msg}, id: c.ID, name: text.Sanitize(c.Name), gist: markedLine(chat.Gist(c.Args)), backend: wantedBackend(c.Args),
		args: text.Sanitize(args), started: at, command: markedLine(shellCommand(c)), question: asksPerson(c.Args),
	}
}

// asksPerson reports a call that asks the person something.
func asksPerson(args json.RawMessage) bool {
	var a struct {
		Question string `json:"question"`
	}
	return json.Unmarshal(args, &a) == nil && a.Question != ""
}

// markPersonal makes the call one of the person's: a command as in a shell.
func (c *call) markPersonal(by chat.Author) {
	if by.IsPerson() {
		c.name, c.most = "$", maxOwnLast
	}
}

// wantedBackend is the back end that the model asked for: what waits for its turn says already
// where it will run.
func wantedBackend(args json.RawMessage) string {
	var a struct {
		Backend string `json:"backend"`
	}
	if json.Unmarshal(args, &a) != nil {
		return ""
	}
	return oneLine(a.Backend)
}

// oneLine makes hostile text a single line of a bounded length.
func oneLine(s string) string {
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "")
	}
	return text.OneLine(s)
}

// markedLine is what a call is about on one line, with a mark where a line ended.
func markedLine(s string) string { return oneLine(text.MarkLines(s)) }

func (c *call) noteStart(at time.Time, e event.ToolStarted) {
	c.started = at
	if e.Gist != "" && e.Gist != e.Call.Name {
		c.gist = markedLine(e.Gist)
	}
	if e.Backend != "" {
		c.backend = oneLine(e.Backend)
	}
	c.bumpVersion()
}

func (c *call) addOutput(data []byte) {
	c.tail = append(c.tail, data...)
	if len(c.tail) > 2*maxTail {
		c.tail = append([]byte(nil), c.tail[len(c.tail)-maxTail:]...)
	}
	c.bumpVersion()
}

func (c *call) noteEnd(at time.Time, r chat.ToolResult) {
	c.ended, c.result, c.waits, c.tail = at, &r, false, nil
	if r.Backend != "" {
		c.backend = oneLine(r.Backend)
	}
	// Of a call that did not run, or that a crash ended, nobody knows how long it took.
	if c.started.IsZero() && (r.Took > 0 || !r.Interrupted && !r.Denied) {
		c.started = at.Add(-r.Took)
	}
	if len(r.Ran) > 0 {
		c.takeArguments(r.Ran)
	}
	for _, k := range c.inside {
		if k.result == nil {
			k.noteEnd(at, chat.ToolResult{CallID: k.id, Interrupted: true})
		}
	}
	c.bumpVersion()
}

// takeArguments shows the arguments that ran: a person wrote them in place of the call's.
func (c *call) takeArguments(args json.RawMessage) {
	c.gist, c.args, c.command = markedLine(chat.Gist(args)), text.Sanitize(string(args)), markedLine(shellCommand(chat.ToolCall{Args: args}))
}

func (c *call) setWaiting(on bool) { c.waits = on; c.bumpVersion() }

func (c *call) setDenied() { c.waits, c.denied = false, true; c.bumpVersion() }

func (c *call) isRunning() bool { return c.result == nil && c.over == nil && !c.started.IsZero() }

// Version changes with the second while the call, or one inside of it, runs: their lines show how
// long.
func (c *call) Version() uint64 {
	return c.version<<24 | c.runningSeconds()&0xffffff
}

// runningSeconds are those that the running clocks of the call's lines show.
func (c *call) runningSeconds() (n uint64) {
	if !c.isRunning() {
		return 0
	}
	for _, k := range c.inside {
		n += k.runningSeconds()
	}
	return n + uint64(c.timeTaken().Seconds())
}

func (c *call) timeTaken() time.Duration {
	switch {
	case c.result != nil && c.result.Took > 0:
		return c.result.Took
	case c.result != nil:
		return c.ended.Sub(c.started)
	case c.over != nil:
		return c.over.Took
	default:
		return max(0, c.e.now().Sub(c.started))
	}
}

func (c *call) toggleOpen() { c.flipOpen() }

func (c *call) plainText() (content, what string) { return c.outputText(), "tool output" }

func (c *call) outputText() string {
	if c.result != nil {
		return c.result.Text
	}
	return text.Sanitize(string(c.tail))
}

func (c *call) lastLine() string {
	t := bytes.TrimRight(c.tail, "\r\n \t")
	if i := bytes.LastIndexAny(t, "\r\n"); i >= 0 {
		t = t[i+1:]
	}
	return oneLine(string(t))
}

// drawDetails draws the arguments and the end of the output.
func (c *call) drawDetails(pad string, w int) []string {
	var out []string
	add := func(title, body string, keepEnd bool, limit int) {
		if strings.TrimSpace(body) == "" {
			return
		}
		out = append(out, pad+c.e.s.Dim.Render(title))
		lines := text.Wrap(text.ExpandTabs(strings.TrimRight(body, "\n"), markdown.TabWidth), w)
		more := len(lines) - limit
		if more > 0 && keepEnd {
			out = append(out, pad+c.e.s.Faint.Render(c.e.s.Glyphs.Ellipsis+" "+strconv.Itoa(more)+" lines above"))
			lines = lines[more:]
		}
		out = append(out, indentLines(lines[:min(len(lines), limit)], pad)...)
		if more > 0 && !keepEnd {
			out = append(out, pad+c.e.s.Faint.Render(c.e.s.Glyphs.Ellipsis+" "+strconv.Itoa(more)+" more lines"))
		}
	}
	add("arguments", c.e.paintArguments(text.Sanitize(formatArguments(c.args))), false, maxArgLines)
	add("output", text.Sanitize(lastBytes(c.outputText(), maxTail)), true, maxOutLines)
	if c.result != nil && c.result.Spill != "" {
		what := "full output: "
		if c.result.SpillCut {
			what = "beginning of the output: "
		}
		out = append(out, pad+c.e.s.Dim.Render(text.Truncate(what+oneLine(c.result.Spill), w, c.e.s.Glyphs.Ellipsis)))
	}
	return append(out, "")
}

func lastBytes(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}

// formatArguments writes arguments the way people read them: one a line, texts as they are, with
// their line breaks.
func formatArguments(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	if open, err := d.Token(); len(args) > 1<<16 || err != nil || open != json.Delim('{') {
		return lastBytes(args, 1<<14)
	}
	var b strings.Builder
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return lastBytes(args, 1<<14)
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return lastBytes(args, 1<<14)
		}
		value, words := string(raw), ""
		if json.Unmarshal(raw, &words) == nil {
			value = strings.TrimRight(words, "\n")
		}
		if strings.Contains(value, "\n") {
			value = "\n  " + strings.ReplaceAll(value, "\n", "\n  ")
		}
		fmt.Fprintf(&b, "%v: %s\n", name, value)
	}
	return b.String()
}

func (c *call) drawDiff(d chat.FileDiff, pad string, w int) []string {
	head := oneLine(d.Path) + "  " + string(d.Op)
	if d.OldPath != "" {
		head = oneLine(d.OldPath) + " " + c.e.s.Glyphs.Arrow + " " + head
	}
	out := []string{pad + text.Truncate(c.e.s.Dim.Render(head)+"  "+c.e.s.DiffAdd.Render("+"+strconv.Itoa(d.Added))+" "+c.e.s.DiffDel.Render("-"+strconv.Itoa(d.Removed)), w, "")}
	lines := diff.Render(d.Unified, w, c.e.s)
	if !c.open && len(lines) > maxDiffLines {
		more := len(lines) - maxDiffLines
		lines = append(lines[:maxDiffLines:maxDiffLines], c.e.s.Dim.Render(c.e.s.Glyphs.Ellipsis+" "+strconv.Itoa(more)+" more lines, enter shows all"))
	}
	return append(out, indentLines(lines, pad)...)
}

// todo is the session's list of steps.
type todo struct {
	base
	steps []event.TodoItem
}

func (t *todo) setSteps(steps []event.TodoItem) { t.steps = steps; t.bumpVersion() }

func (t *todo) Lines(w int) []string {
	if len(t.steps) == 0 {
		return nil
	}
	pad := leftMargin(w)
	out := []string{pad + t.e.s.Dim.Render("to do")}
	for _, s := range t.steps {
		mark, st := "[ ]", t.e.s.Text
		switch s.Status {
		case "completed":
			mark, st = "[x]", t.e.s.Dim
		case "in_progress":
			mark, st = "["+t.e.s.Glyphs.Closed+"]", t.e.s.Accent
		case "cancelled":
			mark, st = "[-]", t.e.s.Faint
		}
		out = append(out, pad+st.Render(text.Truncate(mark+" "+oneLine(s.Content), max(1, w-len(pad)), t.e.s.Glyphs.Ellipsis)))
	}
	return append(out, "")
}
