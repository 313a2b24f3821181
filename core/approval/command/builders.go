package command

import (
	"path"
	"slices"
	"strings"
)

// buildHandlers run the code of the project: builds, tests, checks.
func buildHandlers() map[string]handler {
	return map[string]handler{
		"jar": func(w *walker, c cmd) {
			mode := strings.TrimLeft(firstOperand(c)+" ", "-")
			if len(c.args) > 0 {
				mode = strings.TrimLeft(c.args[0].text, "-")
			}
			switch {
			case strings.HasPrefix(mode, "t") || strings.HasPrefix(mode, "list"):
			case strings.HasPrefix(mode, "x") || strings.HasPrefix(mode, "extract"):
				w.addWrite(field{text: "."}, "unpacks into")
				w.noteForeignArchives(c.args[1:])
			case len(c.args) > 1:
				w.addOutputs(c.args[1:2])
			}
		},
		"make gmake bmake nmake mingw32-make": makeTool,
		"go":                                  goTool,
		"cargo":                               judgeCargo,
		"npm yarn pnpm":                       nodePackages,
		"npx pnpx bunx uvx pipx":              fetchedTool,
		"msbuild xcodebuild flutter fvm zig rebar3 dune elm dub gleam": judgeToolchain,
	}
}

// judgeBuildTool judges a tool that works on the project: its code, its settings, its files.
func judgeBuildTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("builds.options"), false)
	switch c.name {
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "rustc", "tcc", "swiftc", "javac":
		w.judgeCompiler(c, o)
	case "pytest", "py.test":
		for _, v := range parseOptions(c.args, "p rootdir c confcutdir", false).valuesOf("rootdir", "c", "confcutdir") {
			if p := w.placeOf(v); p.kind != placeProject {
				w.addEffect(Exec, LevelSensitive, v.text, "it runs code in "+w.nameOf(v))
			}
		}
	}
	for _, f := range o.operands {
		if p := w.placeOf(f); (p.kind == placeTemp || p.kind == placeOutside) && strings.HasPrefix(f.text, "/") && isOneOf(wordList("builds.tests"), c.name) {
			w.addEffect(Exec, LevelAlways, f.text, "runs "+w.nameOf(f))
		}
	}
	if isOneOf("latexmk pdflatex xelatex lualatex", c.name) && o.hasOption("shell-escape", "enable-write18") {
		w.addEffect(Exec, LevelAlways, c.name, "the document may run commands")
	}
	w.addEffect(Run, LevelStandard, c.name, "runs "+c.name+" on the project")
}

// noteBuilt remembers a program that the line has built: of the project, or of code that this very
// line wrote.
func (w *walker) noteBuilt(f field) {
	if len(w.written) > 0 {
		w.noteWritten(f)
		return
	}
	if w.built == nil {
		w.built = map[string]bool{}
	}
	w.built[w.placeOf(f).path] = true
}

// judgeCompiler is a compiler: what it writes, and options that run other code.
func (w *walker) judgeCompiler(c cmd, o options) {
	for _, v := range append(o.valuesOf("o"), o.valuesOf("d")...) {
		w.addWrite(v, "writes")
		w.noteBuilt(v)
	}
	w.noteBuilt(field{text: "a.out"})
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "@") && w.placeOf(partOf(a, a.text[1:])).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, a.text, "the compiler takes options from "+a.text[1:])
		}
		loads := func(option string) bool { return strings.HasPrefix(a.text, option) }
		if a.text == "-load" || slices.ContainsFunc(strings.Fields(wordList("compiler.loads")), loads) {
			w.addEffect(Exec, LevelAlways, a.text, "the compiler runs other code")
		}
	}
}

