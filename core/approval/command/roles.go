package command

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"hermes/core/realpath"
)

type (
	optionRole  func(w *walker, p *program, c cmd, o given)
	operandRole func(w *walker, p *program, c cmd, files []field)
)

// optionRoles are what options of programs in the data files may be for. "flag", "value", "code",
// "show" and "module" do nothing by themselves.
func optionRoles() map[string]optionRole {
	return map[string]optionRole{
		"run": func(w *walker, _ *program, _ cmd, o given) { w.runWords([]field{o.value}) },
		"runs": func(w *walker, _ *program, c cmd, o given) {
			w.walkInnerText(o.value)
			w.addEffect(Exec, LevelAlways, o.value.text, c.name+" runs "+showUnknown(o.value.text)+" for each file")
		},
		"shell":  func(w *walker, _ *program, _ cmd, o given) { w.walkInnerText(o.value) },
		"script": func(w *walker, _ *program, c cmd, o given) { w.runScript(c.name, o.value) },
		"load":   func(w *walker, _ *program, c cmd, o given) { w.loadsModule(c.name, o.value) },
		"config": func(w *walker, _ *program, c cmd, o given) { w.takesCode(c.name, o.value) },
		"folder": func(w *walker, _ *program, c cmd, o given) {
			for part := range strings.SplitSeq(o.value.text, ":") {
				w.takesCode(c.name, field{text: part, dyn: strings.Contains(part, unknown), glob: o.value.glob})
			}
		},
		"setting": func(w *walker, p *program, c cmd, o given) {
			if name, _, _ := strings.Cut(o.value.text, "="); !isOneOf(p.Harmless, strings.TrimSpace(name)) {
				w.addEffect(Exec, LevelAlways, o.value.text, c.name+" is given the setting "+showUnknown(o.value.text)+", which can make it run other code")
			}
		},
		"variable": func(w *walker, _ *program, _ cmd, o given) {
			if name, v, ok := strings.Cut(o.value.text, "="); ok {
				w.judgeSetting(name, partOf(o.value, v))
			}
		},
		"write": func(w *walker, _ *program, _ cmd, o given) { w.addOutputs([]field{o.value}) },
		"read":  func(w *walker, _ *program, _ cmd, o given) { w.addRead(o.value, true) },
		"chdir": func(w *walker, _ *program, c cmd, o given) {
			w.takesCode(c.name, o.value)
			w.enterFolder(o.value)
		},
		"listen": func(w *walker, _ *program, _ cmd, o given) {
			if o.has && !ownHost(o.value.text) {
				w.addEffect(NetOut, LevelSensitive, o.value.text, "it opens "+showUnknown(o.value.text)+" to the network")
			}
		},
		"project": func(w *walker, _ *program, c cmd, o given) {
			w.addEffect(Run, LevelStandard, o.value.text,
				"runs what the project says ("+c.name+" "+o.flag+")")
		},
		"place": func(w *walker, _ *program, c cmd, o given) {
			if w.placeOf(o.value).kind != placeProject {
				w.addEffect(Exec, LevelSensitive, o.value.text, c.name+" works in "+w.nameOf(o.value)+", outside of the project")
			}
		},
		"settings": func(w *walker, _ *program, _ cmd, o given) {
			if p := w.placeOf(o.value); p.kind == placeTemp || p.kind == placeOutside || p.kind == placeUnknown {
				w.addEffect(Exec, LevelSensitive, o.value.text, "the settings in "+w.nameOf(o.value)+" can run programs")
			}
		},
		"url":  func(w *walker, _ *program, _ cmd, o given) { w.gitURL([]field{o.value}) },
		"task": func(w *walker, _ *program, c cmd, o given) { w.runTask(c.name, taskName(o.value)) },
		"ask": func(w *walker, _ *program, c cmd, o given) {
			w.addEffect(Exec, LevelAlways, o.flag, c.name+" is given "+o.flag+", which makes it run or load other code")
		},
	}
}

