package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare is export, local, declare and their like.
func (w *walker) declare(d *syntax.DeclClause) {
	variant := ""
	if d.Variant != nil {
		variant = d.Variant.Value
	}
	exports := variant == "export"
	refers, shows := false, len(d.Args) == 0
	evaluates := false // -i and -n take what a value says for an expression or a name
	for _, a := range d.Args {
		if a.Naked && a.Value != nil {
			f := w.expandOne(a.Value)
			exports = exporting(variant, f.text, exports)
			refers = refers || hasLetter(f.text, 'n') && variant != "export"
			shows = shows || hasLetter(f.text, 'p')
			evaluates = evaluates || strings.HasPrefix(f.text, "-") && strings.ContainsAny(f.text, "in")
			w.expanded(f)
			continue
		}
		if a.Naked && a.Value == nil && a.Name != nil && a.Array == nil {
			w.declareBare(variant, a.Name.Value, exports)
			if refers && variant != "export" {
				w.holds(a.Name.Value, traits{})
				w.vars[a.Name.Value] = value{ref: unknown}
			}
			continue
		}
		if evaluates && a.Value != nil {
			w.askIndexArithmetic(a.Value)
		}
		w.assign(a, true)
		w.declared(a, variant, exports, refers)
	}
	if shows {
		w.out.data, w.out.any = true, true
	}
}

// declared notes what a declaration says of a variable beside its value.
func (w *walker) declared(a *syntax.Assign, variant string, exports, refers bool) {
	if a.Name == nil {
		return
	}
	if refers && a.Value != nil {
		w.refersTo(a.Name.Value, w.expandOne(a.Value))
	}
	w.declareBare("", a.Name.Value, exports)
	if variant != "export" {
		w.local(a.Name.Value)
	}
}

// expanded is a word of a declaration that only its expansion shows to be an assignment.
func (w *walker) expanded(f field) {
	if name, _, _ := strings.Cut(f.text, "="); indexed(name) {
		w.add(Exec, LevelAlways, f.text, "the index of an array runs a command")
	}
	if name, val, ok := strings.Cut(f.text, "="); ok {
		f.text = val
		w.set(name, f, false)
		w.setting(name, f)
	}
}

func hasLetter(word string, letter byte) bool {
	return strings.HasPrefix(word, "-") && strings.IndexByte(word, letter) > 0
}

// exporting reports whether programs get what is declared, after one more option.
func exporting(variant, option string, so bool) bool {
	if !strings.HasPrefix(option, "-") {
		return so
	}
	return (so || strings.Contains(option, "x")) && (variant != "export" || !strings.Contains(option, "n"))
}

// declareBare is the name of a variable behind export, local and their like. With export, what it
// holds stays; of others it may be empty now.
func (w *walker) declareBare(variant, name string, exports bool) {
	switch {
	case exports:
		w.exports(name)
	case variant == "export": // -n
		w.exported = copied(w.exported)
		delete(w.exported, name)
	}
	if !isOneOf("declare local typeset", variant) {
		return
	}
	w.local(name)
	if _, had := w.vars[name]; had || isOneOf("HOME PWD TMPDIR USER LOGNAME HOSTNAME", name) {
		w.forget(name)
	}
}

// local notes that a variable is another one outside of the function.
func (w *walker) local(name string) {
	if len(w.calling) == 0 {
		return
	}
	if w.locals == nil {
		w.locals = map[string]bool{}
	}
	w.locals[name] = true
}

// forget makes what a variable holds unknown.
func (w *walker) forget(name string) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	w.vars[name] = value{fields: w.vars[name].fields, split: true}
}

// assign is name=value; for a command (or for good, with export) some names change what programs
// do.
func (w *walker) assign(a *syntax.Assign, exported bool) {
	if a.Name == nil {
		return
	}
	w.arithmetic(a.Index)
	if a.Array != nil {
		w.array(a)
		return
	}
	f := w.expandOne(a.Value)
	if a.Index != nil {
		w.setElement(a.Name.Value, f)
	} else {
		w.set(a.Name.Value, f, a.Append)
	}
	if exported || alwaysExported(a.Name.Value) {
		w.setting(a.Name.Value, f)
	}
}

// array is name=(...).
func (w *walker) array(a *syntax.Assign) {
	var items []field
	indexed := false
	for _, e := range a.Array.Elems {
		w.arithmetic(e.Index)
		indexed = indexed || e.Index != nil
		if e.Value != nil {
			items = append(items, w.expand(e.Value)...)
			if alwaysExported(a.Name.Value) {
				w.setting(a.Name.Value, w.expandOne(e.Value))
			}
		}
	}
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	old, had := w.vars[a.Name.Value]
	v := value{fields: items, array: true, split: w.branch > 0 && had, uneven: indexed || mayChangeCount(items)}
	if a.Append && had {
		v.fields = append(append([]field(nil), old.fields...), items...)
		v.split = old.split // with what may not have been added
		v.uneven = v.uneven || old.uneven || w.branch > 0
	}
	w.vars[a.Name.Value] = v
}
