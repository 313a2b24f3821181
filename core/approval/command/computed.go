package command

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// expandElement expands ${a[@]} and ${a[1]} of an array that the line has made.
func (g *gather) expandElement(p *syntax.ParamExp, name string, quoted bool) bool {
	v, ok := g.w.vars[name]
	if p.Index == nil || !ok || v.split || !v.array || p.Excl || p.NestedParam != nil || p.Repl != nil || p.Exp != nil || p.Slice != nil || len(v.fields) > maxWords {
		return false
	}
	word, _ := p.Index.(*syntax.Word)
	if word == nil {
		return false
	}
	switch at := word.Lit(); at {
	case "@", "*":
		if len(v.fields) == 0 {
			g.cur.sub = true
			return true
		}
		for i, f := range v.fields {
			if i > 0 {
				g.endField()
			}
			f.made = true
			g.writeWhole(f)
		}
		return true
	default:
		if v.uneven {
			return false
		}
		i, err := strconv.Atoi(at)
		if err != nil || i < 0 || i >= len(v.fields) {
			return false
		}
		f := v.fields[i]
		f.made = true
		g.expandAssigned(value{fields: []field{f}}, quoted)
		return true
	}
}

// computeForm is a form such as ${x%y} or ${x:0:2} of a variable whose value is known, and ${x:--y}
// of one that the line never sets.
func (g *gather) computeForm(p *syntax.ParamExp, name string, quoted bool) bool {
	v, ok := g.w.vars[name]
	if !ok {
		if p.Exp == nil || p.Exp.Word == nil || !isOneOf(":- - := =", p.Exp.Op.String()) {
			return false
		}
		f := g.w.expandOne(p.Exp.Word)
		if !strings.HasPrefix(f.text, "-") { // a path may be another one in the environment
			return false
		}
		f.made = true
		g.expandAssigned(value{fields: []field{f}}, quoted)
		return true
	}
	if v.split || v.array || len(v.fields) == 0 || len(v.fields) > 32 || p.NestedParam != nil || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		return false
	}
	var out []field
	for _, f := range v.fields {
		if f.dyn || f.glob && !onlyCutsEnds(p) {
			return false
		}
		text, ok := g.w.formText(p, name, f.text)
		if !ok || len(text) > maxWord || strings.Contains(text, unknown) {
			return false
		}
		f.text, f.made = text, true
		out = append(out, f)
	}
	g.expandAssigned(value{fields: out, list: v.list}, quoted)
	return true
}

// onlyCutsEnds reports whether a form only takes away the beginning or the end: of a wildcard's
// names, these are what it says of the wildcard.
func onlyCutsEnds(p *syntax.ParamExp) bool {
	return p.Exp != nil && isOneOf("% %% # ##", p.Exp.Op.String())
}

// formText is the text of a form in which every variable is known, and the one of this name is what
// it is given.
func (w *walker) formText(p *syntax.ParamExp, name, is string) (text string, ok bool) {
	defer func() {
		if recover() != nil { // the text is hostile, and the library's evaluation of it is not ours
			text, ok = "", false
		}
	}()
	c := &expand.Config{Env: expand.FuncEnviron(func(other string) string {
		if other == name {
			return is
		}
		if v := w.vars[other]; len(v.fields) == 1 && !v.list && !v.split && !v.fields[0].dyn {
			return v.fields[0].text
		}
		return unknown
	})}
	text, err := expand.Literal(c, &syntax.Word{Parts: []syntax.WordPart{p}})
	return text, err == nil
}
