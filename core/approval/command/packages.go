package command

import (
	"slices"
	"strings"
)

// packageTools bring in software.
func packageTools() map[string]handler {
	return map[string]handler{
		"pip pip3 pip2": pip,
		"uv poetry pdm pipenv hatch rye conda mamba micromamba": environments,
		"apt apt-get aptitude yum dnf microdnf zypper pacman yay paru apk brew port snap flatpak emerge nix-env choco winget scoop pkg pkg_add xbps-install eopkg opkg": systemPackages,
	}
}

func pip(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("pip.options"), false)
	switch verb := o.first(); verb {
	case "", "list", "show", "freeze", "check", "help", "debug", "inspect", "index", "hash", "cache", "config", "search":
		if verb == "config" && isOneOf("set unset edit", secondOperand(o)) {
			w.add(Persist, LevelAlways, verb, "changes the settings of pip")
		}
		return
	case "install", "download", "wheel":
	default:
		w.add(System, LevelSensitive, verb, "pip "+verb+" changes what is installed")
		return
	}
	if o.has("i", "index-url", "extra-index-url", "f", "find-links", "trusted-host", "proxy") {
		w.add(Exec, LevelSensitive, "", "pip takes packages from a place of the command's choice")
	}
	for _, v := range append(o.values("t", "target", "prefix", "root"), o.values("d", "dest")...) {
		w.writes(v, "installs into")
	}
	w.askPackages(o.after(1))
	for _, v := range append(o.values("e", "editable"), o.values("r", "requirement")...) {
		if strings.Contains(v.text, "://") || w.place(v).kind != placeProject {
			w.add(Exec, LevelSensitive, v.text, "brings in and runs code from "+v.text)
		}
	}
	w.add(NetIn, LevelStandard, "", "installs what the project needs")
}

// askPackages asks about packages that are named in the command: code that nobody has seen. The
// folder of the project is none.
func (w *walker) askPackages(list []field) {
	for _, f := range list {
		switch {
		case f.text == "" || strings.HasPrefix(f.text, "-"):
		case strings.Contains(f.text, "://") || strings.HasPrefix(f.text, "git+") || strings.HasPrefix(f.text, "github:"):
			w.add(Exec, LevelAlways, f.text, "brings in and runs code from "+strings.ReplaceAll(f.text, unknown, "…"))
		case strings.HasPrefix(f.text, ".") && w.place(f).kind == placeProject, isOneOf("pip setuptools wheel", f.text):
		default:
			w.add(Exec, LevelSensitive, f.text, "brings in a package that may run code: "+strings.ReplaceAll(f.text, unknown, "…"))
		}
	}
}

func installs(w *walker, _ string, packages []field, o options) {
	if o.has("g", "global", "location") {
		w.add(System, LevelSensitive, "", "installs for every project")
	}
	if o.has("registry", "script-shell", "userconfig", "globalconfig", "prefix") {
		w.add(Exec, LevelSensitive, "", "takes packages or settings from a place of the command's choice")
	}
	w.askPackages(packages)
	w.add(NetIn, LevelStandard, "", "installs what the project needs")
}

func nodePackages(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("npm.options"), false)
	verb := o.first()
	rest := o.after(1)
	if o.has("script-shell", "node-options") {
		w.add(Exec, LevelAlways, "", c.name+" runs scripts with another shell")
	}
	w.nodeFolder(c, o, verb)
	switch {
	case isOneOf(wordList("npm.shows"), verb), verb == "" && (c.name == "npm" || o.has("version", "v", "help")):
		w.npmShows(c, verb, secondOperand(o))
	case c.name == "yarn" && w.yarn(c, o, verb):
	case verb == "", isOneOf(wordList("npm.installs"), verb):
		installs(w, c.name, rest, o)
	case isOneOf("run run-script rum urn", verb):
		if len(rest) > 0 {
			w.task("npm", taskName(rest[0]))
		}
	case verb == "init" && len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-"):
		w.tool(rest)
	case isOneOf(wordList("npm.project"), verb):
		w.add(Run, LevelStandard, verb, "runs "+verb+" of the project")
	case isOneOf("exec x dlx create", verb):
		for _, v := range o.values("c", "call") {
			w.walkInnerText(v)
		}
		w.tool(rest)
	case isOneOf(wordList("npm.removes"), verb):
		w.add(NetIn, LevelStandard, verb, "changes the packages of the project")
		if o.has("g", "global") {
			w.add(System, LevelSensitive, verb, "changes what is installed for every project")
		}
	case isOneOf(wordList("npm.publishes"), verb):
		w.add(NetOut, LevelSensitive, verb, c.name+" "+verb+" publishes or changes an account")
	case c.name != "npm":
		w.task(c.name, taskName(o.operands[0]))
	default:
		w.add(Exec, LevelSensitive, verb, "what "+c.name+" "+verb+" does is not known here")
	}
}

