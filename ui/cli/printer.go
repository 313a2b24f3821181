package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/text"
)

func (c *command) printer(output string) (printer, error) {
	switch output {
	case "text":
		return &textPrinter{out: c.streams.Out, err: c.streams.Err}, nil
	case "json":
		return &jsonPrinter{out: c.streams.Out, notes: &textPrinter{out: io.Discard, err: c.streams.Err}}, nil
	case "jsonl":
		return &jsonlPrinter{out: c.streams.Out}, nil
	default:
		return nil, usage("--output %s: choose text, json or jsonl", output)
	}
}

// textPrinter streams the answer to out, and one line for each tool and notice to err.
type textPrinter struct {
	out, err io.Writer
	message  int64 // that is streaming
	printed  bool  // something of it was printed
	newline  bool  // out stands at the start of a line
	held     string
}

func (p *textPrinter) event(e event.Envelope) {
	switch x := e.Event.(type) {
	case event.TextDelta:
		if x.MessageID != p.message {
			p.finish()
			p.message = x.MessageID
		}
		p.stream(x.Text)
	case event.MessageSealed:
		p.sealed(x.Message)
	case event.MessageDiscarded:
		p.finish()
		p.say("answer discarded, trying again: %s", x.Why)
	case event.TurnPhase:
		if wait, _, _ := strings.Cut(x.Phase, ", esc"); strings.HasPrefix(wait, "retrying in ") { // it can be minutes
			p.say("%s", wait)
		}
	case event.ToolStarted:
		p.finish()
		p.say("→ %s %s", x.Call.Name, x.Gist)
	case event.ToolEnded:
		p.say("%s", toolLine(x.Result))
	case event.ApprovalAsked:
		p.say("! needs approval: %s", x.Title)
	case event.ApprovalSettled:
		if x.Decision == event.DecisionDeny {
			p.say("! refused (%s)", x.By)
		}
	case event.BackendChanged:
		if x.To == event.BackendFailed || x.To == event.BackendLost {
			p.say("! back end %s %s: %s", x.Name, x.To, x.Cause)
		}
	case event.MemoryChanged:
		p.remembered(x)
	case event.Notice:
		p.say("%s: %s%s", x.Level, x.Text, hint(x.Hint))
	case event.Resync:
		p.say("warning: too much happened at once; some output is not shown here, all of it is in the session")
	}
}

// remembered says what was written to memory; what was refused comes as a notice.
func (p *textPrinter) remembered(e event.MemoryChanged) {
	if e.Action != "write" {
		return
	}
	for _, text := range e.Added {
		p.say("remembered: %s", oneLine(text))
	}
	for _, text := range e.Removed {
		p.say("forgotten: %s", oneLine(text))
	}
}

// sealed prints what did not stream: an answer that came whole.
func (p *textPrinter) sealed(m chat.Message) {
	if m.Role != chat.RoleAssistant {
		return
	}
	if m.ID != p.message || !p.printed {
		p.finish()
		p.message = m.ID
		p.stream(m.Text)
	}
	p.finish()
}

// stream prints text but keeps back an escape sequence that has not ended: cut in two, its rest would look like text.
func (p *textPrinter) stream(s string) {
	const most = 4 << 10
	s = p.held + s
	p.held = ""
	if at := strings.LastIndexByte(s, 0x1b); at >= 0 && len(s)-at < most && text.Sequence(s[at:]) >= len(s)-at {
		s, p.held = s[:at], s[at:]
	}
	p.print(s)
}

func (p *textPrinter) print(s string) {
	if s = text.Sanitize(s); s == "" {
		return
	}
	_, _ = io.WriteString(p.out, s)
	p.printed, p.newline = true, strings.HasSuffix(s, "\n")
}

// finish ends the line of a message.
func (p *textPrinter) finish() {
	p.print(p.held)
	p.held = ""
	if p.printed && !p.newline {
		_, _ = io.WriteString(p.out, "\n")
	}
	p.printed, p.newline, p.message = false, false, 0
}

func (p *textPrinter) say(format string, args ...any) {
	line := text.Sanitize(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	fmt.Fprintln(p.err, text.Truncate(line, 200, "…"))
}

func (p *textPrinter) end(*turn) { p.finish() }

func hint(h string) string {
	if h == "" {
		return ""
	}
	return "; " + h
}

// toolLine tells how a call went.
func toolLine(r chat.ToolResult) string {
	state := "ok"
	switch {
	case r.Interrupted:
		state = "interrupted"
	case r.ExitCode != nil && *r.ExitCode != 0:
		state = fmt.Sprintf("exit %d", *r.ExitCode)
	case r.IsError:
		state = "failed: " + r.Text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "← %s %s", r.Name, state)
	if r.Took > 0 {
		fmt.Fprintf(&b, " in %s", r.Took.Round(10*time.Millisecond))
	}
	for _, d := range r.Diffs {
		fmt.Fprintf(&b, " %s +%d -%d", d.Path, d.Added, d.Removed)
	}
	for _, w := range r.Warnings {
		b.WriteString(" (" + w + ")")
	}
	return b.String()
}

// jsonlPrinter writes every event on a line, as event.Envelope marshals.
type jsonlPrinter struct{ out io.Writer }

func (p *jsonlPrinter) event(e event.Envelope) { _ = writeJSON(p.out, e, false) }
func (p *jsonlPrinter) end(*turn)              {}

// jsonPrinter writes one object at the end, and notices meanwhile.
type jsonPrinter struct {
	out   io.Writer
	notes *textPrinter
	tools []chat.ToolResult
}

func (p *jsonPrinter) event(e event.Envelope) {
	switch x := e.Event.(type) {
	case event.Notice:
		p.notes.event(e)
	case event.ToolEnded:
		p.tools = append(p.tools, x.Result)
	}
}

// result is the object of --output json.
type result struct {
	Session string            `json:"session"`
	Reason  event.TurnReason  `json:"reason"`
	Text    string            `json:"text"`
	Model   string            `json:"model,omitempty"`
	Tools   []chat.ToolResult `json:"tools"`
	Usage   chat.Usage        `json:"usage"`
	Steps   int               `json:"steps"`
	Seconds float64           `json:"seconds"`
	Refused bool              `json:"refused,omitempty"`
	Error   string            `json:"error,omitempty"`
	Hint    string            `json:"hint,omitempty"`
	Class   string            `json:"class,omitempty"`
}

func (p *jsonPrinter) end(t *turn) {
	tools := p.tools
	if tools == nil {
		tools = []chat.ToolResult{}
	}
	_ = writeJSON(p.out, result{
		Session: t.session, Reason: t.ended.Reason, Text: t.last.Text, Model: t.last.Model, Tools: tools, Usage: t.ended.Usage,
		Steps: t.ended.Steps, Seconds: t.ended.Took.Seconds(), Refused: t.refused || t.forbidden, Error: t.ended.Err, Hint: t.ended.Hint, Class: t.ended.Class,
	}, true)
}

// recorder remembers that an answer could not be written. The turn goes on meanwhile: its words are kept in the session.
type recorder struct {
	w   io.Writer
	err error
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.err == nil {
		_, r.err = r.w.Write(p)
	}
	return len(p), nil
}

func (r *recorder) problem(session string) error {
	if r.err == nil {
		return nil
	}
	return failed(ExitFailed, "the answer could not be written: %w; read it with `hermes sessions show %s`", r.err, session)
}
