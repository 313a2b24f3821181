package command

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// stdinCode is an interpreter that runs what comes in.
func (w *walker) stdinCode(name string) {
	in := w.in
	if in.plain && isOneOf("sh bash dash zsh ksh mksh ash fish", name) {
		w.walkInnerText(field{text: in.text})
		if plain := unescapeText(in.text); plain != in.text { // the echo of a plain sh takes escapes
			w.walkInnerText(field{text: plain})
		}
	}
	why := name + " runs what it is sent"
	switch {
	case in.net:
		why = name + " runs what comes from the network"
	case in.decoded:
		why = name + " runs what was encoded"
	}
	w.addEffect(Exec, LevelAlways, name, why)
}

// runScript judges an interpreter with a script.
func (w *walker) runScript(name string, f field) {
	p := w.placeOf(f)
	switch {
	case f.text == "-" || f.text == "/dev/stdin" || f.text == "/proc/self/fd/0":
		w.stdinCode(name)
	case f.proc, f.dyn, p.kind == placeStream:
		w.addEffect(Exec, LevelAlways, f.text, name+" runs what is known only when it runs")
	case strings.Contains(f.text, "://"), registryName(f.text):
		w.addEffect(Exec, LevelAlways, f.text, name+" runs what comes from the network")
	case w.written[p.path] || w.writtenBelow(p.path) || w.opened && p.kind == placeProject:
		w.addEffect(Exec, LevelAlways, f.text,
			"runs "+w.nameOf(f)+", which this very line wrote or unpacked")
	case p.kind == placeProject:
		w.addEffect(Run, LevelStandard, f.text, "runs "+w.nameOf(f))
		if isActingTask(path.Base(f.text)) {
			w.addEffect(NetOut, LevelSensitive, f.text, "runs "+w.nameOf(f)+", which by its name changes something outside")
		}
	default:
		w.addEffect(Exec, LevelAlways, f.text, name+" runs "+w.nameOf(f))
	}
}

// registryName reports whether a script is named by a registry, or is code itself.
func registryName(s string) bool {
	for _, scheme := range []string{"npm:", "jsr:", "data:", "blob:", "https:", "http:"} {
		if strings.HasPrefix(s, scheme) {
			return true
		}
	}
	return false
}

// writtenBelow reports whether p is in a folder that the line has unpacked into, other than the
// project as a whole.
func (w *walker) writtenBelow(p string) bool {
	for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
		if w.written[dir] && dir != w.ctx.Project {
			return true
		}
	}
	return false
}

// runImported judges code that runs because other code names it: it may be a file of the project.
func (w *walker) runImported(name, code string) {
	if !strings.Contains(code, "import ") {
		return
	}
	for p := range w.written {
		if w.opened || strings.HasSuffix(p, ".py") || strings.HasSuffix(p, ".pth") || strings.HasSuffix(p, ".so") {
			w.addEffect(Exec, LevelAlways, name, "imports code, after this very line wrote some")
		}
	}
	w.addEffect(Run, LevelStandard, name, "imports code")
}

// Without braces, blanks' friends and the flag e nothing in a pattern of perl runs.
var (
	substitution = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^s/[\w\s.,:^$*+?\\\[\]|="'<>-]*/[\w\s.,:="'<>-]*/[gims]*;?$`)
	})
	printing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^print(?: (?:if|unless) /[\w\s.,:^$*+?\\|="'<>-]*/i?)?;?$`)
	})
)

// judgeDjango judges the tool of Django projects: some of its commands change the database.
func judgeDjango(w *walker, args []field) {
	if len(args) > 0 && isOneOf(wordList("django.changes"), args[0].text) {
		w.addEffect(System, LevelSensitive, args[0].text, "it changes the database: "+args[0].text)
	}
}

// pythonModule is python -m name with the words behind it.
func (w *walker) pythonModule(name string, rest []field) {
	tool := strings.ToLower(name)
	switch e := table.data["python -m "+name]; {
	case e != nil:
		e.readProgram().judgeCommand(w, cmd{name: name, args: rest})
	case allHandlers()[tool] != nil && !isOneOf(ofShellOnly, tool):
		w.runWords(append([]field{{text: tool}}, rest...))
	default:
		w.addEffect(Run, LevelStandard, name, "runs the Python module "+name)
	}
}

// makesEnvironment is python -m venv: with --clear what is in the folder goes.
func makesEnvironment(w *walker, p *program, c cmd, _ parsed) bool {
	name, o := c.name, parseOptions(c.args, wordList("venv.options"), false)
	for _, f := range o.operands {
		if o.hasOption("clear") {
			w.addRemoval(f, true)
		}
		if p := w.placeOf(f); p.kind != placeProject {
			w.addWrite(f, "writes")
		}
	}
	for _, v := range o.valuesOf("p", "python") {
		w.takesCode(name, v)
	}
	w.addNamedEffect(p.Does, name, nil)
	return true
}

// timesCode is python -m timeit: its operands and its setup are code.
func timesCode(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("timeit.options"), true)
	for _, f := range append(o.valuesOf("s", "setup"), o.operands...) {
		if f.dyn || !isHarmlessCode(f.text) && !isDescriptor(f.text) && f.text != "pass" {
			w.addEffect(Exec, LevelAlways, f.text, "python runs code that stands in the command")
		}
	}
}

func pythonServer(w *walker, c cmd) {
	name, rest := c.name, c.args
	o := parseOptions(rest, wordList("http-server.options"), false)
	if len(rest) == 1 && isOneOf("--help -h", rest[0].text) || name == "pydoc" && !o.hasOption("b", "n", "p", "w") {
		if name == "pydoc" {
			for _, f := range o.operands {
				w.loadsModule(name, f)
			}
		}
		return
	}
	if bind := valueOr(o, "", "b", "bind", "n"); bind != "localhost" && !strings.HasPrefix(bind, "127.") {
		w.addEffect(NetOut, LevelSensitive, name, "it serves the folder to the network")
	}
}

// pythonArchive is python -m zipfile -e archive folder, or -c archive files.
func pythonArchive(w *walker, c cmd) {
	o := parseOptions(c.args, "", false)
	switch files := o.operands; {
	case o.hasOption("e", "extract") && len(files) > 1:
		w.addWrite(files[1], "unpacks into")
	case o.hasOption("c", "create") && len(files) > 0:
		w.addOutputs(files[:1])
	}
}

// runTask judges a script that the project names, or a file of it.
func (w *walker) runTask(name string, f field) {
	if f.text == "-" || strings.ContainsAny(f.text, "/.") && !strings.Contains(f.text, ":") || strings.Contains(f.text, "://") || registryName(f.text) {
		w.runScript(name, f)
		return
	}
	w.addEffect(Run, LevelStandard, f.text, "runs "+f.text+" of the project")
	if isActingTask(f.text) {
		w.addEffect(NetOut, LevelSensitive, f.text, "runs "+f.text+" of the project, which by its name changes something outside")
	}
}

// isActingTask reports whether a task publishes, deploys or installs, by its name.
func isActingTask(name string) bool {
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
