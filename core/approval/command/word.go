package command

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"hermes/core/shelltext"
)

// field is one word of a command after expansion.
type field struct {
	text   string // what is known; unknown stands for each part that is only known when it runs
	dyn    bool   // text holds an unknown part
	sub    bool   // a part came from an expansion
	glob   bool   // an unquoted wildcard is in it
	made   bool   // a command of this line put it out, and what that was is known
	proc   bool   // it is a process substitution: a file that a command writes or reads
	quoted bool
	adds   bool   // of a redirection: what the file holds stays
	behind bool   // of a redirection: it writes behind what the file holds
	from   traits // of what was substituted
}

// unknown stands in text for what is only known when the command runs.
const unknown = "\x00"

// traits say where data comes from.
type traits struct {
	net, decoded, secret, code bool // code: a file or stream that was made by this very line
	keys                       bool // names of files where secrets are kept
	data                       bool // what stands in a file, or what a command says of the machine and its files
	list                       bool // all of that is a list of addresses, which somebody keeps to be fetched
	names                      bool // each line is the name of a file of the project that people edit
	any                        bool // there is a stream at all
	text                       string
	plain                      bool // text is all of it
}

func (t traits) mergedWith(o traits) traits {
	return traits{
		net: t.net || o.net, decoded: t.decoded || o.decoded, secret: t.secret || o.secret, code: t.code || o.code, any: t.any || o.any,
		keys: t.keys || o.keys, data: t.data || o.data, list: (t.list || o.list) && (t.list || !t.data) && (o.list || !o.data),
	}
}

// maxWords bounds brace expansion.
const maxWords = 256

// expandWords expands the words of a command.
func (w *walker) expandWords(words []*syntax.Word) []field {
	out := make([]field, 0, len(words))
	for _, word := range words {
		if w.posix || !hasBraces(word) {
			out = append(out, w.expandWord(word)...)
			continue
		}
		n := 0
		for one, err := range expand.BracesSeq(nil, splitBraces(word)) {
			if n++; err != nil || n > maxWords {
				out = append(out, field{text: unknown, dyn: true, sub: true})
				break
			}
			out = append(out, w.expandWord(one)...)
		}
	}
	return out
}

// splitBraces is a word with its braces taken apart; the word itself stays as it is, for the other
// reading.
func splitBraces(word *syntax.Word) *syntax.Word {
	c := *word
	c.Parts = append([]syntax.WordPart(nil), word.Parts...)
	syntax.SplitBraces(&c)
	return &c
}

func hasBraces(word *syntax.Word) bool {
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

// gather collects the fields of one word.
type gather struct {
	w    *walker
	b    strings.Builder
	cur  field
	some bool // the current field exists even when it is empty
	out  []field
}

func (w *walker) expandWord(word *syntax.Word) []field {
	g := gather{w: w}
	if len(word.Parts) == 1 {
		if l, ok := word.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, `\~*?[`) {
			return []field{{text: l.Value}} // nearly all words
		}
	}
	for i, p := range word.Parts {
		g.expandPart(p, i == 0)
	}
	g.endField()
	return g.out
}

// expandOne expands a word to a single field, as in an assignment or a redirection.
func (w *walker) expandOne(word *syntax.Word) field {
	if word == nil {
		return field{}
	}
	fs := w.expandWord(word)
	if len(fs) == 0 {
		return field{}
	}
	out := fs[0]
	for _, f := range fs[1:] {
		out.text += " " + f.text
		out.dyn, out.sub, out.glob, out.from = out.dyn || f.dyn, out.sub || f.sub, out.glob || f.glob, out.from.mergedWith(f.from)
		out.made = out.made || f.made
	}
	return out
}

func (g *gather) endField() {
	if g.cur.glob && g.w.namedByData {
		g.cur.from.data = true
	}
	if g.some || g.b.Len() > 0 {
		g.cur.text = g.b.String()
		g.out = append(g.out, g.cur)
	}
	g.b.Reset()
	g.cur, g.some = field{}, false
}

func (g *gather) writeUnknown() {
	g.b.WriteString(unknown)
	g.cur.dyn, g.cur.sub = true, true
}

func (g *gather) expandPart(p syntax.WordPart, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		g.writeLiteral(p.Value, first)
	case *syntax.SglQuoted:
		g.some, g.cur.quoted = true, true
		if p.Dollar {
			g.b.WriteString(shelltext.ANSIC(p.Value))
			return
		}
		g.b.WriteString(p.Value)
	case *syntax.DblQuoted:
		g.some, g.cur.quoted = true, true
		for _, q := range p.Parts {
			g.inQuotes(q)
		}
	case *syntax.ParamExp:
		g.expandParameter(p, false)
	case *syntax.CmdSubst:
		g.expandCommand(p, false)
	case *syntax.ArithmExp:
		g.w.walkArithmetic(p.X)
		g.cur.from = g.cur.from.mergedWith(g.w.computedFrom(p.X))
		g.writeNumber()
	case *syntax.ProcSubst:
		g.expandProcess(p)
	case *syntax.ExtGlob:
		g.b.WriteString("*")
		g.cur.glob = true
	default:
		g.writeUnknown()
	}
}

