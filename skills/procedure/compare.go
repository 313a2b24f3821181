package procedure

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hermes/core/shelltext"
)

// rule is what is done where a text that a model wrote changes a field.
type rule int

const (
	asks    rule = iota // a person decides
	refused             // it is never done
	free                // it is done unasked, in mode auto
	worded              // free, unless the procedure asks a person about a step
	inside              // its own fields, or its items, are compared
)

// field is how the fields of a procedure may change, and what they are called in the file. One that
// is not listed is for a person to decide.
type field struct {
	rule rule
	key  string
}

var fields = map[string]field{
	"Procedure.Name": {refused, "name"}, "Procedure.Trigger": {refused, "trigger"},
	"Procedure.Parameters": {refused, "parameters"}, "Procedure.Improvement": {refused, "improvement"},
	"Procedure.Preconditions": {refused, "preconditions"}, "Procedure.Postconditions": {refused, "postconditions"},
	"Procedure.StepTime": {refused, "timeout_per_step"}, "Procedure.TotalTime": {refused, "total_timeout"},
	"Procedure.Strategy": {asks, "strategy"}, "Procedure.Servers": {asks, "mcp_servers"},
	"Procedure.Version": {free, "version"}, "Procedure.Description": {free, "description"},
	"Procedure.CreatedFrom": {free, "created_from"}, "Procedure.Shortcuts": {free, "learned_shortcuts"},
	"Procedure.Steps": {inside, "steps"}, "Procedure.Groups": {inside, "parallel_steps"},
	"Procedure.Branches": {inside, "error_handling"}, "Procedure.Output": {inside, "output"},
	"Procedure.File": {free, ""}, "Procedure.Problems": {free, ""},

	"Step.Name": {worded, "name"}, "Step.Named": {worded, "name"}, "Step.Line": {free, ""},
	"Step.Command": {worded, "command"}, "Step.Prompt": {worded, "prompt"}, "Step.Time": {refused, "timeout"},
	"Step.Action": {asks, "action"}, "Step.Args": {asks, "args"}, "Step.Schema": {asks, "schema"},
	"Step.Output": {asks, "output_key"}, "Step.Condition": {asks, "condition"},
	"Step.OnFailure": {asks, "on_failure"}, "Step.Optimization": {asks, "optimization"},
	"Step.Confirm": {asks, "requires_confirmation"}, "Step.ConfirmText": {asks, "confirmation_message"},

	"Branch.Name": {asks, "name"}, "Branch.Advice": {free, "advice"}, "Branch.Line": {free, ""},
	"Branch.When": {asks, "when"}, "Branch.Then": {asks, "then"}, "Branch.Steps": {inside, "steps"},

	"Output.Format": {free, "format"}, "Output.Template": {free, "template"},
	"Output.OnSuccess": {asks, "on_success"}, "Output.OnFailure": {asks, "on_failure"},
}

// comparison is what a text would change of another one.
type comparison struct {
	before, after *Procedure
	asksPerson    bool
	asks          []string
	refused       error
}

func (c *comparison) addAsk(format string, args ...any) {
	c.asks = append(c.asks, fmt.Sprintf(format, args...))
}

func (c *comparison) compareAll() {
	c.compareFields("", *c.before, *c.after)
	c.compareFields(" of output", c.before.Output, c.after.Output)
	if c.refused == nil && c.before.limited != c.after.limited {
		c.refused = errors.New("a time limit (timeout_per_step, total_timeout) would come or go")
	}
	if !slices.Equal(branchNames(c.before), branchNames(c.after)) {
		c.addAsk("the branches of error_handling, or their order, would change")
	}
	for _, b := range c.before.Branches {
		i := slices.IndexFunc(c.after.Branches, func(x Branch) bool { return x.Name == b.Name })
		if i < 0 {
			continue
		}
		c.compareFields(fmt.Sprintf(" of the branch %s (line %d)", b.Name, b.Line), b, c.after.Branches[i])
	}
	for _, list := range c.before.stepLists() {
		c.compareSteps(list)
	}
}

