package shell

import (
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed terminal.md
var terminalDoc string

type terminalArgs struct {
	Command    string   `json:"command"`
	Background bool     `json:"background"`
	Timeout    int      `json:"timeout"`
	Workdir    string   `json:"workdir"`
	PTY        bool     `json:"pty"`
	Backend    string   `json:"backend"`
	Notify     bool     `json:"notify_on_complete"`
	Watch      []string `json:"watch_patterns"`
}

// Terminal returns the terminal tool.
func Terminal(s *Shell) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "terminal", Toolset: "terminal", Description: terminalDoc + whereThingsAre(s.pool.List("")),
		Schema: fmt.Appendf(nil, `{"type":"object","additionalProperties":false,"required":["command"],"properties":{
			"command":{"type":"string","minLength":1,"description":"The command, run by a shell"},
			"background":{"type":"boolean","default":false,"description":"Start it and return at once; see the process tool"},
			"timeout":{"type":"integer","minimum":1,"default":%d,"description":"Seconds until a foreground command is ended, at most %d"},
			"workdir":{"type":"string","description":"Directory to run in; default is where the last command ended"},
			"pty":{"type":"boolean","default":false,"description":"Give it a terminal (for programs that insist on one)"},
			"backend":{"type":"string","description":%s},
			"notify_on_complete":{"type":"boolean","default":false,"description":"background: send a message when it ends"},
			"watch_patterns":{"type":"array","items":{"type":"string","minLength":1},"maxItems":10,"description":"background: send a message when a line contains one of these"}}}`,
			s.timeout/time.Second, s.most/time.Second, quoteText(describeBackends(s.pool.List("")))),
		Intent: tool.Arg(terminalArgs.intent), Replace: replaceCommand,
	}, s.runTerminal)
}

// replaceCommand puts another command into a call; everything beside it stays.
func replaceCommand(args json.RawMessage, command string) (json.RawMessage, error) {
	var all map[string]any
	if err := json.Unmarshal(args, &all); err != nil {
		return nil, err
	}
	all["command"] = command
	return json.Marshal(all)
}

func (a terminalArgs) intent() intent.Intent {
	return intent.Intent{
		Gist: a.Command, Shell: &intent.Shell{Command: a.Command, Dir: a.Workdir}, InBackend: true, Backend: a.Backend, Outlives: a.Background,
		OtherArgs: intent.OtherArgs(a, "command", "backend", "timeout"), // how long to wait does not change what is done
	}
}

func (s *Shell) runTerminal(ctx context.Context, c tool.Call, a terminalArgs) (tool.Result, error) {
	if strings.ContainsRune(a.Command+a.Workdir, 0) {
		return tool.Fail("The command contains a NUL byte: write it as an escape that the program understands."), nil
	}
	r := backend.Request{
		Session: c.Session, CallID: c.ID, Backend: a.Backend, Command: a.Command, Dir: a.Workdir, Home: c.Cwd, Lasting: c.Lasting, Order: c.Order,
		Sink: c.Output, MaxOutput: s.budget, SpillDir: s.spill,
		Merge: true, // the order of an error between lines of output is what a reader understands it by
	}
	if a.PTY {
		r.PTY, r.Merge = &backend.Size{Rows: 40, Cols: 120}, false // a terminal is one stream already
	}
	if a.Background {
		r.Sink = c.Later
		return s.startBackground(ctx, c, a, r)
	}
	usual, most := s.timeLimits(c.Session, a.Backend)
	r.Timeout = durationOr(a.Timeout, usual)
	if r.Timeout > most {
		return tool.Fail("timeout is %d, a foreground command may take at most %d seconds. %s",
			a.Timeout, most/time.Second, inBackground(c, "Use background=true"+c.Advise(" and `process`")+" for longer work.")), nil
	}
	if why := neverEnds(a.Command); why != "" {
		return tool.Fail("%s %s", why, inBackground(c, "Use background=true"+c.Advise("; then `process` (poll, log, wait, kill) looks after it")+".")), nil
	}
	notes := s.pass(ctx, c, &r)
	res, err := s.pool.Exec(ctx, r)
	res.Warnings = append(notes, res.Warnings...)
	if err != nil {
		return failureResult(res, err), ctx.Err()
	}
	out := s.describeResult(c, a, res, r.Timeout)
	if c.Data != nil {
		c.Data(dataOf(res))
	}
	if res.Interrupted && ctx.Err() != nil { // else somebody took the back end down, and the turn goes on
		return out, context.Canceled
	}
	return out, nil
}

// pass adds the variables that commands of the session are passed, and returns what is to be said
// about others.
func (s *Shell) pass(ctx context.Context, c tool.Call, r *backend.Request) (notes []string) {
	if s.passed != nil {
		r.Env, notes = s.passed(ctx, c, r.Backend)
	}
	return notes
}

