package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/shelltext"
)

// This file says where text comes from: from the line itself, or from files and from what commands
// say. leaks.go asks where the latter reaches the network. It follows text through variables,
// pipes, files of the line, loops and functions. What only the course of a line tells (if grep x
// file; then curl a; else curl b; fi) is not followed, nor what an earlier line has written.

// passing are programs that hand on what they are sent, with the options that take a value, and how
// many operands are no files.
var passing = map[string]struct {
	takes    string
	operands int
}{
	"cat": {}, "tr": {"", 2}, "cut": {"d f c b delimiter fields", 0}, "head": {"n c lines bytes", 0}, "tail": {"n c lines bytes", 0}, "sed": {"e expression l", 1},
	"grep": {"e A B C m max-count regexp", 1}, "egrep": {"e A B C m", 1}, "fgrep": {"e A B C m", 1}, "rg": {"e A B C m g r", 1}, "sort": {"k t S", 0}, "uniq": {"f s w", 0},
	"rev": {}, "tac": {}, "base64": {"w", 0}, "xxd": {"l s c g", 0}, "od": {"A t N j w", 0}, "hexdump": {"e n s", 0}, "wc": {}, "paste": {"d", 0}, "column": {"t s o", 0},
	"fold": {"w", 0}, "nl": {"b w s", 0}, "tee": {"", maxWords}, "awk": {"F v", 1}, "gawk": {"F v", 1}, "mawk": {"F v", 1}, "jq": {"", 1}, "md5sum": {}, "sha1sum": {},
	"sha256sum": {}, "sha512sum": {}, "cksum": {}, "base32": {"w", 0}, "fmt": {"w", 0}, "less": {}, "more": {}, "yes": {"", maxWords},
}

// isWrapper are programs whose output is that of the commands that they run; these say themselves
// what it is made of.
func isWrapper(name string) bool {
	if isOneOf("sh bash dash zsh ksh mksh ash fish env sudo doas eval time nice curl wget http https xargs gxargs parallel", name) {
		return true
	}
	return shelltext.WrapperOf(name) != nil
}

// noteOutput notes what the output of a program is made of.
func (w *walker) noteOutput(c cmd) {
	given := joinWords(c.args).from
	w.out.names = w.listsNames(c)
	switch x, passes := passing[c.name]; {
	case isOneOf(wordList("shell.quiet"), c.name), c.name == "declare" || c.name == "set" || c.name == "typeset":
		w.out.data = w.out.data || given.data || saysMore(c)
	case passes:
		w.out.data = w.out.data || given.data || w.in.data || readsFiles(c, x.takes, x.operands) && !w.areVersionFiles(c.args)
	case isOneOf("curl wget http https", c.name):
		w.out.data = w.out.data || given.data || w.in.data || !publicOnly(c.args)
	case isWrapper(c.name):
	case saysVersion(c):
		w.out.data = w.out.data || given.data
	default:
		w.out.data = true
	}
}

// saysMore reports whether a program says more than what stands in its arguments: all variables, or
// a file.
func saysMore(c cmd) bool {
	return len(c.args) == 0 && isOneOf("export set declare typeset readonly local trap", c.name) || c.name == "date" && parseOptions(c.args, "d s r I", false).hasOption("f", "file")
}

// readsFiles reports whether a program that hands on what it is sent is given files as well.
func readsFiles(c cmd, takes string, operands int) bool {
	o := parseOptions(c.args, takes, false)
	if namesFiles(c, o) {
		return true
	}
	if isOneOf("sed grep egrep fgrep rg", c.name) && o.hasOption("e", "expression", "regexp") {
		operands = 0
	}
	for _, f := range o.operandsAfter(operands) {
		if f.text != "-" && f.text != "/dev/null" && (!f.proc || f.from.data) {
			return true
		}
	}
	return c.name == "rg" && len(o.operands) == operands
}

