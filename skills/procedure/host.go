package procedure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes/core/clip"
)

// Host is what a run needs of the program.
type Host interface {
	// Tool returns the tool that an action names, if the session has it.
	Tool(action string) (name string, ok bool)
	// Call runs a tool as any call is run: validated, approved, told. waiting hears while a person
	// is asked.
	Call(ctx context.Context, name string, args map[string]any, waiting func(bool)) Outcome
	// Model has a model without tools answer.
	Model(ctx context.Context, system, text string) (string, error)
	// Say shows a line to whoever watches.
	Say(line string)
	// Save keeps how far the run is.
	Save(State) error
}

// Outcome is what came of a call.
type Outcome struct {
	Text        string
	Data        any // nil: there is only text
	Failed      bool
	Interrupted bool
	Refused     bool // it did not run: somebody or a rule said no
	Exit        *int
}

func (o Outcome) asError() error {
	text := strings.TrimSpace(o.Text)
	if text == "" {
		text = "it failed without a word"
	}
	err := &stepError{text: text, exit: o.Exit}
	if o.Refused {
		return endError{err, EndRefused}
	}
	return err
}

// stepError is what a step ended with.
type stepError struct {
	text string
	exit *int
}

func (e *stepError) Error() string { return e.text }

// asValue is an error as conditions of branches see it.
func asValue(err error) map[string]any {
	out := map[string]any{"text": err.Error()}
	if s := (*stepError)(nil); errors.As(err, &s) && s.exit != nil {
		out["exit_code"] = *s.exit
	}
	return out
}

// State is how far a run is: what a later one goes on with.
type State struct {
	ID        string         `json:"id"`
	Procedure string         `json:"procedure"`
	Digest    string         `json:"digest"` // of the file
	Dir       string         `json:"dir"`
	Params    map[string]any `json:"params"`
	Done      []Done         `json:"done"`
	Ended     string         `json:"ended,omitempty"` // "done", "failed"; "" while it runs
}

// Done is one step that is over.
type Done struct {
	Step   int    `json:"step"` // its place
	Name   string `json:"name"`
	Status string `json:"status"` // done, skipped, warned
	Note   string `json:"note,omitempty"`
	Output any    `json:"output,omitempty"`
}

// Statuses of steps.
const (
	statusDone    = "done"
	statusSkipped = StatusSkipped
	statusWarned  = "failed, and it goes on"
)

// Result is what came of a run.
type Result struct {
	State    State
	Text     string // the output by its template
	Err      error
	Warnings []string
	Advice   []string // what the file says about errors

	End   string // how it ended
	Steps []Ran  // that this run began, the ones of branches too
	Held  int    // postconditions that hold
}

// Params fills in what a run is given: it names what is missing and what nobody knows.
func (p *Procedure) Params(given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	known := map[string]bool{}
	for _, x := range p.Parameters {
		known[x.Name] = true
		v, ok := given[x.Name]
		if !ok {
			var err error
			if v, err = resolveTree(x.Default, newScope(out)); err != nil {
				return nil, err
			}
		}
		if v != nil {
			out[x.Name] = v
		}
	}
	for _, s := range p.Steps {
		if args, ok := s.Args.(map[string]any); ok {
			for k := range args {
				known[k] = true
			}
		}
	}
	for name, v := range given {
		if !known[name] {
			return nil, fmt.Errorf("%s has no parameter %s; %s", p.Name, clip.Runes(name, 60, "…"), p.describeParameters())
		}
		out[name] = v
	}
	return out, nil
}

// missingParameters are parameters without a value.
func (p *Procedure) missingParameters(params map[string]any) []string {
	var out []string
	for _, x := range p.Parameters {
		if _, ok := params[x.Name]; !ok {
			out = append(out, x.Name)
		}
	}
	return out
}

func (p *Procedure) describeParameters() string {
	var names []string
	for _, x := range p.Parameters {
		names = append(names, x.Name)
	}
	if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}

// replacedArguments are the arguments of a step, with those in place that the run was given.
func (s *Step) replacedArguments(vars map[string]any, given map[string]any) (map[string]any,
	error,
) {
	tree, err := resolveTree(s.Args, newScope(vars))
	args, ok := tree.(map[string]any)
	if err != nil || !ok {
		return map[string]any{}, err
	}
	for k := range args {
		if v, ok := given[k]; ok {
			args[k] = v
		}
	}
	return args, nil
}

// plainJSON makes JSON values of anything: what was stored and what was not are the same.
func plainJSON(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}
