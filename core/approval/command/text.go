package command

import (
	"slices"
	"strings"
)

// textTools have a language of their own.
func textTools() map[string]handler {
	return map[string]handler{
		"sed gsed":            judgeSed,
		"find gfind":          judgeFind,
		"xargs gxargs":        judgeXargs,
		"m4":                  func(w *walker, _ cmd) { w.addEffect(Exec, LevelSensitive, "", "m4 can run commands") },
		"envsubst":            func(w *walker, _ cmd) { w.passOnFiltered(); w.out.secret = true },
		"sqlformat  mustache": judgeFilter,
	}
}

func judgeSed(w *walker, c cmd) {
	o := parseOptions(c.args, "e expression f file l line-length", false)
	scripts, files := o.valuesOf("e", "expression"), o.operands
	fromFile := o.valuesOf("f", "file")
	if len(scripts) == 0 && len(fromFile) == 0 {
		if len(files) == 0 {
			return
		}
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		w.sedScript(s)
	}
	if len(fromFile) > 0 {
		for _, f := range fromFile {
			if f.proc || w.placeOf(f).kind != placeProject {
				w.addEffect(Exec, LevelSensitive, f.text, "sed runs the script "+f.text)
			} else {
				w.runScript(c.name, f)
			}
		}
	}
	if slices.ContainsFunc(o.set, func(s option) bool {
		return s.name == "i" || s.long && isOneOf("in in- in-p in-pl in-pla in-plac in-place", s.name)
	}) {
		w.sedInPlace(o, scripts, files)
	}
	for _, f := range files {
		w.addRead(f, true)
	}
	if w.in.any {
		w.passOnFiltered()
	}
}

// sedInPlace is sed -i: the files are written, and some scripts leave nothing of them.
func (w *walker) sedInPlace(o options, scripts, files []field) {
	for _, f := range files {
		w.askLostContent(f, w.addWrite(f, "changes"))
		if base := pathBase(f.text); strings.HasSuffix(base, "sh") || !strings.Contains(base, ".") {
			w.noteWritten(f)
		}
		for _, script := range scripts {
			if isOneOf("d 1,$d $!d;d 1,$!d /./d /^/d /.*/d s/.*// /$/d 1~1d", strings.TrimSpace(script.text)) || o.hasOption("n", "quiet", "silent") && !strings.ContainsAny(script.text, "pPwi") {
				w.addEffect(Delete, LevelSensitive, f.text, "deletes all lines of "+w.nameOf(f))
			}
		}
	}
}

// sedScript looks for the commands of sed that run programs or write files.
func (w *walker) sedScript(f field) {
	if f.dyn && strings.TrimSpace(strings.ReplaceAll(f.text, unknown, "")) == "" {
		w.addEffect(Exec, LevelSensitive, "", "the script of sed is known only when it runs")
		return
	}
	s := sedReader{rest: f.text}
	for s.readCommand() {
		switch s.command {
		case 'e':
			w.addEffect(Exec, LevelAlways, s.argument, "sed runs a command (e)")
			w.walkInnerText(partOf(f, s.argument))
		case 'w', 'W':
			w.addOutputs([]field{{text: strings.TrimSpace(s.argument)}})
		case 'r', 'R':
			w.addRead(field{text: strings.TrimSpace(s.argument)}, true)
		}
		if s.runs {
			w.addEffect(Exec, LevelAlways, f.text, "sed runs what it has replaced (s///e)")
		}
	}
	if s.lost {
		w.addEffect(Unclear, LevelSensitive, f.text, "the script of sed is not understood")
	}
}

// sedReader goes through a script of sed, command by command.
type sedReader struct {
	rest     string
	command  byte
	argument string
	runs     bool // s///e
	lost     bool
}

