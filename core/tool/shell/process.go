package shell

import (
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/core/backend"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed process.md
var processDoc string

type processArgs struct {
	Action  string `json:"action"`
	ID      string `json:"session_id"`
	Data    string `json:"data"`
	Timeout int    `json:"timeout"`
	Offset  *int64 `json:"offset"`
	Limit   int    `json:"limit"`
}

const logLimit = 20_000 // bytes of a log that names no limit

// Process returns the process tool.
func Process(s *Shell) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "process", Toolset: "terminal", Description: processDoc,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{
			"action":{"type":"string","enum":["list","poll","log","wait","kill","write","submit","close"]},
			"session_id":{"type":"string","description":"Id of the process, as terminal and list give it; needed by all but list"},
			"data":{"type":"string","description":"write, submit: text for its standard input"},
			"timeout":{"type":"integer","minimum":1,"maximum":600,"default":180,"description":"wait: seconds at most"},
			"offset":{"type":"integer","description":"log: byte to start at; negative counts from the end"},
			"limit":{"type":"integer","minimum":1,"maximum":40000,"default":20000,"description":"log: bytes"}}}`),
		Intent: tool.Arg(processArgs.intent),
	}, s.runProcess)
}

func (a processArgs) intent() intent.Intent {
	in := intent.Intent{
		Gist:  strings.TrimSpace(a.Action + " " + a.ID),
		Reads: slices.Contains([]string{"list", "poll", "log", "wait"}, a.Action), OtherArgs: intent.OtherArgs(a, "timeout"),
	}
	text := a.Data
	if (a.Action == "submit" || a.Action == "close") && a.ID != "" { // what was written before becomes a line now
		text += "\n"
	}
	if text != "" {
		in.Stdin = &intent.Stdin{Process: a.ID, Text: text}
	} else {
		in.Effects = intent.UnknownAction()
	}
	return in
}

func (s *Shell) runProcess(ctx context.Context, c tool.Call, a processArgs) (tool.Result, error) {
	if a.Action == "list" {
		return tool.Result{Text: s.listProcesses(c.Session)}, nil
	}
	p, ok := s.findProcess(c.Session, a.ID)
	if !ok {
		return tool.Fail("There is no process %q. %s", a.ID, s.listProcesses(c.Session)), nil
	}
	switch a.Action {
	case "poll":
		return s.newsResult(p), nil
	case "log":
		return s.showLog(p, a), nil
	case "wait":
		return s.waitFor(ctx, p, durationOr(a.Timeout, defaultTimeout))
	case "kill":
		q, err := s.pool.Kill(ctx, c.Session, p.ID)
		if err != nil {
			return tool.Fail("%s could not be killed: %v.", p.ID, err), ctx.Err()
		}
		return s.newsResult(q), nil
	}
	return s.writeInput(p, a), nil
}

func (s *Shell) findProcess(session, id string) (backend.Process, bool) {
	for _, p := range s.pool.Processes(session) {
		if p.ID == id {
			return p, true
		}
	}
	return backend.Process{}, false
}

func (s *Shell) listProcesses(session string) string {
	all := s.pool.Processes(session)
	if len(all) == 0 {
		return "No background processes."
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d bytes\t%s\n", p.ID, describeState(p), p.Backend, p.Total, firstLine(p.Command))
	}
	return b.String()
}

// describeState is "running for 2m3s" or "ended with exit code 1".
func describeState(p backend.Process) string {
	if p.Running {
		return "running for " + time.Since(p.Started).Round(time.Second).String()
	}
	return fmt.Sprintf("ended with exit code %d", p.ExitCode)
}

func firstLine(s string) string {
	line, _, more := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > 100 {
		return string(r[:100]) + "..."
	}
	if more {
		return line + " ..."
	}
	return line
}

// newsResult gives the state and what was printed since the last news.
func (s *Shell) newsResult(p backend.Process) tool.Result {
	key := procKey{p.Session, p.ID}
	s.mu.Lock()
	from := s.polled[key]
	s.mu.Unlock()
	text, end, err := s.readOutput(p, from, logLimit)
	if err != nil {
		return tool.Fail("The output of %s cannot be read: %v.", p.ID, err)
	}
	s.mu.Lock()
	s.polled[key] = max(s.polled[key], end)
	s.mu.Unlock()
	if strings.TrimSpace(text) == "" {
		text = "[nothing new was printed]"
	}
	return processResult(p, text)
}

func processResult(p backend.Process, text string) tool.Result {
	for _, w := range endWarnings(p) {
		text += "\n[warning: " + w + "]"
	}
	r := tool.Result{Text: fmt.Sprintf("%s %s\n%s", p.ID, describeState(p), text), Backend: p.Backend, Warnings: endWarnings(p)}
	if !p.Running {
		r.ExitCode = &p.ExitCode
	}
	return r
}

// endWarnings are the warnings of a process that has ended: until then its start has said them.
func endWarnings(p backend.Process) []string {
	if p.Running {
		return nil
	}
	return p.Warnings
}

func (s *Shell) showLog(p backend.Process, a processArgs) tool.Result {
	from := int64(-cmp.Or(a.Limit, logLimit))
	if a.Offset != nil {
		from = *a.Offset
	}
	text, end, err := s.readOutput(p, from, cmp.Or(a.Limit, logLimit))
	if err != nil {
		return tool.Fail("The output of %s cannot be read: %v.", p.ID, err)
	}
	return processResult(p, fmt.Sprintf("%s\n[up to byte %d of %d]", text, end, max(p.Total, end)))
}

// readOutput reads bytes as text; it says when older ones are gone. end is where the next read
// begins.
func (s *Shell) readOutput(p backend.Process, from int64, limit int) (text string, end int64, err error) {
	data, start, _, err := s.pool.Output(p.Session, p.ID, from, limit)
	if err != nil {
		return "", 0, err
	}
	text = strings.TrimRight(Readable(data), "\n")
	if from >= 0 && start > from {
		text = fmt.Sprintf("[%d older bytes are gone]\n%s", start-from, text)
	}
	return text, start + int64(len(data)), nil
}

func (s *Shell) waitFor(ctx context.Context, p backend.Process, d time.Duration) (tool.Result, error) {
	q, err := s.pool.Wait(ctx, p.Session, p.ID, d)
	if err != nil && ctx.Err() == nil {
		return tool.Fail("%s: %v.", p.ID, err), nil
	}
	if q.ID == "" {
		q = p
	}
	r := s.newsResult(q)
	if ctx.Err() == nil && q.Running {
		r.Text += fmt.Sprintf("\n[still running after %s; wait again, or kill it]", d)
	}
	return r, ctx.Err()
}

// writeInput is write, submit and close.
func (s *Shell) writeInput(p backend.Process, a processArgs) tool.Result {
	if !p.Running {
		return tool.Fail("%s %s: it takes no input.", p.ID, describeState(p))
	}
	data, did := a.Data, "written"
	switch a.Action {
	case "submit":
		data += "\n"
		did = "submitted"
	case "close":
		did = "written, and the input was closed"
	}
	if data == "" && a.Action == "write" {
		return tool.Fail("write needs data.")
	}
	if err := s.pool.Write(p.Session, p.ID, []byte(data), a.Action == "close"); err != nil {
		return tool.Fail("%s did not take the input: %v.", p.ID, err)
	}
	return tool.Result{Text: fmt.Sprintf("%d bytes %s to %s.", len(data), did, p.ID), Backend: p.Backend}
}
