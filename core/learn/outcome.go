package learn

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hermes/core/cjk"
	"hermes/core/shelltext"
)

// Outcome is what a turn came to.
type Outcome string

// Outcomes.
const (
	Good    Outcome = "good"
	Bad     Outcome = "bad"
	Unknown Outcome = "unknown"
)

// Signal is something that says how a turn went, and whose word that is. A model's opinion is none.
type Signal struct {
	Says Outcome `json:"says"`
	Why  string  `json:"why"`
	Mark bool    `json:"mark,omitempty"` // the person said just that
	Seen bool    `json:"seen,omitempty"` // a review has seen this mark
	// Person says that it is the person's own act: a mark, a refusal, a correction.
	Person bool `json:"person,omitempty"`
}

func (s Signal) byPerson() bool { return s.Mark || s.Person }

// judgeSignals judges what the person marked, else bad where anything is, good where something is,
// and else unknown.
func judgeSignals(signals []Signal) Outcome {
	out := Unknown
	if i := slices.IndexFunc(signals, isMark); i >= 0 {
		return signals[i].Says
	}
	for _, s := range signals {
		switch s.Says {
		case Bad:
			return Bad
		case Good:
			out = Good
		case Unknown:
		}
	}
	return out
}

func isMark(s Signal) bool { return s.Mark }

var (
	//go:embed verify.txt
	verifyText string
	//go:embed idle.txt
	idleText string
	//go:embed corrections.txt
	correctionText string
)

// compilePatterns compiles the lines of a data file, each a regular expression.
func compilePatterns(text string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, regexp.MustCompile("(?i)"+line))
		}
	}
	return out
}

var (
	verifying = sync.OnceValue(func() []*regexp.Regexp { return compilePatterns(verifyText) })
	idle      = sync.OnceValue(func() []*regexp.Regexp { return compilePatterns(idleText) })
	wrongs    = sync.OnceValue(func() []*regexp.Regexp { return compilePatterns(correctionText) })
)

func matchesAny(list []*regexp.Regexp, s string) bool {
	return slices.ContainsFunc(list, func(r *regexp.Regexp) bool { return r.MatchString(s) })
}

// isCorrection reports whether a person's words say that what was done is wrong.
func isCorrection(said string) bool {
	if len(said) > 200 {
		said = said[:200]
	}
	return matchesAny(wrongs(), strings.TrimSpace(said))
}

// commandOf is the command of a call, "" when it has none.
func commandOf(s Step) string {
	if s.Exit == nil {
		return ""
	}
	return s.Ran
}

// verificationSignals are what the last verifying command said with its exit code: tests, builds,
// and what the person's own words name.
func verificationSignals(task string, calls []Step) []Signal {
	for _, s := range slices.Backward(calls) {
		command := commandOf(s)
		if !slices.ContainsFunc(decidingOf(command), func(words []string) bool { return isCheck(words) || namedIn(task, words) }) {
			continue
		}
		if *s.Exit == 0 {
			return []Signal{{Says: Good, Why: "exit code 0 of " + cutText(command, 120)}}
		}
		return []Signal{{Says: Bad, Why: "an exit code that is not 0 of " + cutText(command, 120)}}
	}
	return nil
}

// decidingOf is the commands of a text whose exit code is the text's, with their programs without
// folders. Of a text that was cut nobody knows the end.
func decidingOf(text string) [][]string {
	if strings.HasSuffix(text, "…") {
		return nil
	}
	var out [][]string
	for _, words := range shelltext.Deciding(text) {
		list := make([]string, len(words))
		for i, w := range words {
			list[i] = w.Text
		}
		list[0] = path.Base(list[0])
		out = append(out, list)
	}
	return out
}

// isCheck reports whether a command's exit code says that something works.
func isCheck(words []string) bool {
	line := strings.Join(words, " ")
	return matchesAny(verifying(), line) && !matchesAny(idle(), line)
}

// namedIn reports whether the person named the program that a command runs. "make it work" names
// none: a word of letters only is a name where it stands in quotes.
func namedIn(task string, words []string) bool {
	program := words[0]
	if (program == "sh" || program == "bash" || program == "python3" || program == "node") && len(words) > 1 {
		program = words[1]
	}
	program = path.Base(program)
	if len(program) < 4 || !strings.Contains(task, program) {
		return false
	}
	if strings.ContainsFunc(program, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return true
	}
	return slices.ContainsFunc([]string{"`", `"`, "'"}, func(q string) bool { return strings.Contains(task, q+program) })
}

// comparedWords are those of a task by which tasks are compared, with the programs that it took.
func comparedWords(x Experience) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(cjk.IndexText(x.Task)), func(r rune) bool { return !cjk.IsWord(r) }) {
		if len(w) > 3 {
			out = append(out, w)
		}
	}
	for _, s := range x.Calls {
		if f := strings.Fields(commandOf(s)); len(f) > 0 {
			out = append(out, "$"+path.Base(f[0]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// taskLikeness is how much two tasks have in common, from 0 to 1.
func taskLikeness(a, b []string) float64 {
	both := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			both++
		}
	}
	if len(a)+len(b) == both {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
