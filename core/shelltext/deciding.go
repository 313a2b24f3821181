package shelltext

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Deciding lists the commands whose exit code is that of the whole text: where it is 0 each of them
// succeeded, and where it is not, one of them failed. `make test | tail`, `make test || true` and
// `make test; date` say nothing of the tests; `cd x && make test` does. None where that is not
// known, as behind a function of the text's own.
func Deciding(text string) [][]Word { return decidingIn(text, 0) }

func decidingIn(text string, depth int) [][]Word {
	if len(text) > maxText || depth > maxDepth {
		return nil
	}
	file, err := Parse(text)
	if err != nil {
		return nil
	}
	d := &decider{depth: depth}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl: // it may have the name of any program
			d.blind = true
		case *syntax.CallExpr:
			d.noteSettings(n)
		}
		return true
	})
	if d.blind {
		return nil
	}
	d.decideList(file.Stmts, d.errexit)
	return d.out
}

// decider walks what the exit code of a text comes from.
type decider struct {
	depth    int
	blind    bool // names, or the end of the text, are not what they seem
	pipefail bool
	errexit  bool
	out      [][]Word
}

// noteSettings notes what a command says about exit codes and names.
func (d *decider) noteSettings(e *syntax.CallExpr) {
	var words []string
	for _, w := range e.Args {
		for _, one := range Read(w) {
			words = append(words, one.Text)
		}
	}
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case "alias", "trap":
		d.blind = true
	case "set":
		d.pipefail = d.pipefail || slices.Contains(words, "pipefail")
		for _, w := range words[1:] {
			d.errexit = d.errexit || w == "errexit" || strings.HasPrefix(w, "-") && strings.Contains(w, "e")
			d.blind = d.blind || strings.HasPrefix(w, "+")
		}
	}
}

// decideList takes the last of some statements, or all of them where a failure ends the text.
func (d *decider) decideList(stmts []*syntax.Stmt, all bool) {
	for i, s := range stmts {
		last := i == len(stmts)-1
		if !last && leaves(s) {
			return
		}
		if all || last {
			d.decideStatement(s)
		}
	}
}

// leaves reports whether nothing behind a statement is run.
func leaves(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	return slices.Contains([]string{"exit", "return", "exec"}, call.Args[0].Lit())
}

func (d *decider) decideStatement(s *syntax.Stmt) {
	if s.Negated || s.Background || s.Coprocess {
		return
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		var words []Word
		for _, w := range cmd.Args {
			words = append(words, Read(w)...)
		}
		d.command(words, d.depth)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt:
			d.decideStatement(cmd.X)
			d.decideStatement(cmd.Y)
		case syntax.Pipe, syntax.PipeAll:
			if d.pipefail {
				d.decideStatement(cmd.X)
			}
			d.decideStatement(cmd.Y)
		case syntax.OrStmt: // either of them
		}
	case *syntax.Block:
		d.decideList(cmd.Stmts, false)
	case *syntax.Subshell:
		d.decideList(cmd.Stmts, false)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			d.decideStatement(cmd.Stmt)
		}
	}
}

// command adds a command, or what it starts where their exit code is its own.
func (d *decider) command(words []Word, depth int) {
	if len(words) == 0 || depth > maxDepth {
		return
	}
	name := path.Base(words[0].Text)
	in := Starts(words)
	switch w := WrapperOf(name); {
	case len(in.Commands)+len(in.Scripts) == 0:
		d.out = append(d.out, words)
	case name == "find" || name == "gfind" || in.Vague || w != nil && w.Own:
	default:
		for _, argv := range in.Commands {
			d.command(argv, depth+1)
		}
		for _, s := range in.Scripts {
			d.out = append(d.out, decidingIn(strings.ReplaceAll(s.Text.Text, string(Home), "~"), depth+1)...)
		}
	}
}
