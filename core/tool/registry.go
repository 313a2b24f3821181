package tool

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"hermes/core/intent"
	"hermes/core/nearest"
)

// Registry holds the tools of the program. Who reads it sees one list at a time: Replace puts a new
// one in the place of the old. What is set up before the first Run apart, it is safe for concurrent
// use.
type Registry struct {
	list     atomic.Pointer[map[string]*entry] // never changed, only replaced
	replace  sync.Mutex                        // held by who replaces it
	told     func()
	owners   func() map[string]string // who may bring tools later, with the toolset of each
	barred   func(session, owner string) bool
	spillDir string
	budget   int // characters of a result
	refuse   func(s Spec, in intent.Intent) error
}

// NewRegistry registers the tools of this program. A bad or doubled name is a programming error and
// comes back as an error.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{budget: DefaultMaxResult, told: func() {}, owners: func() map[string]string { return nil }, barred: func(string, string) bool { return false }}
	r.list.Store(&map[string]*entry{})
	return r, r.replaceTools(tools, func(Spec) bool { return false })
}

// Replace puts tools in the place of all that owner brought before; none takes them away. Calls
// that run go on. When one of the tools cannot be taken, nothing changes and the error says why.
// Sessions keep the list that they began with: see the agent.
func (r *Registry) Replace(owner string, tools []Tool) error {
	for _, t := range tools {
		if s := t.Spec(); s.Owner != owner {
			return fmt.Errorf("tool %s belongs to %q, not to %q", s.Name, s.Owner, owner)
		}
	}
	if err := r.replaceTools(tools, func(s Spec) bool { return s.Owner == owner }); err != nil {
		return err
	}
	r.told()
	return nil
}

// OnChange has f called after each Replace, from the goroutine of who replaces. Call it before the
// first one.
func (r *Registry) OnChange(f func()) { r.told = f }

// Owners has sets say who may bring tools later, and the name of the toolset of each: a choice of
// toolsets may name either before they do. Call it before the first Unknown.
func (r *Registry) Owners(sets func() map[string]string) { r.owners = sets }

// standsForOwner reports whether a name in a choice of toolsets means what somebody else brings.
func (r *Registry) standsForOwner(name string) bool {
	for owner, set := range r.owners() {
		if name == owner || name == set {
			return true
		}
	}
	return false
}

// BarBy has barred say of whose tools a session has none. Call it before the first Specs.
func (r *Registry) BarBy(barred func(session, owner string) bool) { r.barred = barred }

