package command

import (
	"path"
	"strings"
)

// alwaysExported reports whether a variable is in the environment already, so that setting it is
// enough.
func alwaysExported(name string) bool {
	switch name {
	case "PATH", "PS0", "PS1", "PS2", "LD_PRELOAD", "LD_LIBRARY_PATH", "IFS", "PROMPT_COMMAND", "PS4", "BASH_ENV", "ENV", "HISTFILE", "HISTSIZE", "HOME", "PAGER", "EDITOR", "SHELL":
		return true
	default:
		return false
	}
}

// judgeSetting judges a variable that a program gets: some make it run other code, or hide what it
// did.
func (w *walker) judgeSetting(name string, f field) {
	allHandlers()
	e := table.data["$"+name]
	if e == nil {
		if e = patternEntry(name); e == nil {
			return
		}
	}
	is := e.readProgram()
	if v := f.text; is.Harmless == "" || v != "" && !isOneOf(is.Harmless, v) {
		w.judgeVariable(is.Value, name, f)
	}
}

// patternEntry is the entry of a variable that is named by a pattern.
func patternEntry(name string) *entry {
	for _, s := range table.starred {
		if ok, err := path.Match(s.pattern, name); ok && err == nil {
			return s.entry
		}
	}
	return nil
}

// judgeVariable notes what the value of a variable does, by the word of the data file.
func (w *walker) judgeVariable(kind, name string, f field) {
	v := showUnknown(f.text)
	switch kind {
	case "search-path":
		w.searchPath(f)
	case "libraries", "folders":
		if !w.allOwnFolders(f) {
			w.addEffect(Exec, LevelAlways, name, "the variable "+name+" makes programs load code from "+v)
		}
	case "program":
		w.walkInnerText(f)
		w.addEffect(Exec, LevelAlways, name, "the variable "+name+" makes programs run "+v)
	case "node-options":
		w.nodeOptions(f)
	case "options":
		w.toolOptions(name, f.text)
	case "compiler":
		w.judgeCompilerVariable(name, f)
	case "prompt":
		if strings.ContainsAny(v, "`") || strings.Contains(v, "$(") {
			w.walkInnerText(field{text: ": \"" + strings.ReplaceAll(f.text, `"`, `\"`) + "\""})
			w.addEffect(Exec, LevelAlways, name, "the prompt of the shell runs a command")
		}
	case "history":
		w.addEffect(History, LevelSensitive, name, "it keeps the shell from writing its history")
	case "address":
		w.addEffect(NetOut, LevelSensitive, name, "the variable "+name+" sends what programs say to "+v)
	case "less":
		if strings.ContainsAny(v, "+!|") || strings.Contains(v, "lesskey") {
			w.addEffect(Exec, LevelAlways, name,
				"the variable LESS gives less commands, which can run programs")
		}
	case "settings", "settings-or-temporary":
		if p := w.placeOf(f); p.kind != placeProject && (p.kind != placeTemp || kind == "settings") {
			w.addEffect(Exec, LevelSensitive, name, "programs take their settings from "+v)
		}
	default:
		w.addEffect(Exec, LevelAlways, name, "the variable "+name+" makes programs run other code")
	}
}

// judgeCompilerVariable judges a variable that names a tool of builds: one of the system or of the
// project, and no shell.
func (w *walker) judgeCompilerVariable(name string, f field) {
	words := strings.Fields(f.text)
	if len(words) == 0 {
		return
	}
	first := partOf(f, words[0])
	p := w.placeOf(first)
	if base := pathBase(first.text); isOneOf("sh bash dash zsh python python3 perl node ruby eval curl wget nc", base) ||
		strings.Contains(first.text, "/") && p.kind != placeProject && p.kind != placeSystem || strings.ContainsAny(f.text, ";|&`$") && !f.dyn {
		w.addEffect(Exec, LevelAlways, name, "the variable "+name+" makes builds run "+f.text)
	}
}

// nodeOptions are options of node in its environment: the same as on its command line.
func (w *walker) nodeOptions(f field) {
	allHandlers()
	node := table.data["node"].readProgram()
	var words []field
	for word := range strings.FieldsSeq(f.text) {
		if strings.Trim(word, unknown) != "" { // the old ones
			words = append(words, partOf(f, word))
		}
	}
	g := node.takeArguments(words)
	node.optionsDo(w, cmd{name: "node"}, g)
	if len(g.valuesOf("code"))+len(g.operands) > 0 {
		w.addEffect(Exec, LevelAlways, "NODE_OPTIONS", "the variable NODE_OPTIONS makes programs run other code")
	}
}

// toolOptions are options that a tool takes from its environment.
func (w *walker) toolOptions(name, v string) {
	for _, bad := range []string{"require", "import", "loader", "-r ", "toolexec", "-exec", "linker", "eval", "javaagent", "OnError", "SHELL", "-p ", "-e ", "inspect", "extld", "-fplugin", "-wrapper", "-specs", "-f/", "-f ", "--file", "--eval", "RUNNER"} {
		if strings.Contains(v, bad) {
			w.addEffect(Exec, LevelAlways, name, "the variable "+name+" makes programs run other code")
			return
		}
	}
}

// allOwnFolders reports whether every part of a list of folders is in the project or the system's
// own.
func (w *walker) allOwnFolders(f field) bool {
	for p := range strings.SplitSeq(f.text, ":") {
		if p == "" || strings.Trim(p, unknown) == "" {
			continue
		}
		at := w.placeOf(field{text: p, dyn: strings.Contains(p, unknown)})
		if at.kind != placeProject && (at.kind != placeSystem || strings.Contains(p, unknown)) {
			return false
		}
	}
	return true
}

func (w *walker) searchPath(f field) {
	for p := range strings.SplitSeq(f.text, ":") {
		if strings.Trim(p, unknown) == "" && p != "" {
			continue // the old one
		}
		at := w.placeOf(field{text: p, dyn: strings.Contains(p, unknown)})
		switch {
		case p == "" || p == ".":
		case at.kind == placeSystem && !strings.Contains(p, unknown), toolFolder(p + "/"):
			continue
		case at.kind == placeHome || at.kind == placeStartup:
			continue // ~/go/bin, ~/.local/bin: the person's own
		}
		w.addEffect(Exec, LevelAlways, "PATH", "programs are first looked for in "+strings.ReplaceAll(p, unknown, "…"))
	}
}