// namesFiles reports whether options, or a text in the program's own language, name files to read.
func namesFiles(c cmd, o options) bool {
	text := joinedText(c.args)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
	}
	switch c.name {
	case "awk", "gawk", "mawk":
		return has("getline", "ARG", "ENVIRON") || o.hasOption("f", "file", "i", "include")
	case "sed":
		return o.hasOption("f", "file")
	case "jq":
		return has("file", "env") || has("input") && !has("-input")
	case "grep", "egrep", "fgrep", "rg":
		return o.hasOption("r", "R", "recursive", "f", "file")
	}
	return o.hasOption("files0-from")
}

// areVersionFiles reports whether all files among words are those of the project that hold a
// version.
func (w *walker) areVersionFiles(args []field) bool {
	found := false
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "-"), isDescriptor(a.text):
		case w.holdsVersion(a), isOneOf(".version .name", a.text), a.text == "package.json":
			found = true
		default:
			return false
		}
	}
	return found && (!hasWord(args, "package.json") || hasWord(args, ".version") || hasWord(args, ".name"))
}

func hasWord(args []field, word string) bool {
	for _, a := range args {
		if a.text == word {
			return true
		}
	}
	return false
}

func (w *walker) holdsVersion(f field) bool {
	p := w.placeOf(f)
	return isOneOf(wordList("versions.files"), path.Base(p.path)) && p.kind == placeProject && !w.written[p.path] && !f.dyn && !f.glob
}

// fileFrom says what comes in from a file.
func (w *walker) fileFrom(f field) traits {
	switch {
	case f.proc:
		return f.from
	case f.text == "/dev/null" || w.holdsVersion(f):
		return traits{}
	}
	return traits{data: true, list: w.listsAddresses(f), keys: w.listsKeys(f)}
}

// listsAddresses reports whether a file of the project holds addresses to fetch, by its name.
func (w *walker) listsAddresses(f field) bool {
	p := w.placeOf(f)
	base := strings.ToLower(path.Base(p.path))
	return p.kind == placeProject && !w.written[p.path] && !f.dyn && !f.glob && (strings.Contains(base, "url") || strings.Contains(base, "links"))
}

// saysVersion reports whether a program only says a version, a commit or the like.
func saysVersion(c cmd) bool {
	if len(c.args) == 0 {
		return false
	}
	text := strings.TrimPrefix(joinedText(c.args), " ")
	switch c.name {
	case "git":
		return gitSaysVersion(text)
	case "go":
		return text == "version" || strings.HasPrefix(text, "env GO") && len(c.args) == 2
	case "node":
		return isOneOf("-v -p", c.args[0].text) && (len(c.args) == 1 || isOneOf("require('./package.json').version require('./package').version process.version", c.args[1].text))
	case "npm":
		return isOneOf("-v --version", text) || text == "pkg get version"
	}
	return len(c.args) == 1 && isOneOf("-v -V --version version", text) && isOneOf("python python3 ruby java javac rustc cargo docker yarn pnpm deno bun php perl kubectl helm terraform", c.name)
}

func gitSaysVersion(text string) bool {
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "rev-parse":
		return !strings.Contains(rest, "sq-quote") && !strings.Contains(rest, "parseopt")
	case "describe", "symbolic-ref":
		return true
	case "branch":
		return rest == "--show-current"
	case "rev-list":
		return strings.HasPrefix(rest, "--count") || strings.HasPrefix(rest, "-n 1") || strings.HasPrefix(rest, "--max-count=1")
	case "log":
		return isOneOf("-1 -n1", strings.SplitN(rest, " ", 2)[0]) && (strings.Contains(rest, "=%h") || strings.Contains(rest, "=%H") || strings.Contains(rest, "=%ct")) && strings.Count(rest, "%") == 1
	case "tag":
		return !strings.Contains(rest, "format") && !strings.Contains(rest, "-n")
	}
	return false
}

// noteOrigin notes that a variable holds text that comes from elsewhere.
func (w *walker) noteOrigin(name string, from traits) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	fields := append([]field{{text: unknown, dyn: true, sub: true, from: from}}, w.vars[name].fields...)
	w.vars[name] = value{fields: fields[:min(len(fields), maxWords)], split: true}
}

// heldBy is where anything comes from that a variable may hold. Any says that it may be any
// variable of the line.
func (w *walker) heldBy(name string, all bool) (from traits) {
	if !all {
		return joinWords(w.vars[name].fields).from
	}
	for _, v := range w.vars {
		from = from.mergedWith(joinWords(v.fields).from)
	}
	return from
}

