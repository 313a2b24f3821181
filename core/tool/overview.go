package tool

import (
	"fmt"
	"maps"
	"slices"

	"hermes/core/nearest"
)

// SetView is a toolset as a person sees it: the tools that belong to it and whether it is switched
// on. What somebody else brings is one set.
type SetView struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	On          bool   `json:"on"`
	Auto        bool   `json:"auto,omitempty"` // it comes by itself, and nobody switches it
	Tools       []View `json:"tools"`
}

// View is a tool of a set.
type View struct {
	Name  string `json:"name"`
	On    bool   `json:"on"`              // also without its set, when it was chosen by its own name
	Needs string `json:"needs,omitempty"` // why it is not there, and what it wants; "" when it is there
}

// Overview lists the toolsets that have tools, and whether a choice of toolsets switches them on.
func (r *Registry) Overview(chosen []string) []SetView {
	if len(chosen) == 0 {
		chosen = []string{DefaultToolset}
	}
	wanted := expandToolsets(chosen)
	sets := map[string]*SetView{}
	for _, t := range Toolsets() {
		sets[t.Name] = &SetView{Name: t.Name, Description: t.Description, On: wanted[t.Name], Auto: t.Auto}
	}
	for owner, set := range r.owners() {
		sets[set] = &SetView{Name: set, Description: "Tools of " + set, On: wanted[owner] || wanted[set] || wanted[DefaultToolset]}
	}
	list := r.currentTools()
	for _, name := range slices.Sorted(maps.Keys(list)) {
		s := list[name].spec
		if sets[s.Toolset] == nil {
			sets[s.Toolset] = &SetView{Name: s.Toolset, Description: "Tools of " + s.Toolset, On: s.isIn(wanted)}
		}
		view := View{Name: name, On: s.isIn(wanted)}
		if why := s.hiddenReason(); why != nil {
			view.Needs = why.Error()
		}
		sets[s.Toolset].Tools = append(sets[s.Toolset].Tools, view)
	}
	var out []SetView
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		if v := sets[name]; len(v.Tools) > 0 || r.standsForOwner(name) {
			out = append(out, *v)
		}
	}
	return out
}

// Switch returns a choice of toolsets with one of them on or off. Where the usual ones are on and
// nothing else, that is their name.
func (r *Registry) Switch(chosen []string, name string, on bool) ([]string, error) {
	var names, out []string
	found := false
	for _, v := range r.Overview(chosen) {
		if v.Auto && v.Name == name {
			return nil, UnknownError(name + " comes by itself, when it is needed; nobody switches it")
		} else if v.Auto {
			continue
		}
		names = append(names, v.Name)
		if v.Name == name {
			found, v.On = true, on
		}
		if v.On {
			out = append(out, v.Name)
		}
	}
	if !found {
		text := fmt.Sprintf("no toolset with tools is called %q", name)
		if near, ok := nearest.Name(name, names); ok {
			text += ", did you mean " + near + "?"
		}
		return nil, UnknownError(text)
	}
	for _, single := range chosen {
		if r.staysChosen(single, name, out) {
			out = append(out, single)
		}
	}
	if len(out) == 0 {
		return nil, UnknownError("that would leave no tools at all: the last set stays on")
	}
	var usual []string
	for _, v := range r.Overview(nil) {
		if v.On {
			usual = append(usual, v.Name)
		}
	}
	if slices.Equal(out, usual) {
		return []string{DefaultToolset}, nil
	}
	return out, nil
}

// staysChosen reports whether a name that is no toolset stays in a choice when a set is switched: a
// tool that was chosen by itself, unless its set is switched, and what is not known here.
func (r *Registry) staysChosen(name, switched string, sets []string) bool {
	isSet := slices.ContainsFunc(Toolsets(), func(t Toolset) bool { return t.Name == name })
	if isSet || name == switched || slices.Contains(sets, name) || r.standsForOwner(name) {
		return false
	}
	e, known := r.currentTools()[name]
	if !known {
		return true
	}
	return e.spec.Toolset != switched && !slices.Contains(sets, e.spec.Toolset)
}