// inBackground is what to do about work that takes long: a script cannot do what the model can.
func inBackground(c tool.Call, advice string) string {
	if c.Data != nil {
		return "A script can leave nothing running: let it end without this, and call the terminal tool for it afterwards."
	}
	return advice
}

// failureResult reports a command that could not be run or whose fate is unknown.
func failureResult(res backend.Result, err error) tool.Result {
	text := strings.TrimSpace(Readable(res.Output) + "\nThe command could not be run: " + err.Error())
	return tool.Result{Text: text, IsError: true, Backend: res.Backend, Warnings: res.Warnings}
}

// outputOf is what a command's output may take of a result budget: some is for the lines after it.
func outputOf(budget int) int { return budget - min(2000, budget/5) }

// describeResult turns what happened into what the model reads.
func (s *Shell) describeResult(c tool.Call, a terminalArgs, res backend.Result, limit time.Duration) tool.Result {
	code := res.ExitCode
	meaning, harmless := exitMeaning(a.Command, code)
	out := tool.Result{
		IsError: code != 0 && !harmless, Backend: res.Backend, ExitCode: &code, Spill: res.Spill, SpillCut: res.SpillCut, Warnings: res.Warnings,
	}
	lines := []string{outputText(res)}
	switch {
	case res.TimedOut:
		lines = append(lines, fmt.Sprintf("[ended after %s: the timeout. The output above is what it printed until then. %s]",
			limit, inBackground(c, fmt.Sprintf("Use a longer timeout (at most %d) or background=true.", max(limit, s.most)/time.Second))))
	case res.Interrupted:
		lines = append(lines, "[stopped before it ended; the output above is what it printed until then]")
	case code != 0 && meaning != "":
		lines = append(lines, fmt.Sprintf("[exit code %d: %s]", code, meaning))
	case code != 0:
		lines = append(lines, fmt.Sprintf("[exit code %d]", code))
	case len(res.Output) == 0:
		lines = append(lines, "[no output, exit code 0]")
	}
	if res.Backend != s.defaultBackend(c.Session) {
		lines = append(lines, "[ran in "+res.Backend+"]")
	}
	for _, w := range res.Warnings {
		lines = append(lines, "[warning: "+w+"]")
	}
	out.Text = strings.Trim(strings.Join(lines, "\n"), "\n")
	return out
}

// dataOf is what happened, for a program.
func dataOf(res backend.Result) map[string]any {
	d := map[string]any{"output": outputText(res), "exit_code": res.ExitCode, "backend": res.Backend}
	if res.TimedOut {
		d["timed_out"] = true
	}
	if res.Spill != "" {
		d["full_output"] = res.Spill
		if res.SpillCut {
			d["full_output_cut"] = true
		}
	}
	if len(res.Warnings) > 0 {
		d["warnings"] = res.Warnings
	}
	return d
}

// outputText is what a command printed, with a note where the middle is missing.
func outputText(res backend.Result) string {
	if !res.Truncated {
		return strings.TrimRight(Readable(res.Output), "\n")
	}
	cut := min(res.Cut, len(res.Output))
	if cut <= 0 {
		cut = len(res.Output) * 2 / 5
	}
	note := fmt.Sprintf("\n[... %d of %d bytes left out", res.Total-int64(len(res.Output)), res.Total)
	switch {
	case res.Spill == "":
	case res.SpillCut:
		note += "; the beginning of it: " + res.Spill
	default:
		note += "; all of it: " + res.Spill
	}
	return Readable(res.Output[:cut]) + note + "]\n" + strings.TrimRight(Readable(res.Output[cut:]), "\n")
}

func (s *Shell) defaultBackend(session string) string {
	for _, b := range s.pool.List(session) {
		if b.Default {
			return b.Name
		}
	}
	return ""
}

// startBackground runs a command in the background.
func (s *Shell) startBackground(ctx context.Context, c tool.Call, a terminalArgs, r backend.Request) (tool.Result, error) {
	w, err := s.newWatcher(c.Session, a)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if w != nil {
		sink := r.Sink
		r.Sink = func(from event.Stream, data []byte) {
			sink(from, data)
			w.takeOutput(data)
		}
	}
	notes := s.pass(ctx, c, &r)
	p, err := s.pool.Start(ctx, r)
	p.Warnings = append(notes, p.Warnings...)
	if err != nil {
		return failureResult(backend.Result{Backend: a.Backend, Warnings: p.Warnings}, err), ctx.Err()
	}
	text := fmt.Sprintf("Started in the background as %s.%s", p.ID, c.Advise(fmt.Sprintf(" Use `process` with session_id=%q to poll, wait, write or kill.", p.ID)))
	if p.Backend != s.defaultBackend(c.Session) {
		text += "\n[runs in " + p.Backend + "]"
	}
	for _, w := range p.Warnings {
		text += "\n[warning: " + w + "]"
	}
	if w != nil {
		s.followProcess(w, p)
	}
	return tool.Result{Text: text, Backend: p.Backend, Warnings: p.Warnings}, nil
}
