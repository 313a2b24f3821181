package command

import (
	"regexp"
	"strings"
)

func judgeAwk(w *walker, p *program, _ cmd, g parsed) bool {
	p.optionsDo(w, cmd{name: "awk"}, g)
	programs, files := g.valuesOf("program"), g.operands
	for _, f := range g.valuesOf("program-file") {
		if f.proc || w.placeOf(f).kind != placeProject {
			w.addEffect(Exec, LevelSensitive, f.text, "awk runs the script "+f.text)
		} else {
			w.runScript("awk", f)
		}
	}
	if len(programs)+len(g.valuesOf("program-file")) == 0 && len(files) > 0 {
		programs, files = files[:1], files[1:]
	}
	named := append(g.valuesOf("value"), files...)
	for _, p := range programs {
		w.awkProgram(p)
		w.awkReads(p, named)
	}
	for _, v := range g.valuesOf("include") {
		if v.text != "inplace" {
			w.loadsModule("awk", v)
			continue
		}
		for _, f := range files {
			w.addWrite(f, "changes")
		}
	}
	for _, f := range files {
		w.addRead(f, true)
	}
	if w.in.any {
		w.passOnFiltered()
	}
	return true
}

// awkProgram looks for what starts programs, opens connections or writes files.
func (w *walker) awkProgram(f field) {
	code := awkCode(f.text)
	switch {
	case strings.Contains(code, "system"), strings.Contains(strings.ReplaceAll(code, "||", ""), "|"), strings.Contains(code, "@"):
		w.addEffect(Exec, LevelAlways, f.text, "awk runs a command")
	case strings.Contains(f.text, "/inet"):
		w.addEffect(NetOut, LevelAlways, f.text, "awk opens a connection")
	case f.dyn && strings.TrimSpace(strings.ReplaceAll(f.text, unknown, "")) == "":
		w.addEffect(Exec, LevelSensitive, "", "the program of awk is known only when it runs")
	}
	for stmt := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == ';' || r == '\n' || r == '}' }) {
		at := strings.Index(stmt, "print")
		if at < 0 {
			continue
		}
		if to := strings.LastIndexByte(stmt[at:], '>'); to >= 0 && !insideParens(stmt[at:], to) {
			w.addEffect(Write, LevelSensitive, f.text, "awk writes files")
		}
	}
	if strings.Contains(code, "ENVIRON") {
		w.out.secret = true
	}
}

// awkReads looks for files that a program of awk reads by itself (getline < file, ARGV[1] = file),
// whose names stand in its strings, or in variables that the command line sets.
func (w *walker) awkReads(f field, set []field) {
	code := awkCode(f.text)
	from := readsByName.FindAllStringSubmatch(code, -1)
	if len(from) == 0 {
		return
	}
	for _, m := range from {
		if name := strings.TrimSpace(m[1] + m[2]); strings.ContainsAny(name, "$") || strings.Contains(name, "ENVIRON") || f.dyn {
			w.addEffect(Unclear, LevelSensitive, f.text, "awk reads files that are known only when it runs")
		}
	}
	if len(from) > 0 && strings.Contains(code, "ENVIRON") {
		w.addEffect(Unclear, LevelSensitive, f.text, "awk reads files that are known only when it runs")
	}
	joined := ""
	for _, text := range awkStrings(f.text) {
		w.addRead(field{text: text}, true)
		if joined += text; strings.Contains(joined, "/") {
			w.addRead(field{text: joined}, true)
		}
	}
	for _, v := range set {
		_, value, _ := strings.Cut(v.text, "=")
		w.addRead(partOf(v, value), true)
	}
}

// readsByName finds where awk reads a file by its name.
var readsByName = regexp.MustCompile(`getline\b[^<;\n}]*<([^;\n})]*)|ARG[VC]\s*(?:\[[^\]]*\]\s*)?=([^=;\n}][^;\n}]*)`)

// awkStrings are the strings of a program of awk.
func awkStrings(s string) (out []string) {
	for _, m := range awkString.FindAllStringSubmatch(s, maxWords) {
		if text := strings.ReplaceAll(m[1], `\/`, "/"); text != "" {
			out = append(out, text)
		}
	}
	return out
}

var awkString = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// awkCode is a program of awk without what stands in its strings and patterns.
func awkCode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		b.WriteByte(c)
		if c != '"' && (c != '/' || !patternStarts(b.String())) {
			continue
		}
		for i++; i < len(s) && s[i] != c; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// patternStarts reports whether the slash that code ends with begins a pattern and is no division.
func patternStarts(code string) bool {
	before := strings.TrimRight(code[:len(code)-1], " \t")
	return before == "" || strings.IndexByte("(,;{}!~&|\n", before[len(before)-1]) >= 0
}
