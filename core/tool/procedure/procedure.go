// Package procedure is the tool skill_run: it runs the procedures of skills/procedure by the other
// tools of the session.
//
// The contract: every step passes validation, toolset and gate like a call of the model, as an
// event under this call. How far a run is stands in a file, without secrets, before the next step
// begins.
package procedure

import (
	"context"
	"crypto/rand"
	_ "embed" // description
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/atomicfile"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/secret"
	"hermes/core/skill"
	"hermes/core/tool"
	"hermes/skills"
	"hermes/skills/procedure"
)

//go:embed skill_run.md
var doc string

// Name is the tool's name.
const Name = "skill_run"

// Options are what the tool needs.
type Options struct {
	Library *skill.Library
	Project func(dir string) string // the root of the project around a folder
	Runs    string                  // folder of how far runs are
	// Model has a model without tools answer.
	Model func(ctx context.Context, session, system, text string) (string, error)
	// Servers starts servers of tools that a procedure names. May be nil.
	Servers func(session string, names []string)
}

type args struct {
	Name       string         `json:"name"`
	Parameters map[string]any `json:"parameters"`
	DryRun     bool           `json:"dry_run"`
	Resume     string         `json:"resume"`
}

// Tool returns skill_run.
func Tool(o Options) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: Name, Toolset: "skills", Description: strings.TrimSpace(doc), Serial: true,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"name":{"type":"string","maxLength":128,"description":"Name of the procedure"},
			"parameters":{"type":"object","description":"Its parameters, by name"},
			"dry_run":{"type":"boolean","default":false,"description":"Only say what would be done"},
			"resume":{"type":"string","maxLength":64,"description":"Id of a run to go on with"}}}`),
		Intent: tool.Arg(func(a args) intent.Intent { return intent.ReadsOnly(a.gist()) }),
	}, o.runProcedure)
}

func (a args) gist() string {
	out := strings.TrimSpace(a.Name + " " + a.Resume)
	if a.DryRun {
		out += " (dry run)"
	}
	return out
}

func (o Options) runProcedure(ctx context.Context, c tool.Call, a args) (tool.Result, error) {
	if c.Nest == nil {
		return tool.Fail("A procedure cannot run a procedure: skill_run is called by you only."), nil
	}
	state := procedure.State{ID: strings.ToLower(rand.Text()[:10]), Procedure: a.Name, Dir: c.Cwd}
	if a.Resume != "" {
		var err error
		if state, err = o.load(a.Resume); err != nil {
			return tool.Fail("%v", err), nil
		}
	}
	p, err := o.Library.Procedure(ctx, o.Project(c.Cwd), state.Procedure)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if a.Resume != "" && state.Digest != p.Digest {
		return tool.Fail("The procedure %s has changed since run %s began, so that run cannot go on. Begin anew.", p.Name, state.ID), nil
	}
	state.Digest = p.Digest
	given := state.Params
	for k, v := range a.Parameters {
		if given == nil {
			given = map[string]any{}
		}
		given[k] = v
	}
	if state.Params, err = p.Params(given); err != nil {
		return tool.Fail("%v", err), nil
	}
	h := &host{o: o, c: c, p: p.Procedure}
	if a.DryRun {
		return tool.Result{Text: p.Plan(h, state.Params) + "Nothing was done: this was a dry run."}, nil
	}
	o.startServers(c.Session, p.Procedure)
	res := procedure.Start(p.Procedure, h, state).Do(ctx)
	c.Publish(tellRun(c.ID, p, res))
	return tool.Result{Text: o.resultText(res), IsError: res.Err != nil, Interrupted: ctx.Err() != nil}, nil
}

// tellRun says how a run came out, without secrets.
func tellRun(call string, p skill.Procedure, res procedure.Result) event.ProcedureRan {
	e := event.ProcedureRan{
		CallID: call, Run: res.State.ID, Name: p.Name, Source: string(p.Source), Hash: skills.HashOf([]byte(p.Text)), End: res.End, Held: res.Held,
	}
	if res.Err != nil {
		e.Why = secret.Redact(res.Err.Error())
	}
	for _, s := range res.Steps {
		e.Steps = append(e.Steps, event.ProcedureStep{
			Name: s.Name, Status: s.Status, Command: secret.Redact(s.Command), Exit: s.Exit, Said: secret.Redact(s.Said),
		})
	}
	return e
}

// startServers wants the servers of a procedure, as a skill that is read wants its own.
func (o Options) startServers(session string, p *procedure.Procedure) {
	var names []string
	for _, s := range p.Servers {
		names = append(names, s.Name)
	}
	if o.Servers != nil && len(names) > 0 {
		o.Servers(session, names)
	}
}

// resultText is a result in words.
func (o Options) resultText(res procedure.Result) string {
	var b strings.Builder
	if res.Text != "" {
		b.WriteString(strings.TrimSpace(res.Text) + "\n\n")
	}
	for _, d := range res.State.Done {
		fmt.Fprintf(&b, "%d. %s: %s\n", d.Step+1, d.Name, d.Status)
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(&b, "Warning: %s\n", w)
	}
	if res.Err != nil {
		fmt.Fprintf(&b, "The procedure %s did not end well: %v\n", res.State.Procedure, res.Err)
		for _, a := range res.Advice {
			fmt.Fprintf(&b, "What it says about errors: %s\n", a)
		}
		fmt.Fprintf(&b, "Steps that are done are kept: skill_run with resume %q goes on, in a shell `hermes skills run --resume %[1]s`.", res.State.ID)
	} else {
		fmt.Fprintf(&b, "The procedure %s is done.", res.State.Procedure)
	}
	return b.String()
}

var runID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{4,32}$`) })

