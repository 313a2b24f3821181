package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hermes/core/nearest"
)

// DefaultToolset is what a session gets that asks for none.
const DefaultToolset = "hermes-cli"

// Toolset is a named choice of tools. Tools are in the toolset that their Spec names; a toolset may
// include others.
type Toolset struct {
	Name        string
	Description string
	Includes    []string // other toolsets, or single tools
	Auto        bool     // nobody switches it: a session gets it when it is needed
}

// Toolsets lists every toolset, in alphabetical order. The names are those that people know from
// the Python hermes.
func Toolsets() []Toolset {
	return []Toolset{
		{"all", "Everything that is available", []string{"hermes-cli"}, false},
		{"clarify", "Ask the person a question", nil, false},
		{"code_execution", "Run Python that calls tools", nil, false},
		{"coding", "What it takes to change a program", []string{"terminal", "file", "todo", "clarify", "session_search", "skills", "code_execution"}, false},
		{"cronjob", "Plan work for later", nil, false},
		{"debugging", "Find out why something fails", []string{"terminal", "file", "web"}, false},
		{"delegation", "Hand a task to a helper agent", nil, false},
		{"file", "Read, write, patch and search files", nil, false},
		{"hermes-cli", "The default: every tool of an interactive session", []string{
			"terminal", "file", "todo", "clarify", "session_search", "memory", "skills", "web", "vision",
			"code_execution", "delegation", "cronjob",
		}, false},
		{"memory", "Remember across sessions", nil, false},
		{"safe", "Nothing that changes this machine", []string{"web", "vision", "session_search", "clarify", "todo"}, false},
		{"session_search", "Search past conversations", nil, false},
		{"skills", "Read and keep skills", nil, false},
		{"terminal", "Run commands", nil, false},
		{"todo", "Keep a list of what is to do", nil, false},
		{"tool_search", "Find the tools of servers, where too many to list; comes by itself (mcp.defer_at)", nil, true},
		{"vision", "Look at images", nil, false},
		{"web", "Search and read the web", nil, false},
	}
}

// ToolsetNames lists the names of the Toolsets that a person may choose.
func ToolsetNames() []string {
	var names []string
	for _, t := range Toolsets() {
		if !t.Auto {
			names = append(names, t.Name)
		}
	}
	return names
}

// UnknownError says which names are no toolsets.
type UnknownError string

func (e UnknownError) Error() string { return string(e) }

// Unknown returns an UnknownError that names what in toolsets is neither a toolset nor a tool of r,
// with the nearest name.
func (r *Registry) Unknown(toolsets []string) error {
	known := append(ToolsetNames(), r.Names()...)
	for _, e := range r.currentTools() {
		known = append(known, e.spec.Owner, e.spec.Toolset)
	}
	for owner, set := range r.owners() {
		known = append(known, owner, set)
	}
	var bad []string
	for _, name := range toolsets {
		if slices.Contains(known, name) {
			continue
		}
		text := fmt.Sprintf("%q", name)
		if near, ok := nearest.Name(name, known); ok {
			text += " (did you mean " + near + "?)"
		}
		bad = append(bad, text)
	}
	if bad == nil {
		return nil
	}
	return UnknownError(fmt.Sprintf("unknown toolset %s; toolsets are: %s", strings.Join(bad, ", "), joinNames(ToolsetNames())))
}

// expandToolsets follows includes. Unknown names stay in the set: they may be tool names. Loops are
// harmless.
func expandToolsets(names []string) map[string]bool {
	sets := map[string]Toolset{}
	for _, t := range Toolsets() {
		if !t.Auto {
			sets[t.Name] = t
		}
	}
	wanted := map[string]bool{}
	for todo := slices.Clone(names); len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if wanted[name] {
			continue
		}
		wanted[name] = true
		todo = append(todo, sets[name].Includes...)
		if name == "all" {
			todo = slices.AppendSeq(todo, maps.Keys(sets))
		}
	}
	return wanted
}
