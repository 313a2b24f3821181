// Package code is the execute_code tool: Python that calls the agent's other tools. core/execcode
// runs it; this package says what a model is told about it and where a script runs.
//
// The contract: a script runs where commands of its session would run, unless the call names a back
// end: with the session in a container, no script runs on the host. The result is one JSON object,
// as execcode.Result has it.
package code

import (
	"bytes"
	"context"
	_ "embed" // description
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/execcode"
	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed execute_code.md
var doc string

// Name is the tool's name.
const Name = "execute_code"

// maxResult is what a result may take as JSON: all that the limits of a script let through,
// escaped.
const maxResult = 1_000_000

// Options of the tool.
type Options struct {
	Engine *execcode.Engine
	Pool   backend.Pool
	// Settings are asked for at every call.
	Settings func() Settings
	// Passed are variables that scripts get beside those of their place. May be nil.
	Passed tool.Passed
}

// Settings are what a person may change while the program runs.
type Settings struct {
	Mode   execcode.Mode
	Limits execcode.Limits
}

type args struct {
	Code    string `json:"code"`
	Session bool   `json:"session"`
	Reset   bool   `json:"reset"`
	Backend string `json:"backend"`
	Timeout int    `json:"timeout"`
}

type runner struct {
	o     Options
	avail availability
}

// Tool returns execute_code.
func Tool(o Options) tool.Tool {
	r := &runner{o: o}
	return tool.Typed(tool.Spec{
		Name: Name, Toolset: "code_execution", MaxResult: maxResult,
		Description: r.describeTool(nil), Describe: r.describeTool, Available: r.hiddenReason,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["code"],"properties":{
			"code":{"type":"string","minLength":1,"description":"Python; from hermes_tools import ... for the functions above"},
			"session":{"type":"boolean","default":false,"description":"Keep variables from call to call"},
			"reset":{"type":"boolean","default":false,"description":"Begin with no variables"},
			"backend":{"type":"string","description":"Name of the back end to run in; default is the session's current one"},
			"timeout":{"type":"integer","minimum":1,"description":"Seconds, if less than the limit"}}}`),
		Intent: tool.Arg(args.intent),
	}, r.runScript)
}

func (a args) intent() intent.Intent {
	return intent.Intent{
		Gist: scriptGist(a.Code), Detail: a.Code, Effects: intent.UnknownAction(), Unread: true, InBackend: true, Backend: a.Backend,
		OtherArgs: intent.OtherArgs(a, "timeout"),
	}
}

// describeTool lists only functions that the session has.
func (r *runner) describeTool(session []tool.Spec) string {
	functions := "No other tools are part of this session, so hermes_tools has helpers only.\n"
	if sigs := execcode.Signatures(session); len(sigs) > 0 {
		functions = "`from hermes_tools import ...`:\n\n```\n" + strings.Join(sigs, "\n") + "\n```\n"
	}
	l := r.o.Settings().Limits
	return fmt.Sprintf(doc, functions, l.Calls, int(l.Timeout.Seconds()), l.Stdout/1000)
}

// availability remembers for a while that there is no Python: looking for it costs.
type availability struct {
	mu   sync.Mutex
	err  error
	when time.Time
}

const lookAgain = 30 * time.Second

// hiddenReason hides the tool where nothing can run a script.
func (r *runner) hiddenReason() error {
	if r.o.Pool != nil {
		for _, b := range r.o.Pool.List("") {
			if !b.Traits.Local {
				return nil // it may have a Python of its own
			}
		}
	}
	r.avail.mu.Lock()
	defer r.avail.mu.Unlock()
	if r.avail.err != nil && time.Since(r.avail.when) < lookAgain {
		return r.avail.err
	}
	_, err := r.o.Engine.Probe(context.Background(), "")
	r.avail.err, r.avail.when = err, time.Now()
	return err
}

func (r *runner) runScript(ctx context.Context, c tool.Call, a args) (tool.Result, error) {
	if c.Nest == nil {
		return tool.Fail("A script cannot run scripts: execute_code is called by you only."), nil
	}
	place, err := r.findPlace(c.Session, a.Backend)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	s := r.o.Settings()
	if t := time.Duration(a.Timeout) * time.Second; t > 0 && t < s.Limits.Timeout {
		s.Limits.Timeout = t
	}
	var env map[string]string
	var notes []string
	if r.o.Passed != nil {
		env, notes = r.o.Passed(ctx, c, place.name)
	}
	res := r.o.Engine.Run(ctx, execcode.Script{
		Session: c.Session, CallID: c.ID, Code: a.Code, Dir: c.Cwd, Mode: s.Mode, Backend: place.far, Kernel: a.Session, Reset: a.Reset,
		Limits: s.Limits, Tools: c.Nest.Tools(), Call: c.Nest.Call, Output: c.Output, Env: env,
	})
	res.Warnings = append(notes, res.Warnings...)
	if place.far != "" && (!res.Began() || res.ExitCode == 127) {
		if has, asked := r.hasPython(ctx, c.Session, place.far); asked && !has {
			res.Error = r.whoHasPython(ctx, c, place.far)
		}
	}
	text, err := encodeResult(res)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{
		Text: text, IsError: res.Status != execcode.Success, Interrupted: res.Status == execcode.Interrupted, Backend: place.name,
		ExitCode: &res.ExitCode, Warnings: res.Warnings,
	}, nil
}

// encodeResult writes a result for a model: one object, without the escapes that JSON inside of
// HTML needs.
func encodeResult(res execcode.Result) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(res); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

// place is where a script runs: far is "" for this machine.
type place struct{ name, far string }

// findPlace finds the back end for a script. A name that does not exist is an error: a script that
// was written for one place may do harm in another.
func (r *runner) findPlace(session, asked string) (place, error) {
	if r.o.Pool == nil {
		return place{}, nil
	}
	var names []string
	var chosen *backend.Status
	for _, b := range r.o.Pool.List(session) {
		names = append(names, b.Name)
		fits := b.Name == asked || asked == "" && b.Selected
		if fits || asked == "" && chosen == nil && b.Default {
			chosen = &b
		}
	}
	switch {
	case chosen == nil && asked != "":
		return place{}, fmt.Errorf("backend '%s' not found. Available: %s", asked, strings.Join(names, ", "))
	case chosen == nil:
		return place{}, nil
	case chosen.Traits.Local:
		return place{name: chosen.Name}, nil
	}
	return place{name: chosen.Name, far: chosen.Name}, nil
}

// scriptGist is the first line of a script that says something, and how long the script is.
func scriptGist(code string) string {
	lines := strings.Split(strings.TrimSpace(code), "\n")
	first := ""
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "import ") || strings.HasPrefix(l, "from ") {
			continue
		}
		first = strings.TrimSpace(strings.TrimPrefix(l, "#"))
		break
	}
	if len(lines) == 1 {
		return strings.TrimSpace(code)
	}
	return fmt.Sprintf("%s (%d lines)", first, len(lines))
}
