package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"hermes/core/event"
)

// Kind is what the settings are told of one kind of back end. They know none by its name: each
// registers itself, with structs whose tags describe its keys as those of Config do.
type Kind struct {
	Name       string
	Traits     event.Traits
	ImpliedBy  string // key that shows the kind where none is written: image, host
	CommonKeys string // keys of Backend that count for some kinds only, and for this one
	// Options is a struct of the keys below terminal.backends.<name> that only some kinds have. A
	// key that two kinds have is of the same type in both.
	Options any
	// Terminal is a struct of the keys of section terminal that are this kind's, with their defaults.
	Terminal any
	Python   string // keys of section terminal that only a Python hermes uses, for this kind
	// Resolve fills in what a back end leaves open, and says what is wrong with it. May be nil.
	Resolve func(r *Resolving)
}

// KindOptions is the values of what kinds register, by kind: each a pointer to its struct.
type KindOptions map[string]any

var (
	registered atomic.Pointer[[]Kind] // replaced as a whole
	ownType    = reflect.TypeFor[KindOptions]()
)

// Register makes a kind known to settings that are loaded from now on. The first one is what back
// ends are that show none. It is called by the program's wiring, and returns what takes the kind
// away again.
func Register(k Kind) (forget func()) {
	list := append(slices.Clip(Kinds()), k)
	storeKinds(list)
	for _, t := range []reflect.Type{reflect.TypeFor[Backend](), reflect.TypeFor[Terminal]()} {
		for _, f := range fieldsOf(t) {
			for _, twin := range f.twins {
				if twin.typ != f.typ {
					panic(fmt.Sprintf("kinds %s and %s have the key %s with different types", f.kind, twin.kind, f.name))
				}
			}
		}
	}
	return func() { forgetKind(k.Name) }
}

func forgetKind(name string) {
	storeKinds(slices.DeleteFunc(slices.Clone(Kinds()), func(k Kind) bool { return k.Name == name }))
}

func storeKinds(list []Kind) {
	registered.Store(&list)
	listed.Clear()
	known.Store(nil)
}

// Kinds are the kinds of back ends that are registered.
func Kinds() []Kind {
	if list := registered.Load(); list != nil {
		return *list
	}
	return nil
}

// KindNamed finds a kind.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

func kindNames() (names []string) {
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// firstKind is what back ends are that show none.
func firstKind() string { return append(kindNames(), "")[0] }

// partOf is a kind's struct that stands in a field with this tag.
func (k Kind) partOf(tag string) any {
	if tag == "terminal" {
		return k.Terminal
	}
	return k.Options
}

// ownFields are the keys that kinds have at a field of type Own. One that several have is listed
// once.
func ownFields(index int, tag string) (out []field) {
	for _, k := range Kinds() {
		part := k.partOf(tag)
		if part == nil {
			continue
		}
		for _, f := range fieldsOf(reflect.TypeOf(part)) {
			f.kind, f.own, f.part = k.Name, index, part
			if at := slices.IndexFunc(out, func(o field) bool { return o.name == f.name }); at >= 0 {
				out[at].twins = append(out[at].twins, f)
			} else {
				out = append(out, f)
			}
		}
	}
	return out
}

// valueIn is the field's value in a struct. It makes what a kind has there when there is nothing
// yet.
func (f field) valueIn(v reflect.Value) reflect.Value {
	if f.kind == "" {
		return v.Field(f.index)
	}
	own, name := v.Field(f.own), reflect.ValueOf(f.kind)
	if p := own.MapIndex(name); p.IsValid() {
		return p.Elem().Elem().Field(f.index)
	}
	made := pointerTo(f.part)
	if own.CanSet() {
		if own.IsNil() {
			own.Set(reflect.MakeMap(ownType))
		}
		own.SetMapIndex(name, made)
	}
	return made.Elem().Field(f.index)
}

// shareValue gives a value to the other kinds that have the same key: which kind it is for is seen
// later.
func (f field) shareValue(v reflect.Value) {
	for _, twin := range f.twins {
		twin.valueIn(v).Set(f.valueIn(v))
	}
}

// countsFor reports whether the key means something to a kind.
func (f field) countsFor(k Kind) bool {
	if f.kind != "" {
		return f.kind == k.Name || slices.ContainsFunc(f.twins, func(t field) bool { return t.kind == k.Name })
	}
	return !f.hasTag("some") || slices.Contains(strings.Fields(k.CommonKeys), f.name)
}

// pointerTo copies a struct.
func pointerTo(part any) reflect.Value {
	v := reflect.ValueOf(part)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

// partOf returns a copy of what a kind has among own.
func (o KindOptions) partOf(name string, part any) any {
	if v, ok := o[name]; ok {
		part = v
	}
	if part == nil {
		return nil
	}
	return pointerTo(part).Interface()
}

// terminalDefaults is what section terminal holds for the kinds without a file.
func terminalDefaults() KindOptions {
	own := KindOptions{}
	for _, k := range Kinds() {
		if k.Terminal != nil {
			own[k.Name] = pointerTo(k.Terminal).Interface()
		}
	}
	return own
}

// Resolving is a back end while its kind fills in what the settings leave open.
type Resolving struct {
	*Backend      // what all kinds have; may be changed
	Default  bool // it is the default one: what section terminal says of such is meant for it
	Options  any  // pointer to a copy of the kind's own struct; may be changed
	Terminal any  // pointer to a copy of what section terminal has for the kind

	c       *Config
	name    string
	problem string
}

// Config is the settings that the back end stands in.
func (r *Resolving) Config() *Config { return r.c }

// Path replaces a ~ at the beginning.
func (r *Resolving) Path(name string) string { return r.c.expandTilde(name) }

// Wrong says why the back end cannot be used, and at which of its keys; or is a key of section
// terminal that may say the same. The first one counts.
func (r *Resolving) Wrong(key, or, format string, args ...any) {
	r.problem = cmp.Or(r.problem, fmt.Sprintf("%s: %s", r.c.placeOfKey(r.name, key, or), fmt.Sprintf(format, args...)))
}

// resolvePlace fills in what one back end leaves open.
func (c *Config) resolvePlace(name string, b Backend, isDefault bool) Place {
	b.Kind = c.kindOf(b)
	b.Timeout = cmp.Or(b.Timeout, c.Terminal.Timeout)
	b.Env, b.ForwardEnv = maps.Clone(b.Env), slices.Clone(b.ForwardEnv)
	r := &Resolving{Backend: &b, Default: isDefault, c: c, name: name}
	if k, ok := KindNamed(b.Kind); ok {
		r.Options, r.Terminal = b.KindOptions.partOf(k.Name, k.Options), c.Terminal.KindOptions.partOf(k.Name, k.Terminal)
		if k.Resolve != nil {
			k.Resolve(r)
		}
	}
	b.Env = c.forwardedEnv(b)
	return Place{Backend: b, Options: r.Options, Problem: r.problem}
}
