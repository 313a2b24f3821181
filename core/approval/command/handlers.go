package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// programHandler does what data cannot say of a program; true when nothing is left to say.
type programHandler func(w *walker, p *program, c cmd, g parsed) bool

// programHandlers are those that data files name.
func programHandlers() map[string]programHandler {
	return map[string]programHandler{
		"shell": judgeShell, "python": judgePython, "php": judgePHP, "luajit": judgeLuaJIT, "rlang": judgeR, "dc": dcTool, "clojure": judgeClojure, "gdb": judgeGDB,
		"editor": judgeEditor, "entr": judgeEntr, "reflex": judgeEntr, "dotenv": dotenvTool, "coverage": judgeCoverage, "monorepo": judgeMonorepo, "nodemon": judgeNodemon,
		"gotestsum": judgeGotestsum, "scripts": testScripts, "toolchain": toolchainOf, "multiplexer": judgedBy(judgeMultiplexer), "filesystem": judgedBy(makeFilesystem), "awk": judgeAwk, "kubectl": judgeKubectl, "git-rm": gitRm, "git-reads": gitReads, "python-venv": makesEnvironment, "python-timeit": judgedBy(timesCode),
		"python-server": judgedBy(pythonServer), "python-archive": judgedBy(pythonArchive),
		"builds": afterOptions(judgeBuildTool), "tasks": afterOptions(judgeTaskRunner), "cmake": afterOptions(judgeCMake), "jvm": afterOptions(judgeJVMBuild),
	}
}

// afterOptions is a handler that takes its words apart itself, after what data says of its options.
func afterOptions(h handler) programHandler {
	return func(w *walker, p *program, c cmd, g parsed) bool {
		p.optionsDo(w, c, g)
		if code := g.valuesOf("code"); len(code) > 0 {
			w.addEffect(Exec, LevelAlways, code[0].text, c.name+" runs code that stands in the command")
		}
		h(w, c)
		return true
	}
}

// judgedBy is a handler that takes its words apart itself.
func judgedBy(h handler) programHandler {
	return func(w *walker, _ *program, c cmd, _ parsed) bool {
		h(w, c)
		return true
	}
}

// judgeShell judges sh and its like.
func judgeShell(w *walker, p *program, c cmd, g parsed) bool {
	if g.hasOnly("show") {
		return true
	}
	for _, o := range g.given {
		switch o.role {
		case "first":
			w.addEffect(Exec, LevelAlways, o.value.text, "the shell first runs "+o.value.text)
		case "also":
			w.walkInnerText(o.value)
		}
	}
	p.optionsDo(w, c, g)
	text, rest, ok := g.shellText()
	switch {
	case ok:
		if text.made {
			w.addEffect(Exec, LevelAlways, text.text, c.name+" runs what another command puts out")
		}
		w.walkChildShell(text, rest...)
		if w.in.any && (strings.Contains(text.text, "-s") || strings.Contains(text.text, "stdin") || text.text == "") {
			w.stdinCode(c.name)
		}
	case len(g.valuesOf("noexec")) > 0 && len(g.valuesOf("stdin")) == 0:
	case len(g.operands) == 0 || len(g.valuesOf("stdin")) > 0:
		if w.in.any {
			w.stdinCode(c.name)
			break
		}
		w.addEffect(Exec, LevelSensitive, c.name, "it starts a shell, whose commands nobody sees")
	default:
		w.runScript(c.name, g.operands[0])
	}
	return true
}

// shellText is the text of sh -c and what becomes $0, $1 ...
func (g parsed) shellText() (text field, params []field, ok bool) {
	if t := g.valuesOf("text"); len(t) > 0 {
		return t[len(t)-1], g.operands, true
	}
	if len(g.valuesOf("command")) == 0 || len(g.operands) == 0 {
		return field{}, nil, false
	}
	return g.operands[0], g.operands[1:], true
}

