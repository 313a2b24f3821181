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
		"shell": shell, "python": python, "php": php, "luajit": luajit, "rlang": rlang, "dc": dcTool, "clojure": clojure, "gdb": gdb,
		"editor": editor, "entr": entr, "reflex": entr, "dotenv": dotenvTool, "coverage": coverage, "monorepo": monorepo, "nodemon": nodemon,
		"gotestsum": gotestsum, "scripts": testScripts, "toolchain": toolchainOf, "multiplexer": judgedBy(multiplexer), "filesystem": judgedBy(makeFilesystem), "awk": awk, "kubectl": kubectl, "git-rm": gitRm, "git-reads": gitReads, "python-venv": makesEnvironment, "python-timeit": judgedBy(timesCode),
		"python-server": judgedBy(pythonServer), "python-archive": judgedBy(pythonArchive),
		"builds": afterOptions(builds), "tasks": afterOptions(tasks), "cmake": afterOptions(cmake), "jvm": afterOptions(jvm),
	}
}

// afterOptions is a handler that takes its words apart itself, after what data says of its options.
func afterOptions(h handler) programHandler {
	return func(w *walker, p *program, c cmd, g parsed) bool {
		p.optionsDo(w, c, g)
		if code := g.of("code"); len(code) > 0 {
			w.add(Exec, LevelAlways, code[0].text, c.name+" runs code that stands in the command")
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

// shell is sh and its like.
func shell(w *walker, p *program, c cmd, g parsed) bool {
	if g.only("show") {
		return true
	}
	for _, o := range g.given {
		switch o.role {
		case "first":
			w.add(Exec, LevelAlways, o.value.text, "the shell first runs "+o.value.text)
		case "also":
			w.walkInnerText(o.value)
		}
	}
	p.optionsDo(w, c, g)
	text, rest, ok := g.shellText()
	switch {
	case ok:
		if text.made {
			w.add(Exec, LevelAlways, text.text, c.name+" runs what another command puts out")
		}
		w.child(text, rest...)
		if w.in.any && (strings.Contains(text.text, "-s") || strings.Contains(text.text, "stdin") || text.text == "") {
			w.stdinCode(c.name)
		}
	case len(g.of("noexec")) > 0 && len(g.of("stdin")) == 0:
	case len(g.operands) == 0 || len(g.of("stdin")) > 0:
		if w.in.any {
			w.stdinCode(c.name)
			break
		}
		w.add(Exec, LevelSensitive, c.name, "it starts a shell, whose commands nobody sees")
	default:
		w.file(c.name, g.operands[0])
	}
	return true
}

// shellText is the text of sh -c and what becomes $0, $1 ...
func (g parsed) shellText() (text field, params []field, ok bool) {
	if t := g.of("text"); len(t) > 0 {
		return t[len(t)-1], g.operands, true
	}
	if len(g.of("command")) == 0 || len(g.operands) == 0 {
		return field{}, nil, false
	}
	return g.operands[0], g.operands[1:], true
}

// python knows modules, and options that name code.
func python(w *walker, p *program, c cmd, g parsed) bool {
	for _, v := range g.of("warning") { // action:message:category:module:line; a category with a dot is imported
		if parts := strings.Split(v.text, ":"); v.dyn || len(parts) > 2 && strings.Contains(parts[2], ".") {
			w.add(Exec, LevelAlways, v.text, c.name+" imports what the warning "+showUnknown(v.text)+" names")
		}
	}
	for _, v := range g.of("xoption") {
		name, value, _ := strings.Cut(v.text, "=")
		switch {
		case name == "pycache_prefix":
			w.takesCode(c.name, part(v, value))
		case !isOneOf("dev utf8 faulthandler importtime tracemalloc showrefcount no_debug_ranges frozen_modules warn_default_encoding int_max_str_digits perf perf_jit gil cpu_count context_aware_warnings thread_inherit_context showalloccount jit", name):
			w.add(Exec, LevelAlways, v.text, c.name+" is given -X "+showUnknown(v.text)+", of which is not known here what it does")
		}
	}
	if m := g.of("module"); len(m) > 0 {
		p.optionsDo(w, c, g)
		if m[0].dyn {
			w.dynamicCommand(m[0])
			return true
		}
		w.pythonModule(m[0].text, g.operands)
		return true
	}
	if len(g.operands) > 0 && len(g.of("code")) == 0 {
		rest := g.operands[1:]
		switch base := pathBase(g.operands[0].text); {
		case base == "manage.py":
			manage(w, rest)
		case base == "setup.py" && len(rest) > 0 && isOneOf("install develop upload register", rest[0].text):
			w.add(System, LevelSensitive, rest[0].text, "it installs or publishes the package")
		}
	}
	return false
}

func php(w *walker, _ *program, _ cmd, g parsed) bool {
	if len(g.operands) > 0 && g.operands[0].text == "artisan" {
		w.run(g.operands)
	}
	return false
}

func luajit(w *walker, _ *program, c cmd, g parsed) bool {
	for _, v := range g.of("jit") { // -jv=file writes, another name is a module
		name, file, _ := strings.Cut(v.text, "=")
		if !isOneOf("on off flush v dump p", name) {
			w.loadsModule(c.name, part(v, name))
		}
		w.outputs([]field{part(v, file[strings.LastIndexByte(file, ',')+1:])})
	}
	if code := g.of("bytecode"); len(code) > 0 {
		w.outputs(g.operands[min(1, len(g.operands)):])
		return true
	}
	return false
}

// rlang is R CMD, which runs a tool of R or any program.
func rlang(w *walker, _ *program, c cmd, g parsed) bool {
	if len(g.operands) == 0 || g.operands[0].text != "CMD" {
		return false
	}
	rest := g.operands[1:]
	switch {
	case len(rest) == 0:
	case isOneOf("build check Rd2pdf Rdconv Rd2txt Sweave Stangle config Rdiff Rprof COMPILE SHLIB LINK --version --help", rest[0].text):
		w.add(Run, LevelStandard, rest[0].text, "runs R CMD "+rest[0].text+" on the project")
	case rest[0].text == "BATCH":
		if files := skipDashes(rest[1:]); len(files) > 0 {
			w.file(c.name, files[0])
		}
	case isOneOf("INSTALL REMOVE javareconf", rest[0].text):
		w.add(Exec, LevelSensitive, rest[0].text, "brings in and runs packages of R")
	default:
		w.run(rest)
	}
	return true
}

var dcRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`![^=<>]|!$`) })