func makeTool(w *walker, c cmd) {
	if o := parseOptions(c.args, wordList("make.places"), false); o.hasOption("n", "just-print", "dry-run", "recon") && len(o.valuesOf("f", "file", "makefile", "C", "directory", "eval")) == 0 {
		w.addEffect(Run, LevelStandard, "make", "reads what the Makefile of the project says")
		return
	}
	o := parseOptions(c.args, wordList("make.options"), false)
	for _, v := range o.valuesOf("I", "include-dir") {
		if w.placeOf(v).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text, "make takes what "+w.nameOf(v)+" says")
		}
	}
	for _, v := range o.valuesOf("E", "eval") {
		w.walkInnerText(partOf(v, strings.TrimSuffix(strings.TrimPrefix(v.text, "$(shell "), ")")))
		w.addEffect(Exec, LevelAlways, v.text, "make runs what stands in the command")
	}
	restore := w.openScope()
	defer restore()
	for _, v := range o.valuesOf("C", "directory") {
		if p := w.placeOf(v); p.kind != placeProject {
			w.addEffect(Exec, LevelAlways, v.text, "make runs what "+w.nameOf(v)+" says")
		}
		w.enterFolder(v)
	}
	for _, v := range o.valuesOf("f", "file", "makefile") {
		w.runScript("make", v)
	}
	for _, f := range o.operands {
		name, value, set := strings.Cut(f.text, "=")
		switch {
		case set && (name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS" || name == "MAKEFILES" || strings.ContainsAny(value, "`$;|&")):
			w.walkInnerText(partOf(f, value))
			w.addEffect(Exec, LevelAlways, f.text, "make runs what stands in the command")
		case set:
			w.judgeSetting(name, partOf(f, value))
		case f.dyn && !f.sub:
			w.addEffect(Run, LevelSensitive, "", "which target make builds is known only when it runs")
		case isActingTask(f.text):
			w.addEffect(NetOut, LevelSensitive, f.text, "runs the target "+f.text+", which by its name changes something outside of the project")
		}
	}
	w.makefileWritten()
	w.addEffect(Run, LevelStandard, "make", "runs what the Makefile of the project says")
}

// makefileWritten asks when the line itself has written what make is to do.
func (w *walker) makefileWritten() {
	for p := range w.written {
		if strings.EqualFold(path.Base(p), "makefile") || strings.HasSuffix(p, ".mk") {
			w.addEffect(Exec, LevelAlways, p, "runs "+path.Base(p)+", which this very line wrote")
		}
	}
}

// wroteBuildFile reports whether the line itself has written a file that says what builds, tests
// and installations run.
func (w *walker) wroteBuildFile() bool {
	for p := range w.written {
		if isOneOf(wordList("make.recipes"), path.Base(p)) {
			return true
		}
	}
	return false
}

// wroteCode asks when the line itself has written code that is now run.
func (w *walker) wroteCode(what, ext string) {
	for p := range w.written {
		if strings.HasSuffix(p, ext) {
			w.addEffect(Exec, LevelAlways, p, what+" runs "+path.Base(p)+", which this very line wrote")
		}
	}
}

func judgeTaskRunner(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("tasks.options"), false)
	for _, v := range o.valuesOf("f", "justfile", "file", "taskfile", "rakefile") {
		w.runScript(c.name, v)
	}
	for _, v := range o.valuesOf("d", "working-directory", "dir") {
		if w.placeOf(v).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text,
				c.name+" works in "+w.nameOf(v)+", outside of the project")
		}
	}
	if c.name == "just" && o.hasOption("c", "command", "shell", "shell-arg", "set", "shell-command", "chooser", "edit", "e", "choose") || c.name == "rake" && o.hasOption("e", "E", "p", "execute") || c.name == "task" && o.hasOption("t") {
		w.runJoined(o.operands)
		w.addEffect(Exec, LevelAlways, c.name, c.name+" runs what stands in the command")
	}
	for _, f := range o.operands {
		if isActingTask(f.text) {
			w.addEffect(NetOut, LevelSensitive, f.text, "runs the task "+f.text+", which by its name changes something outside of the project")
		}
	}
	w.addEffect(Run, LevelStandard, firstOperand(c), "runs "+c.name+" of the project")
}

func goTool(w *walker, c cmd) {
	o := parseOptions(c.args, "C", true)
	verb := o.firstOperand()
	rest := parseOptions(o.operandsAfter(1), wordList("go.options"), false)
	for _, v := range rest.valuesOf("exec", "toolexec", "vettool") {
		w.runWords([]field{v})
		w.addEffect(Exec, LevelAlways, v.text, "go runs "+v.text+" for each step")
	}
	if rest.hasOption("overlay", "modfile") {
		for _, v := range rest.valuesOf("overlay", "modfile") {
			if w.placeOf(v).kind != placeProject {
				w.addEffect(Exec, LevelSensitive, v.text, "go takes code from "+v.text)
			}
		}
	}
	for _, v := range o.valuesOf("C") {
		if p := w.placeOf(v); p.kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text, "go works in "+w.nameOf(v)+", outside of the project")
		}
	}
	for _, v := range rest.valuesOf("ldflags", "gccgoflags") {
		if strings.Contains(v.text, "extld") || strings.Contains(v.text, "plugin") {
			w.addEffect(Exec, LevelAlways, v.text, "go links with another program")
		}
	}
	for _, v := range parseOptions(o.operandsAfter(1), "replace", false).valuesOf("replace") {
		if _, to, _ := strings.Cut(v.text, "="); strings.HasPrefix(to, "/") && w.placeOf(partOf(v, to)).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text, "go takes code from "+to)
		}
	}
	if isOneOf("build test", verb) {
		for _, v := range rest.valuesOf("o", "coverprofile", "cpuprofile", "memprofile", "trace", "blockprofile", "mutexprofile") {
			w.addWrite(v, "writes")
			w.noteBuilt(v)
		}
	}
	switch verb {
	case "version", "list", "doc", "help", "":
	case "env":
		if rest.hasOption("w", "u") {
			w.addEffect(Persist, LevelAlways, "go env", "changes the settings of go for every project")
		}
	case "run", "install", "get", "tool", "build", "test", "vet", "fmt", "generate", "mod", "work", "clean", "fix", "bug", "telemetry":
		w.goVerb(verb, rest)
	default:
		w.addEffect(Exec, LevelSensitive, verb, "what go "+verb+" does is not known here")
	}
}

func (w *walker) goVerb(verb string, o options) {
	if isOneOf("run test generate", verb) {
		w.wroteCode("go "+verb, ".go")
	}
	for _, f := range o.operands {
		switch {
		case verb == "run" && strings.Contains(f.text, "@"), verb == "install" && strings.Contains(f.text, "@"):
			w.addEffect(Exec, LevelSensitive, f.text, "brings in and runs "+f.text)
		case verb == "run" && strings.Contains(f.text, "://"):
			w.addEffect(Exec, LevelAlways, f.text, "runs what comes from the network")
		case verb == "run" && strings.HasPrefix(f.text, "/"), verb == "run" && strings.HasSuffix(f.text, ".go"):
			w.runScript("go", f)
			return
		}
		if verb == "run" {
			break
		}
	}
	switch {
	case verb == "clean" && o.hasOption("modcache", "cache", "fuzzcache"):
		w.keepEffect(Effect{Class: Delete, Level: LevelStandard, Target: verb, Reason: "empties a cache of go", Reversible: true})
	case verb == "get" || verb == "mod" && isOneOf("download tidy vendor", o.firstOperand()):
		w.addEffect(NetIn, LevelStandard, verb, "fetches modules")
		w.keepEffect(Effect{Class: Write, Level: LevelStandard, Target: "go.mod", Reason: "changes go.mod", Reversible: true})
	default:
		w.addEffect(Run, LevelStandard, verb, "runs go "+verb)
	}
}

func judgeCargo(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("cargo.options"), true)
	for _, v := range o.valuesOf("config") {
		w.addEffect(Exec, LevelAlways, v.text, "cargo is given the setting "+v.text)
	}
	verb := o.firstOperand()
	if strings.HasPrefix(verb, "+") {
		verb = secondOperand(o)
	}
	for i, a := range o.operandsAfter(1) {
		if path, ok := strings.CutPrefix(a.text, "--manifest-path"); ok && len(o.operandsAfter(2+i)) > 0 {
			f := o.operandsAfter(2 + i)[0]
			if path != "" {
				f = partOf(a, strings.TrimPrefix(path, "="))
			}
			if w.placeOf(f).kind != placeProject {
				w.addEffect(Exec, LevelSensitive, f.text, "cargo runs what "+w.nameOf(f)+" says")
			}
		}
		if a.text == "--config" || strings.HasPrefix(a.text, "--config=") {
			w.addEffect(Exec, LevelAlways, a.text, "cargo is given settings that can run programs")
		}
	}
	if verb == "watch" {
		w.cargoWatch(c)
	}
	if isOneOf(wordList("cargo.runs"), verb) {
		w.wroteCode("cargo "+verb, ".rs")
	}
	switch {
	case isOneOf(wordList("cargo.shows"), verb) || verb == "":
	case isOneOf(wordList("cargo.project"), verb):
		w.addEffect(Run, LevelStandard, verb, "runs cargo "+verb)
	case isOneOf(wordList("cargo.packages"), verb):
		w.addEffect(NetIn, LevelStandard, verb, "changes or fetches the crates of the project")
	case isOneOf("install binstall", verb):
		w.addEffect(Exec, LevelSensitive, secondOperand(o), "brings in and builds "+secondOperand(o))
	default:
		w.addEffect(NetOut, LevelSensitive, verb, "cargo "+verb+" publishes or is not known here")
	}
}

// cargoWatch is cargo watch: it runs commands of cargo (-x), of a shell (-s) or words.
func (w *walker) cargoWatch(c cmd) {
	for i, a := range c.args {
		switch {
		case a.text == "--":
			w.runJoined(c.args[i+1:])
			return
		case i+1 < len(c.args) && isOneOf("-s --shell", a.text):
			w.walkInnerText(c.args[i+1])
		case i+1 < len(c.args) && isOneOf("-x --exec", a.text):
			w.walkInnerText(partOf(c.args[i+1], "cargo "+c.args[i+1].text))
		case strings.HasPrefix(a.text, "--shell="):
			w.walkInnerText(partOf(a, strings.TrimPrefix(a.text, "--shell=")))
		}
	}
}

func judgeCMake(w *walker, c cmd) {
	for i, a := range c.args {
		if a.text == "-P" && i+1 < len(c.args) {
			w.runScript("cmake", c.args[i+1])
		}
		if a.text == "-E" && i+1 < len(c.args) {
			rest := c.args[i+1:]
			if isOneOf(wordList("cmake.deletes"), rest[0].text) {
				for _, f := range rest[1:] {
					if !strings.HasPrefix(f.text, "-") {
						w.addRemoval(f, true)
					}
				}
				return
			}
			if isOneOf("env time chdir", rest[0].text) {
				n := 1
				if rest[0].text == "chdir" {
					n = 2
				}
				w.runWords(rest[min(n, len(rest)):])
				return
			}
		}
		if a.text == "--install" || a.text == "install" {
			w.addEffect(System, LevelSensitive, "install", "installs what was built")
		}
		if strings.Contains(a.text, "COMPILER_LAUNCHER") || strings.Contains(a.text, "RULE_LAUNCH") {
			w.addEffect(Exec, LevelAlways, a.text, "cmake runs another program for each step")
		}
	}
	w.addEffect(Run, LevelStandard, c.name, "runs "+c.name+" on the project")
}

func judgeJVMBuild(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("jvm.options"), false)
	for _, v := range o.valuesOf("I", "init-script") {
		w.runScript(c.name, v)
	}
	for _, f := range o.operands {
		if strings.HasPrefix(c.name, "bazel") && isOneOf(wordList("jvm.bazel-labels"), o.firstOperand()) {
			break // what follows are labels
		}
		if isActingTask(f.text) && f.text != "install" || isOneOf(wordList("jvm.outside"), f.text) {
			w.addEffect(NetOut, LevelSensitive, f.text, c.name+" "+f.text+" changes something outside of the project")
		}
	}
	w.addEffect(Run, LevelStandard, c.name, "runs "+c.name+" on the project")
}

func judgeToolchain(w *walker, c cmd) {
	switch verb := firstOperand(c); {
	case isOneOf(wordList("toolchain.brings"), verb) || isActingTask(verb) && verb != "release":
		if c.name == "dotnet" && verb == "publish" {
			break // builds into a folder
		}
		w.addEffect(Exec, LevelSensitive, verb, c.name+" "+verb+" brings in or publishes code")
		return
	}
	if text := joinedText(c.args); c.name == "mix" && (strings.Contains(text, " ecto.reset") || strings.Contains(text, " ecto.rollback")) || c.name == "dotnet" && strings.Contains(text, " ef ") && (strings.Contains(text, " drop") || strings.Contains(text, " update") || strings.Contains(text, " remove")) {
		w.addEffect(System, LevelSensitive, text, "it changes the database")
	}
	for i, a := range c.args {
		if (a.text == "-e" || a.text == "--eval") && i+1 < len(c.args) {
			w.addEffect(Exec, LevelAlways, c.args[i+1].text, c.name+" runs code that stands in the command")
		}
	}
	w.addEffect(Run, LevelStandard, c.name, "runs "+c.name+" on the project")
}
