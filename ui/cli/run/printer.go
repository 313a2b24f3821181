package run

import (
	"fmt"
	"io"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/tool/procedure"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// newPrinter shows a turn on out; with live, text shows an answer also while it comes.
func (c *command) newPrinter(output string, out io.Writer, live *preview) (printer, error) {
	switch output {
	case "text":
		return &textPrinter{out: out, err: c.Streams.Err, live: live}, nil
	case "json":
		return &jsonPrinter{out: out, notes: &textPrinter{out: io.Discard, err: c.Streams.Err}}, nil
	case "jsonl":
		return &jsonlPrinter{out: out}, nil
	default:
		return nil, base.UsageError("--output %s: choose text, json or jsonl", output)
	}
}

// textPrinter writes each answer to out, once and when it is whole: what streams may be taken back
// by another attempt. One line for each tool and notice goes to err.
type textPrinter struct {
	out, err io.Writer
	live     *preview // shows what streams; nil where nothing can be taken back
	message  int64    // that is streaming
	printed  int64    // the newest answer that was written
	own      map[string]bool
}

func (p *textPrinter) showEvent(e event.Envelope) {
	switch x := e.Event.(type) {
	case event.TextDelta:
		p.streamAnswer(x)
	case event.MessageSealed:
		p.own = ownCalls(p.own, x.Message)
		p.printAnswer(x.Message)
	case event.MessageDiscarded:
		p.sayDiscarded(x)
	case event.ModelMoved:
		p.sayLine("! %s", movedWords(x))
	case event.TurnPhase:
		p.sayRetry(e, x)
	case event.ToolStarted:
		p.sayLine("→ %s %s", x.Call.Name, x.Gist)
	case event.ToolEnded:
		p.toolEnded(x)
	case event.ApprovalAsked:
		p.sayLine("! needs approval: %s", x.Title)
	case event.ApprovalSettled:
		if x.Decision == event.DecisionDeny {
			p.sayLine("! refused (%s)", x.By)
		}
	case event.BackendChanged:
		if x.To == event.BackendFailed || x.To == event.BackendLost {
			p.sayLine("! back end %s %s: %s", x.Name, x.To, x.Cause)
		}
	case event.MemoryChanged:
		p.sayMemoryChange(x)
	case event.ToolsChanged:
		p.toolsChanged(x)
	case event.HookRan:
		p.sayHookRan(x)
	case event.Notice:
		p.sayLine("%s: %s%s", x.Level, x.Text, base.HintSuffix(base.HintWords(x.Hint, x.Do)))
	case event.Resync:
		p.sayLine("warning: too much happened at once; some output is not shown here, all of it is in the session")
	}
}

// toolEnded says how a call ended; what a person's own command printed is printed.
func (p *textPrinter) toolEnded(x event.ToolEnded) {
	if p.own[x.Result.CallID] && (x.Result.ExitCode != nil || x.Result.Name == procedure.Name) {
		p.live.hideShown()
		if out := printedText(x.Result); out != "" {
			_, _ = io.WriteString(p.out, text.Sanitize(out)+"\n") // the recorder keeps the error
		}
	}
	p.sayLine("%s", toolLine(x.Result))
	for _, part := range x.Result.Parts {
		p.sayLine("  [%s]", part.Describe())
	}
}

func (p *textPrinter) toolsChanged(e event.ToolsChanged) {
	if !e.Empty() {
		p.sayLine("tools since this session began: %s; --new-tools takes them", base.OneLine(e.Words()))
	}
}

// sayHookRan says what a hook did, when it did something.
func (p *textPrinter) sayHookRan(e event.HookRan) {
	if words := e.Words(); words != "" {
		p.sayLine("! %s", base.OneLine(words))
	}
}

// sayMemoryChange says what was written to memory; what was refused comes as a notice.
func (p *textPrinter) sayMemoryChange(e event.MemoryChanged) {
	if e.Action != event.MemoryWritten {
		return
	}
	for _, text := range e.Added {
		p.sayLine("remembered: %s", base.OneLine(text))
	}
	for _, text := range e.Removed {
		p.sayLine("forgotten: %s", base.OneLine(text))
	}
}

// sayDiscarded says that an answer was taken back. It shows no longer, unless another one does
// already.
func (p *textPrinter) sayDiscarded(x event.MessageDiscarded) {
	if x.MessageID == p.message {
		p.live.dropText()
	}
	p.sayLine("answer discarded, trying again: %s", discardWords(x))
}

// sayRetry says that a model is asked again: it can be minutes until then.
func (p *textPrinter) sayRetry(e event.Envelope, x event.TurnPhase) {
	if x.Kind == event.PhaseRetrying {
		p.sayLine("%s", retryWords(x, e.At))
	}
}

// printAnswer prints an answer.
func (p *textPrinter) printAnswer(m chat.Message) {
	if m.Role != chat.RoleAssistant || m.ID == p.printed && m.ID != 0 {
		return
	}
	p.live.dropText()
	p.printed = m.ID
	if s := strings.TrimSuffix(text.Sanitize(m.Text), "\n"); s != "" {
		_, _ = io.WriteString(p.out, s+"\n") // the recorder keeps the error
	}
}

// streamAnswer shows an answer while it comes.
func (p *textPrinter) streamAnswer(x event.TextDelta) {
	if p.live == nil {
		return
	}
	if x.MessageID != p.message {
		p.live.dropText()
		p.message = x.MessageID
	}
	p.live.addText(x.Text)
}

func (p *textPrinter) drawPending() {
	if p.live != nil {
		p.live.drawTail()
	}
}

func (p *textPrinter) sayLine(format string, args ...any) {
	p.live.hideShown()
	line := text.Sanitize(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	fmt.Fprintln(p.err, text.Truncate(line, 200, "…"))
}

// endTurn prints the last answer when its event was among those that were given up.
func (p *textPrinter) endTurn(t *turn) {
	p.printAnswer(t.last)
	p.live.dropText()
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

func (p *jsonlPrinter) showEvent(e event.Envelope) { _ = base.WriteJSON(p.out, e, false) }

func (p *jsonlPrinter) drawPending() {}

func (p *jsonlPrinter) endTurn(*turn) {}

// jsonPrinter writes one object at the end, and notices meanwhile.
type jsonPrinter struct {
	out   io.Writer
	notes *textPrinter
	tools []chat.ToolResult
}

func (p *jsonPrinter) showEvent(e event.Envelope) {
	switch x := e.Event.(type) {
	case event.Notice:
		p.notes.showEvent(e)
	case event.ToolEnded:
		p.tools = append(p.tools, x.Result)
	}
}

func (p *jsonPrinter) drawPending() {}

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

func (p *jsonPrinter) endTurn(t *turn) {
	tools := p.tools
	if tools == nil {
		tools = []chat.ToolResult{}
	}
	_ = base.WriteJSON(p.out, result{
		Session: t.session, Reason: t.ended.Reason, Text: t.last.Text, Model: t.last.Model, Tools: tools, Usage: t.ended.Usage,
		Steps: t.ended.Steps, Seconds: t.ended.Took.Seconds(), Refused: t.refused || t.forbidden, Error: t.ended.Err, Hint: base.HintWords(t.ended.Hint, t.ended.Do), Class: t.ended.Class,
	}, true)
}

// recorder remembers that an answer could not be written. The turn goes on meanwhile: its words are
// kept in the session.
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

func (r *recorder) writeProblem(session string) error {
	if r.err == nil {
		return nil
	}
	return base.Failed(base.ExitFailed, "the answer could not be written: %w; read it with `hermes sessions show %s`", r.err, session)
}