// judgePython knows modules, and options that name code.
func judgePython(w *walker, p *program, c cmd, g parsed) bool {
	for _, v := range g.valuesOf("warning") { // action:message:category:module:line; a category with a dot is imported
		if parts := strings.Split(v.text, ":"); v.dyn || len(parts) > 2 && strings.Contains(parts[2], ".") {
			w.addEffect(Exec, LevelAlways, v.text, c.name+" imports what the warning "+showUnknown(v.text)+" names")
		}
	}
	for _, v := range g.valuesOf("xoption") {
		name, value, _ := strings.Cut(v.text, "=")
		switch {
		case name == "pycache_prefix":
			w.takesCode(c.name, partOf(v, value))
		case !isOneOf("dev utf8 faulthandler importtime tracemalloc showrefcount no_debug_ranges frozen_modules warn_default_encoding int_max_str_digits perf perf_jit gil cpu_count context_aware_warnings thread_inherit_context showalloccount jit", name):
			w.addEffect(Exec, LevelAlways, v.text, c.name+" is given -X "+showUnknown(v.text)+", of which is not known here what it does")
		}
	}
	if m := g.valuesOf("module"); len(m) > 0 {
		p.optionsDo(w, c, g)
		if m[0].dyn {
			w.dynamicCommand(m[0])
			return true
		}
		w.pythonModule(m[0].text, g.operands)
		return true
	}
	if len(g.operands) > 0 && len(g.valuesOf("code")) == 0 {
		rest := g.operands[1:]
		switch base := pathBase(g.operands[0].text); {
		case base == "manage.py":
			judgeDjango(w, rest)
		case base == "setup.py" && len(rest) > 0 && isOneOf("install develop upload register", rest[0].text):
			w.addEffect(System, LevelSensitive, rest[0].text, "it installs or publishes the package")
		}
	}
	return false
}

func judgePHP(w *walker, _ *program, _ cmd, g parsed) bool {
	if len(g.operands) > 0 && g.operands[0].text == "artisan" {
		w.runWords(g.operands)
	}
	return false
}

func judgeLuaJIT(w *walker, _ *program, c cmd, g parsed) bool {
	for _, v := range g.valuesOf("jit") { // -jv=file writes, another name is a module
		name, file, _ := strings.Cut(v.text, "=")
		if !isOneOf("on off flush v dump p", name) {
			w.loadsModule(c.name, partOf(v, name))
		}
		w.addOutputs([]field{partOf(v, file[strings.LastIndexByte(file, ',')+1:])})
	}
	if code := g.valuesOf("bytecode"); len(code) > 0 {
		w.addOutputs(g.operands[min(1, len(g.operands)):])
		return true
	}
	return false
}

// judgeR judges R CMD, which runs a tool of R or any program.
func judgeR(w *walker, _ *program, c cmd, g parsed) bool {
	if len(g.operands) == 0 || g.operands[0].text != "CMD" {
		return false
	}
	rest := g.operands[1:]
	switch {
	case len(rest) == 0:
	case isOneOf("build check Rd2pdf Rdconv Rd2txt Sweave Stangle config Rdiff Rprof COMPILE SHLIB LINK --version --help", rest[0].text):
		w.addEffect(Run, LevelStandard, rest[0].text, "runs R CMD "+rest[0].text+" on the project")
	case rest[0].text == "BATCH":
		if files := skipDashes(rest[1:]); len(files) > 0 {
			w.runScript(c.name, files[0])
		}
	case isOneOf("INSTALL REMOVE javareconf", rest[0].text):
		w.addEffect(Exec, LevelSensitive, rest[0].text, "brings in and runs packages of R")
	default:
		w.runWords(rest)
	}
	return true
}

var dcRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`![^=<>]|!$`) })

// dcTool is dc, in which a line that begins with ! is a command.
func dcTool(w *walker, p *program, c cmd, g parsed) bool {
	code := g.valuesOf("code")
	if w.in.any && len(code)+len(g.operands)+len(g.valuesOf("script")) == 0 {
		if code = []field{{text: w.in.text}}; !w.in.plain {
			return false
		}
	}
	p.optionsDo(w, c, g)
	for _, v := range code {
		if v.dyn || dcRuns().MatchString(v.text) {
			w.addEffect(Exec, LevelAlways, v.text, "dc runs a command")
		}
	}
	table.operands["scripts"](w, p, c, g.operands)
	judgeFilter(w, c)
	return true
}

