package command

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

func interpreters() map[string]handler {
	return map[string]handler{
		"sh bash dash zsh ksh mksh ash fish rbash csh tcsh yash":                                                             shell,
		"python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 pypy pypy3 ipython ipython3": python,
		"perl raku": func(w *walker, c cmd) {
			scripted(w, c, interpreter{code: "e E", takes: "e E I M m F 0 l x", asks: "i"})
		},
		"ruby jruby": func(w *walker, c cmd) { scripted(w, c, interpreter{code: "e", takes: "e I r C E", loads: "r I"}) },
		"node nodejs": func(w *walker, c cmd) {
			scripted(w, c, interpreter{
				code: "e eval p print", takes: "e eval p print r require import loader experimental-loader C conditions env-file title max-old-space-size", loads: "r require import loader experimental-loader",
			})
		},
		"artisan": artisan,
		"php": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "d c", true); o.first() == "artisan" {
				artisan(w, cmd{name: "artisan", args: o.after(1)})
			}
			scripted(w, c, interpreter{code: "r B R E", takes: "r B R E F f d S t c z"})
		},
		"lua luajit lua5.3 lua5.4": func(w *walker, c cmd) { scripted(w, c, interpreter{code: "e", takes: "e l", loads: "l"}) },
		"Rscript R julia octave tclsh wish expect groovy scala ghc runghc runhaskell elixir erl escript guile racket sbcl clisp swipl ocaml crystal nim dart jshell pwsh powershell osascript gdb lldb  gnuplot": func(w *walker, c cmd) {
			scripted(w, c, interpreter{code: "e eval E c command s ex eval-command execute run x noshell g goal r o O S one-line one-line-before-file source", takes: "e eval E c command s ex eval-command execute x g goal f p pid o O S one-line one-line-before-file source"})
		},
		"java": func(w *walker, c cmd) {
			for _, a := range c.args {
				if strings.HasPrefix(a.text, "-javaagent") || strings.HasPrefix(a.text, "-agentpath") || strings.HasPrefix(a.text, "-XX:OnError") || strings.HasPrefix(a.text, "-XX:OnOut") {
					w.add(Exec, LevelAlways, a.text, "java loads code beside the program")
				}
			}
			scripted(w, c, interpreter{takes: "cp classpath jar D p m module"})
		},
		"deno bun": func(w *walker, c cmd) { runtime(w, c) },
	}
}

// shell is sh and its like.
func shell(w *walker, c cmd) {
	o := parseOptions(c.args, "c o O rcfile init-file", true)
	if o.has("version", "help") {
		return
	}
	if c.name == "fish" {
		for _, v := range parseOptions(c.args, "C init-command c command", true).values("C", "init-command") {
			w.inner(v)
		}
	}
	for _, v := range o.values("rcfile", "init-file") {
		w.add(Exec, LevelAlways, v.text, "the shell first runs "+v.text)
	}
	if text, params, ok := w.shellText(c.args); ok {
		if text.made {
			w.add(Exec, LevelAlways, text.text, c.name+" runs what another command puts out")
		}
		w.child(text, params...)
		if w.in.any && (strings.Contains(text.text, "-s") || strings.Contains(text.text, "stdin") || text.text == "") {
			w.stdinCode(c.name)
		}
		return
	}
	if o.has("n", "noexec") && !o.has("s") {
		return
	}
	if len(o.operands) == 0 || o.has("s") {
		switch {
		case w.in.any:
			w.stdinCode(c.name)
		default:
			w.add(Exec, LevelSensitive, c.name, "it starts a shell, whose commands nobody sees")
		}
		return
	}
	w.file(c.name, o.operands[0])
}

// shellText is the text of sh -c; the letters may stand together.
func (w *walker) shellText(args []field) (text field, params []field, ok bool) {
	for i, a := range args {
		switch {
		case a.text == "-o" || a.text == "+o" || a.text == "-O":
		case strings.HasPrefix(a.text, "--"):
			if a.text == "--command" && i+1 < len(args) {
				return args[i+1], args[i+2:], true
			}
		case strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "c"):
			for j, b := range args[i+1:] {
				if !strings.HasPrefix(b.text, "-") && !strings.HasPrefix(b.text, "+") {
					return b, args[i+j+2:], true
				}
			}
			return field{}, nil, false
		case !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") && (i == 0 || !strings.HasSuffix(args[i-1].text, "o")):
			return field{}, nil, false
		}
	}
	return field{}, nil, false
}