// dcTool is dc, in which a line that begins with ! is a command.
func dcTool(w *walker, p *program, c cmd, g parsed) bool {
	code := g.of("code")
	if w.in.any && len(code)+len(g.operands)+len(g.of("script")) == 0 {
		if code = []field{{text: w.in.text}}; !w.in.plain {
			return false
		}
	}
	p.optionsDo(w, c, g)
	for _, v := range code {
		if v.dyn || dcRuns().MatchString(v.text) {
			w.add(Exec, LevelAlways, v.text, "dc runs a command")
		}
	}
	table.operands["scripts"](w, p, c, g.operands)
	filter(w, c)
	return true
}

func clojure(w *walker, _ *program, c cmd, g parsed) bool {
	if len(g.operands) == 0 || !strings.HasPrefix(g.operands[0].text, "(") {
		return false
	}
	w.add(Exec, LevelAlways, g.operands[0].text, c.name+" runs code that stands in the command")
	return true
}

func gdb(w *walker, p *program, c cmd, g parsed) bool {
	if c.name == "gdb" && w.onlyLooksInGDB(c.args) {
		return true
	}
	if w.in.any && !w.in.plain || strings.TrimSpace(w.in.text) != "" {
		w.stdinCode(c.name)
	}
	return false
}

// editor runs commands of its own, and of what comes in.
func editor(w *walker, p *program, c cmd, g parsed) bool {
	for _, v := range g.of("command") {
		if text := v.text; text != "" && !number(text) && text != "$" && !strings.HasPrefix(text, "/") || v.dyn {
			w.add(Exec, LevelAlways, showUnknown(v.text), "the editor runs commands of its own")
		}
	}
	if w.in.any && !isOneOf("emacsclient nano", c.name) {
		w.add(Exec, LevelAlways, "", "the editor runs the commands that it is sent")
	}
	if code := g.of("code"); len(code) > 0 {
		p.optionsDo(w, c, g)
		w.add(Exec, LevelAlways, code[0].text, "the editor runs commands of its own")
		return true
	}
	return false
}