func judgeClojure(w *walker, _ *program, c cmd, g parsed) bool {
	if len(g.operands) == 0 || !strings.HasPrefix(g.operands[0].text, "(") {
		return false
	}
	w.addEffect(Exec, LevelAlways, g.operands[0].text, c.name+" runs code that stands in the command")
	return true
}

func judgeGDB(w *walker, p *program, c cmd, g parsed) bool {
	if c.name == "gdb" && w.onlyLooksInGDB(c.args) {
		return true
	}
	if w.in.any && !w.in.plain || strings.TrimSpace(w.in.text) != "" {
		w.stdinCode(c.name)
	}
	return false
}

// judgeEditor judges an editor: it runs commands of its own, and of what comes in.
func judgeEditor(w *walker, p *program, c cmd, g parsed) bool {
	for _, v := range g.valuesOf("command") {
		if text := v.text; text != "" && !isDescriptor(text) && text != "$" && !strings.HasPrefix(text, "/") || v.dyn {
			w.addEffect(Exec, LevelAlways, showUnknown(v.text), "the editor runs commands of its own")
		}
	}
	if w.in.any && !isOneOf("emacsclient nano", c.name) {
		w.addEffect(Exec, LevelAlways, "", "the editor runs the commands that it is sent")
	}
	if code := g.valuesOf("code"); len(code) > 0 {
		p.optionsDo(w, c, g)
		w.addEffect(Exec, LevelAlways, code[0].text, "the editor runs commands of its own")
		return true
	}
	return false
}

// judgeEntr judges entr, which runs its words, or with -s a text.
func judgeEntr(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	if len(g.operands) == 0 {
		return true
	}
	w.in = traits{}
	if len(g.valuesOf("shell-text")) > 0 && c.name == "entr" {
		w.runJoined(g.operands[:1])
		return true
	}
	if g.operands[0].text == "/_" { // the file that changed
		w.addEffect(Exec, LevelAlways, c.name, c.name+" runs what it is told when it runs")
	}
	w.runWords(g.operands)
	return true
}

// dotenvTool is dotenv and direnv: variables of a file, then a command.
func dotenvTool(w *walker, _ *program, c cmd, g parsed) bool {
	rest := g.operands
	switch verb := firstText(rest); {
	case len(rest) == 0 || isOneOf("status version list get", verb):
	case c.name == "direnv" && verb == "exec" && len(rest) > 1:
		w.takesCode(c.name, rest[1])
		w.runWords(rest[2:])
	case c.name == "direnv" || isOneOf("set unset encrypt decrypt ext pro", verb):
		w.addEffect(Persist, LevelAlways, verb, c.name+" lets a file of the project change every shell")
	case verb == "run":
		w.runWords(skipDashes(rest[1:]))
	default:
		w.runWords(rest)
	}
	return true
}

// judgeCoverage judges coverage run, which is python.
func judgeCoverage(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	if firstText(g.operands) != "run" {
		w.addNamedEffect(p.Does, c.name, nil)
		return true
	}
	rest := parseOptions(g.operands[1:], "m source include omit rcfile concurrency data-file context debug", true)
	for _, v := range rest.valuesOf("rcfile") {
		w.takesCode(c.name, v)
	}
	words := rest.operands
	if m := rest.valuesOf("m"); len(m) > 0 {
		words = append([]field{{text: "-m"}, m[0]}, words...)
	}
	w.runWords(append([]field{{text: "python3"}}, words...))
	return true
}