const (
	maxState = 8 << 20
	maxRuns  = 100
)

func (o Options) load(id string) (s procedure.State, err error) {
	if !runID().MatchString(id) {
		return s, fmt.Errorf("%q is no id of a run", id)
	}
	file := filepath.Join(o.Runs, id+".json")
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, fmt.Errorf("there is no run %s; the last ones are %s", id, strings.Join(o.last(5), ", "))
	case err != nil:
		return s, err
	case info.Size() > maxState:
		return s, fmt.Errorf("run %s is too large to be read", id)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("run %s cannot be read: %w", id, err)
	}
	if s.Ended == "done" {
		return s, fmt.Errorf("run %s is done; run %s anew", id, s.Procedure)
	}
	s.Ended = ""
	return s, nil
}

// last are the ids of the newest runs.
func (o Options) last(n int) []string {
	entries, _ := os.ReadDir(o.Runs) // a folder that is not there holds none
	type run struct {
		id string
		at time.Time
	}
	var runs []run
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") {
			runs = append(runs, run{strings.TrimSuffix(e.Name(), ".json"), info.ModTime()})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return b.at.Compare(a.at) })
	var out []string
	for i, r := range runs {
		if i >= maxRuns {
			_ = os.Remove(filepath.Join(o.Runs, r.id+".json")) // an old run; it is in nobody's way
		} else if len(out) < n {
			out = append(out, r.id)
		}
	}
	return out
}

// host is the session as a run sees it.
type host struct {
	o Options
	c tool.Call
	p *procedure.Procedure
}

// Tool finds what an action names: a tool of the session, or of a server that the procedure names.
func (h *host) Tool(action string) (string, bool) {
	found := ""
	for _, s := range h.c.Nest.Tools() {
		switch {
		case s.Name == Name:
		case s.Name == action:
			return action, true
		case strings.HasPrefix(s.Name, "mcp__") && strings.HasSuffix(s.Name, "__"+action):
			named := slices.ContainsFunc(h.p.Servers, func(x procedure.Server) bool {
				return strings.HasPrefix(s.Name, "mcp__"+strings.ReplaceAll(x.Name, "-", "_")+"__")
			})
			if named {
				found = s.Name
			}
		}
	}
	return found, found != ""
}

// Call is one call through everything that a call of the model goes through.
func (h *host) Call(ctx context.Context, name string, args map[string]any, waiting func(bool)) procedure.Outcome {
	raw, err := json.Marshal(args)
	if err != nil {
		return procedure.Outcome{Text: err.Error(), Failed: true}
	}
	res := h.c.Nest.Call(ctx, tool.NestedCall{Name: name, Args: raw, Waiting: waiting})
	out := procedure.Outcome{Text: res.Text, Failed: res.IsError, Interrupted: res.Interrupted, Refused: res.Refused, Exit: res.ExitCode}
	if res.Data != nil && json.Unmarshal(res.Data, &out.Data) != nil {
		out.Data = nil
	}
	return out
}

func (h *host) Model(ctx context.Context, system, text string) (string, error) {
	if h.o.Model == nil {
		return "", errors.New("there is no model for this step")
	}
	return h.o.Model(ctx, h.c.Session, system, text)
}

func (h *host) Say(line string) { h.c.Output(event.Note, []byte(line+"\n")) }

// Save keeps how far a run is, without secrets.
func (h *host) Save(s procedure.State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if secret.Enabled() {
		data = secret.JSON(data)
	}
	if err := os.MkdirAll(h.o.Runs, 0o700); err != nil {
		return err
	}
	if len(s.Done) == 0 {
		h.o.last(0) // forgets old ones
	}
	return atomicfile.Write(filepath.Join(h.o.Runs, s.ID+".json"), data, 0o600)
}