var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,63}$`) })

// replaceTools makes a new list: the old one without what gone names, and tools.
func (r *Registry) replaceTools(tools []Tool, gone func(Spec) bool) error {
	r.replace.Lock()
	defer r.replace.Unlock()
	list := maps.Clone(r.currentTools())
	maps.DeleteFunc(list, func(_ string, e *entry) bool { return gone(e.spec) })
	for _, t := range tools {
		s := t.Spec()
		if !validName().MatchString(s.Name) {
			return fmt.Errorf("tool name %q: want a lower-case letter, then letters, digits and _, at most 64", s.Name)
		}
		if e, dup := list[s.Name]; dup && e.spec.Owner != s.Owner {
			return fmt.Errorf("tool %s of %s has the name of a tool of %s", s.Name, ownerName(s.Owner), ownerName(e.spec.Owner))
		} else if dup {
			return fmt.Errorf("tool %s is registered twice", s.Name)
		}
		list[s.Name] = newEntry(t, s)
	}
	r.list.Store(&list)
	return nil
}

func ownerName(owner string) string { return cmp.Or(owner, "hermes") }

// currentTools is the list as it is now.
func (r *Registry) currentTools() map[string]*entry { return *r.list.Load() }

// SpillTo names the folder that keeps what a result had to leave out, one 0600 file a result. The
// folder is made at first use. Without it the rest is lost, and the result says so. Call it before
// the first Run.
func (r *Registry) SpillTo(dir string) { r.spillDir = dir }

// Limit replaces DefaultMaxResult for the tools that name no MaxResult of their own. Call it before
// the first Run.
func (r *Registry) Limit(characters int) { r.budget = characters }

// RefuseBy lets why say for each call, by its tool and what it means, why it must not run; nil: it
// may. Call it before the first Run.
func (r *Registry) RefuseBy(why func(s Spec, in intent.Intent) error) { r.refuse = why }

// Lookup returns the spec of a tool.
func (r *Registry) Lookup(name string) (Spec, bool) {
	e, ok := r.currentTools()[name]
	if !ok {
		return Spec{}, false
	}
	return e.spec, true
}

// Names lists every registered tool in alphabetical order, hidden ones included.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.currentTools())) }

// Specs returns what a session is given: the available tools of the toolsets, with their
// descriptions as a model is told them, without advice to call others, in alphabetical order so
// that the request prefix stays byte for byte the same. No toolsets means DefaultToolset. Unknown
// toolsets add nothing: see Unknown.
func (r *Registry) Specs(session string, toolsets []string) []Spec {
	list := r.toolsFor(session)
	names := enabledTools(list, toolsets)
	specs := make([]Spec, len(names))
	for i, name := range names {
		specs[i] = list[name].spec
	}
	for i, s := range specs {
		if s.Describe != nil {
			specs[i].Description = s.Describe(specs)
		}
		if s.Owner == "" {
			specs[i].Description = withoutMissing(specs[i].Description, func(name string) bool {
				e := list[name]
				return e != nil && e.spec.Owner == "" && !slices.Contains(names, name)
			})
		}
	}
	return specs
}

// Holds reports whether a toolset has a tool, available here or not, or is of somebody who may
// bring some.
func (r *Registry) Holds(toolset string) bool {
	wanted := expandToolsets([]string{toolset})
	for _, e := range r.currentTools() {
		if e.spec.isIn(wanted) {
			return true
		}
	}
	return r.standsForOwner(toolset)
}

// Enabled lists the names behind Specs.
func (r *Registry) Enabled(session string, toolsets []string) []string {
	return enabledTools(r.toolsFor(session), toolsets)
}

// toolsFor is the list without those whose owners have none for the session.
func (r *Registry) toolsFor(session string) map[string]*entry {
	list, barred := r.currentTools(), map[string]bool{}
	for _, e := range list {
		if o := e.spec.Owner; o != "" && !barred[o] && r.barred(session, o) {
			barred[o] = true
		}
	}
	if len(barred) == 0 {
		return list
	}
	list = maps.Clone(list)
	maps.DeleteFunc(list, func(_ string, e *entry) bool { return barred[e.spec.Owner] })
	return list
}

func enabledTools(list map[string]*entry, toolsets []string) []string {
	if len(toolsets) == 0 {
		toolsets = []string{DefaultToolset}
	}
	wanted := expandToolsets(toolsets)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if s := list[name].spec; s.isIn(wanted) && s.hiddenReason() == nil {
			names = append(names, name)
		}
	}
	return names
}

// isIn reports whether a choice of toolsets has the tool. Those of others are chosen by their
// owner's name, and belong to the default.
func (s Spec) isIn(wanted map[string]bool) bool {
	return wanted[s.Toolset] || wanted[s.Name] || s.Owner != "" && (wanted[s.Owner] || wanted[DefaultToolset])
}

func (s Spec) hiddenReason() error {
	if s.Available == nil {
		return nil
	}
	return s.Available()
}

// ExplainUnknown is what a model reads when it calls a tool that does not exist. It is told of
// those that its session has, not of all that the program has; none: whoever asks does not know
// them.
func ExplainUnknown(name string, session []string) error {
	said := fmt.Sprintf("There is no tool called %q.", clipRunes(name, 80))
	if near, ok := nearest.Name(name, session); ok {
		said += fmt.Sprintf(" Did you mean %s?", near)
	}
	if len(session) > 0 {
		said += " Yours are: " + joinNames(session) + "."
	}
	return errors.New(said)
}
