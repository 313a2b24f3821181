package command

import (
	"strings"

	"hermes/core/shelltext"
)

func wrapperHandlers() map[string]handler {
	return map[string]handler{
		"parallel": judgeParallel,
		"watch": func(w *walker, c cmd) {
			o := parseOptions(c.args, "n interval", true)
			w.runJoined(o.operands)
		},
		"flock": func(w *walker, c cmd) {
			o := parseOptions(c.args, "w timeout wait E conflict-exit-code c command", true)
			for _, v := range o.valuesOf("c", "command") {
				w.walkInnerText(v)
			}
			rest := o.operandsAfter(1)
			if len(rest) > 1 && (rest[0].text == "-c" || rest[0].text == "--command") {
				w.walkInnerText(rest[1])
				return
			}
			w.runWords(rest)
		},
		"command": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "", true); !o.hasOption("v", "V") {
				w.runWords(o.operands)
			}
		},
		"sudo doas pkexec run0 sudoedit dzdo sesu please gosu su-exec runuser": judgePrivileged,
		"su": func(w *walker, c cmd) {
			w.addEffect(Privilege, LevelAlways, "", "it becomes another user")
			for _, v := range parseOptions(c.args, "c command s shell g G", false).valuesOf("c", "command") {
				w.walkInnerText(v)
			}
		},
		"chroot unshare nsenter setpriv capsh systemd-nspawn lxc-attach machinectl": func(w *walker, c cmd) {
			w.addEffect(Privilege, LevelAlways, c.name,
				c.name+" changes what a program is shut in or may do")
			plainWrapper(w, c)
		},
		"cross-env cross-env-shell env-cmd dotenv-cli": crossEnv,
	}
}

// crossEnv is cross-env: it sets variables, then runs the rest of its words.
func crossEnv(w *walker, c cmd) {
	rest := parseOptions(c.args, "f e", true).operands
	for len(rest) > 0 {
		name, v, ok := strings.Cut(rest[0].text, "=")
		if !ok {
			break
		}
		w.passesOn(name, partOf(rest[0], v))
		rest = rest[1:]
	}
	if c.name == "cross-env-shell" {
		w.runJoined(rest)
		return
	}
	w.runWords(rest)
}

// plainWrapper runs the rest of its words.
func plainWrapper(w *walker, c cmd) {
	x := shelltext.WrapperOf(c.name)
	p := takeApart(x.Grammar(), c.args)
	for _, o := range p.given {
		name, value, set := strings.Cut(o.value.text, "=")
		switch text, pipe := strings.CutPrefix(o.value.text, "|"); {
		case o.name == "o" && (pipe || strings.HasPrefix(o.value.text, "!")):
			w.walkInnerText(partOf(o.value, strings.TrimPrefix(text, "!")))
			w.addEffect(Exec, LevelAlways, o.value.text, c.name+" runs "+o.value.text)
		case o.name == "E" && c.name == "strace" && set: // -E NAME=value
			w.judgeSetting(name, partOf(o.value, value))
		}
	}
	rest := p.operands[min(x.Skip, len(p.operands)):]
	if x.Late {
		rest = skipDashes(rest)
	}
	w.runWords(rest)
}

// joinWords is words with blanks between them.
func joinWords(words []field) field {
	var f field
	var b strings.Builder
	for i, a := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
		f.dyn = f.dyn || a.dyn
		f.from = f.from.mergedWith(a.from)
	}
	f.text = b.String()
	return f
}

// runJoined runs a command whose words become one text for a shell.
func (w *walker) runJoined(words []field) {
	if len(words) == 0 {
		return
	}
	if len(words) == 1 && !strings.ContainsAny(words[0].text, " \t\n;|&$`~<>(){}*?[\\\"'#!=") {
		w.runWords(words)
		return
	}
	f := joinWords(words)
	if f.dyn && !words[0].dyn { // only its arguments are unknown
		w.runWords(words)
		return
	}
	w.walkChildShell(f)
}