// stdinCode is an interpreter that runs what comes in.
func (w *walker) stdinCode(name string) {
	in := w.in
	if in.plain && one("sh bash dash zsh ksh mksh ash fish", name) {
		w.inner(field{text: in.text})
		if plain := unescaped(in.text); plain != in.text { // the echo of a plain sh takes escapes
			w.inner(field{text: plain})
		}
	}
	why := name + " runs what it is sent"
	switch {
	case in.net:
		why = name + " runs what comes from the network"
	case in.decoded:
		why = name + " runs what was encoded"
	}
	w.add(Exec, LevelAlways, name, why)
}

// file is an interpreter with a script.
func (w *walker) file(name string, f field) {
	p := w.place(f)
	switch {
	case f.text == "-" || f.text == "/dev/stdin" || f.text == "/proc/self/fd/0":
		w.stdinCode(name)
	case f.proc, f.dyn, p.kind == placeStream:
		w.add(Exec, LevelAlways, f.text, name+" runs what is known only when it runs")
	case strings.Contains(f.text, "://"):
		w.add(Exec, LevelAlways, f.text, name+" runs what comes from the network")
	case w.written[p.path] || w.writtenBelow(p.path) || w.opened && p.kind == placeProject:
		w.add(Exec, LevelAlways, f.text, "runs "+w.name(f)+", which this very line wrote or unpacked")
	case p.kind == placeProject:
		w.add(Run, LevelStandard, f.text, "runs "+w.name(f))
		if acts(path.Base(f.text)) {
			w.add(NetOut, LevelSensitive, f.text, "runs "+w.name(f)+", which by its name changes something outside")
		}
	default:
		w.add(Exec, LevelAlways, f.text, name+" runs "+w.name(f))
	}
}

// writtenBelow reports whether p is in a folder that the line has unpacked into, other than the project as a whole.
func (w *walker) writtenBelow(p string) bool {
	for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
		if w.written[dir] && dir != w.ctx.Project {
			return true
		}
	}
	return false
}

// interpreter says which options of a language give code.
type interpreter struct {
	code  string // options whose value is code
	takes string
	loads string // options that load a file of code
	asks  string // options that ask for themselves
}

func scripted(w *walker, c cmd, x interpreter) {
	if c.name == "gdb" && w.debugs(c.args) {
		return
	}
	o := parseOptions(c.args, x.takes, true)
	if len(o.operands) == 0 && (o.has("version", "help", "v", "V", "h") || o.has("check")) && len(o.values(strings.Fields(x.code)...)) == 0 {
		return
	}
	w.loads(c, x, o)
	if code := o.values(strings.Fields(x.code)...); len(code) > 0 {
		if v := code[0]; len(code) > 1 || v.dyn || !w.onlyShows(c, v.text) {
			w.add(Exec, LevelAlways, v.text, c.name+" runs code that stands in the command")
		} else {
			w.imports(c.name, v.text)
		}
		return
	}
	if jar := o.values("jar"); len(jar) > 0 && c.name == "java" {
		w.file(c.name, jar[0])
		return
	}
	switch {
	case len(o.operands) == 0 || o.first() == "-" && w.showsOnly(c):
		w.noScript(c, o)
		return
	case c.name == "java":
		w.add(Run, LevelStandard, o.first(), "runs the program "+o.first())
		return
	}
	w.file(c.name, o.operands[0])
	if rest := o.after(1); pathBase(o.first()) == "setup.py" && len(rest) > 0 && one("install develop upload register", rest[0].text) {
		w.add(System, LevelSensitive, rest[0].text, "it installs or publishes the package")
	}
}

// imports is code that runs because other code names it: it may be a file of the project.
func (w *walker) imports(name, code string) {
	if !strings.Contains(code, "import ") {
		return
	}
	for p := range w.written {
		if w.opened || strings.HasSuffix(p, ".py") || strings.HasSuffix(p, ".pth") || strings.HasSuffix(p, ".so") {
			w.add(Exec, LevelAlways, name, "imports code, after this very line wrote some")
		}
	}
	w.add(Run, LevelStandard, name, "imports code")
}

// onlyShows reports whether code that stands in a command is understood and changes nothing.
func (w *walker) onlyShows(c cmd, code string) bool {
	if c.name == "perl" {
		return pure(c.args, code) && w.inPlace(c.args, code)
	}
	return harmless(code) && !w.in.any
}

