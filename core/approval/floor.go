package approval

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Floor returns why a shell command never runs, or "" when it may be asked about. It knows a handful of actions that
// destroy a machine or a home and have no place in an agent's work: deleting / or a home, making a file system, writing
// to a disk device, a fork bomb, killing every process, switching the machine off. It reads the command as a shell
// would, through quotes, lists, substitutions, wrappers such as sudo and nested "sh -c". It is a floor and no wall:
// whoever wants to get round it can. What keeps people safe is that everything else is asked.
func Floor(cmd string) string { return floor(cmd, 0) }

// maxNesting bounds sh -c inside sh -c.
const maxNesting = 5

func floor(cmd string, depth int) string {
	if strings.TrimSpace(cmd) == "" || depth > maxNesting {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd), "")
	if err != nil {
		return simple(strings.Fields(cmd), depth) // another shell may understand it: look at the words
	}
	why := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		if why == "" {
			why = node(n, depth)
		}
		return why == ""
	})
	return why
}

func node(n syntax.Node, depth int) string {
	switch n := n.(type) {
	case *syntax.CallExpr:
		words := make([]string, len(n.Args))
		for i, w := range n.Args {
			words[i] = word(w)
		}
		return simple(words, depth)
	case *syntax.Redirect:
		if n.Word != nil && writes(n.Op) && isDisk(word(n.Word)) {
			return "it writes over a disk device"
		}
	case *syntax.FuncDecl:
		if pipesItself(n) {
			return "it is a fork bomb"
		}
	}
	return ""
}

func writes(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return true
	default:
		return false
	}
}

// word returns the text of a shell word without quotes. A home is "~"; what is only known when it runs is "\x00".
func word(w *syntax.Word) string {
	var b strings.Builder
	parts(&b, w.Parts)
	return b.String()
}

func parts(b *strings.Builder, ps []syntax.WordPart) {
	for _, p := range ps {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			parts(b, p.Parts)
		case *syntax.ParamExp:
			if p.Param != nil && p.Param.Value == "HOME" {
				b.WriteByte('~')
				continue
			}
			b.WriteByte(0)
		default:
			b.WriteByte(0)
		}
	}
}

// unescape takes the backslashes out of an unquoted word: \rm is rm.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// pipesItself recognises f() { f | f & }: a function that calls itself from both ends of a pipe.
func pipesItself(f *syntax.FuncDecl) bool {
	found := false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe && calls(b.X, f.Name.Value) && calls(b.Y, f.Name.Value) {
			found = true
		}
		return !found
	})
	return found
}

func calls(s *syntax.Stmt, name string) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && word(c.Args[0]) == name
}

// simple looks at one command, given as words.
func simple(words []string, depth int) string {
	words = unwrap(words)
	if len(words) == 0 {
		return ""
	}
	name, args := path.Base(words[0]), words[1:]
	if strings.HasPrefix(name, "mkfs") {
		return "it makes a file system over what is there"
	}
	if look := programs()[name]; look != nil {
		return look(args, depth)
	}
	return ""
}
