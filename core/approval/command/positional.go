package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// setPositional sets $0, $1 ... to words; $@ and $* are all but the first.
func (w *walker) setPositional(words []field) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	loose := 10 // from here on it is not known which word has which number
	if at := slices.IndexFunc(words, func(f field) bool { return mayChangeCount([]field{f}) }); at >= 0 {
		loose = at + 1
	}
	for i := range 10 {
		delete(w.vars, strconv.Itoa(i))
		switch {
		case i >= loose:
			w.vars[strconv.Itoa(i)] = value{fields: words, split: true}
		case i < len(words):
			w.vars[strconv.Itoa(i)] = value{fields: words[i : i+1]}
		case i > 0:
			w.vars[strconv.Itoa(i)] = value{fields: []field{{}}}
		}
	}
	rest := words[min(1, len(words)):]
	for _, name := range []string{"@", "*"} {
		w.vars[name] = value{fields: rest, list: true}
	}
}

// callFunction walks the body of a function with the words of a call.
func (w *walker) callFunction(c cmd, body *syntax.Stmt) {
	if w.calling[c.name] || w.depth >= maxDepth {
		w.out = w.out.mergedWith(w.in)
		return
	}
	if w.calling == nil {
		w.calling = map[string]bool{}
	}
	w.calling[c.name] = true
	w.depth++
	kept := map[string]value{}
	names := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}
	for _, n := range names {
		if v, ok := w.vars[n]; ok {
			kept[n] = v
		}
	}
	w.setPositional(append([]field{{text: c.name}}, c.args...))
	span, locals := w.span, w.locals
	w.locals = nil
	w.walkStatement(body)
	w.out.names = false
	w.setSpan(span)
	for name := range w.locals {
		w.forgetVariable(name)
	}
	w.locals = locals
	for _, n := range names {
		delete(w.vars, n)
		if v, ok := kept[n]; ok {
			w.vars[n] = v
		}
	}
	w.depth--
	delete(w.calling, c.name)
}

// loosePositional makes all of $1, $2 ... unknown.
func (w *walker) loosePositional(maybe ...field) {
	words := append([]field{{text: unknown, dyn: true, sub: true}}, maybe...)
	w.setPositional(append([]field{{text: "sh"}}, words...))
	for i := 1; i < 10; i++ {
		w.vars[strconv.Itoa(i)] = value{fields: words, list: true}
	}
}

// setWords is set: its operands become $1, $2 ...
func (w *walker) setWords(c cmd) {
	_, had := w.vars["@"] // without words before, those that may be set are all there can be
	for i, a := range c.args {
		words := a.text == "--" || !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") || a.dyn
		switch {
		case words && w.branch > 0 && had: // it may not have happened
			w.loosePositional(c.args[i:]...)
			return
		case a.text == "--":
			w.setPositional(append([]field{{text: "sh"}}, c.args[i+1:]...))
			return
		case (strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+")) && !a.dyn:
			if strings.HasSuffix(a.text, "o") {
				return
			}
		default:
			w.setPositional(append([]field{{text: "sh"}}, c.args[i:]...))
			return
		}
	}
}

// judgeShift judges shift, which drops the first of $1, $2 ...
func judgeShift(w *walker, c cmd) {
	all, ok := w.vars["@"]
	if !ok {
		return
	}
	n := 1
	if v, err := strconv.Atoi(firstOperand(c)); err == nil {
		n = v
	}
	cut := min(max(n, 0), len(all.fields))
	if w.branch > 0 || n < 0 || mayChangeCount(all.fields[:cut]) { // how often is not known
		w.loosePositional(all.fields...)
		return
	}
	w.setPositional(append([]field{{text: "sh"}}, all.fields[cut:]...))
}

// readsWholeLine reports whether read gives its variable all of the text that comes in, as it
// stands: one line, of its own.
func (w *walker) readsWholeLine(c cmd) bool {
	text := strings.TrimRight(w.in.text, "\n")
	if !w.in.plain || !w.own || w.branch > 0 || strings.TrimSpace(text) != text || strings.ContainsAny(text, "\n\\") {
		return false
	}
	if ifs := w.vars["IFS"]; ifs.fields != nil && (len(ifs.fields) > 1 || ifs.split || ifs.fields[0].dyn || ifs.fields[0].text != "") {
		return false
	}
	return !slices.ContainsFunc(c.args, func(a field) bool { return strings.HasPrefix(a.text, "-") && a.text != "-r" || a.dyn })
}

// judgeReadBuiltin judges read and mapfile: what comes in becomes variables.
func judgeReadBuiltin(w *walker, c cmd) {
	list := c.name != "read"
	o := parseOptions(c.args, map[bool]string{false: "d i n N p t u a", true: "d n O s u C c"}[list], false)
	if list {
		for _, v := range o.valuesOf("C") { // called with an index and a line
			w.walkInnerText(partOf(v, v.text+" 0 "+unknown))
			w.addEffect(Exec, LevelAlways, v.text, c.name+" runs "+showUnknown(v.text)+" for what it reads")
		}
	}
	names := o.operands
	for _, v := range o.valuesOf("a") {
		names, list = append(names, v), true
	}
	if len(names) == 0 {
		names = []field{{text: map[bool]string{false: "REPLY", true: "MAPFILE"}[c.name != "read"]}}
	}
	got := field{
		text: unknown, dyn: true, sub: true,
		from: w.in.mergedWith(traits{data: o.hasOption("u")}),
	}
	if w.in.plain && indexRunsCommand(w.in.text) {
		w.addEffect(Exec, LevelAlways, w.in.text, "what is read may be the index of an array that runs a command")
	}
	if !list && w.readsWholeLine(c) {
		got = field{text: strings.TrimRight(w.in.text, "\n"), sub: true, from: got.from}
	}
	for _, n := range names {
		if n.dyn {
			continue
		}
		v := value{fields: []field{got}}
		if list || len(names) > 1 {
			v.fields = []field{{text: unknown, dyn: true, sub: true, from: got.from}}
		}
		if w.in.plain && got.dyn { // it may be any of these, and others
			text := field{text: strings.TrimRight(w.in.text, "\n"), sub: true, from: got.from}
			v = value{fields: v.fields, list: true, array: list, uneven: list}
			for _, word := range strings.Fields(text.text) {
				v.fields = append(v.fields, partOf(text, word))
			}
		}
		if base, _, ok := strings.Cut(n.text, "["); ok {
			w.setElement(base, got)
			continue
		}
		if w.vars == nil {
			w.vars = map[string]value{}
		}
		w.vars[n.text] = v
	}
	judgeFilter(w, c)
}

// writeKnownOutput writes what a command is known to put out.
func (g *gather) writeKnownOutput(text string, quoted bool, from traits) {
	f := field{text: text, made: true, sub: true, dyn: strings.Contains(text, unknown), from: from.mergedWith(traits{})}
	f.glob = !quoted && strings.ContainsAny(text, "*?[")
	if quoted || !strings.ContainsAny(text, " \t\n") {
		g.writeWhole(f)
		return
	}
	for i, word := range strings.Fields(text) {
		if i > 0 || strings.HasPrefix(text, " ") {
			g.endField()
		}
		g.writeWhole(partOf(f, word))
	}
}
