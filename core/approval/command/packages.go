package command

import (
	"slices"
	"strings"
)

// packageTools bring in software.
func packageTools() map[string]handler {
	return map[string]handler{
		"pip pip3 pip2": judgePip,
		"uv poetry pdm pipenv hatch rye conda mamba micromamba": judgeEnvironmentTool,
		"apt apt-get aptitude yum dnf microdnf zypper pacman yay paru apk brew port snap flatpak emerge nix-env choco winget scoop pkg pkg_add xbps-install eopkg opkg": systemPackages,
	}
}

func judgePip(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("pip.options"), false)
	switch verb := o.firstOperand(); verb {
	case "", "list", "show", "freeze", "check", "help", "debug", "inspect", "index", "hash", "cache", "config", "search":
		if verb == "config" && isOneOf("set unset edit", secondOperand(o)) {
			w.addEffect(Persist, LevelAlways, verb, "changes the settings of pip")
		}
		return
	case "install", "download", "wheel":
	default:
		w.addEffect(System, LevelSensitive, verb, "pip "+verb+" changes what is installed")
		return
	}
	if o.hasOption("i", "index-url", "extra-index-url", "f", "find-links", "trusted-host", "proxy") {
		w.addEffect(Exec, LevelSensitive, "", "pip takes packages from a place of the command's choice")
	}
	for _, v := range append(o.valuesOf("t", "target", "prefix", "root"), o.valuesOf("d", "dest")...) {
		w.addWrite(v, "installs into")
	}
	w.askPackages(o.operandsAfter(1))
	for _, v := range append(o.valuesOf("e", "editable"), o.valuesOf("r", "requirement")...) {
		if strings.Contains(v.text, "://") || w.placeOf(v).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text, "brings in and runs code from "+v.text)
		}
	}
	w.addEffect(NetIn, LevelStandard, "", "installs what the project needs")
}

// askPackages asks about packages that are named in the command: code that nobody has seen. The
// folder of the project is none.
func (w *walker) askPackages(list []field) {
	for _, f := range list {
		switch {
		case f.text == "" || strings.HasPrefix(f.text, "-"):
		case strings.Contains(f.text, "://") || strings.HasPrefix(f.text, "git+") || strings.HasPrefix(f.text, "github:"):
			w.addEffect(Exec, LevelAlways, f.text, "brings in and runs code from "+strings.ReplaceAll(f.text, unknown, "…"))
		case strings.HasPrefix(f.text, ".") && w.placeOf(f).kind == placeProject, isOneOf("pip setuptools wheel", f.text):
		default:
			w.addEffect(Exec, LevelSensitive, f.text, "brings in a package that may run code: "+strings.ReplaceAll(f.text, unknown, "…"))
		}
	}
}

func judgeInstall(w *walker, _ string, packages []field, o options) {
	if o.hasOption("g", "global", "location") {
		w.addEffect(System, LevelSensitive, "", "installs for every project")
	}
	if o.hasOption("registry", "script-shell", "userconfig", "globalconfig", "prefix") {
		w.addEffect(Exec, LevelSensitive, "",
			"takes packages or settings from a place of the command's choice")
	}
	w.askPackages(packages)
	w.addEffect(NetIn, LevelStandard, "", "installs what the project needs")
}

func nodePackages(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("npm.options"), false)
	verb := o.firstOperand()
	rest := o.operandsAfter(1)
	if o.hasOption("script-shell", "node-options") {
		w.addEffect(Exec, LevelAlways, "", c.name+" runs scripts with another shell")
	}
	w.nodeFolder(c, o, verb)
	switch {
	case isOneOf(wordList("npm.shows"), verb), verb == "" && (c.name == "npm" || o.hasOption("version", "v", "help")):
		w.npmShows(c, verb, secondOperand(o))
	case c.name == "yarn" && w.judgeYarnVerb(c, o, verb):
	case verb == "", isOneOf(wordList("npm.installs"), verb):
		judgeInstall(w, c.name, rest, o)
	case isOneOf("run run-script rum urn", verb):
		if len(rest) > 0 {
			w.runTask("npm", taskName(rest[0]))
		}
	case verb == "init" && len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-"):
		w.runProjectTool(rest)
	case isOneOf(wordList("npm.project"), verb):
		w.addEffect(Run, LevelStandard, verb, "runs "+verb+" of the project")
	case isOneOf("exec x dlx create", verb):
		for _, v := range o.valuesOf("c", "call") {
			w.walkInnerText(v)
		}
		w.runProjectTool(rest)
	case isOneOf(wordList("npm.removes"), verb):
		w.addEffect(NetIn, LevelStandard, verb, "changes the packages of the project")
		if o.hasOption("g", "global") {
			w.addEffect(System, LevelSensitive, verb, "changes what is installed for every project")
		}
	case isOneOf(wordList("npm.publishes"), verb):
		w.addEffect(NetOut, LevelSensitive, verb, c.name+" "+verb+" publishes or changes an account")
	case c.name != "npm":
		w.runTask(c.name, taskName(o.operands[0]))
	default:
		w.addEffect(Exec, LevelSensitive, verb, "what "+c.name+" "+verb+" does is not known here")
	}
}