// operandRoles are what operands of programs in the data files may be. Without one nothing is said
// of them.
func operandRoles() map[string]operandRole {
	all := func(of func(w *walker, c cmd, f field)) operandRole {
		return func(w *walker, _ *program, c cmd, files []field) {
			for _, f := range files {
				of(w, c, f)
			}
		}
	}
	firstOnly := func(of func(w *walker, c cmd, f field)) operandRole {
		return func(w *walker, _ *program, c cmd, files []field) {
			if len(files) > 0 {
				of(w, c, files[0])
			}
		}
	}
	return map[string]operandRole{
		"url":           func(w *walker, _ *program, _ cmd, list []field) { w.gitURL(list) },
		"first-output":  func(w *walker, _ *program, _ cmd, list []field) { w.addOutputs(list[:min(1, len(list))]) },
		"script-name":   firstOnly(func(w *walker, c cmd, f field) { w.runTask(c.name, taskName(f)) }),
		"python-module": func(w *walker, _ *program, _ cmd, words []field) { w.pythonModule(words[0].text, words[1:]) },
		"code-files": all(func(w *walker, c cmd, f field) {
			if strings.ContainsAny(f.text, "/") {
				w.takesCode(c.name, f)
			}
		}),
		"script":     firstOnly(func(w *walker, c cmd, f field) { w.runScript(c.name, f) }),
		"task":       firstOnly(func(w *walker, c cmd, f field) { w.runTask(c.name, f) }),
		"module":     firstOnly(func(w *walker, c cmd, f field) { w.loadsModule(c.name, f) }),
		"scripts":    all(func(w *walker, c cmd, f field) { w.runScript(c.name, f) }),
		"edit":       all(func(w *walker, _ cmd, f field) { w.judgeEdit(f) }),
		"output":     all(func(w *walker, _ cmd, f field) { w.addOutputs([]field{f}) }),
		"write":      all(func(w *walker, _ cmd, f field) { w.addWrite(f, "writes") }),
		"change":     all(func(w *walker, _ cmd, f field) { w.addWrite(f, "changes") }),
		"delete-all": all(func(w *walker, _ cmd, f field) { w.addRemoval(f, true) }),
		"read":       all(func(w *walker, _ cmd, f field) { w.addRead(f, true) }),
		"words":      func(w *walker, _ *program, _ cmd, files []field) { w.runWords(files) },
		"line":       func(w *walker, _ *program, _ cmd, files []field) { w.runJoined(files) },
		"texts":      all(func(w *walker, _ cmd, f field) { w.walkInnerText(f) }),
		"packages":   func(w *walker, _ *program, _ cmd, files []field) { w.askPackages(files) },
		"fetched":    func(w *walker, _ *program, _ cmd, files []field) { w.runProjectTool(files) },
		"code": all(func(w *walker, c cmd, f field) {
			w.addEffect(Exec, LevelAlways, f.text, c.name+" runs code that stands in the command")
		}),
		"class": firstOnly(func(w *walker, _ cmd, f field) {
			if strings.ContainsAny(f.text, "/") || strings.HasSuffix(f.text, ".java") {
				w.runScript("java", f)
				return
			}
			w.addEffect(Run, LevelStandard, f.text, "runs the program "+showUnknown(f.text))
		}),
	}
}

// operandsDo notes what the operands are, after the code of options.
func (w *walker) operandsDo(p *program, role string, c cmd, g parsed, operands []field) {
	code := g.valuesOf("code")
	switch {
	case len(code) > 0:
		if v := code[0]; len(code) > 1 || v.dyn || len(g.strange) > 0 || !p.onlyShows(w, g, v.text) {
			w.addEffect(Exec, LevelAlways, v.text, c.name+" runs code that stands in the command")
		} else {
			w.runImported(c.name, v.text)
		}
	case len(g.valuesOf("module")) > 0:
		w.pythonModule(g.valuesOf("module")[0].text, operands)
	case len(g.valuesOf("script"))+len(g.valuesOf("shell")) > 0: // operands are its arguments
	case len(g.valuesOf("project")) > 0:
		table.operands["scripts"](w, p, c, operands)
	case len(operands) == 0, operands[0].text == "-" && p.reads && w.showsOnly(p):
		w.withoutOperands(p, c, g)
	default:
		if act := table.operands[role]; act != nil {
			act(w, p, c, operands)
		}
	}
}

