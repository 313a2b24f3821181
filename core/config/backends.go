package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// DefaultBackend is the name of the back end that always exists, unless terminal.backend names
// another one.
const DefaultBackend = "default"

// Place is one back end with everything resolved that the settings leave open: its kind, what it
// takes from section terminal, forwarded variables, ~ in paths.
type Place struct {
	Backend
	Options any    // pointer to the struct of the kind; nil when it has none
	Problem string // why it cannot be used as it is written, with file and line; "" when it can
}

// Places returns every back end by name, and the name of the default one, which is always among
// them. One that a setting restricts which cannot be read runs nothing.
func (c *Config) Places() (def string, places map[string]Place) {
	def, places = c.backendsAsWritten()
	for name, p := range places {
		if why := c.refusedPlace(name, p.Kind, name == def); why != "" {
			p.Problem = why
			places[name] = p
		}
	}
	return def, places
}

// backendsAsWritten is what the settings that could be read say about back ends.
func (c *Config) backendsAsWritten() (def string, places map[string]Place) {
	def = DefaultBackend
	if _, named := c.Terminal.Backends[c.Terminal.Backend]; named {
		def = c.Terminal.Backend
	}
	places = map[string]Place{def: c.resolvePlace(def, c.Terminal.Backends[def], true)}
	for name, b := range c.Terminal.Backends {
		if name != def {
			places[name] = c.resolvePlace(name, b, false)
		}
	}
	return def, places
}

// kindOf is the kind that a back end says or shows. What shows none is of the kind that
// terminal.backend names, or that the back end has which it names.
func (c *Config) kindOf(b Backend) string {
	if kind := cmp.Or(b.Kind, b.shownKind()); kind != "" {
		return kind
	}
	def, named := c.Terminal.Backends[c.Terminal.Backend]
	switch {
	case !named:
		return cmp.Or(c.Terminal.Backend, firstKind())
	case def.Kind == "" && def.shownKind() == "":
		return firstKind()
	default:
		return c.kindOf(def)
	}
}

// shownKind is the first kind whose sign stands in the back end.
func (b Backend) shownKind() string {
	for _, k := range Kinds() {
		if f, ok := fieldOf(reflect.TypeFor[Backend](), k.ImpliedBy); ok && !f.valueIn(reflect.ValueOf(b)).IsZero() {
			return k.Name
		}
	}
	return ""
}

// placeOfKey is where a key of a back end is written, or the key of section terminal that may stand
// for it, or the back end itself.
func (c *Config) placeOfKey(name, key, or string) place {
	prefix := "terminal.backends." + name + "."
	if at, ok := c.places[prefix+key]; ok {
		return at
	}
	if at, ok := c.places["terminal."+or]; ok {
		return at
	}
	best, found := c.places["terminal.backends"], false
	for _, k := range sortedKeys(c.places) {
		if at := c.places[k]; strings.HasPrefix(k, prefix) && (!found || at.line < best.line) {
			best, found = at, true
		}
	}
	if best.file == "" {
		best = c.places["terminal.backend"]
	}
	if best.file == "" {
		best.file = "config.yaml"
	}
	return best
}

// forwardedEnv adds the forwarded variables that are set to the ones that are written down, which
// win.
func (c *Config) forwardedEnv(b Backend) map[string]string {
	env := map[string]string{}
	for _, name := range b.ForwardEnv {
		if value, ok := c.env.lookupSet(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, b.Env)
	return env
}

func (c *Config) expandTilde(name string) string {
	home := c.env.process["HOME"]
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	if rest, ok := strings.CutPrefix(name, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return name
}

// checkPlaces finds what does not fit together in the back ends.
func (c *Config) checkPlaces() []Problem {
	var out []Problem
	def, places := c.backendsAsWritten()
	for _, name := range sortedKeys(places) {
		p := places[name]
		for _, key := range c.keysWithoutMeaning(name, p.Kind) {
			at := c.placeOfKey(name, key, "")
			why := fmt.Sprintf("does nothing for back end %s, which is of kind %s:", name, p.Kind)
			out = append(out, Problem{File: at.file, Line: at.line, Column: at.column, Text: key, Why: why, Fix: "remove it, or give the back end another kind"})
		}
		if p.Problem != "" {
			out = append(out, c.unusableBackend(name, p))
		}
	}
	for _, f := range fieldsOf(reflect.TypeFor[Terminal]()) {
		instead, key := f.tag.Get("instead"), "terminal."+f.name
		at, written := c.places[key]
		if instead == "" || !written || f.kind != places[def].Kind || f.valueIn(reflect.ValueOf(c.Terminal)).Len() == 0 {
			continue
		}
		out = append(out, Problem{
			File: at.file, Line: at.line, Column: at.column, Text: f.name, Why: "not used by this program:",
			Fix: "terminal.backends." + def + " has keys of its own for " + instead,
		})
	}
	return out
}

// unusableBackend is a back end's Problem with its place taken apart again.
func (c *Config) unusableBackend(name string, p Place) Problem {
	at, why, _ := strings.Cut(p.Problem, ": ")
	out := Problem{Why: "back end " + name + " cannot be used: " + why, Fix: "until then it refuses every command"}
	file, line, _ := strings.Cut(at, ":")
	out.File = file
	out.Line, _ = strconv.Atoi(line)
	return out
}

// keysWithoutMeaning lists the keys that were written for a back end and mean nothing to its kind.
func (c *Config) keysWithoutMeaning(name, kind string) []string {
	k, ok := KindNamed(kind)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range fieldsOf(reflect.TypeFor[Backend]()) {
		if _, written := c.places["terminal.backends."+name+"."+f.name]; written && !f.countsFor(k) {
			out = append(out, f.name)
		}
	}
	return out
}
