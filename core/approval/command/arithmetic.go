package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walkArithmetic walks the commands in an expression.
func (w *walker) walkArithmetic(x syntax.ArithmExpr) {
	if x != nil {
		w.walkWords(x)
		w.askIndexArithmetic(x)
		w.arithmeticSets(x)
	}
}

// askIndexArithmetic asks about variables whose value arithmetic would run: what stands between the
// brackets of an index is expanded.
func (w *walker) askIndexArithmetic(n syntax.Node) {
	check := func(name string) {
		for _, f := range w.vars[name].fields {
			if indexRunsCommand(f.text) {
				w.addEffect(Exec, LevelAlways, f.text, "arithmetic runs what the variable "+name+" holds")
			}
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			check(n.Lit())
		case *syntax.ParamExp:
			if n.Param != nil {
				check(n.Param.Value)
			}
		case *syntax.SglQuoted:
			if indexRunsCommand(n.Value) {
				w.addEffect(Exec, LevelAlways, n.Value, "the index of an array runs a command")
			}
		}
		return true
	})
}

// indexRunsCommand reports whether a text is an element of an array whose index runs a command.
func indexRunsCommand(s string) bool {
	return strings.Contains(s, "[") && (strings.Contains(s, "$(") || strings.Contains(s, "`") || strings.Contains(s, "${"))
}

// exportVariable remembers that programs get a variable too.
func (w *walker) exportVariable(name string) {
	if w.exported == nil {
		w.exported = map[string]bool{}
	}
	w.exported[name] = true
}

// walkChildShell walks the text of a shell of its own: variables that were not exported are empty
// there, if they are not in the environment.
func (w *walker) walkChildShell(text field, params ...field) {
	w.walkInnerText(text, params...)
	if !strings.Contains(text.text, "$") {
		return
	}
	vars := w.vars
	seen := make(map[string]value, len(vars))
	hidden := false
	for name, v := range vars {
		hidden = hidden || !w.exported[name]
		if w.exported[name] {
			seen[name] = v
		} else {
			seen[name] = value{fields: []field{{}}}
		}
	}
	if !hidden {
		return
	}
	w.vars = seen
	w.walkInnerText(text, params...)
	w.vars = vars
}