// withoutOperands is a program that is given nothing to work on: it takes what comes in.
func (w *walker) withoutOperands(p *program, c cmd, g parsed) {
	switch {
	case len(g.valuesOf("shell"))+len(g.valuesOf("listen"))+len(g.valuesOf("task")) > 0:
	case !p.reads:
		w.addNamedEffect(p.Alone, c.name, nil)
	case w.showsOnly(p):
		w.addEffect(Run, LevelStandard, c.name, "runs code that only shows something")
	case w.in.any:
		w.stdinCode(c.name)
	default:
		w.addNamedEffect(p.Alone, c.name, nil)
	}
}

var moduleName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?@?[A-Za-z_][\w:/.@-]*(=[\w:,./-]*)?$`) })

// loadsModule is code that an option names: a module that is installed, or a file.
func (w *walker) loadsModule(name string, f field) {
	module, path, _ := strings.Cut(f.text, "=")
	if module == "lib" && path != "" { // perl: where it looks for modules
		w.takesCode(name, partOf(f, path))
		return
	}
	switch {
	case f.text == "":
	case f.dyn, strings.Contains(f.text, "://"), strings.HasPrefix(f.text, "data:"):
		w.addEffect(Exec, LevelAlways, f.text, name+" loads "+showUnknown(f.text))
	case strings.HasPrefix(f.text, "/"), strings.HasPrefix(f.text, "."), strings.HasPrefix(f.text, "~"):
		w.takesCode(name, f)
	case !moduleName().MatchString(f.text):
		w.addEffect(Exec, LevelAlways, f.text, name+" is given "+f.text+" to load, which can be code")
	default:
		w.takesCode(name, f)
	}
}

// takesCode is a file or folder from which a program takes code or settings: of the project, or it
// asks.
func (w *walker) takesCode(name string, f field) {
	if f.text == "" {
		return
	}
	if _, v, ok := strings.Cut(f.text, "="); ok && v != "" && strings.IndexByte("/.~", v[0]) >= 0 { // name=file
		f = partOf(f, v)
	}
	p := w.placeOf(f)
	switch {
	case f.proc, f.dyn, p.kind == placeStream, strings.Contains(f.text, "://"), strings.HasPrefix(f.text, "data:"):
		w.addEffect(Exec, LevelAlways, f.text, name+" takes code or settings from "+showUnknown(f.text))
	case w.written[p.path] || w.writtenBelow(p.path) || w.opened && p.kind == placeProject:
		w.addEffect(Exec, LevelAlways, f.text, name+" takes code or settings from "+w.nameOf(f)+", which this very line wrote or unpacked")
	case p.kind == placeCredential && isDotenv(p.path) && w.inProject(p.path, !path.IsAbs(f.text)):
	case p.kind != placeProject && !isInstalled(p.path):
		w.addEffect(Exec, LevelAlways, f.text, name+" takes code or settings from "+w.nameOf(f))
	}
}

// ownHost reports whether a place to listen at is one that only this machine reaches.
func ownHost(s string) bool {
	host := s
	if at := strings.LastIndexByte(s, ':'); at >= 0 && !strings.HasSuffix(s, "]") {
		host = s[:at]
	}
	host = strings.Trim(host, "[]")
	return host == "" && s == "" || isDescriptor(s) || host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1" || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./")
}

// isInstalled reports whether what is there was installed: by the system, or by tools that keep
// packages for projects.
func isInstalled(p string) bool {
	if realpath.Within(p, "/usr") {
		return true
	}
	for _, dir := range []string{"/.m2/repository/", "/.gradle/caches/", "/.ivy2/cache/", "/.cache/coursier/", "/.sbt/boot/"} {
		if strings.Contains(p, dir) {
			return true
		}
	}
	return false
}

// judgeEdit judges a file that an editor opens.
func (w *walker) judgeEdit(f field) {
	if strings.HasPrefix(f.text, "!") {
		w.walkInnerText(partOf(f, f.text[1:]))
		w.addEffect(Exec, LevelAlways, f.text, "the editor runs "+showUnknown(f.text[1:]))
		return
	}
	w.addWrite(f, "edits")
}
