package command

import (
	"regexp"
	"slices"
	"strings"

	"hermes/core/shelltext"
)

// readerHandlers read, whatever they are told; what they write is said elsewhere.
func readerHandlers() map[string]handler {
	return map[string]handler{
		"arch": func(w *walker, c cmd) { // the one of macOS runs its words
			w.runWords(parseOptions(c.args, "d e arch", true).operands)
		},
		"complete compgen": judgeComplete,
		"exiftool": func(w *walker, c cmd) {
			for _, a := range c.args {
				if isOneOf("-config -if -execute -@ -stay_open -p -userParam", a.text) || strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "<") {
					w.addEffect(Exec, LevelSensitive, a.text, "exiftool runs code or takes options from a file")
				}
				if name, _, set := strings.Cut(a.text, "="); set && strings.HasPrefix(name, "-") || strings.HasPrefix(strings.ToLower(a.text), "-tagsfromfile") || a.text == "-geotag" {
					w.addEffect(Write, LevelSensitive, a.text, "exiftool changes or renames files")
				}
			}
		},
		"read readarray mapfile": judgeReadBuiltin,
		"getopts":                optionsOf,
		"shift":                  judgeShift,
		"echo":                   judgeEcho,
		"env":                    judgeEnv,
		"date":                   dateTool,
		"hostname":               judgeHostname,
		"history":                historyTool,
		"fd fdfind":              findFast,
		"set unset":              judgeSet,
		"yq": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "", false); o.hasOption("i", "inplace", "in-place") {
				w.addOutputs(o.operandsAfter(1))
			}
			for _, a := range c.args {
				for _, m := range loadsFile.FindAllStringSubmatch(a.text, maxWords) {
					w.addRead(field{text: m[1]}, true)
				}
				w.out.secret = w.out.secret || strings.Contains(a.text, "env")
			}
			w.passOnFiltered()
		},
	}
}

// loadsFile is how yq reads another file.
var loadsFile = regexp.MustCompile(`load\w*\(\s*"([^"]*)"`)

// judgeFilter judges what reads its operands and what comes in, and passes it on.
func judgeFilter(w *walker, c cmd) {
	if c.name == "printenv" {
		w.out.secret = true
	}
	if w.in.any {
		w.passOnFiltered()
	}
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "/dev/") {
			w.addRead(a, !isOneOf("ls stat lsblk df test [ file [[ findmnt", c.name))
		}
	}
	w.filterActs(c)
	if c.name == "cat" {
		w.passOn(c.args)
	}
	if c.name == "printf" && len(c.args) > 0 {
		w.outputPrintf(c.args)
	}
	if isOneOf("man less more ag ack bat batcat delta", c.name) {
		judgePager(w, c)
	}
}

// filterActs are options of readers that do more than read.
func (w *walker) filterActs(c cmd) {
	if c.name == "ps" && len(c.args) > 0 && !strings.HasPrefix(c.args[0].text, "-") && strings.Contains(c.args[0].text, "e") {
		w.addEffect(Credential, LevelSensitive, c.args[0].text,
			"ps shows the environment of every process")
		w.out.secret = true
	}
	switch o := parseOptions(c.args, "", false); {
	case c.name == "shopt" && slices.ContainsFunc(c.args, func(a field) bool { return a.text == "dotglob" || a.dyn }):
		w.dotGlob = true
	case c.name == "fuser" && o.hasOption("k", "kill"):
		w.addEffect(System, LevelSensitive, firstOperand(c),
			"it ends the processes that use "+firstOperand(c))
	case c.name == "pidstat" && o.hasOption("e"):
		w.runWords(parseOptions(c.args, "", true).operands)
	case isOneOf("neofetch fastfetch", c.name) && o.hasOption("config", "c", "print_config"):
		w.addEffect(Exec, LevelSensitive, c.name, "its settings can run commands")
	case c.name == "jq" && (strings.Contains(joinedText(c.args), "env") || strings.Contains(joinedText(c.args), "$ENV")):
		w.out.secret = true
	}
}

// passOn is what cat puts out, where that is known: what comes in, or nothing.
func (w *walker) passOn(args []field) {
	switch {
	case len(args) == 0:
		w.out.text, w.out.plain = w.in.text, w.in.plain
	case len(args) == 1 && args[0].text == "/dev/null":
		w.out.any, w.out.plain = true, true
	}
}

// judgePager looks for the options of pagers that start programs.
func judgePager(w *walker, c cmd) {
	for _, a := range c.args {
		if c.name == "less" && len(a.text) > 1 && (a.text[0] == '-' && (a.text[1] == 'o' || a.text[1] == 'O') || strings.HasPrefix(a.text, "--log-file")) {
			o := parseOptions(c.args, "o O log-file LOG-FILE", false)
			w.addOutputs(o.valuesOf("o", "O", "log-file", "LOG-FILE"))
		}
		if isOneOf("less more", c.name) && (strings.HasPrefix(a.text, "+") && strings.ContainsAny(a.text, "!|#v") || strings.HasPrefix(a.text, "--lesskey") || a.text == "-k") {
			w.addEffect(Exec, LevelAlways, a.text, c.name+" is given commands, which can run programs")
		}
	}
	if isOneOf("less more", c.name) {
		return
	}
	for _, v := range parseOptions(c.args, "P pager H html", false).valuesOf("P", "pager", "H",
		"html") {
		if !isOneOf("cat less more", v.text) {
			w.walkInnerText(v)
			w.addEffect(Exec, LevelAlways, v.text, c.name+" runs "+v.text)
		}
	}
}