// entr runs its words, or with -s a text.
func entr(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	if len(g.operands) == 0 {
		return true
	}
	w.in = traits{}
	if len(g.of("shell-text")) > 0 && c.name == "entr" {
		w.joined(g.operands[:1])
		return true
	}
	if g.operands[0].text == "/_" { // the file that changed
		w.add(Exec, LevelAlways, c.name, c.name+" runs what it is told when it runs")
	}
	w.run(g.operands)
	return true
}

// dotenvTool is dotenv and direnv: variables of a file, then a command.
func dotenvTool(w *walker, _ *program, c cmd, g parsed) bool {
	rest := g.operands
	switch verb := firstText(rest); {
	case len(rest) == 0 || isOneOf("status version list get", verb):
	case c.name == "direnv" && verb == "exec" && len(rest) > 1:
		w.takesCode(c.name, rest[1])
		w.run(rest[2:])
	case c.name == "direnv" || isOneOf("set unset encrypt decrypt ext pro", verb):
		w.add(Persist, LevelAlways, verb, c.name+" lets a file of the project change every shell")
	case verb == "run":
		w.run(skipDashes(rest[1:]))
	default:
		w.run(rest)
	}
	return true
}

// coverage is coverage run, which is python.
func coverage(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	if firstText(g.operands) != "run" {
		w.does(p.Does, c.name, nil)
		return true
	}
	rest := parseOptions(g.operands[1:], "m source include omit rcfile concurrency data-file context debug", true)
	for _, v := range rest.values("rcfile") {
		w.takesCode(c.name, v)
	}
	words := rest.operands
	if m := rest.values("m"); len(m) > 0 {
		words = append([]field{{text: "-m"}, m[0]}, words...)
	}
	w.run(append([]field{{text: "python3"}}, words...))
	return true
}

// monorepo is lerna and its like: tasks of packages, and exec.
func monorepo(w *walker, p *program, c cmd, g parsed) bool {
	p.optionsDo(w, c, g)
	w.does(p.Does, c.name, nil)
	if at := slices.IndexFunc(c.args, func(f field) bool { return f.text == "exec" }); at >= 0 && firstText(g.operands) == "exec" {
		rest := c.args[at+1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
			if rest = rest[1:]; c.args[len(c.args)-len(rest)-1].text == "--" {
				break
			}
		}
		w.joined(rest)
		return true
	}
	for _, f := range g.operands {
		if acts(f.text) {
			w.add(NetOut, LevelSensitive, f.text, "runs the task "+f.text+", which by its name changes something outside of the project")
		}
	}
	return true
}

// nodemon runs its operands with what --exec names.
func nodemon(w *walker, p *program, c cmd, g parsed) bool {
	text := g.of("restarts")
	if len(text) == 0 {
		return false
	}
	p.optionsDo(w, c, g)
	w.walkInnerText(line(append(text[:1:1], g.operands...)))
	return true
}

func gotestsum(w *walker, p *program, c cmd, g parsed) bool {
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
	if code := g.of("code"); len(code) > 0 {
		w.add(Exec, LevelAlways, code[0].text, c.name+" runs code that stands in the command")
	}
	if first := firstText(g.operands); c.name == "swift" && strings.HasSuffix(first, ".swift") {
		w.file(c.name, g.operands[0])
	}
	toolchain(w, c)
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
	builds(w, c)
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
	return p.Prints && harmless(code) && !w.in.any
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
	if len(g.of("load"))+len(g.of("folder"))+len(g.of("ask")) > 0 || g.has("x s S") || !g.has("n p") {
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
	if !g.has("i") {
		return true
	}
	if !strings.HasPrefix(strings.TrimSpace(code), "s/") || strings.Contains(code, ".*") || strings.Contains(code, ".+") || !g.has("p") || len(g.operands) == 0 {
		return false
	}
	for _, f := range g.operands {
		w.writes(f, "changes")
	}
	return true
}