func (s *sedReader) readCommand() bool {
	s.runs, s.argument = false, ""
	s.rest = strings.TrimLeft(s.rest, " \t\n;{}")
	if s.rest == "" || s.lost {
		return false
	}
	for s.takeAddress() {
		s.rest = strings.TrimLeft(s.rest, " \t")
	}
	s.rest = strings.TrimLeft(s.rest, " \t!")
	if s.rest == "" {
		return false
	}
	s.command, s.rest = s.rest[0], s.rest[1:]
	switch s.command {
	case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F', 'l', 'q', 'Q', ';', '\n':
		s.rest = strings.TrimLeft(s.rest, "0123456789 ")
	case '#':
		s.takeLine()
	case 'a', 'i', 'c':
		s.takeLine()
		for strings.HasSuffix(s.argument, `\`) && s.rest != "" {
			s.takeLine()
		}
	case 'e', 'w', 'W', 'r', 'R', 'v':
		s.takeLine()
	case ':', 'b', 't', 'T':
		end := strings.IndexAny(s.rest, ";\n}")
		if end < 0 {
			end = len(s.rest)
		}
		s.rest = s.rest[end:]
	case 's', 'y':
		s.readSubstitute()
	default:
		s.lost = true
	}
	return true
}

func (s *sedReader) takeLine() {
	s.argument, s.rest, _ = strings.Cut(s.rest, "\n")
}

// takeAddress takes one address off, with the comma behind it.
func (s *sedReader) takeAddress() bool {
	r := strings.TrimLeft(s.rest, ", \t")
	switch {
	case r == "":
		return false
	case r[0] >= '0' && r[0] <= '9', r[0] == '$', r[0] == '+' || r[0] == '~':
		r = strings.TrimLeft(r, "0123456789$+~")
	case r[0] == '/':
		r = strings.TrimLeft(afterDelimiter(r[1:], '/'), "IM")
	case r[0] == '\\' && len(r) > 1:
		r = strings.TrimLeft(afterDelimiter(r[2:], r[1]), "IM")
	default:
		return false
	}
	s.rest = r
	return true
}

// afterDelimiter returns what follows the next unescaped delimiter.
func afterDelimiter(s string, by byte) string {
	class := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[' && !class:
			class = strings.IndexByte(s[i+1:], ']') >= 0
		case s[i] == ']':
			class = false
		case s[i] == by && !class:
			return s[i+1:]
		}
	}
	if at := strings.IndexByte(s, by); at >= 0 { // a bracket that is no class
		return s[at+1:]
	}
	return ""
}

func (s *sedReader) readSubstitute() {
	if s.rest == "" {
		s.lost = true
		return
	}
	by := s.rest[0]
	after := afterDelimiter(afterDelimiter(s.rest[1:], by), by)
	for after != "" {
		switch c := after[0]; {
		case c == 'e' && s.command == 's':
			s.runs = true
		case c == 'w':
			s.argument, after, _ = strings.Cut(after[1:], "\n")
			s.command = 'w'
			s.rest = after
			return
		case strings.IndexByte("gpiImM0123456789", c) >= 0:
		case c == ';' || c == '\n' || c == '}' || c == ' ' || c == '\t' || c == '#':
			s.rest = after
			return
		default:
			s.lost = true
			return
		}
		after = after[1:]
	}
	s.rest = ""
}

func insideParens(s string, at int) bool {
	return strings.Count(s[:at], "(") > strings.Count(s[:at], ")")
}

func judgeFind(w *walker, c cmd) {
	var roots []field
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if strings.HasPrefix(a.text, "-") || a.text == "(" || a.text == "!" {
			break
		}
		roots = append(roots, a)
	}
	w.out.keys = w.out.keys || foundName(c.args) != "found" || w.findsOwn(roots, c.args) || w.isCredential(field{text: "."}) || slices.ContainsFunc(roots, w.isCredential)
	for i := 0; i < len(c.args); i++ {
		switch a := c.args[i]; a.text {
		case "-delete":
			w.findDeletes(roots, findsAll(c.args))
		case "-exec", "-execdir", "-ok", "-okdir":
			i = w.findRuns(c.args, i+1, roots)
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(c.args) {
				w.addOutputs(c.args[i+1 : i+2])
			}
		case "-files0-from":
		default:
			if a.dyn && a.sub && !a.quoted {
				w.addEffect(Unclear, LevelSensitive, "", "the options of find are known only when it runs")
			}
		}
	}
	w.passOnFiltered()
}

// findRuns is the command of -exec, from its first word on; it returns where that ends.
func (w *walker) findRuns(args []field, at int, roots []field) (end int) {
	if at < len(args) && !names[args[at].text] && w.findsOwn(roots, args) {
		w.handsKeys(args[at].text)
	}
	var words []field
	for end = at; end < len(args) && args[end].text != ";" && args[end].text != "+"; end++ {
		words = append(words, w.foundFields(args[end], roots, args)...)
	}
	w.runWords(words)
	return end
}

// findsAll reports that find leaves out nothing: no test of names, times or sizes, and it begins
// where it starts.
func findsAll(args []field) bool {
	for _, a := range args {
		if isOneOf("-name -iname -path -ipath -wholename -regex -iregex -lname -mtime -mmin -atime -amin -ctime -cmin -newer -newermt -anewer -cnewer -size -empty -maxdepth -user -group -uid -gid -perm -inum -samefile -links -used", a.text) {
			return false
		}
	}
	return true
}

func (w *walker) findDeletes(roots []field, all bool) {
	if len(roots) == 0 {
		roots = []field{{text: "."}}
	}
	for _, r := range roots {
		if p := w.placeOf(r); p.top && (all && !w.ctx.Sandboxed || p.path == "/") {
			w.addEffect(Delete, levelNever, r.text, "deletes all that it finds in "+r.text+": that is a whole system or home")
			continue
		}
		w.addEffect(Delete, LevelSensitive, r.text, "deletes all that it finds in "+w.nameOf(r))
	}
}

// foundFields is {} in the command of find: something below where it starts.
func (w *walker) foundFields(f field, roots []field, args []field) []field {
	all, name := findsAll(args), foundName(args)
	if !strings.Contains(f.text, "{}") {
		return []field{f}
	}
	if f.text != "{}" {
		f.text, f.dyn = strings.ReplaceAll(f.text, "{}", unknown), true
		return []field{f}
	}
	if len(roots) == 0 {
		return []field{{text: "./" + name, glob: true}}
	}
	var out []field
	for _, r := range roots {
		if all {
			out = append(out, r) // which is found first
		}
		r.text = strings.TrimSuffix(r.text, "/") + "/" + name
		out = append(out, r)
	}
	return out
}

// foundName is the name of what find finds, where that is the name of a secret.
func foundName(args []field) string {
	for i, a := range args {
		if i+1 >= len(args) {
			break
		}
		pattern := args[i+1].text
		switch {
		case isOneOf("-regex -iregex", a.text):
			if name := secretMatching(findPattern("regex", pattern)); name != "" {
				return name
			}
		case isOneOf("-name -iname -path -ipath -wholename", a.text):
			if name := pathBase(strings.ReplaceAll(pattern, "*", "")); credentialName(name) || credentialName("x"+name) || startupName(name) {
				return name
			}
			if strings.Contains(pattern, "/.ssh") || strings.HasSuffix(pattern, ".pem") || strings.Contains(pattern, "id_") {
				return "id_rsa"
			}
			if name := secretMatching(findPattern("name", pattern)); name != "" {
				return name
			}
		}
	}
	return "found"
}

// secretMatching returns a secret whose name a pattern finds that is not one for ordinary files.
func secretMatching(finds func(name string) bool) string {
	for ordinary := range strings.FieldsSeq(wordList("names.ordinary")) {
		if finds(ordinary) {
			return ""
		}
	}
	for secret := range strings.FieldsSeq(wordList("names.secret")) {
		if finds(secret) {
			return secret
		}
	}
	return ""
}

func judgeXargs(w *walker, c cmd) {
	o := parseOptions(c.args, "a arg-file d delimiter E I L n P s max-args max-procs max-lines max-chars replace i", true)
	if len(o.operands) == 0 {
		w.passOnFiltered()
		return
	}
	// What it reads becomes words of the command, not its input.
	in := w.in
	for _, v := range o.valuesOf("a", "arg-file") {
		w.addRead(v, true)
		in = w.fileFrom(v)
		in.any = true
	}
	replace := ""
	for _, v := range o.valuesOf("I", "replace", "i") {
		replace = v.text
	}
	if in.keys && !names[o.firstOperand()] {
		w.handsKeys(o.firstOperand())
	}
	words := xargsWords(append([]field(nil), o.operands...), in, replace, o.hasOption("0", "null", "d", "delimiter"))
	w.in = traits{}
	w.out.secret = w.out.secret || in.secret
	w.runWords(words)
	w.in = in
}
