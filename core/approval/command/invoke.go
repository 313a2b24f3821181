package command

import (
	"path"
	"strings"
	"sync"

	"hermes/core/realpath"
	"hermes/core/shelltext"
)

// cmd is one program with its arguments.
type cmd struct {
	name string
	args []field
}

// handler notes what a program does with its arguments.
type handler func(w *walker, c cmd)

var table struct {
	once     sync.Once
	of       map[string]handler
	data     map[string]*entry // of the data files
	starred  []starredName     // variables among them that patterns name
	handlers map[string]programHandler
	options  map[string]optionRole
	operands map[string]operandRole
}

// starredName is a pattern that names variables.
type starredName struct {
	pattern string
	entry   *entry
}

// allHandlers is every program whose arguments are understood. It is made at its first use.
func allHandlers() map[string]handler {
	table.once.Do(func() {
		table.of = make(map[string]handler, 1500)
		table.data, table.handlers, table.options, table.operands = map[string]*entry{}, programHandlers(), optionRoles(), operandRoles()
		for _, name := range shelltext.WrapperNames() {
			table.of[name] = plainWrapper
		}
		for _, family := range append(handlerFamilies(), fromData()) {
			for names, h := range family {
				for name := range strings.FieldsSeq(names) {
					table.of[name] = h
				}
			}
		}
	})
	return table.of
}

// handlerFamilies are the programs that only code can tell of.
func handlerFamilies() []map[string]handler {
	return []map[string]handler{
		readerHandlers(), fileTools(), textTools(), wrapperHandlers(), networkTools(), versionControl(), buildHandlers(), packageTools(), containerHandlers(),
		databaseHandlers(), shellBuiltins(),
	}
}

// judgeCommand looks at one command, given as words.
func (w *walker) judgeCommand(args []field) {
	if w.commands++; w.commands > maxCommands {
		if w.commands == maxCommands+1 {
			w.addEffect(Unclear, LevelAlways, "", "it runs more than 200 commands")
		}
		return
	}
	first := args[0]
	if first.dyn || first.glob || first.proc || first.made || first.text == "" {
		if first.text != "[" && first.text != "[[" {
			w.dynamicCommand(first)
			w.judgeOperands(cmd{args: args[1:]})
			return
		}
	}
	w.noteRun(args)
	c := cmd{name: first.text, args: args[1:]}
	if body := w.funcs[c.name]; body != nil {
		w.callFunction(c, body)
		if allHandlers()[c.name] == nil {
			return
		} // a wrapper, "command" or "unset -f" reach the program of that name: it counts too
	}
	if hasLookalikes(c.name) {
		w.addEffect(Hidden, LevelAlways, c.name, "the name of the program "+c.name+" holds letters that can pass for others")
		return
	}
	if asksForHelp(c) {
		return
	}
	known := true
	if strings.Contains(c.name, "/") {
		c.name, known = w.programAt(first)
	}
	if h := allHandlers()[c.name]; h != nil {
		w.judgeOperands(c)
		w.decodedArguments(c)
		w.runWatched(c, h)
		w.optionFiles(c)
		return
	}
	if strings.HasPrefix(c.name, "mkfs.") {
		makeFilesystem(w, c)
		return
	}
	w.judgeOperands(c)
	w.askBuiltAddresses(c)
	if known {
		w.addEffect(Exec, LevelSensitive, c.name, "what "+c.name+" does is not known here")
	}
	w.out.data = true
}

// asksForHelp reports whether a program is only asked for its help or version.
func asksForHelp(c cmd) bool {
	last := len(c.args) - 1
	if last < 0 || last > 2 || c.args[last].text != "--help" && (last > 0 || c.args[last].text != "--version") {
		return false
	}
	for _, a := range c.args {
		if a.dyn || a.glob || a.from.secret {
			return false
		}
	}
	if last == 0 {
		return !strings.Contains(c.name, "/") && !isOneOf(ofShellOnly, c.name)
	}
	return isOneOf("kubectl helm docker podman gh glab git npm yarn pnpm cargo go terraform tofu aws gcloud az pip pip3 poetry uv dotnet systemctl journalctl apt apt-get brew flux argocd pulumi", c.name) &&
		!isOneOf("run exec x dlx create run-script start test foreach", c.args[0].text) && (last == 1 || !isOneOf("run exec", c.args[1].text)) && !strings.HasPrefix(c.args[0].text, "-")
}