// unsetFrom is where the value of a variable comes from that the line never sets.
func (w *walker) unsetFrom(name string) traits {
	switch name {
	case "_":
		return w.last
	case "PWD", "OLDPWD", "DIRSTACK":
		return traits{data: w.dirData}
	case "HOME", "USER", "LOGNAME", "HOSTNAME", "TMPDIR", "UID", "RANDOM", "SECONDS", "$", "!", "?", "#", "EPOCHSECONDS", "LINENO", "PPID", "EUID", "SHLVL", "HERMES_HOME":
		return traits{}
	}
	return traits{data: w.sourced}
}

// refersTo makes name another name of the variable that f names.
func (w *walker) refersTo(name string, f field) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	if f.dyn {
		w.noteOrigin(name, w.heldBy("", true))
		return
	}
	w.vars[name] = value{ref: f.text}
}

// resolveReference is what a variable holds that is another name of one.
func (w *walker) resolveReference(v value) (value, bool) {
	for range maxDepth {
		if v.ref == "" {
			return v, true
		}
		next, ok := w.vars[v.ref]
		if !ok {
			return value{split: true}, false
		}
		v = next
	}
	return value{split: true, fields: []field{{text: unknown, dyn: true, sub: true, from: traits{data: true}}}}, true
}

// computedFrom is where the words and variables of an expression come from.
func (w *walker) computedFrom(n syntax.Node) (from traits) {
	if n == nil {
		return from
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			from = from.mergedWith(w.expandOne(n).from).mergedWith(w.heldBy(n.Lit(), false))
			return false
		case nil:
			return false
		}
		return true
	})
	return from
}

// arithmeticSets follows assignments in an expression.
func (w *walker) arithmeticSets(x syntax.ArithmExpr) {
	syntax.Walk(x, func(n syntax.Node) bool {
		b, ok := n.(*syntax.BinaryArithm)
		if !ok || !strings.HasSuffix(b.Op.String(), "=") || isOneOf("== != <= >=", b.Op.String()) {
			return true
		}
		if name, ok := b.X.(*syntax.Word); ok && name.Lit() != "" {
			if from := w.computedFrom(b.Y); from.data {
				w.noteOrigin(name.Lit(), from)
			}
		}
		return true
	})
}

// walkLoop walks the body of a loop, and once more when a later turn of it sees text that the first
// did not.
func (w *walker) walkLoop(body func()) {
	before := w.countForeign()
	body()
	if w.countForeign() > before && *w.spent < maxParsed {
		commands := w.commands
		*w.spent += 1 << 10
		body()
		w.commands = commands
	}
}

// countForeign is how many variables hold text that comes from elsewhere.
func (w *walker) countForeign() (n int) {
	for _, v := range w.vars {
		if joinWords(v.fields).from.data {
			n++
		}
	}
	return n
}

// runTraps walks what the line has traps run with what its variables hold in the end.
func (w *walker) runTraps() {
	if w.countForeign() == 0 {
		w.trapped = nil
		return
	}
	list := w.trapped
	w.trapped = nil
	for _, f := range list {
		w.walkInnerText(f)
	}
}

// optionsOf is getopts: the words of the line become variables.
func optionsOf(w *walker, c cmd) {
	from := joinWords(c.args).from.mergedWith(w.heldBy("@", false))
	if from.data {
		w.noteOrigin("OPTARG", from)
	}
	judgeFilter(w, c)
}

// passesOn is a variable that a wrapper gives to the program that it runs.
func (w *walker) passesOn(name string, f field) {
	w.judgeSetting(name, f)
	if f.from.data {
		w.vars, w.exported = copyMap(w.vars), copyMap(w.exported)
		w.setVariable(name, f, false)
		w.exportVariable(name)
	}
}

// redirectsForGood reports whether a statement is exec with nothing but redirections: what it opens
// stays open.
func redirectsForGood(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(s.Redirs) > 0 && len(c.Args) == 1 && c.Args[0].Lit() == "exec"
}
