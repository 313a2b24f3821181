package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walkDeclaration walks export, local, declare and their like.
func (w *walker) walkDeclaration(d *syntax.DeclClause) {
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
			exports = exportsAfter(variant, f.text, exports)
			refers = refers || hasLetter(f.text, 'n') && variant != "export"
			shows = shows || hasLetter(f.text, 'p')
			evaluates = evaluates || strings.HasPrefix(f.text, "-") && strings.ContainsAny(f.text, "in")
			w.declareExpanded(f)
			continue
		}
		if a.Naked && a.Value == nil && a.Name != nil && a.Array == nil {
			w.declareBare(variant, a.Name.Value, exports)
			if refers && variant != "export" {
				w.noteOrigin(a.Name.Value, traits{})
				w.vars[a.Name.Value] = value{ref: unknown}
			}
			continue
		}
		if evaluates && a.Value != nil {
			w.askIndexArithmetic(a.Value)
		}
		w.assignVariable(a, true)
		w.noteDeclared(a, variant, exports, refers)
	}
	if shows {
		w.out.data, w.out.any = true, true
	}
}

// noteDeclared notes what a declaration says of a variable beside its value.
func (w *walker) noteDeclared(a *syntax.Assign, variant string, exports, refers bool) {
	if a.Name == nil {
		return
	}
	if refers && a.Value != nil {
		w.refersTo(a.Name.Value, w.expandOne(a.Value))
	}
	w.declareBare("", a.Name.Value, exports)
	if variant != "export" {
		w.markLocal(a.Name.Value)
	}
}

// declareExpanded is a word of a declaration that only its expansion shows to be an assignment.
func (w *walker) declareExpanded(f field) {
	if name, _, _ := strings.Cut(f.text, "="); indexRunsCommand(name) {
		w.addEffect(Exec, LevelAlways, f.text, "the index of an array runs a command")
	}
	if name, val, ok := strings.Cut(f.text, "="); ok {
		f.text = val
		w.setVariable(name, f, false)
		w.judgeSetting(name, f)
	}
}

func hasLetter(word string, letter byte) bool {
	return strings.HasPrefix(word, "-") && strings.IndexByte(word, letter) > 0
}

// exportsAfter reports whether programs get what is declared, after one more option.
func exportsAfter(variant, option string, so bool) bool {
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
		w.exportVariable(name)
	case variant == "export": // -n
		w.exported = copyMap(w.exported)
		delete(w.exported, name)
	}
	if !isOneOf("declare local typeset", variant) {
		return
	}
	w.markLocal(name)
	if _, had := w.vars[name]; had || isOneOf("HOME PWD TMPDIR USER LOGNAME HOSTNAME", name) {
		w.forgetVariable(name)
	}
}

// markLocal notes that a variable is another one outside of the function.
func (w *walker) markLocal(name string) {
	if len(w.calling) == 0 {
		return
	}
	if w.locals == nil {
		w.locals = map[string]bool{}
	}
	w.locals[name] = true
}

// forgetVariable makes what a variable holds unknown.
func (w *walker) forgetVariable(name string) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	w.vars[name] = value{fields: w.vars[name].fields, split: true}
}

// assignVariable assigns name=value; for a command (or for good, with export) some names change
// what programs do.
func (w *walker) assignVariable(a *syntax.Assign, exported bool) {
	if a.Name == nil {
		return
	}
	w.walkArithmetic(a.Index)
	if a.Array != nil {
		w.assignArray(a)
		return
	}
	f := w.expandOne(a.Value)
	if a.Index != nil {
		w.setElement(a.Name.Value, f)
	} else {
		w.setVariable(a.Name.Value, f, a.Append)
	}
	if exported || alwaysExported(a.Name.Value) {
		w.judgeSetting(a.Name.Value, f)
	}
}

// assignArray assigns name=(...).
func (w *walker) assignArray(a *syntax.Assign) {
	var items []field
	indexed := false
	for _, e := range a.Array.Elems {
		w.walkArithmetic(e.Index)
		indexed = indexed || e.Index != nil
		if e.Value != nil {
			items = append(items, w.expandWord(e.Value)...)
			if alwaysExported(a.Name.Value) {
				w.judgeSetting(a.Name.Value, w.expandOne(e.Value))
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