// ofShellOnly are commands to which --help is a word like any other.
const ofShellOnly = "eval exec source . trap echo printf set test [ [[ command builtin env xargs nohup time sudo sh bash"

func (w *walker) dynamicCommand(f field) {
	what := "which program runs is known only when it runs"
	if f.from.net {
		what = "it runs what comes from the network"
	}
	w.addEffect(Exec, LevelAlways, f.text, what)
}

// programAt is a program that is named by its path: one of the system, one of the project, or
// somebody's.
func (w *walker) programAt(f field) (name string, known bool) {
	base := path.Base(f.text)
	switch dir := path.Dir(f.text); dir {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin", "/usr/local/sbin", "/snap/bin", "/usr/local/go/bin":
		return base, true
	}
	p := w.placeOf(f)
	switch {
	case strings.Contains(f.text, "://"):
		w.addEffect(Exec, LevelAlways, f.text, "runs what comes from the network")
	case w.written[p.path] || w.writtenBelow(p.path) || w.opened && p.kind == placeProject:
		w.addEffect(Exec, LevelAlways, f.text,
			"runs "+w.nameOf(f)+", which this very line wrote or unpacked")
	case w.built[p.path] && p.kind != placeStartup:
		w.addEffect(Run, LevelStandard, f.text,
			"runs "+w.nameOf(f)+", which this line builds of the project")
	case p.kind == placeProject:
		if (toolFolder(f.text) || isOneOf("rails rake artisan manage.py", base)) && allHandlers()[base] != nil {
			return base, true
		}
		w.addEffect(Run, LevelStandard, f.text, "runs "+w.nameOf(f))
		if isActingTask(base) {
			w.addEffect(NetOut, LevelSensitive, f.text, "runs "+w.nameOf(f)+", which by its name changes something outside")
		}
		return f.text, false
	default:
		w.addEffect(Exec, LevelAlways, f.text, "runs "+w.nameOf(f))
	}
	return base, false
}

// toolFolder reports whether installed tools live there: an environment of Python, the packages of
// Node.
func toolFolder(p string) bool {
	return strings.Contains(p, "venv/bin/") || strings.Contains(p, "node_modules/.bin/") || strings.Contains(p, "vendor/bin/")
}

// judgeOperands looks at what every program may be handed: keys, secrets, what the line itself
// fetched.
func (w *walker) judgeOperands(c cmd) {
	if isOneOf("unset read test [ [[ declare typeset export local readonly let printf mapfile readarray wait", c.name) {
		w.judgeVariableNames(c)
	}
	pattern := patternAt(c)
	for i, a := range c.args {
		w.out.secret, w.out.net = w.out.secret || a.from.secret, w.out.net || a.from.net
		if i == pattern {
			continue
		}
		if a.from.keys && !names[c.name] && c.name != "xargs" {
			w.handsKeys(c.name)
		}
		w.out.keys = w.out.keys || w.listsKeys(a)
		named := field{text: trimOption(a.text), dyn: a.dyn, glob: a.glob}
		switch {
		case !names[c.name]:
			if mayNameSecret(a.text) || a.matchesHidden() || w.nearOwn(named) {
				w.addRead(named, false)
			}
		case isOneOf(showsAnyFile, c.name) && w.nearOwn(named), c.name == "git" && w.isCredential(named) && !realpath.Within(w.placeOf(named).path, w.ctx.Project):
			w.addRead(named, false)
		}
	}
	if w.readsListed(c) {
		w.handsKeys(c.name)
	}
	w.namesKeys(c)
	w.askRecursiveReaders(c)
}

// patternAt is which argument is a pattern and no file; -1 when none is.
func patternAt(c cmd) int {
	if !isOneOf("grep egrep fgrep rg sed awk ag", c.name) {
		return -1
	}
	first := -1
	for i, a := range c.args {
		name := strings.TrimLeft(a.text, "-")
		switch {
		case !strings.HasPrefix(a.text, "-"):
			if first < 0 {
				first = i
			}
		case a.text == "-e" || isOneOf("--regexp --expression", a.text):
			return i + 1
		case strings.HasPrefix(a.text, "--"):
			if option, _, _ := strings.Cut(name, "="); isOneOf("regexp expression file", option) {
				return -1
			}
		case isOneOf("e f", name[:min(1, len(name))]): // -epattern, -f file
			return -1
		}
	}
	return first
}