// noScript is an interpreter that is given no file.
func (w *walker) noScript(c cmd, o options) {
	switch {
	case w.showsOnly(c):
		w.add(Run, LevelStandard, c.name, "runs code that only shows something")
	case w.in.any:
		w.stdinCode(c.name)
	case c.name == "php" && o.has("S"):
		w.add(NetOut, LevelSensitive, "", "it serves the folder to the network")
	case o.has("test") && one("node nodejs", c.name):
		w.add(Run, LevelStandard, "", "runs the tests of the project")
	case c.name == "java":
		w.add(Run, LevelStandard, "", "runs the program of the project")
	default:
		w.add(Exec, LevelSensitive, c.name, "it starts "+c.name+", whose input nobody sees")
	}
}

// showsOnly reports whether what an interpreter is sent is known and changes nothing.
func (w *walker) showsOnly(c cmd) bool {
	return w.in.any && w.in.plain && w.in.text != "" && !one("perl raku gdb lldb", c.name) && harmlessLines(w.in.text)
}

// loads asks about files of code that options name.
func (w *walker) loads(c cmd, x interpreter, o options) {
	for name := range strings.FieldsSeq(x.loads) {
		for _, v := range o.values(name) {
			if strings.HasPrefix(v.text, "/") || strings.HasPrefix(v.text, "..") || strings.Contains(v.text, ":") {
				w.add(Exec, LevelAlways, v.text, c.name+" loads "+v.text)
			}
		}
	}
}

// pure knows code of perl that only changes or chooses the lines that it reads: a substitution, a print under a pattern.
func pure(args []field, code string) bool {
	o := parseOptions(args, "e E I M m F 0 l x", true)
	if o.has("M", "m", "x", "s") || !o.has("n", "p") {
		return false
	}
	for _, f := range o.operands { // perl opens "name|" and ">name" as a shell would
		if f.dyn || strings.ContainsAny(f.text, "|<>&") {
			return false
		}
	}
	return lineCode().MatchString(strings.TrimSpace(code))
}

// inPlace is perl -i: the files are written. A substitution that leaves nothing of a line, or a choice of lines, is not known to be an edit.
func (w *walker) inPlace(args []field, code string) bool {
	o := parseOptions(args, "e E I M m F 0 l x", true)
	if !o.has("i") {
		return true
	}
	if !strings.HasPrefix(strings.TrimSpace(code), "s/") || strings.Contains(code, ".*") || strings.Contains(code, ".+") || !o.has("p") || len(o.operands) == 0 {
		return false
	}
	for _, f := range o.operands {
		w.writes(f, "changes")
	}
	return true
}