// compareFields compares two values of one type, field by field.
func (c *comparison) compareFields(where string, before, after any) {
	for _, d := range changedFields(before, after) {
		switch {
		case d.rule == refused && c.refused == nil:
			c.refused = fmt.Errorf("%s%s would change: that is for its author to say", d.key, where)
		case d.rule == asks || d.rule == worded && c.asksPerson:
			c.addAsk("%s%s would change", d.key, where)
		}
	}
}

// changedFields are the fields in which two values of one type differ as they were written.
func changedFields(before, after any) (out []field) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() || reflect.DeepEqual(written(a.Field(i)), written(b.Field(i))) {
			continue
		}
		d, listed := fields[a.Type().Name()+"."+f.Name]
		if !listed {
			d.key = f.Name
		}
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// compareSteps compares the steps of the procedure, or of one of its branches.
func (c *comparison) compareSteps(list stepList) {
	now := c.after.stepsOf(list.branch)
	pairs := pairSteps(list.steps, now)
	was := slices.Repeat([]int{-1}, len(now)) // which step before each is
	for i, s := range list.steps {
		if pairs[i] < 0 {
			c.addAsk("the step %s is gone", s.Name)
			continue
		}
		was[pairs[i]] = i
		c.compareStep(s, now[pairs[i]])
	}
	for i, s := range now {
		if was[i] < 0 && (c.asksPerson || list.branch != "" || !c.isPlain(s)) {
			c.addAsk("the step %s (line %d) is new", s.Name, s.Line)
		}
	}
	order := [][]int{was}
	usual := [][]int{pairedOnly(pairs)}
	if list.branch == "" {
		order, usual = nil, nil
		for _, g := range c.after.Groups {
			order = append(order, placesOf(g, was))
		}
		for _, g := range c.before.Groups {
			usual = append(usual, slices.DeleteFunc(slices.Clone(g), func(i int) bool { return pairs[i] < 0 }))
		}
	} else {
		order[0] = slices.DeleteFunc(slices.Clone(was), func(i int) bool { return i < 0 })
	}
	isEmpty := func(g []int) bool { return len(g) == 0 }
	if !reflect.DeepEqual(slices.DeleteFunc(order, isEmpty), slices.DeleteFunc(usual, isEmpty)) {
		c.addAsk("the order of steps would change")
	}
}