// matchesHidden reports whether a word is a wildcard for hidden files.
func (f field) matchesHidden() bool {
	return f.glob && (strings.HasPrefix(f.text, ".") || strings.Contains(f.text, "/."))
}

// judgeVariableNames asks about names of variables: what stands between the brackets of an index is
// expanded, and may run a command.
func (w *walker) judgeVariableNames(c cmd) {
	for i, a := range c.args {
		if c.name == "printf" && (i == 0 || c.args[i-1].text != "-v") || isOneOf("test [", c.name) && (i == 0 || c.args[i-1].text != "-v") {
			continue
		}
		if name, _, _ := strings.Cut(a.text, "="); indexRunsCommand(name) {
			w.addEffect(Exec, LevelAlways, a.text, "the index of an array runs a command")
		}
	}
}

// handsKeys notes a program that is given files where secrets are kept, as another command has
// found them.
func (w *walker) handsKeys(name string) {
	w.addEffect(Credential, LevelSensitive, name, name+" is given files where secrets are kept")
	w.out.secret = true
}

// names are programs that say names, or take text, and do not show what a file holds.
var names = map[string]bool{
	"ls": true, "stat": true, "test": true, "[": true, "[[": true, "echo": true, "printf": true, "du": true, "file": true, "pushd": true, "git": true, "docker": true, "docker-compose": true,
	"podman": true, "touch": true, "mkdir": true, "rm": true, "find": true, "fd": true, "tree": true, "chmod": true, "chown": true, "cd": true, "basename": true, "dirname": true,
	"realpath": true, "readlink": true, "sudo": true, "cp": true, "mv": true, "source": true, ".": true, "install": true, "tee": true, "ln": true, "which": true, "env": true, "export": true, "gh": true,
}

// mayNameSecret reports whether a word can be the path of a secret, and is no text: of what has
// blanks that begins like a path, or has none of them in its last part.
func mayNameSecret(s string) bool {
	switch {
	case len(s) > 512, strings.ContainsAny(s, "\n\t"):
		return false
	case strings.Contains(s, " "):
		return strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") || !strings.Contains(pathBase(s), " ")
	}
	return true
}

// trimOption takes --file= or @ away from a path.
func trimOption(s string) string {
	if strings.HasPrefix(s, "-") {
		if _, v, ok := strings.Cut(s, "="); ok {
			s = v
		} else if len(s) > 2 && s[1] != '-' && strings.ContainsAny(s[2:3], "/~.@") {
			s = s[2:]
		}
	}
	if at := strings.LastIndex(s, "=@"); at >= 0 {
		s = s[at+2:]
	}
	return strings.TrimPrefix(s, "@")
}

// walkInnerText is the text of another shell: sh -c, eval, a trap.
func (w *walker) walkInnerText(text field, params ...field) {
	if w.depth++; w.depth > maxDepth {
		w.addEffect(Unclear, LevelAlways, "", "shells are nested more than 8 deep")
		w.depth--
		return
	}
	if text.dyn {
		w.dynamicCommand(text)
	}
	fixed := w.fixed
	w.fixed = true
	restore := func() {}
	if len(params) > 0 {
		restore = w.openScope()
		w.setPositional(params)
	}
	w.walkScript(text.text)
	restore()
	w.fixed = fixed
	w.depth--
}

// runWords peels a wrapper: the rest of its words is a command.
func (w *walker) runWords(args []field) {
	if len(args) == 0 {
		return
	}
	if w.depth++; w.depth > maxDepth {
		w.addEffect(Unclear, LevelAlways, "", "commands are wrapped more than 8 deep")
	} else {
		w.judgeCommand(args)
	}
	w.depth--
}

// passOnFiltered passes on what a filter reads.
func (w *walker) passOnFiltered() {
	in := w.in
	in.plain, in.text = false, ""
	w.out = w.out.mergedWith(in)
}
