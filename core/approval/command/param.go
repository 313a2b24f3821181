package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a variable may hold; one that was set more than once may hold any of them.
type value struct {
	fields []field
	array  bool   // they are the elements of an array
	list   bool   // it takes these values one after the other: a loop
	split  bool   // set more than once: it is not known which
	uneven bool   // it is not known which element has which number
	ref    string // the variable that it is another name of (declare -n)
}

// expandParameter expands $x and its forms.
func (g *gather) expandParameter(p *syntax.ParamExp, quoted bool) {
	w := g.w
	from := w.walkFormWords(p)
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	switch {
	case p.Length || p.IsSet:
		g.cur.from.data = g.cur.from.data || w.heldBy(name, false).data
		g.writeNumber()
	case name == "IFS" && w.vars["IFS"].fields == nil:
		if !quoted {
			g.endField()
			g.cur.sub = true
			return
		}
		g.b.WriteByte(' ')
	case p.Excl || p.NestedParam != nil || p.Repl != nil || p.Exp != nil || p.Slice != nil || p.Index != nil || len(p.Modifiers) > 0:
		g.cur.from = g.cur.from.mergedWith(traits{secret: secretName(name)})
		if !g.expandElement(p, name, quoted) && (p.Index != nil || !g.computeForm(p, name, quoted)) {
			g.cur.from = g.cur.from.mergedWith(from).mergedWith(w.heldBy(name, p.Excl))
			g.expandAltered(p)
		}
	default:
		g.expandVariable(name, quoted)
	}
}

// expandAltered expands a form whose value is not computed. What is cut off or chosen can be
// anything in it.
func (g *gather) expandAltered(p *syntax.ParamExp) {
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps { // ${x@P} expands what it holds: code
		g.w.addEffect(Exec, LevelAlways, "${"+p.Param.Value+"@...}", "it runs what a variable holds")
	}
	g.writeUnknown()
}

// walkFormWords walks the commands in the words of a form, ${x:-$(cmd)}, and returns where these
// words come from.
func (w *walker) walkFormWords(p *syntax.ParamExp) (from traits) {
	if p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil {
		return from
	}
	if p.Exp != nil {
		from = w.expandOne(p.Exp.Word).from
		if from.data && p.Param != nil && isOneOf("= :=", p.Exp.Op.String()) {
			w.noteOrigin(p.Param.Value, from)
		}
	}
	if p.Repl != nil {
		w.expandOne(p.Repl.Orig)
		from = from.mergedWith(w.expandOne(p.Repl.With).from)
	}
	if p.Slice != nil {
		w.walkArithmetic(p.Slice.Offset)
		w.walkArithmetic(p.Slice.Length)
	}
	w.walkArithmetic(p.Index)
	return from
}

func (g *gather) expandVariable(name string, quoted bool) {
	w := g.w
	if v, ok := w.vars[name]; ok {
		if v.split || v.uneven || v.array || len(v.fields) > 1 && (!v.list || g.b.Len() > 0) {
			g.cur.from = g.cur.from.mergedWith(w.heldBy(name, false))
		}
		if v, ok = w.resolveReference(v); !ok {
			g.writeUnknown()
			return
		}
		g.expandAssigned(v, quoted)
		return
	}
	g.cur.sub = true
	g.cur.from = g.cur.from.mergedWith(w.unsetFrom(name))
	switch name {
	case "HOME":
		g.b.WriteString(w.ctx.Home)
	case "PWD":
		if !w.known {
			g.writeUnknown()
			return
		}
		g.b.WriteString(w.dir)
	case "HERMES_HOME":
		g.b.WriteString(w.hermesHome())
	case "TMPDIR":
		g.b.WriteString("/tmp")
	case "$", "!", "?", "#", "RANDOM", "UID", "EUID", "PPID", "SECONDS", "LINENO", "EPOCHSECONDS", "SHLVL", "COLUMNS", "LINES", "OPTIND":
		g.b.WriteByte('1')
	case "USER", "LOGNAME", "HOSTNAME":
		g.b.WriteString("word")
	case "1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*":
		if w.inFunc > 0 {
			g.writeUnknown()
		} else if quoted {
			g.some = true
		}
	default:
		g.expandOther(name)
	}
}

