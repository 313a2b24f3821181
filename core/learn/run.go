package learn

import (
	"fmt"
	"slices"
	"strings"

	"hermes/core/event"
	"hermes/core/injection"
	"hermes/skills"
	"hermes/skills/procedure"
	"hermes/skills/procedure/request"
)

// Run is a run of a procedure, as exit codes and postconditions tell it.
type Run struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Source string    `json:"source"`
	Hash   string    `json:"hash"`
	End    string    `json:"end"` // see event.ProcedureRan
	Why    string    `json:"why,omitempty"`
	Held   int       `json:"held,omitempty"` // postconditions that hold
	Steps  []RunStep `json:"steps,omitempty"`
}

// RunStep is a step of a run.
type RunStep struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Ran    string `json:"ran,omitempty"` // its command
	Exit   *int   `json:"exit,omitempty"`
	Said   string `json:"said,omitempty"` // the end of why it failed
}

// Bounds of what is kept of a run.
const (
	maxRunSteps = 40
	maxRunText  = 300
)

// noteRun notes a run of a procedure in a turn, and that its text was used, where it is the
// person's and the run got to a step.
func (l *Learner) noteRun(t *turn, h event.Header, e event.ProcedureRan) {
	r := &Run{ID: e.Run, Name: e.Name, Source: e.Source, Hash: e.Hash, End: e.End, Why: cleanTail(e.Why, maxSaid), Held: e.Held}
	for _, s := range e.Steps[:min(len(e.Steps), maxRunSteps)] {
		r.Steps = append(r.Steps, RunStep{
			Name: oneLine(cutText(s.Name, maxRunText)), Status: s.Status, Ran: cutText(s.Command, maxRunText), Exit: s.Exit, Said: cleanTail(s.Said, maxRunText),
		})
	}
	t.taintByRun(e)
	i, ok := t.calls[e.CallID]
	if !ok && len(t.Calls) < maxSteps { // the person's own call is none of the agent's
		i, ok = len(t.Calls), true
		t.calls[e.CallID] = i
		t.Calls = append(t.Calls, Step{Tool: "skill_run", Args: e.Name})
	}
	if ok {
		t.Calls[i].Run = r
	}
	if !r.isOwn() || r.End == procedure.EndNotBegun {
		return
	}
	by := "model"
	if _, typed := request.Parse(t.Task); typed && t.person {
		by = "person"
	}
	l.noteUsed(t, h, r.key(), e.Hash, by)
}

// taintByRun notes whose words a run brought into a turn: what its steps said is in no result of
// the turn, and a procedure that others wrote is their words from its first line on.
func (t *turn) taintByRun(e event.ProcedureRan) {
	if e.Source != string(skills.User) && e.Source != string(skills.Builtin) {
		t.taintTurn("it ran the procedure " + oneLine(e.Name) + ", which is not your own (" + e.Source + ")")
	}
	texts := []string{e.Name, e.Why}
	for _, s := range e.Steps {
		texts = append(texts, s.Name+"\n"+s.Command+"\n"+s.Said)
	}
	for _, text := range texts {
		if hits := injection.ScanDocument(text); len(hits) > 0 {
			t.taintTurn("a run of the procedure " + oneLine(e.Name) + " " + hits[0].Reason)
		}
	}
}

func (r *Run) key() string { return skills.ProcedureKey(r.Name) }

func (r *Run) isOwn() bool { return r.Source == string(skills.User) }

// runSignals are what runs of the person's procedures came to. Of one that was taken up again its
// end counts.
func runSignals(calls []Step) (out []Signal) {
	for i, c := range calls {
		if c.Run == nil || !c.Run.isOwn() || slices.ContainsFunc(calls[i+1:], func(o Step) bool { return o.Run != nil && o.Run.ID == c.Run.ID }) {
			continue
		}
		switch r := c.Run; {
		case r.End == procedure.EndFailed || r.End == procedure.EndUnmet:
			out = append(out, Signal{Says: Bad, Why: fmt.Sprintf("a run of the procedure %s: %s", r.Name, r.fault())})
		case r.End == procedure.EndDone && r.Held > 0:
			out = append(out, Signal{Says: Good, Why: fmt.Sprintf("a run of the procedure %s: what must be true afterwards is (%d checks)", r.Name, r.Held)})
		}
	}
	return out
}

// fault is what went wrong in a run, in one line.
func (r *Run) fault() string {
	if r.End == procedure.EndFailed {
		for _, s := range slices.Backward(r.Steps) {
			if s.Status != procedure.EndFailed {
				continue
			}
			if s.Exit != nil {
				return fmt.Sprintf("the step %s ended with exit code %d", oneLine(s.Name), *s.Exit)
			}
			return "the step " + oneLine(s.Name) + " failed"
		}
	}
	return cutText(oneLine(r.Why), 200)
}

// telling are the ends of runs whose steps say something.
var telling = []string{procedure.EndDone, procedure.EndFailed, procedure.EndUnmet}

// withRunSteps are calls with the commands of runs among them, in their order. A run that was
// refused or stopped says nothing.
func withRunSteps(calls []Step) (out []Step) {
	for _, c := range calls {
		if c.Run != nil && slices.Contains(telling, c.Run.End) {
			for _, s := range c.Run.Steps {
				out = append(out, Step{Tool: "terminal", Ran: s.Ran, Exit: s.Exit})
			}
		}
		out = append(out, c)
	}
	return out
}

// Words tell of a step of a run.
func (s RunStep) Words() string {
	out := oneLine(s.Name) + ": " + s.Status
	if s.Exit != nil {
		out += fmt.Sprintf(", exit code %d", *s.Exit)
	}
	return out
}

// indentLines is a text of which no line looks like one of the digest.
func indentLines(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) })
	return strings.Join(lines, "\n    ")
}

// describeRun is a run as a model is shown it.
func describeRun(b *strings.Builder, r *Run, clean func(string) string) {
	fmt.Fprintf(b, "  run of the procedure %s: %s\n", clean(oneLine(r.Name)), r.End)
	for _, s := range r.Steps {
		fmt.Fprintf(b, "  step %s\n", clean(s.Words()))
		if s.Ran != "" {
			fmt.Fprintf(b, "    ran: %s\n", clean(indentLines(s.Ran)))
		}
		if s.Said != "" {
			fmt.Fprintf(b, "    said: %s\n", clean(indentLines(s.Said)))
		}
	}
	if r.Why != "" {
		fmt.Fprintf(b, "  it ended so because: %s\n", clean(oneLine(r.Why)))
	}
}
