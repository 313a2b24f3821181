package guard

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one argument as the program gets it, as far as that is known: what is not is one unknown rune.
type word struct {
	text   string
	source string // as it was written
}

func (w word) known() bool { return !strings.ContainsRune(w.text, unknown) }

func literals(argv []string) []word {
	out := make([]word, len(argv))
	for i, a := range argv {
		out[i] = word{text: strings.ReplaceAll(a, "\x00", ""), source: a}
	}
	return out
}

// show writes a command for a message.
func show(argv []word) string {
	var b strings.Builder
	for i, w := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.source)
	}
	if r := []rune(b.String()); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return b.String()
}

// read turns a word of the syntax into what the program gets.
func read(w *syntax.Word) word {
	var text strings.Builder
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			text.WriteString(bare(lit.Value, i == 0))
			continue
		}
		text.WriteString(quoted(part))
	}
	var source bytes.Buffer
	_ = syntax.NewPrinter().Print(&source, w) // into memory
	out := text.String()
	if braces(out, w) {
		out = string(unknown)
	}
	return word{text: out, source: source.String()}
}

// bare reads a part outside of quotes: a backslash takes the next character as it is, globs and ~ are unknown.
func bare(s string, first bool) string {
	var b strings.Builder
	if first && strings.HasPrefix(s, "~") {
		b.WriteRune(unknown)
		_, s, _ = strings.Cut(s, "/")
		s = "/" + s
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case c == '*' || c == '?' || c == '[' && len(s) > 1:
			b.WriteRune(unknown)
		case c == unknown:
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quoted reads any other part.
func quoted(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return string(unknown)
		}
		return strings.ReplaceAll(p.Value, "\x00", "")
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, in := range p.Parts {
			if lit, ok := in.(*syntax.Lit); ok {
				b.WriteString(escaped(lit.Value))
				continue
			}
			b.WriteRune(unknown)
		}
		return b.String()
	default:
		return string(unknown)
	}
}

// escaped reads text inside of double quotes.
func escaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		if s[i] != unknown {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// braces says whether the word may become several: {rm,-rf,/}.
func braces(text string, w *syntax.Word) bool {
	if !strings.Contains(text, "{") {
		return false
	}
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if ok && strings.Contains(lit.Value, "{") {
			return strings.Contains(text, ",") || strings.Contains(text, "..")
		}
	}
	return false
}

// script judges every simple command in a text.
func (r *Rules) script(s script, depth int) error {
	if depth > maxDepth {
		return refuse("it is nested too deeply to be judged")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s.text), "")
	if err != nil {
		return refuse("its syntax cannot be read (%v), and this back end has lists that must judge it", err)
	}
	if changesArgs(file) {
		s.args = nil
	}
	var first error
	syntax.Walk(file, func(n syntax.Node) bool {
		if first == nil {
			first = r.node(n, s.args, depth)
		}
		return first == nil
	})
	return first
}

func (r *Rules) node(n syntax.Node, args []word, depth int) error {
	switch n := n.(type) {
	case *syntax.CallExpr:
		if err := r.assigns(n.Assigns); err != nil || len(n.Args) == 0 {
			return err
		}
		argv := make([]word, 0, len(n.Args))
		for _, w := range n.Args {
			if len(args) > 0 && allArgs(w) {
				argv = append(argv, args...)
				continue
			}
			argv = append(argv, read(w))
		}
		return r.call(argv, depth)
	case *syntax.DeclClause:
		return r.assigns(n.Args)
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			return r.sets(n.Param.Value)
		}
	case *syntax.ForClause:
		if iter, ok := n.Loop.(*syntax.WordIter); ok {
			return r.sets(iter.Name.Value)
		}
	}
	return nil
}

// allArgs says that a word is "$@" and nothing else.
func allArgs(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	q, ok := w.Parts[0].(*syntax.DblQuoted)
	if !ok || len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && p.Param.Value == "@" && p.Short
}

// changesArgs says whether "$@" may become something else than it was at the beginning of a script: by shift, set, a file that is read, or in
// a function.
func changesArgs(file *syntax.File) (changes bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			changes = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				switch w := read(n.Args[0]); w.text {
				case "shift", "set", ".", "source", "eval", "command", "builtin":
					changes = true
				}
			}
		}
		return !changes
	})
	return changes
}

func (r *Rules) assigns(all []*syntax.Assign) error {
	for _, a := range all {
		switch {
		case a.Name != nil:
			if err := r.sets(a.Name.Value); err != nil {
				return err
			}
		case a.Value != nil: // declare "$x"
			if w := read(a.Value); !w.known() && len(r.allowed) > 0 {
				return refuse("which variable %q sets is only known when it runs", w.source)
			}
		}
	}
	return nil
}

// sets judges that a variable is set.
func (r *Rules) sets(name string) error {
	if len(r.allowed) > 0 && decisive(name) {
		return refuse("it sets %s, which decides what an allowed name starts", name)
	}
	return nil
}

// decisive are the variables by which an allowed name can be made to start something else.
func decisive(name string) bool {
	switch name {
	case "PATH", "ENV", "BASH_ENV", "IFS", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "BASH_CMDS", "BASH_ALIASES", "PS4", "EDITOR", "VISUAL", "PAGER",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR":
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