func judgeParallel(w *walker, c cmd) {
	o := parseOptions(c.args, "j jobs a arg-file colsep d delimiter I N n S sshlogin workdir tmpdir results joblog timeout", true)
	if len(o.valuesOf("S", "sshlogin")) > 0 {
		w.addEffect(NetOut, LevelSensitive, "", "it runs commands on other machines")
	}
	var words []field
	from := w.in.mergedWith(traits{data: o.hasOption("a", "arg-file") || strings.Contains(joinedText(o.operands), " ::::")})
	for _, a := range o.operands {
		from = from.mergedWith(a.from)
	}
	given := []field{{text: unknown, dyn: true, sub: true, from: from}}
	for i, a := range o.operands {
		if strings.HasPrefix(a.text, ":::") {
			if a.text == ":::" && !strings.Contains(joinWords(o.operands[i+1:]).text, ":::") && !strings.Contains(joinWords(words).text, "{") {
				given = o.operands[i+1:]
			}
			break
		}
		words = append(words, a)
	}
	if len(words) == 0 {
		w.addEffect(Exec, LevelAlways, "", "parallel runs each line that it reads")
		return
	}
	for i := range words {
		if strings.Contains(words[i].text, "{") {
			words[i].text = strings.ReplaceAll(strings.ReplaceAll(words[i].text, "{}", unknown), "{.}", unknown)
			words[i].dyn = words[i].dyn || strings.Contains(words[i].text, unknown)
			words[i].from = words[i].from.mergedWith(from)
		}
	}
	if !given[0].dyn && len(words) > 0 && !strings.ContainsAny(words[0].text, " ;|&$`") {
		w.runWords(append(words, given...))
		return
	}
	w.runJoined(append(words, field{text: unknown, dyn: true, sub: true, from: from}))
	if len(words) == 1 && strings.ContainsAny(words[0].text, " ;|&") {
		w.walkInnerText(words[0])
	}
}

// judgePrivileged judges sudo and its like.
func judgePrivileged(w *walker, c cmd) {
	w.addEffect(Privilege, LevelAlways, c.name, "it runs with the rights of another user ("+c.name+")")
	x := shelltext.WrapperOf(c.name)
	if x == nil { // sudoedit
		x = shelltext.WrapperOf("sudo")
	}
	o := takeApart(x.Grammar(), c.args)
	rest := o.operands
	for len(rest) > 0 {
		name, v, ok := strings.Cut(rest[0].text, "=")
		if !ok || strings.ContainsAny(name, "/ ") {
			break
		}
		w.passesOn(name, partOf(rest[0], v))
		rest = rest[1:]
	}
	rest = rest[min(x.Skip, len(rest)):]
	if c.name == "sudoedit" || o.hasOption("e edit") {
		for _, f := range rest {
			w.addWrite(f, "edits")
		}
		return
	}
	w.runWords(rest)
}

// shellBuiltins are commands of the shell itself.
func shellBuiltins() map[string]handler {
	return map[string]handler{
		"cd pushd chdir": func(w *walker, c cmd) {
			o := parseOptions(c.args, "", false)
			if len(o.operands) == 0 {
				w.enterFolder(field{text: w.ctx.Home})
				return
			}
			w.enterFolder(o.operands[0])
		},
		"eval": func(w *walker, c cmd) {
			f := joinWords(c.args)
			w.walkInnerText(f)
			if len(c.args) > 0 {
				w.addEffect(Exec, LevelAlways, f.text, "eval runs text as a command")
			}
		},
		"source .": judgeSource,
		"trap": func(w *walker, c cmd) {
			if o := parseOptions(c.args, "", true); len(o.operands) > 1 && !o.hasOption("l", "p") && o.firstOperand() != "-" {
				w.walkInnerText(o.operands[0])
				w.trapped = append(w.trapped, o.operands[0])
			}
		},
		"alias": func(w *walker, c cmd) {
			for _, a := range c.args {
				if _, v, ok := strings.Cut(a.text, "="); ok {
					w.walkInnerText(partOf(a, v))
					w.addEffect(Exec, LevelAlways, a.text, "it gives a command another meaning")
				}
			}
		},
		"export declare typeset local readonly": func(w *walker, c cmd) { // behind a wrapper; as a clause elsewhere
			for _, a := range c.args {
				if name, v, ok := strings.Cut(a.text, "="); ok {
					w.setVariable(name, partOf(a, v), false)
					w.judgeSetting(name, partOf(a, v))
					if c.name != "export" {
						w.markLocal(name)
					}
					if strings.HasPrefix(v, "~") { // some shells make a folder of it
						w.forgetVariable(name)
					}
				} else if !strings.HasPrefix(name, "-") {
					w.declareBare(c.name, name, c.name == "export" && w.exported[name])
				}
			}
		},
		"enable": judgeEnable,
		"fc":     fixCommand,
		"kill":   judgeKill,
	}
}

