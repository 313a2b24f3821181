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
		Reads: tool.Arg(func(a processArgs) bool { return slices.Contains([]string{"list", "poll", "log", "wait"}, a.Action) }),
		Gist:  tool.Arg(func(a processArgs) string { return strings.TrimSpace(a.Action + " " + a.ID) }),
	}, s.process)
}

func (s *Shell) process(ctx context.Context, c tool.Call, a processArgs) (tool.Result, error) {
	if a.Action == "list" {
		return tool.Result{Text: s.list(c.Session)}, nil
	}
	p, ok := s.find(c.Session, a.ID)
	if !ok {
		return tool.Fail("There is no process %q. %s", a.ID, s.list(c.Session)), nil
	}
	switch a.Action {
	case "poll":
		return s.news(p), nil
	case "log":
		return s.log(p, a), nil
	case "wait":
		return s.wait(ctx, p, seconds(a.Timeout, defaultTimeout))
	case "kill":
		q, err := s.pool.Kill(ctx, c.Session, p.ID)
		if err != nil {
			return tool.Fail("%s could not be killed: %v.", p.ID, err), ctx.Err()
		}
		return s.news(q), nil
	}
	return s.input(p, a), nil
}

func (s *Shell) find(session, id string) (backend.Process, bool) {
	for _, p := range s.pool.Processes(session) {
		if p.ID == id {
			return p, true
		}
	}
	return backend.Process{}, false
}

func (s *Shell) list(session string) string {
	all := s.pool.Processes(session)
	if len(all) == 0 {
		return "No background processes."
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d bytes\t%s\n", p.ID, state(p), p.Backend, p.Total, firstLine(p.Command))
	}
	return b.String()
}

// state is "running for 2m3s" or "ended with exit code 1".
func state(p backend.Process) string {
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

// news gives the state and what was printed since the last news.
func (s *Shell) news(p backend.Process) tool.Result {
	key := procKey{p.Session, p.ID}
	s.mu.Lock()
	from := s.polled[key]
	s.mu.Unlock()
	text, end, err := s.output(p, from, logLimit)
	if err != nil {
		return tool.Fail("The output of %s cannot be read: %v.", p.ID, err)
	}
	s.mu.Lock()
	s.polled[key] = max(s.polled[key], end)
	s.mu.Unlock()
	if strings.TrimSpace(text) == "" {
		text = "[nothing new was printed]"
	}
	return result(p, text)
}

func result(p backend.Process, text string) tool.Result {
	for _, w := range ended(p) {
		text += "\n[warning: " + w + "]"
	}
	r := tool.Result{Text: fmt.Sprintf("%s %s\n%s", p.ID, state(p), text), Backend: p.Backend, Warnings: ended(p)}
	if !p.Running {
		r.ExitCode = &p.ExitCode
	}
	return r
}

// ended are the warnings of a process that has ended: until then its start has said them.
func ended(p backend.Process) []string {
	if p.Running {
		return nil
	}
	return p.Warnings
}

func (s *Shell) log(p backend.Process, a processArgs) tool.Result {
	from := int64(-cmp.Or(a.Limit, logLimit))
	if a.Offset != nil {
		from = *a.Offset
	}
	text, end, err := s.output(p, from, cmp.Or(a.Limit, logLimit))
	if err != nil {
		return tool.Fail("The output of %s cannot be read: %v.", p.ID, err)
	}
	return result(p, fmt.Sprintf("%s\n[up to byte %d of %d]", text, end, max(p.Total, end)))
}

// output reads bytes as text; it says when older ones are gone. end is where the next read begins.
func (s *Shell) output(p backend.Process, from int64, limit int) (text string, end int64, err error) {
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

func (s *Shell) wait(ctx context.Context, p backend.Process, d time.Duration) (tool.Result, error) {
	q, err := s.pool.Wait(ctx, p.Session, p.ID, d)
	if err != nil && ctx.Err() == nil {
		return tool.Fail("%s: %v.", p.ID, err), nil
	}
	if q.ID == "" {
		q = p
	}
	r := s.news(q)
	if ctx.Err() == nil && q.Running {
		r.Text += fmt.Sprintf("\n[still running after %s; wait again, or kill it]", d)
	}
	return r, ctx.Err()
}

// input is write, submit and close.
func (s *Shell) input(p backend.Process, a processArgs) tool.Result {
	if !p.Running {
		return tool.Fail("%s %s: it takes no input.", p.ID, state(p))
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
