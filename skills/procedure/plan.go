package procedure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes/core/clip"
)

// Plan says what a run would do, in the order in which it would, and does nothing.
func (p *Procedure) Plan(host Host, params map[string]any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n", p.Name, p.Version, p.Description)
	if missing := p.missingParameters(params); len(missing) > 0 {
		fmt.Fprintf(&b, "Parameters without a value: %s\n", strings.Join(missing, ", "))
	}
	for _, s := range p.Servers {
		for _, t := range s.Tools {
			if _, ok := host.Tool(t); !ok {
				fmt.Fprintf(&b, "Not there: the tool %s of the MCP server %s\n", t, s.Name)
			}
		}
	}
	sc := newScope(params)
	planChecks(&b, "Before", p.Preconditions, sc)
	for n, g := range p.Groups {
		for _, i := range g {
			s := &p.Steps[i]
			fmt.Fprintf(&b, "%d. %s", n+1, s.Name)
			if len(g) > 1 {
				b.WriteString(" (at the same time)")
			}
			if s.Condition != nil {
				fmt.Fprintf(&b, ", if %s", s.Condition.Text)
			}
			if p.asksFirst(host, s) {
				b.WriteString(", after your yes")
			}
			fmt.Fprintf(&b, "\n   %s\n", p.planStep(host, s, sc, params))
			if s.OnFailure != Stop {
				fmt.Fprintf(&b, "   when it fails: %s\n", s.OnFailure)
			}
		}
	}
	planChecks(&b, "After", p.Postconditions, sc)
	return b.String()
}

func planChecks(b *strings.Builder, when string, list []Check, sc scope) {
	for _, c := range list {
		command, err := c.Command.renderCommand(sc, true)
		if err != nil {
			command = err.Error()
		}
		fmt.Fprintf(b, "%s: %s must be %v: $ %s\n", when, c.Name, c.Want, command)
	}
}

// planStep says what a step is.
func (p *Procedure) planStep(host Host, s *Step, sc scope, params map[string]any) string {
	if s.Command != nil {
		command, err := s.Command.renderCommand(sc, true)
		if err != nil {
			return err.Error()
		}
		return "$ " + command
	}
	args := ""
	if a, err := s.replacedArguments(sc.vars, params); err == nil && len(a) > 0 {
		if data, err := json.Marshal(a); err == nil {
			args = " " + clip.Runes(string(data), 60, "…")
		}
	}
	if name, ok := host.Tool(s.Action); ok && s.Prompt == nil {
		return "tool " + name + args
	}
	if server := p.lackingServer(host, s.Action); server != "" && s.Prompt == nil {
		return fmt.Sprintf("cannot be done: the tool %s of the MCP server %s is not there", s.Action, server)
	}
	if s.builtin() != nil {
		return "built-in " + s.Action + args
	}
	return fmt.Sprintf("a model without tools answers %s%s; schema %s", s.Action, args, p.schemaOf(s))
}

// Calls are what the procedure would do, as its file says it: the commands of its steps, branches
// and checks, its actions, and how many steps ask a model in words of their own.
func (p *Procedure) Calls() (commands, actions []string, prompts int) {
	add := func(list *[]string, x string) {
		if x != "" && !slices.Contains(*list, x) {
			*list = append(*list, x)
		}
	}
	for _, c := range p.Preconditions {
		add(&commands, textOf(c.Command))
	}
	lists := [][]Step{p.Steps}
	for _, b := range p.Branches {
		lists = append(lists, b.Steps)
	}
	for _, s := range slices.Concat(lists...) {
		add(&commands, textOf(s.Command))
		add(&actions, s.Action)
		if s.Prompt != nil {
			prompts++
		}
	}
	for _, c := range p.Postconditions {
		add(&commands, textOf(c.Command))
	}
	return commands, actions, prompts
}