// judgeMonorepo judges lerna and its like: tasks of packages, and exec.
func judgeMonorepo(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	w.addNamedEffect(p.Does, c.name, nil)
	if at := slices.IndexFunc(c.args, func(f field) bool { return f.text == "exec" }); at >= 0 && firstText(g.operands) == "exec" {
		rest := c.args[at+1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
			if rest = rest[1:]; c.args[len(c.args)-len(rest)-1].text == "--" {
				break
			}
		}
		w.runJoined(rest)
		return true
	}
	for _, f := range g.operands {
		if isActingTask(f.text) {
			w.addEffect(NetOut, LevelSensitive, f.text, "runs the task "+f.text+", which by its name changes something outside of the project")
		}
	}
	return true
}

// judgeNodemon judges nodemon, which runs its operands with what --exec names.
func judgeNodemon(w *walker, p *program, c cmd, g parsed) bool {
	text := g.valuesOf("restarts")
	if len(text) == 0 {
		return false
	}
	p.optionsDo(w, c, g)
	w.walkInnerText(joinWords(append(text[:1:1], g.operands...)))
	return true
}

func judgeGotestsum(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	goTool(w, cmd{name: "go", args: append([]field{{text: "test"}}, g.operands...)})
	return true
}

// toolchainOf is a tool of one language: what its verbs do not say is building.
func toolchainOf(w *walker, p *program, c cmd, g parsed) bool {
	if p.verbOf(g) != nil {
		return false
	}
	p.optionsDo(w, c, g)
	if code := g.valuesOf("code"); len(code) > 0 {
		w.addEffect(Exec, LevelAlways, code[0].text, c.name+" runs code that stands in the command")
	}
	if first := firstText(g.operands); c.name == "swift" && strings.HasSuffix(first, ".swift") {
		w.runScript(c.name, g.operands[0])
	}
	judgeToolchain(w, c)
	return true
}

// testScripts are bats and k6: files that are run.
func testScripts(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	for _, f := range g.operands {
		if strings.ContainsAny(f.text, "/.") {
			w.takesCode(c.name, f)
		}
	}
	judgeBuildTool(w, c)
	return true
}

// onlyShows reports whether code that stands in a command is understood and changes nothing.
func (p *program) onlyShows(w *walker, g parsed, code string) bool {
	if isOneOf(p.Names, "perl") {
		return onlyEditsLines(g, code) && w.inPlace(g, code)
	}
	if isOneOf(p.Names, "python3") && w.readsPython(code) {
		return true
	}
	return p.Prints && isHarmlessCode(code) && !w.in.any
}

// showsOnly reports whether what an interpreter is sent is known and changes nothing.
func (w *walker) showsOnly(p *program) bool {
	if !w.in.any || !w.in.plain || w.in.text == "" {
		return false
	}
	return p.Prints && harmlessLines(w.in.text) || isOneOf(p.Names, "python3") && w.readsPython(w.in.text)
}

// onlyEditsLines knows code of perl that only changes or chooses the lines that it reads: a
// substitution, a print under a pattern.
func onlyEditsLines(g parsed, code string) bool {
	if len(g.valuesOf("load"))+len(g.valuesOf("folder"))+len(g.valuesOf("ask")) > 0 ||
		g.hasOption("x s S") || !g.hasOption("n p") {
		return false
	}
	for _, f := range g.operands { // perl opens "name|" and ">name" as a shell would
		if f.dyn || strings.ContainsAny(f.text, "|<>&") {
			return false
		}
	}
	code = strings.TrimSpace(code)
	return substitution().MatchString(code) || printing().MatchString(code)
}

// inPlace is perl -i: the files are written. A substitution that leaves nothing of a line, or a
// choice of lines, is not known to be an edit.
func (w *walker) inPlace(g parsed, code string) bool {
	if !g.hasOption("i") {
		return true
	}
	if !strings.HasPrefix(strings.TrimSpace(code), "s/") || strings.Contains(code, ".*") || strings.Contains(code, ".+") || !g.hasOption("p") || len(g.operands) == 0 {
		return false
	}
	for _, f := range g.operands {
		w.addWrite(f, "changes")
	}
	return true
}