// yarn are verbs of yarn alone.
func (w *walker) yarn(c cmd, o options, verb string) bool {
	switch {
	case verb == "global":
		o.set = append(o.set, option{name: verb, long: true})
		installs(w, c.name, o.after(2), o)
	case verb == "plugin" && secondOperand(o) != "list" && secondOperand(o) != "runtime", verb == "set", verb == "policies":
		w.add(Exec, LevelSensitive, verb, "yarn brings in code")
	case isOneOf("workspace workspaces", verb):
		at := slices.IndexFunc(c.args, func(a field) bool { return isOneOf("exec dlx node", a.text) })
		if at < 0 {
			return false
		}
		w.run(append([]field{{text: c.name}}, c.args[at:]...))
	case verb == "node":
		for i, a := range c.args {
			if a.text == verb {
				w.run(c.args[i:])
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
	folders := o.values("C", "prefix", "cwd")
	if isOneOf("run run-script exec", verb) {
		folders = append(folders, parseOptions(o.after(1), "prefix C cwd", false).values("prefix", "C", "cwd")...)
	}
	for _, v := range folders {
		if w.place(v).kind != placeProject {
			w.add(Exec, LevelSensitive, v.text, c.name+" works in "+w.name(v)+", outside of the project")
		}
	}
}

// npmShows are verbs that show something, but for a word behind them.
func (w *walker) npmShows(c cmd, verb, word string) {
	switch {
	case verb == "config" && isOneOf("set delete edit", word):
		w.add(Persist, LevelAlways, verb, "changes the settings of "+c.name)
	case verb == "audit" && word == "fix", verb == "pkg" && word != "get":
		w.add(Write, LevelStandard, verb, c.name+" changes versions")
		if strings.Contains(joinedText(c.args), "scripts") {
			w.add(Persist, LevelAlways, verb, "changes what the package runs by itself")
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
	if o.has("version", "help") && len(o.operands) == 0 {
		return
	}
	for _, v := range o.values("c", "call") {
		w.walkInnerText(v)
	}
	for _, v := range o.values("p", "package", "from", "with") {
		w.add(Exec, LevelSensitive, v.text, "brings in and runs "+v.text)
	}
	rest := o.operands
	if c.name == "pipx" {
		if len(rest) == 0 || isOneOf("list environment", rest[0].text) {
			return
		}
		if rest[0].text != "run" {
			w.add(Exec, LevelSensitive, secondOperand(o), "brings in "+secondOperand(o))
			return
		}
		rest = rest[1:]
	}
	w.tool(rest)
}

// tool runs a tool that projects usually have; another one is fetched and run.
func (w *walker) tool(args []field) {
	if len(args) == 0 {
		return
	}
	name := args[0].text
	if isOneOf(wordList("npx.usual"), name) {
		w.run(args)
		return
	}
	w.add(Exec, LevelSensitive, name, "may fetch and run "+strings.ReplaceAll(name, unknown, "…"))
}

func environments(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("uv.options"), true)
	verb := o.first()
	rest := o.after(1)
	if c.name == "uv" && w.uv(o, verb, rest) || w.changesEnvironments(c, verb, o) {
		return
	}
	inner := parseOptions(rest, wordList("uv.run-options"), true)
	switch {
	case isOneOf("run exec", verb):
		if inner.has("with", "from", "index-url", "extra-index-url", "index") {
			w.add(Exec, LevelSensitive, verb, "brings in and runs code")
		}
		if words := inner.operands; len(words) > 0 && isOneOf("pdm hatch rye", c.name) && programs()[words[0].text] == nil && !strings.ContainsAny(words[0].text, "/.") && !words[0].dyn {
			w.task(c.name, words[0])
		} else if len(words) > 0 && (strings.HasSuffix(words[0].text, ".py") || strings.Contains(words[0].text, "://") || words[0].text == "-") {
			w.file("python", words[0])
		} else {
			w.run(words)
		}
	case isOneOf("add install", verb):
		if inner.has("index-url", "index", "extra-index-url", "source", "c", "channel") {
			w.add(Exec, LevelSensitive, verb, "takes packages from a place of the command's choice")
		}
		installs(w, c.name, inner.operands, options{})
	case isOneOf("publish", verb):
		w.add(NetOut, LevelSensitive, verb, "publishes a package")
	case isOneOf(wordList("uv.project"), verb) || verb == "":
		w.add(Run, LevelStandard, verb, "runs "+c.name+" "+verb)
	default:
		w.add(Exec, LevelSensitive, verb, "what "+c.name+" "+verb+" does is not known here")
	}
}

// uv are verbs of uv alone.
func (w *walker) uv(o options, verb string, rest []field) bool {
	switch {
	case verb == "pip" && isOneOf("compile sync tree", secondOperand(o)):
		w.outputs(parseOptions(rest, "o output-file", false).values("o", "output-file"))
		w.add(NetIn, LevelStandard, "", "installs or resolves what the project needs")
	case verb == "pip":
		pip(w, cmd{name: "pip", args: rest})
	case isOneOf("tool python", verb):
		if !isOneOf("list dir find", secondOperand(o)) {
			w.add(Exec, LevelSensitive, verb, "brings in and runs code")
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
		w.add(Exec, LevelSensitive, verb, c.name+" self "+sub+" brings in code")
	case verb == "config" && (len(o.operands) > 2 || o.has("unset", "set", "add", "remove")) && c.name != "uv":
		w.add(Persist, LevelAlways, verb, "changes the settings of "+c.name)
	case isOneOf("conda mamba micromamba", c.name) && (isOneOf("remove uninstall clean", verb) || verb == "env" && isOneOf("remove create update", sub)), c.name == "pipenv" && o.has("rm"), verb == "env" && sub == "remove", c.name == "hatch" && verb == "env" && isOneOf("prune remove", sub):
		w.add(Delete, LevelSensitive, verb, c.name+" "+verb+" deletes or replaces an environment")
	default:
		return false
	}
	return true
}

func systemPackages(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("apt.options"), false)
	for _, v := range o.values("o", "option") {
		if strings.Contains(v.text, "::") {
			w.walkInnerText(part(v, v.text[strings.IndexByte(v.text, '=')+1:]))
			w.add(Exec, LevelAlways, v.text, c.name+" is given a setting that can run programs")
		}
	}
	verb := o.first()
	switch {
	case isOneOf(wordList("apt.shows"), verb), verb == "":
		if c.name == "pacman" && (o.has("S", "R", "U", "D") && !o.has("s", "i") || o.has("R")) || c.name == "xbps-install" || c.name == "pkg_add" || c.name == "emerge" || c.name == "nix-env" && o.has("i", "e", "u") {
			break
		}
		if c.name == "pacman" && !o.has("S", "Q", "F", "V", "T") && verb == "" {
			break
		}
		return
	}
	if c.name == "pacman" && (o.has("Q", "F") || o.has("S") && o.has("s", "i")) {
		return
	}
	w.add(System, LevelSensitive, verb, "it installs, changes or removes software of the system ("+c.name+" "+verb+")")
}
