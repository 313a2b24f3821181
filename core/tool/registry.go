package tool

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"hermes/core/nearest"
	"hermes/core/provider"
)

// Registry holds the tools of the program. It is filled once and safe for concurrent use afterwards.
type Registry struct {
	tools    map[string]*entry
	spillDir string
	budget   int // characters of a result
}

// NewRegistry registers tools. A bad or doubled name is a programming error and comes back as an error.
func NewRegistry(tools ...Tool) (*Registry, error) {
	valid := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	r := &Registry{budget: DefaultMaxResult, tools: make(map[string]*entry, len(tools))}
	for _, t := range tools {
		s := t.Spec()
		if !valid.MatchString(s.Name) {
			return nil, fmt.Errorf("tool name %q: want lower-case letters, digits and _, at most 64", s.Name)
		}
		if _, dup := r.tools[s.Name]; dup {
			return nil, fmt.Errorf("tool %s is registered twice", s.Name)
		}
		r.tools[s.Name] = newEntry(t, s)
	}
	return r, nil
}

// SpillTo names the folder that keeps what a result had to leave out, one 0600 file a result. The folder is made at first
// use. Without it the rest is lost, and the result says so. Call it before the first Run.
func (r *Registry) SpillTo(dir string) { r.spillDir = dir }

// Limit replaces DefaultMaxResult for the tools that name no MaxResult of their own. Call it before the first Run.
func (r *Registry) Limit(characters int) { r.budget = characters }

// Lookup returns the spec of a tool.
func (r *Registry) Lookup(name string) (Spec, bool) {
	e, ok := r.tools[name]
	if !ok {
		return Spec{}, false
	}
	return e.spec, true
}

// Names lists every registered tool in alphabetical order, hidden ones included.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.tools)) }

// Specs returns what a model is told: the available tools of the toolsets, in alphabetical order so that the request
// prefix stays byte for byte the same. No toolsets means DefaultToolset. Unknown toolsets add nothing: see Unknown.
func (r *Registry) Specs(toolsets []string) []provider.ToolSpec {
	var specs []provider.ToolSpec
	names := r.Enabled(toolsets)
	for _, name := range names {
		s := r.tools[name].spec
		if s.Describe != nil {
			s.Description = s.Describe(names)
		}
		specs = append(specs, s.ProviderSpec())
	}
	return specs
}

// Enabled lists the names behind Specs.
func (r *Registry) Enabled(toolsets []string) []string {
	if len(toolsets) == 0 {
		toolsets = []string{DefaultToolset}
	}
	wanted := expand(toolsets)
	var names []string
	for _, name := range r.Names() {
		s := r.tools[name].spec
		if (wanted[s.Toolset] || wanted[s.Name]) && s.hidden() == nil {
			names = append(names, name)
		}
	}
	return names
}

func (s Spec) hidden() error {
	if s.Available == nil {
		return nil
	}
	return s.Available()
}

// unknown is what a model reads when it calls a tool that does not exist.
func (r *Registry) unknown(name string) string {
	names := r.Enabled([]string{"all"})
	hint := ""
	if near, ok := nearest.Name(name, names); ok {
		hint = fmt.Sprintf(" Did you mean %s?", near)
	}
	return fmt.Sprintf("There is no tool called %q.%s Available tools: %s.", clip(name, 80), hint, list(names))
}
