// Package procedure is a skill that is a list of steps: a YAML file that says what must be there,
// what is done, what is done when a step fails, and what must be true afterwards.
//
// The contract:
//
//   - Parse never fails and never panics. What is wrong is a Problem with line, key and reason; a
//     procedure with a fatal one does not run.
//   - A key that is not known is fatal: a mistyped requires_confirmation would lift the question.
//   - Nothing here runs a command or calls a model: a Host does, by the ordinary tools and
//     approvals.
//   - Values come from models and from the network. In a command they are quoted for the shell.
package procedure

import (
	"encoding/json"
	"slices"
	"time"

	"hermes/skills"
)

// Bounds of the format.
const (
	MaxFile  = 256 << 10
	maxSteps = 100
	maxText  = 64 << 10
	maxNodes = 20_000
	maxDepth = 32
)

// Procedure is one file.
type Procedure struct {
	Name, Version, Description string
	CreatedFrom                []string
	Trigger                    Trigger
	Parameters                 []Parameter
	Preconditions              []Check
	Strategy                   string
	Steps                      []Step
	Groups                     [][]int // places of steps; those of a group run at once
	StepTime, TotalTime        time.Duration
	Branches                   []Branch
	Postconditions             []Check
	Shortcuts                  []string
	Output                     Output
	Improvement                Improvement
	Servers                    []Server

	File     string
	Problems []skills.Problem
	declared bool                       // it says which parameters there are
	limited  struct{ step, total bool } // it says how long
	refs     []ref
	parallel []group
}

// Trigger says when the procedure is of use.
type Trigger struct {
	Keywords, Context, Signals, FilePatterns []string
	Cron                                     string
}

// Parameter is a value that whoever runs the procedure gives.
type Parameter struct {
	Name, Description string
	Default           any // nil: it must be given
	line              int
}

// Check is something that must be true.
type Check struct {
	Name    string // of the short shape, else its type
	Message string
	Want    bool
	Command *Text // ends with 0 when it is true
	Line    int
}

// Step is one thing that is done: a command or an action.
type Step struct {
	Name         string
	Named        bool // somebody gave it that name
	Command      *Text
	Action       string
	Args         any // a map of values with *Text in it; nil: none
	Prompt       *Text
	Schema       json.RawMessage // of what a model answers; nil: what later steps use of it
	Output       string
	Condition    *Condition
	OnFailure    string // warn_and_continue, stop, or the name of a branch
	Optimization string
	Confirm      bool
	ConfirmText  *Text
	Time         time.Duration
	Line         int
}

// What on_failure may say beside the name of a branch.
const (
	Stop     = "stop"
	Continue = "warn_and_continue"
)

// Branch says what to do about a kind of failure: in words for who runs the procedure, or in steps
// of its own.
type Branch struct {
	Name   string
	Advice string
	When   *Condition // over error; nil: only by its name in on_failure
	Steps  []Step
	Then   string // stop, continue, retry
	Line   int
}

// Output is what comes of a run.
type Output struct {
	Format    string
	Template  *Text
	OnSuccess Ending
	OnFailure Ending
}

// Ending is what is done once the end is known.
type Ending struct {
	Store  bool
	Notify *Notify
}

// Notify is a message to somebody.
type Notify struct {
	Condition *Condition
	Platform  string
	Message   *Text
}

// Improvement is how far the procedure may be changed from experience. It can only narrow what the
// person's settings allow.
type Improvement struct {
	Given      bool // without it nothing is proposed
	Metrics    []string
	MinSamples int // judged turns of a version before one is proposed
	Auto       bool
	Confirm    bool
}

// Waits says why a change waits for a person in every mode, "" when the settings decide.
func (i Improvement) Waits() string {
	switch {
	case i.Confirm:
		return "improvement.require_confirmation is true"
	case !i.Auto:
		return "improvement.auto_update is false"
	default:
		return ""
	}
}

// Server is an MCP server with the tools of it that the procedure uses.
type Server struct {
	Name  string
	Tools []string
}

// group is a list of steps that may run at the same time, as it was written.
type group struct {
	names []string
	line  int
	key   string
}

// Usable reports whether the procedure can run.
func (p *Procedure) Usable() bool {
	return !slices.ContainsFunc(p.Problems, func(x skills.Problem) bool { return x.Fatal })
}

// outputKeys are the keys under which steps leave what came of them, with the place of the step.
func (p *Procedure) outputKeys() map[string]int {
	out := map[string]int{}
	for i, s := range p.Steps {
		if s.Output != "" {
			out[s.Output] = i
		}
	}
	return out
}
