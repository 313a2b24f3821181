package procedure

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/core/clip"
	"hermes/core/nearest"
)

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{N}_./:@%+,=-]+$`) })

// Memory is the name under which what was stored earlier is found: ${memory.key}.
const Memory = "memory"

// linkNames checks that what texts name is there when they are used, and finds the parameters.
func (r *reader) linkNames() {
	p := r.p
	at := r.checkOutputs()
	params := map[string]int{}
	for _, x := range p.Parameters {
		params[x.Name] = x.line
	}
	if !p.declared {
		for _, x := range p.refs {
			if root := x.path[0]; !x.dollar && !x.inner && x.mode != inTemplate && params[root] == 0 && !hasKey(at, root) && !isSpecialName(root) {
				params[root] = x.line
				p.Parameters = append(p.Parameters, Parameter{Name: root, line: x.line})
			}
		}
		slices.SortFunc(p.Parameters, func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) })
	}
	for i := range p.refs {
		r.checkRef(&p.refs[i], at, params)
	}
	for _, s := range p.Steps {
		r.checkFailure(s.OnFailure, s.Line, "skill.execution.steps.on_failure")
	}
	p.markShellLiterals()
}

func hasKey[V any](m map[string]V, k string) bool { _, ok := m[k]; return ok }

// isSpecialName reports a name that is always there.
func isSpecialName(name string) bool {
	return name == Memory || name == "error" || name == "this" || strings.HasPrefix(name, "@")
}

// checkOutputs returns the keys of results, and finds those that two steps write.
func (r *reader) checkOutputs() map[string]int {
	at := map[string]int{}
	for i, s := range r.p.Steps {
		if s.Output == "" {
			continue
		}
		if first, twice := at[s.Output]; twice {
			r.addFault(s.Line, "skill.execution.steps.output_key", fmt.Sprintf("%s is what the step in line %d leaves already", s.Output, r.p.Steps[first].Line), "give one of them another name")
			continue
		}
		at[s.Output] = i
	}
	for _, b := range r.p.Branches {
		for _, s := range b.Steps {
			if s.Output != "" && !hasKey(at, s.Output) {
				at[s.Output] = -1
			}
		}
	}
	return at
}

func (r *reader) checkRef(x *ref, at map[string]int, params map[string]int) {
	root := x.path[0]
	made, isOutput := at[root]
	shown := "{{" + strings.Join(x.path, ".") + "}}"
	if x.dollar {
		shown = "${" + strings.Join(x.path, ".") + "}"
	}
	switch {
	case x.inner, isSpecialName(root), hasKey(params, root):
	case x.mode == inCommand && x.dollar && !isOutput: // the shell's own
	case !isOutput:
		names := append(slices.Collect(maps.Keys(at)), slices.Collect(maps.Keys(params))...)
		fix := "write the output_key of an earlier step, or a parameter"
		if near, ok := nearest.Name(root, names); ok {
			fix = "did you mean " + near + "?"
		}
		r.addFault(x.line, x.key, fmt.Sprintf("%s: nothing is called %s", shown, root), fix)
	case x.step >= 0 && made >= 0 && r.p.Steps[made].Line >= x.step && slices.ContainsFunc(r.p.Steps, func(s Step) bool { return s.Line == x.step }):
		r.addFault(x.line, x.key, fmt.Sprintf("%s is not there yet: the step in line %d leaves it", shown, r.p.Steps[made].Line), "move the step")
	}
}

func (r *reader) checkFailure(what string, line int, key string) {
	if what == Stop || what == Continue {
		return
	}
	names := []string{Stop, Continue}
	for _, b := range r.p.Branches {
		if b.Name == what {
			return
		}
		names = append(names, b.Name)
	}
	fix := "write stop, warn_and_continue, or the name of a branch of error_handling"
	if near, ok := nearest.Name(what, names); ok {
		fix = "did you mean " + near + "?"
	}
	r.addFault(line, key, fmt.Sprintf("%q says nothing about a failure", clip.Runes(what, 60, "…")), fix)
}

// markShellLiterals gives the shell what is the shell's: ${HOME} in a command.
func (p *Procedure) markShellLiterals() {
	ours := p.outputKeys()
	fix := func(t *Text) {
		if t == nil || t.mode != inCommand {
			return
		}
		for i, n := range t.nodes {
			if n.dollar && !hasKey(ours, n.path[0]) && n.path[0] != Memory {
				t.nodes[i] = node{text: n.text}
			}
		}
	}
	for _, s := range p.Steps {
		fix(s.Command)
	}
	for _, b := range p.Branches {
		for _, s := range b.Steps {
			fix(s.Command)
		}
	}
	for _, c := range append(slices.Clone(p.Preconditions), p.Postconditions...) {
		fix(c.Command)
	}
}

// groupSteps puts steps in the order in which they begin. A step that parallel_steps names begins
// with the first of its group, unless it needs what comes in between.
func (r *reader) groupSteps() {
	p := r.p
	taken := make([]bool, len(p.Steps))
	with := map[int][]int{}
	for _, g := range p.parallel {
		var members []int
		for _, name := range g.names {
			i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Action == name || s.Name == name || s.Output == name && name != "" })
			if i < 0 {
				r.addWarning(g.line, g.key, fmt.Sprintf("no step is called %s, so it runs beside nothing", clip.Runes(name, 60, "…")), r.meantStep(name))
				continue
			}
			members = append(members, i)
		}
		slices.Sort(members)
		if len(members) > 1 {
			with[members[0]] = append(with[members[0]], members[1:]...)
		}
	}
	for i := range p.Steps {
		if taken[i] {
			continue
		}
		unit := []int{i}
		for _, m := range with[i] {
			if p.readyAt(m, i) && !taken[m] {
				unit, taken[m] = append(unit, m), true
			} else {
				r.addWarning(p.Steps[m].Line, "skill.execution.parallel_steps", fmt.Sprintf("%s needs what comes before it, so it waits", p.Steps[m].Name), "")
			}
		}
		p.Groups = append(p.Groups, unit)
	}
}

func (r *reader) meantStep(name string) string {
	var names []string
	for _, s := range r.p.Steps {
		names = append(names, s.Action, s.Name)
	}
	if near, ok := nearest.Name(name, names); ok {
		return "did you mean " + near + "?"
	}
	return "write the action or the name of a step"
}

// readyAt reports whether a step needs nothing that is made at the place of another one or later.
func (p *Procedure) readyAt(step, place int) bool {
	made := p.outputKeys()
	return !slices.ContainsFunc(p.refs, func(x ref) bool {
		i, ok := made[x.path[0]]
		return x.step == p.Steps[step].Line && ok && i >= place
	})
}