// pairedOnly are the places of the steps that are still there.
func pairedOnly(pairs []int) (out []int) {
	for i, j := range pairs {
		if j >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// placesOf are the places that the steps of a group had before. A new one that begins alone has
// none; one that begins beside others changes when they begin.
func placesOf(group, was []int) (out []int) {
	for _, i := range group {
		if was[i] >= 0 || len(group) > 1 {
			out = append(out, was[i])
		}
	}
	return out
}

// compareStep compares a step with the one in its place.
func (c *comparison) compareStep(s, now Step) {
	where := fmt.Sprintf(" of the step %s (line %d)", s.Name, s.Line)
	for _, x := range []*Step{&s, &now} {
		if !x.Named { // it is called after its line or its action
			x.Name = ""
		}
	}
	c.compareFields(where, s, now)
	switch {
	case (s.Command == nil) != (now.Command == nil) || (s.Prompt == nil) != (now.Prompt == nil):
		c.addAsk("the kind%s would change", where)
	case s.Command != nil && saysLess(s.Command, now.Command):
		c.addAsk("the exit code%s would say less: other commands decide it", where)
	}
}

// isPlain reports a step that is nothing but a command or a prompt, and of a kind that was there.
func (c *comparison) isPlain(s Step) bool {
	for _, d := range changedFields(Step{OnFailure: Stop}, s) {
		if d.rule != free && d.rule != worded {
			return false
		}
	}
	return slices.ContainsFunc(c.before.stepLists(), func(l stepList) bool {
		return slices.ContainsFunc(l.steps, func(o Step) bool {
			return (o.Command == nil) == (s.Command == nil) && (o.Prompt == nil) == (s.Prompt == nil)
		})
	})
}

// saysLess reports a command whose exit code comes from less than before: from fewer commands, or
// not from one that still stands in it, as in `make test || true` and `make test | tail`.
func saysLess(before, after *Text) bool {
	was, is := decidingPrograms(before), decidingPrograms(after)
	return len(is) < len(was) || slices.ContainsFunc(was, func(program string) bool {
		return !slices.Contains(is, program) && strings.Contains(textOf(after), program)
	})
}

// decidingPrograms are those that the exit code of a command comes from, without those that say
// nothing.
func decidingPrograms(t *Text) (out []string) {
	for _, words := range shelltext.Deciding(valueMark().ReplaceAllString(textOf(t), "value")) {
		if !slices.Contains([]string{"true", ":", "echo", "printf", "exit"}, words[0].Text) {
			out = append(out, words[0].Text)
		}
	}
	return out
}

// asksPerson reports whether it asks a person about a step.
func (p *Procedure) asksPerson() bool {
	return p.Strategy == Interactive || slices.ContainsFunc(p.stepLists(), func(l stepList) bool {
		return slices.ContainsFunc(l.steps, func(s Step) bool { return s.Confirm })
	})
}

// stepList is the steps of a procedure, or of one of its branches.
type stepList struct {
	branch string // "" for those of the procedure
	steps  []Step
}

func (p *Procedure) stepLists() []stepList {
	out := []stepList{{"", p.Steps}}
	for _, b := range p.Branches {
		if b.Name != "" {
			out = append(out, stepList{b.Name, b.Steps})
		}
	}
	return out
}

// stepsOf are the steps of one list.
func (p *Procedure) stepsOf(branch string) []Step {
	for _, l := range p.stepLists() {
		if l.branch == branch {
			return l.steps
		}
	}
	return nil
}

func branchNames(p *Procedure) (out []string) {
	for _, b := range p.Branches {
		out = append(out, b.Name)
	}
	return out
}

// pairSteps gives each step of a list the place of the one that stands for it in another: that of
// its name, one that does the same where it has none, else the next of those that are left where
// there are as many. -1: it is gone.
func pairSteps(was, is []Step) []int {
	pairs, taken := slices.Repeat([]int{-1}, len(was)), make([]bool, len(is))
	lost := 0
	for i, s := range was {
		for j, o := range is {
			if !taken[j] && o.identity() == s.identity() {
				pairs[i], taken[j] = j, true
				break
			}
		}
		if pairs[i] < 0 {
			lost++
		}
	}
	if lost != len(is)-(len(was)-lost) {
		return pairs
	}
	for i := range was {
		if pairs[i] < 0 {
			j := slices.Index(taken, false)
			pairs[i], taken[j] = j, true
		}
	}
	return pairs
}

// identity is the name of a step; what it does, where nobody gave it one.
func (s *Step) identity() string {
	if s.Named {
		return s.Name
	}
	return "\x00" + textOf(s.Command) + s.Action + textOf(s.Prompt)
}

// textOf is a text as it was written.
func textOf(t *Text) string {
	if t == nil {
		return ""
	}
	return t.src
}

// written is a value as it was written, without the lines in which it stands.
func written(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		switch x := v.Interface().(type) {
		case *Text:
			return x.src
		case *Condition:
			return x.Text
		}
		return written(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Line" {
				out[f.Name] = written(v.Field(i))
			}
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = written(v.Index(i))
		}
		return out
	case reflect.Map:
		out := map[any]any{}
		for _, k := range v.MapKeys() {
			out[k.Interface()] = written(v.MapIndex(k))
		}
		return out
	default:
		return v.Interface()
	}
}