func judgeEcho(w *walker, c cmd) {
	args := c.args
	for len(args) > 0 && strings.Trim(args[0].text, "neE") == "-" {
		args = args[1:]
	}
	w.outputEcho(args)
}

// outputEcho is what echo puts out.
func (w *walker) outputEcho(args []field) {
	words := make([]string, len(args))
	plain := true
	for i, a := range args {
		words[i] = a.text
		plain = plain && !a.dyn
		w.out = w.out.mergedWith(a.from)
	}
	w.out.any = true
	w.out.text, w.out.plain = w.out.text+strings.Join(words, " ")+"\n", plain
}

// outputPrintf is what printf puts out.
func (w *walker) outputPrintf(args []field) {
	name := ""
	for strings.HasPrefix(args[0].text, "-v") { // into a variable
		if name = args[0].text[2:]; name == "" && len(args) > 1 {
			name, args = args[1].text, args[1:]
		}
		if args = args[1:]; len(args) == 0 {
			return
		}
	}
	if args[0].text == "--" && len(args) > 1 {
		args = args[1:]
	}
	if name != "" {
		f := joinWords(args)
		w.setVariable(name, field{text: printfOutput(args), dyn: f.dyn, sub: true, from: f.from}, false)
		return
	}
	before := w.out.text
	w.outputEcho(args)
	w.out.text = before + printfOutput(args)
}

// judgeEnv judges env: alone it shows the environment, otherwise it changes that and runs a
// program.
func judgeEnv(w *walker, c cmd) {
	o := takeApart(shelltext.WrapperOf("env").Grammar(), c.args)
	restore := w.openScope()
	defer restore()
	split := false
	for _, s := range o.given {
		switch {
		case isOneOf("C chdir", s.name):
			w.enterFolder(s.value)
		case s.role == "splits":
			split = true
			w.walkInnerText(s.value)
		}
	}
	rest := o.operands
	for len(rest) > 0 {
		name, v, ok := strings.Cut(rest[0].text, "=")
		if !ok {
			break
		}
		w.passesOn(name, partOf(rest[0], v))
		rest = rest[1:]
	}
	if len(rest) == 0 {
		w.out.secret = !split
		return
	}
	w.runWords(rest)
}

func dateTool(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("date.options"), false)
	if o.hasOption("s", "set") {
		w.addEffect(System, LevelSensitive, "clock", "it sets the clock")
	}
	for _, a := range o.operands {
		if isDescriptor(a.text) && len(a.text) >= 8 {
			w.addEffect(System, LevelSensitive, "clock", "it sets the clock")
		}
	}
}

func judgeHostname(w *walker, c cmd) {
	if o := parseOptions(c.args, "", false); len(o.operands) > 0 || o.hasOption("F", "file", "b") {
		w.addEffect(System, LevelSensitive, "host name", "it changes the name of the machine")
	}
}

func historyTool(w *walker, c cmd) {
	o := parseOptions(c.args, "d", false)
	if o.hasOption("c", "d", "w", "r", "a", "n") {
		w.addEffect(History, LevelSensitive, "history", "it changes the history of the shell")
	}
}

// judgeComplete judges complete and compgen: words and commands that the shell expands or runs.
func judgeComplete(w *walker, c cmd) {
	o := parseOptions(c.args, wordList("complete.options"), false)
	for _, v := range o.valuesOf("C") {
		w.walkInnerText(v)
	}
	for _, v := range o.valuesOf("W") { // its words are expanded
		w.walkInnerText(field{text: ": \"" + strings.ReplaceAll(v.text, `"`, `\"`) + "\""})
	}
	if o.hasOption("C", "F") {
		w.addEffect(Exec, LevelAlways, firstOperand(c),
			c.name+" has the shell run a command of its own choice")
	}
	for _, v := range o.valuesOf("W") {
		if strings.ContainsAny(v.text, "`") || strings.Contains(v.text, "$(") {
			w.addEffect(Exec, LevelAlways, v.text, c.name+" runs what stands in its words")
		}
	}
	judgeFilter(w, c)
}

// judgeSet judges set and unset, by which a shell stops to write its history.
func judgeSet(w *walker, c cmd) {
	if c.name == "set" {
		w.setWords(c)
	}
	for i, a := range c.args {
		if strings.HasPrefix(a.text, "HIST") && c.name == "unset" || c.name == "set" && a.text == "+o" && i+1 < len(c.args) && c.args[i+1].text == "history" {
			w.addEffect(History, LevelSensitive, a.text, "it keeps the shell from writing its history")
		}
	}
	judgeFilter(w, c)
}

// addOutputs adds files that a program writes.
func (w *walker) addOutputs(files []field) {
	for _, f := range files {
		if f.text == "-" || f.text == "" {
			continue
		}
		w.addWrite(f, "writes")
		if w.placeOf(f).kind == placeCredential {
			w.judgeReplacement(f, false)
		}
		w.noteWritten(f)
	}
}