// expandOther expands a variable of the environment whose value is not known. Of some the name
// tells that a file of secrets stands behind it: which one does not matter.
func (g *gather) expandOther(name string) {
	for _, pair := range strings.Fields(wordList("names.variables")) {
		if n, file, _ := strings.Cut(pair, "="); n == name {
			g.b.WriteString(path.Join(g.w.ctx.Home, file))
			return
		}
	}
	g.cur.from = g.cur.from.mergedWith(traits{secret: secretName(name)})
	g.writeUnknown()
}

// expandAssigned expands a variable that the line itself has set.
func (g *gather) expandAssigned(v value, quoted bool) {
	switch {
	case v.list && len(v.fields) == 0: // "$@" without words
		g.cur.sub = true
		return
	case !v.list && len(v.fields) == 1 && v.fields[0].text == "" && !v.split && !quoted:
		g.cur.sub = true
		return
	case v.uneven && !v.list:
		g.writeUnknown()
		return
	case v.array && len(v.fields) > 0 && !v.split: // its first element
		g.expandAssigned(value{fields: v.fields[:1]}, quoted)
		return
	case v.split, len(v.fields) == 0, !quoted && g.w.vars["IFS"].fields != nil:
		g.writeUnknown()
		return
	case v.list && g.b.Len() == 0: // each of them, as words of their own
		for i, f := range v.fields {
			if i > 0 {
				g.endField()
			}
			g.writeWhole(f)
		}
		return
	case len(v.fields) > 1:
		g.writeUnknown()
		return
	}
	g.writeSplit(v.fields[0], quoted)
}

// writeSplit writes a value, as words of their own where nothing quotes it.
func (g *gather) writeSplit(f field, quoted bool) {
	if quoted || !strings.ContainsAny(f.text, " \t\n") {
		g.writeWhole(f)
		return
	}
	for i, part := range strings.Fields(f.text) {
		if i > 0 || strings.HasPrefix(f.text, " ") {
			g.endField()
		}
		p := f
		p.text = part
		g.writeWhole(p)
	}
}

func (g *gather) writeWhole(f field) {
	if g.b.Len()+len(f.text) > maxWord || len(g.out) > maxFields {
		g.writeUnknown()
		return
	}
	g.b.WriteString(f.text)
	g.some = true
	g.cur.sub = true
	g.cur.dyn, g.cur.glob, g.cur.made, g.cur.from = g.cur.dyn || f.dyn, g.cur.glob || f.glob, g.cur.made || f.made, g.cur.from.mergedWith(f.from)
}

// setVariable keeps an assignment.
func (w *walker) setVariable(name string, f field, add bool) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	if base, _, ok := strings.Cut(name, "["); ok {
		w.setElement(base, f)
		return
	}
	switch ref := w.vars[name].ref; ref {
	case "", name:
	case unknown: // the first value is the name of another variable
		w.refersTo(name, f)
		return
	default:
		name = ref
	}
	old, had := w.vars[name]
	if strings.ContainsAny(f.text, "*?[") && !f.quoted {
		f.glob = true
	}
	switch {
	case add && had && old.array:
		w.vars[name] = value{fields: old.fields, split: true}
	case add && had && len(old.fields) == 1 && !old.split && len(old.fields[0].text) < maxWord:
		f.text = old.fields[0].text + f.text
		f.dyn = f.dyn || old.fields[0].dyn
		f.from = f.from.mergedWith(old.fields[0].from)
		w.vars[name] = value{fields: []field{f}}
	case add, had && w.branch > 0:
		f.from = f.from.mergedWith(w.heldBy(name, false))
		w.vars[name] = value{fields: []field{f}, split: true}
	default:
		w.vars[name] = value{fields: []field{f}, split: w.branch > 0 && had}
	}
}

// setElement is a[1]=x: which element holds what is not known any more.
func (w *walker) setElement(name string, f field) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	fields := append(append([]field(nil), w.vars[name].fields...), f)
	w.vars[name] = value{fields: fields[max(0, len(fields)-maxWords):], array: true, split: true}
}

// mayChangeCount reports whether words may become more or fewer of them when it runs.
func mayChangeCount(words []field) bool {
	return slices.ContainsFunc(words, func(f field) bool { return f.glob || f.dyn && !f.quoted })
}

// secretName reports whether a variable of this name holds a secret.
func secretName(name string) bool {
	up := strings.ToUpper(name)
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL", "_KEY"} {
		if strings.Contains(up, part) {
			return true
		}
	}
	return false
}