func (g *gather) writeNumber() {
	g.b.WriteByte('1')
	g.cur.sub = true
}

func (g *gather) inQuotes(p syntax.WordPart) {
	switch p := p.(type) {
	case *syntax.Lit:
		g.b.WriteString(unquoteDouble(p.Value))
	case *syntax.ParamExp:
		g.expandParameter(p, true)
	case *syntax.CmdSubst:
		g.expandCommand(p, true)
	default:
		g.expandPart(p, false)
	}
}

// writeLiteral writes unquoted text: backslashes go, wildcards are seen, ~ is a home.
func (g *gather) writeLiteral(s string, first bool) {
	if s == "" {
		return
	}
	g.some = true
	if first && s[0] == '~' {
		s = g.writeTilde(s)
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 == len(s) {
				g.b.WriteByte('\\')
				continue
			}
			if i++; s[i] != '\n' {
				g.b.WriteByte(s[i])
			}
		case '*', '?', '[':
			g.cur.glob = true
			g.b.WriteByte(s[i])
		default:
			g.b.WriteByte(s[i])
		}
	}
}

// writeTilde writes the home that s begins with and returns the rest.
func (g *gather) writeTilde(s string) string {
	end := strings.IndexByte(s, '/')
	if end < 0 {
		end = len(s)
	}
	switch user := s[1:end]; {
	case user == "":
		g.b.WriteString(g.w.ctx.Home)
	case user == "+":
		g.b.WriteString(g.w.dir)
	case user == "root":
		g.b.WriteString("/root")
	case strings.ContainsAny(user, `\-`):
		return s
	default:
		g.b.WriteString("/home/" + user)
	}
	return s[end:]
}

// unquoteDouble takes out the backslashes that mean something inside of double quotes.
func unquoteDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '\n':
				i++
				continue
			case '"', '\\', '$', '`':
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expandCommand expands $(...): what is in it counts, and some commands are known to give a word or
// a folder.
func (g *gather) expandCommand(c *syntax.CmdSubst, quoted bool) {
	w := g.w
	saved, in := w.out, w.in
	w.out, w.in = traits{}, traits{data: in.data, list: in.list} // what stands before it in a pipe, it reads too
	restore := w.openScope()
	w.walkStatements(c.Stmts)
	restore()
	got := w.out
	w.out, w.in = saved, in
	g.cur.sub, g.cur.from = true, g.cur.from.mergedWith(got)
	text, ok := w.harmlessOutput(c.Stmts)
	if !ok && got.plain && len(got.text) < maxWord { // echo of something known
		g.writeKnownOutput(strings.TrimRight(got.text, "\n"), quoted, got)
		return
	}
	if !ok {
		g.writeUnknown()
	}
	g.b.WriteString(text)
}

// harmlessOutput knows commands whose output can do no harm in a path: a date, a folder, a commit.
func (w *walker) harmlessOutput(list []*syntax.Stmt) (string, bool) {
	if len(list) != 1 || len(list[0].Redirs) > 0 {
		return "", false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 {
		return "", false
	}
	name, second := c.Args[0].Lit(), ""
	if len(c.Args) > 1 {
		second = c.Args[1].Lit()
	}
	switch name {
	case "pwd":
		return w.dir, w.known
	case "mktemp":
		return "/tmp/mktemp", len(c.Args) == 1 || second == "-d"
	case "date", "nproc", "uname", "arch":
		return "word", true
	case "whoami", "hostname":
		return "host", true
	case "git":
		switch second {
		case "describe":
			return "word", true
		case "rev-parse":
			if len(c.Args) > 2 && c.Args[2].Lit() == "--show-toplevel" {
				return w.ctx.Project, true
			}
			return "word", true
		}
	}
	return "", false
}

// expandProcess expands <(...) or >(...).
func (g *gather) expandProcess(p *syntax.ProcSubst) {
	w := g.w
	saved, in := w.out, w.in
	if p.Op == syntax.CmdIn {
		w.in = traits{}
	} else {
		w.in = traits{any: true, code: true, data: true}
	}
	w.out = traits{}
	restore := w.openScope()
	w.walkStatements(p.Stmts)
	restore()
	g.cur.from = g.cur.from.mergedWith(w.out)
	w.out, w.in = saved, in
	g.b.WriteString("/dev/fd/63")
	g.cur.proc, g.cur.sub = true, true
}