// Without braces, blanks' friends and the flag e nothing in a pattern of perl runs.
var lineCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:s/[\w\s.,:^$*+?\\\[\]|="'<>-]*/[\w\s.,:="'<>-]*/[gims]*;?|print(?: (?:if|unless) /[\w\s.,:^$*+?\\|="'<>-]*/i?)?;?)$`)
})

// artisan is the tool of Laravel projects: some of its commands change the database or start a shell.
func artisan(w *walker, c cmd) {
	verb := operand(c)
	if one("tinker db serve down env:decrypt key:generate migrate", verb) && !strings.Contains(joinedText(c.args), "--pretend") || one("migrate:fresh migrate:reset migrate:refresh migrate:rollback db:wipe db:seed schema:dump queue:flush queue:clear cache:forget", verb) {
		w.add(System, LevelSensitive, verb, "it changes the database or opens a shell: "+verb)
		return
	}
	w.add(Run, LevelStandard, verb, "runs artisan "+verb)
}

func python(w *walker, c cmd) {
	o := parseOptions(c.args, "c m W X", true)
	if _, ok := o.get("m"); ok {
		w.module(c)
		return
	}
	if len(o.operands) > 0 && path.Base(o.operands[0].text) == "manage.py" {
		manage(w, o.after(1))
	}
	scripted(w, c, interpreter{code: "c", takes: "c m W X"})
}

// manage is the tool of Django projects: some of its commands change the database.
func manage(w *walker, args []field) {
	if len(args) > 0 && one("flush migrate reset_db dbshell shell loaddata sqlflush clearsessions changepassword createsuperuser", args[0].text) {
		w.add(System, LevelSensitive, args[0].text, "it changes the database: "+args[0].text)
	}
}

// module is python -m.
func (w *walker) module(c cmd) {
	for i, a := range c.args {
		at := strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "m")
		if !at {
			continue
		}
		name, rest := strings.TrimLeft(a.text[strings.IndexByte(a.text, 'm')+1:], " "), c.args[i+1:]
		if name == "" {
			if len(rest) == 0 {
				return
			}
			if rest[0].dyn {
				w.dynamicCommand(rest[0])
				return
			}
			name, rest = rest[0].text, rest[1:]
		}
		w.pythonModule(name, rest)
		return
	}
}

// pythonModule is python -m name with the words behind it.
func (w *walker) pythonModule(name string, rest []field) {
	switch name {
	case "pip", "pytest", "black", "ruff", "mypy", "flake8", "coverage", "twine", "build", "poetry", "pipx", "uv":
		w.run(append([]field{{text: name}}, rest...))
	case "ensurepip", "webbrowser", "antigravity", "easy_install":
		w.add(System, LevelSensitive, name, "python installs or opens something")
	case "zipfile", "tarfile":
		w.pythonArchive(parseOptions(rest, "", false))
	case "timeit":
		w.timesCode(rest)
	case "json.tool", "compileall", "py_compile", "tabnanny", "calendar", "this", "platform", "site", "dis", "ast", "tokenize", "base64":
		if name == "base64" {
			w.out.decoded = true
		}
		w.flows()
	case "http.server", "SimpleHTTPServer", "smtpd", "pydoc", "xmlrpc.server":
		w.pythonServer(name, rest)
	case "code", "pdb", "runpy", "idlelib", "pty", "trace":
		w.add(Exec, LevelSensitive, name, "python runs code that nobody sees")
	default:
		w.add(Run, LevelStandard, name, "runs the Python module "+name)
	}
}

// timesCode is python -m timeit.
func (w *walker) timesCode(rest []field) {
	for _, f := range rest {
		if !strings.HasPrefix(f.text, "-") && !harmless(f.text) && !number(f.text) || len(f.text) > 2 && one("-s -c", f.text[:2]) {
			w.add(Exec, LevelAlways, f.text, "python runs code that stands in the command")
		}
	}
}

func (w *walker) pythonServer(name string, rest []field) {
	if name == "pydoc" || len(rest) == 1 && one("--help -h", rest[0].text) {
		return
	}
	if bind := valueOr(parseOptions(rest, "b bind d directory", false), "", "b", "bind"); bind != "localhost" && !strings.HasPrefix(bind, "127.") {
		w.add(NetOut, LevelSensitive, name, "it serves the folder to the network")
	}
}

// pythonArchive is python -m zipfile -e archive folder, or -c archive files.
func (w *walker) pythonArchive(o options) {
	switch files := o.operands; {
	case o.has("e", "extract") && len(files) > 1:
		w.writes(files[1], "unpacks into")
	case o.has("c", "create") && len(files) > 0:
		w.outputs(files[:1])
	}
}

func runtime(w *walker, c cmd) {
	o := parseOptions(c.args, "e eval p print c config", true)
	if o.has("version", "help", "v", "h") {
		return
	}
	if o.has("e", "eval", "p", "print") {
		w.add(Exec, LevelAlways, "", c.name+" runs code that stands in the command")
		return
	}
	switch verb := o.first(); verb {
	case "":
		w.add(Exec, LevelSensitive, c.name, "it starts "+c.name+", whose input nobody sees")
	case "test", "fmt", "lint", "check", "bench", "doc", "info", "types", "build", "bundle", "pm", "task", "outdated", "cache":
		w.add(Run, LevelStandard, verb, "runs the project's code")
	case "install", "i", "ci":
		installs(w, c.name, o.after(1), o)
	case "eval", "x", "add", "repl", "upgrade", "publish", "compile":
		w.add(Exec, LevelAlways, verb, c.name+" brings in and runs code")
	case "run":
		for _, f := range o.after(1) {
			if !strings.HasPrefix(f.text, "-") {
				w.task(c.name, f)
				return
			}
		}
	default:
		w.file(c.name, o.operands[0])
	}
}

// task is a script that the project names, or a file of it.
func (w *walker) task(name string, f field) {
	if strings.ContainsAny(f.text, "/.") && !strings.Contains(f.text, ":") || strings.Contains(f.text, "://") {
		w.file(name, f)
		return
	}
	w.add(Run, LevelStandard, f.text, "runs "+f.text+" of the project")
	if acts(f.text) {
		w.add(NetOut, LevelSensitive, f.text, "runs "+f.text+" of the project, which by its name changes something outside")
	}
}

// acts reports whether a task publishes, deploys or installs, by its name.
func acts(name string) bool {
	if name == "install" || name == "uninstall" {
		return true
	}
	for part := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r == ':' || r == '-' || r == '_' || r == '.' || r == '/' }) {
		switch part {
		case "deploy", "publish", "release", "prod", "production", "push", "upload", "rollback", "destroy", "nuke", "wipe", "purge", "migrate", "provision", "teardown", "drop":
			return true
		}
	}
	return false
}