// enterFolder changes the folder of what follows.
func (w *walker) enterFolder(f field) {
	p := w.placeOf(f)
	w.dirData = w.dirData || f.from.data
	switch {
	case f.text == "-" || f.dyn || f.glob || p.kind == placeUnknown:
		w.known = false
	default:
		if w.branch > 1 && p.path != w.dir { // it may not have happened
			w.known = w.known && w.inFunc == 0
		}
		w.dir = p.path
		if strings.HasPrefix(f.text, "/") {
			w.known = true
		}
	}
}

func judgeSource(w *walker, c cmd) {
	if len(c.args) == 0 {
		return
	}
	f := c.args[0]
	p := w.placeOf(f)
	w.sourced = w.sourced || !strings.HasSuffix(f.text, "/bin/activate")
	switch {
	case f.proc, f.dyn, p.kind == placeStream:
		w.addEffect(Exec, LevelAlways, f.text, "it runs what another command puts out")
	case w.written[p.path]:
		w.addEffect(Exec, LevelAlways, f.text, "runs "+w.nameOf(f)+", which this very line wrote")
	case p.kind == placeProject || p.kind == placeStartup && homeOf(p.path, w.ctx.Home) != "":
		w.addEffect(Run, LevelStandard, f.text, "runs "+w.nameOf(f))
	case p.kind == placeCredential && w.inProject(p.path, true):
		w.addEffect(Run, LevelStandard, f.text, "runs "+w.nameOf(f))
		w.out.secret = true
	default:
		w.addEffect(Exec, LevelAlways, f.text, "runs "+w.nameOf(f))
	}
}

// judgeKill recognises -1 as a process: every process that may be signalled. As the first word it
// is the signal 1.
func judgeKill(w *walker, c cmd) {
	args := c.args
	check := false
	if len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].text != "--" {
		check = args[0].text == "-0" || args[0].text == "-l" || args[0].text == "-L"
		skip := 1
		if args[0].text == "-s" || args[0].text == "-n" {
			check = len(args) > 1 && args[1].text == "0"
			skip = min(2, len(args))
		}
		args = args[skip:]
	}
	for _, a := range args {
		switch {
		case a.text == "-1":
			w.addEffect(System, levelNever, a.text, "it kills every process")
		case check, strings.HasPrefix(a.text, "%"), a.sub && !a.dyn, a.text == "--":
		default:
			w.addEffect(System, LevelSensitive, a.text, "it ends the process "+a.text)
		}
	}
}

// judgeEnable switches builtins; it can load them from a file.
func judgeEnable(w *walker, c cmd) {
	if o := parseOptions(c.args, "f", false); o.hasOption("f") || len(o.operands) > 0 &&
		!o.hasOption("n") {
		w.addEffect(Exec, LevelAlways, "",
			"it loads code into the shell, or gives a command another meaning")
	}
}

// fixCommand is fc, which edits old commands and runs them.
func fixCommand(w *walker, c cmd) {
	o := parseOptions(c.args, "e", false)
	if o.hasOption("l") {
		return
	}
	for _, v := range o.valuesOf("e") {
		w.walkInnerText(v)
	}
	w.addEffect(Exec, LevelAlways, firstOperand(c), "fc runs commands again that nobody sees here")
}
