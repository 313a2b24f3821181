package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// isHarmlessCode knows code of scripting languages that only shows a number, a word, a version or
// what plain functions make of them.
func isHarmlessCode(code string) bool {
	code = strings.TrimSpace(code)
	for {
		rest, ok := strings.CutPrefix(code, "import ")
		if !ok {
			break
		}
		names, after, found := strings.Cut(rest, ";")
		if !found && strings.Trim(names, "abcdefghijklmnopqrstuvwxyz0123456789_, ") == "" && !strings.Contains(names, "socket") && !strings.Contains(names, "subprocess") && !strings.Contains(names, "pty") {
			return true // as python -m does
		}
		if !found || strings.Trim(names, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_., ") != "" {
			return false
		}
		code = strings.TrimSpace(after)
	}
	if code == "" {
		return false
	}
	for _, call := range []string{"print(", "console.log(", "puts ", "p ", "echo "} {
		if rest, ok := strings.CutPrefix(code, call); ok {
			rest = strings.TrimRight(rest, "; ")
			if strings.HasSuffix(call, "(") {
				if rest, ok = strings.CutSuffix(rest, ")"); !ok {
					return false
				}
			}
			return onlyShows(rest)
		}
	}
	if strings.Trim(code, "0123456789+-*/%(). ") == "" {
		return true
	}
	for _, value := range []string{"process.version", "require("} { // node -p
		if strings.HasPrefix(code, value) {
			return onlyShows(strings.TrimRight(code, "; "))
		}
	}
	return false
}

var expressions struct {
	once                 sync.Once
	manifest, call, name *regexp.Regexp
}

// onlyShows reports whether an expression is made of numbers, plain strings, names and functions
// that only compute.
func onlyShows(s string) bool {
	x := &expressions
	x.once.Do(func() {
		x.manifest = regexp.MustCompile(`require\((?:'\./[\w./-]+\.json'|"\./[\w./-]+\.json")\)`)
		x.call = regexp.MustCompile(`([A-Za-z_$][\w$.]*)\s*\(`)
		x.name = regexp.MustCompile(`[A-Za-z_$][\w$]*`)
	})
	if len(s) > 500 || strings.Contains(s, "..") {
		return false
	}
	s = x.manifest.ReplaceAllString(s, "pkg")
	bare, ok := withoutStrings(s)
	if !ok || strings.Trim(bare, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.,+*/%<>=!:()[]{} -") != "" || strings.Contains(bare, "=>") || hasPercentLiteral(bare) {
		return false
	}
	for _, m := range x.call.FindAllStringSubmatch(bare, -1) {
		if !isOneOf(wordList("code.computes"), m[1]) {
			return false
		}
	}
	if strings.Contains(bare, "](") || strings.Contains(bare, ")(") {
		return false
	}
	return !slices.ContainsFunc(x.name.FindAllString(bare, -1), func(n string) bool {
		return isOneOf(wordList("code.acts"), n) || strings.HasPrefix(n, "__") && !isOneOf("__version__ __file__ __name__ __doc__", n)
	})
}

// hasPercentLiteral reports whether a word follows a percent sign at once: Ruby and Perl run what
// is in %x/.../.
func hasPercentLiteral(s string) bool {
	for i := range len(s) - 1 {
		if s[i] == '%' && (s[i+1]|0x20) >= 'a' && (s[i+1]|0x20) <= 'z' {
			return true
		}
	}
	return false
}

// withoutStrings is code without its plain strings; false when one of them may hold code.
func withoutStrings(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '`' || c == '#' && i+1 < len(s) && s[i+1] == '{' {
			return "", false
		}
		if c != '"' && c != '\'' {
			b.WriteByte(c)
			continue
		}
		end := strings.IndexByte(s[i+1:], c)
		if end < 0 {
			return "", false
		}
		text := s[i+1 : i+1+end]
		if strings.ContainsAny(text, "\\") && strings.Trim(text, "\\n") != "" || strings.Contains(text, "#{") || strings.Contains(text, "{") && i > 0 && strings.ContainsRune("fFrRbB", rune(s[i-1])) || strings.ContainsAny(text, "$@") && c == '"' {
			return "", false
		}
		i += end + 1
		b.WriteString("0")
	}
	return b.String(), true
}

// harmlessLines reports whether every line of a script is harmless code.
func harmlessLines(s string) bool {
	some := false
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		names, imports := strings.CutPrefix(l, "import ")
		if imports && strings.Trim(names, "abcdefghijklmnopqrstuvwxyz0123456789_, ") == "" {
			continue
		}
		if !isHarmlessCode(l) {
			return false
		}
		some = true
	}
	return some
}

// onlyLooksInGDB knows a gdb that is given a program of the project and commands that only look at
// it.
func (w *walker) onlyLooksInGDB(args []field) bool {
	var code, programs []field
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case isOneOf("-ex --ex -iex", a.text) && i+1 < len(args):
			i++
			code = append(code, args[i])
		case isOneOf("-batch --batch -q -quiet -nx -n --nx", a.text):
		case strings.HasPrefix(a.text, "-"):
			return false
		default:
			programs = append(programs, a)
		}
	}
	if len(code) == 0 || len(programs) == 0 || !looksOnly(code) || w.placeOf(programs[0]).kind != placeProject || w.in.any {
		return false
	}
	w.addEffect(Run, LevelStandard, programs[0].text, "debugs "+w.nameOf(programs[0]))
	return true
}

// looksOnly reports whether commands of a debugger only run the program and look at it.
func looksOnly(code []field) bool {
	for _, c := range code {
		words := strings.Fields(c.text)
		if c.dyn || len(words) == 0 || strings.ContainsAny(c.text, "|!(`$=") {
			return false
		}
		if !isOneOf("bt backtrace where run r start continue c quit q list l info frame up down finish next step n s break b tbreak thread disassemble x p print", words[0]) || words[0] == "thread" && len(words) > 3 && !isOneOf("bt backtrace", words[len(words)-1]) && !isOneOf("full", words[len(words)-1]) {
			return false
		}
		if words[0] == "run" && len(words) > 1 || words[0] == "r" && len(words) > 1 {
			return false // it starts through a shell
		}
	}
	return true
}