// judgeYarnVerb judges verbs of yarn alone.
func (w *walker) judgeYarnVerb(c cmd, o options, verb string) bool {
	switch {
	case verb == "global":
		o.set = append(o.set, option{name: verb, long: true})
		judgeInstall(w, c.name, o.operandsAfter(2), o)
	case verb == "plugin" && secondOperand(o) != "list" && secondOperand(o) != "runtime", verb == "set", verb == "policies":
		w.addEffect(Exec, LevelSensitive, verb, "yarn brings in code")
	case isOneOf("workspace workspaces", verb):
		at := slices.IndexFunc(c.args, func(a field) bool { return isOneOf("exec dlx node", a.text) })
		if at < 0 {
			return false
		}
		w.runWords(append([]field{{text: c.name}}, c.args[at:]...))
	case verb == "node":
		for i, a := range c.args {
			if a.text == verb {
				w.runWords(c.args[i:])
				break
			}
		}
	default:
		return false
	}
	return true
}

// nodeFolder asks when the scripts are those of a folder outside of the project.
func (w *walker) nodeFolder(c cmd, o options, verb string) {
	folders := o.valuesOf("C", "prefix", "cwd")
	if isOneOf("run run-script exec", verb) {
		folders = append(folders, parseOptions(o.operandsAfter(1), "prefix C cwd", false).valuesOf("prefix", "C", "cwd")...)
	}
	for _, v := range folders {
		if w.placeOf(v).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, v.text,
				c.name+" works in "+w.nameOf(v)+", outside of the project")
		}
	}
}

// npmShows are verbs that show something, but for a word behind them.
func (w *walker) npmShows(c cmd, verb, word string) {
	switch {
	case verb == "config" && isOneOf("set delete edit", word):
		w.addEffect(Persist, LevelAlways, verb, "changes the settings of "+c.name)
	case verb == "audit" && word == "fix", verb == "pkg" && word != "get":
		w.addEffect(Write, LevelStandard, verb, c.name+" changes versions")
		if strings.Contains(joinedText(c.args), "scripts") {
			w.addEffect(Persist, LevelAlways, verb, "changes what the package runs by itself")
		}
	}
}

// taskName keeps the dots of the name of a script from being taken for a file.
func taskName(f field) field {
	f.text = strings.ReplaceAll(f.text, ".", ":")
	return f
}

// fetchedTool is npx and its like: a tool of the project, or one that is fetched and run.
func fetchedTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("npx.options"), true)
	if o.hasOption("version", "help") && len(o.operands) == 0 {
		return
	}
	for _, v := range o.valuesOf("c", "call") {
		w.walkInnerText(v)
	}
	for _, v := range o.valuesOf("p", "package", "from", "with") {
		w.addEffect(Exec, LevelSensitive, v.text, "brings in and runs "+v.text)
	}
	rest := o.operands
	if c.name == "pipx" {
		if len(rest) == 0 || isOneOf("list environment", rest[0].text) {
			return
		}
		if rest[0].text != "run" {
			w.addEffect(Exec, LevelSensitive, secondOperand(o), "brings in "+secondOperand(o))
			return
		}
		rest = rest[1:]
	}
	w.runProjectTool(rest)
}

// runProjectTool judges a tool that projects usually have; another one is fetched and run.
func (w *walker) runProjectTool(args []field) {
	if len(args) == 0 {
		return
	}
	name := args[0].text
	if isOneOf(wordList("npx.usual"), name) {
		w.runWords(args)
		return
	}
	w.addEffect(Exec, LevelSensitive, name,
		"may fetch and run "+strings.ReplaceAll(name, unknown, "…"))
}

func judgeEnvironmentTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("uv.options"), true)
	verb := o.firstOperand()
	rest := o.operandsAfter(1)
	if c.name == "uv" && w.judgeUVVerb(o, verb, rest) || w.changesEnvironments(c, verb, o) {
		return
	}
	inner := parseOptions(rest, wordList("uv.run-options"), true)
	switch {
	case isOneOf("run exec", verb):
		if inner.hasOption("with", "from", "index-url", "extra-index-url", "index") {
			w.addEffect(Exec, LevelSensitive, verb, "brings in and runs code")
		}
		if words := inner.operands; len(words) > 0 && isOneOf("pdm hatch rye", c.name) && allHandlers()[words[0].text] == nil && !strings.ContainsAny(words[0].text, "/.") && !words[0].dyn {
			w.runTask(c.name, words[0])
		} else if len(words) > 0 && (strings.HasSuffix(words[0].text, ".py") || strings.Contains(words[0].text, "://") || words[0].text == "-") {
			w.runScript("python", words[0])
		} else {
			w.runWords(words)
		}
	case isOneOf("add install", verb):
		if inner.hasOption("index-url", "index", "extra-index-url", "source", "c", "channel") {
			w.addEffect(Exec, LevelSensitive, verb, "takes packages from a place of the command's choice")
		}
		judgeInstall(w, c.name, inner.operands, options{})
	case isOneOf("publish", verb):
		w.addEffect(NetOut, LevelSensitive, verb, "publishes a package")
	case isOneOf(wordList("uv.project"), verb) || verb == "":
		w.addEffect(Run, LevelStandard, verb, "runs "+c.name+" "+verb)
	default:
		w.addEffect(Exec, LevelSensitive, verb, "what "+c.name+" "+verb+" does is not known here")
	}
}

// judgeUVVerb judges verbs of uv alone.
func (w *walker) judgeUVVerb(o options, verb string, rest []field) bool {
	switch {
	case verb == "pip" && isOneOf("compile sync tree", secondOperand(o)):
		w.addOutputs(parseOptions(rest, "o output-file", false).valuesOf("o", "output-file"))
		w.addEffect(NetIn, LevelStandard, "", "installs or resolves what the project needs")
	case verb == "pip":
		judgePip(w, cmd{name: "pip", args: rest})
	case isOneOf("tool python", verb):
		if !isOneOf("list dir find", secondOperand(o)) {
			w.addEffect(Exec, LevelSensitive, verb, "brings in and runs code")
		}
	default:
		return false
	}
	return true
}

// changesEnvironments are verbs of conda, poetry and their like that delete, bring in or change
// settings.
func (w *walker) changesEnvironments(c cmd, verb string, o options) bool {
	sub := secondOperand(o)
	switch {
	case isOneOf("self", verb) && !isOneOf("show version", sub):
		w.addEffect(Exec, LevelSensitive, verb, c.name+" self "+sub+" brings in code")
	case verb == "config" && (len(o.operands) > 2 || o.hasOption("unset", "set", "add", "remove")) && c.name != "uv":
		w.addEffect(Persist, LevelAlways, verb, "changes the settings of "+c.name)
	case isOneOf("conda mamba micromamba", c.name) && (isOneOf("remove uninstall clean", verb) || verb == "env" && isOneOf("remove create update", sub)), c.name == "pipenv" && o.hasOption("rm"), verb == "env" && sub == "remove", c.name == "hatch" && verb == "env" && isOneOf("prune remove", sub):
		w.addEffect(Delete, LevelSensitive, verb, c.name+" "+verb+" deletes or replaces an environment")
	default:
		return false
	}
	return true
}

func systemPackages(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("apt.options"), false)
	for _, v := range o.valuesOf("o", "option") {
		if strings.Contains(v.text, "::") {
			w.walkInnerText(partOf(v, v.text[strings.IndexByte(v.text, '=')+1:]))
			w.addEffect(Exec, LevelAlways, v.text, c.name+" is given a setting that can run programs")
		}
	}
	verb := o.firstOperand()
	switch {
	case isOneOf(wordList("apt.shows"), verb), verb == "":
		if c.name == "pacman" && (o.hasOption("S", "R", "U", "D") && !o.hasOption("s", "i") || o.hasOption("R")) || c.name == "xbps-install" || c.name == "pkg_add" || c.name == "emerge" || c.name == "nix-env" && o.hasOption("i", "e", "u") {
			break
		}
		if c.name == "pacman" && !o.hasOption("S", "Q", "F", "V", "T") && verb == "" {
			break
		}
		return
	}
	if c.name == "pacman" && (o.hasOption("Q", "F") || o.hasOption("S") && o.hasOption("s", "i")) {
		return
	}
	w.addEffect(System, LevelSensitive, verb, "it installs, changes or removes software of the system ("+c.name+" "+verb+")")
}
