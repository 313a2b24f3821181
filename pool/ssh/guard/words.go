package guard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/shelltext"
)

// word is one argument as the program gets it; what is known only when it runs, a home among it, is
// one unknown rune.
type word = shelltext.Word

// readWord turns a word of the syntax into what the program gets; braces make several of it.
func readWord(w *syntax.Word) []word { return anyHome(shelltext.Read(w)) }

// anyHome makes the home unknown: which folder it is there is not known here.
func anyHome(words []word) []word {
	for i := range words {
		words[i].Text = strings.ReplaceAll(words[i].Text, string(shelltext.Home), string(unknown))
	}
	return words
}

// showCommand writes a command for a message.
func showCommand(argv []word) string {
	var b strings.Builder
	for i, w := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Source)
	}
	if r := []rune(b.String()); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return b.String()
}

// judgeScript judges every simple command in a text.
func (r *Rules) judgeScript(s shelltext.Script, depth int) error {
	if depth > maxDepth {
		return refuseLine("it is nested too deeply to be judged")
	}
	file, err := shelltext.Parse(s.Text.Text)
	if err != nil {
		return refuseLine("its syntax cannot be read (%v), and this back end has lists that must judge it", err)
	}
	if changesArgs(file) {
		s.Args = nil
	}
	var first error
	syntax.Walk(file, func(n syntax.Node) bool {
		if first == nil {
			first = r.judgeNode(n, s.Args, depth)
		}
		return first == nil
	})
	return first
}

func (r *Rules) judgeNode(n syntax.Node, args []word, depth int) error {
	switch n := n.(type) {
	case *syntax.CallExpr:
		if err := r.judgeAssignments(n.Assigns); err != nil || len(n.Args) == 0 {
			return err
		}
		argv := make([]word, 0, len(n.Args))
		for _, w := range n.Args {
			if len(args) > 0 && allArgs(w) {
				argv = append(argv, args...)
				continue
			}
			argv = append(argv, readWord(w)...)
		}
		return r.judgeCall(argv, depth)
	case *syntax.DeclClause:
		return r.judgeAssignments(n.Args)
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			return r.judgeVariable(n.Param.Value)
		}
	case *syntax.ForClause:
		if iter, ok := n.Loop.(*syntax.WordIter); ok {
			return r.judgeVariable(iter.Name.Value)
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

// changesArgs says whether "$@" may become something else than it was at the beginning of a script:
// by shift, set, a file that is read, or in a function.
func changesArgs(file *syntax.File) (changes bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			changes = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				switch readWord(n.Args[0])[0].Text {
				case "shift", "set", ".", "source", "eval", "command", "builtin":
					changes = true
				}
			}
		}
		return !changes
	})
	return changes
}

func (r *Rules) judgeAssignments(all []*syntax.Assign) error {
	for _, a := range all {
		switch {
		case a.Name != nil:
			if err := r.judgeVariable(a.Name.Value); err != nil {
				return err
			}
		case a.Value != nil: // declare "$x"
			if w := readWord(a.Value); !w[0].Known() && len(r.allowed) > 0 {
				return refuseLine("which variable %q sets is only known when it runs", w[0].Source)
			}
		}
	}
	return nil
}

// judgeVariable judges that a variable is set.
func (r *Rules) judgeVariable(name string) error {
	if len(r.allowed) > 0 && decidesWhatRuns(name) {
		return refuseLine("it sets %s, which decides what an allowed name starts", name)
	}
	return nil
}

// decidesWhatRuns are the variables by which an allowed name can be made to start something else.
func decidesWhatRuns(name string) bool {
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
