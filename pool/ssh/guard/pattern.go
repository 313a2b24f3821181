package guard

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Runes that no pattern and no command holds.
const (
	unknown = '\x00' // any text: an expansion, a glob
	blank   = '\x01' // a space inside one argument, which is none between two
)

// pattern is one entry of a list.
type pattern struct {
	text  string
	words []string
}

func parsePatterns(key string, texts []string) ([]pattern, error) {
	out := make([]pattern, 0, len(texts))
	for _, text := range texts {
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			return nil, fmt.Errorf("%s: an entry is empty; write a program (git) or a command with * for any text (git log *)", key)
		case strings.ContainsAny(text, "\x00\x01\n"):
			return nil, fmt.Errorf("%s: %q holds a character that no command has", key, text)
		}
		out = append(out, pattern{text: text, words: words})
	}
	return out, nil
}

// usual are the directories whose programs a bare name means.
var usual = []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"}

// mustMatch says whether p allows the command, whatever its unknown parts become.
func (p pattern) mustMatch(argv []word) bool {
	name := argv[0].Text
	if path.IsAbs(name) && !strings.Contains(p.words[0], "/") {
		if !slices.Contains(usual, path.Dir(name)) || path.Clean(name) != name {
			return false
		}
		name = path.Base(name)
	}
	if len(p.words) == 1 {
		return mustMatchGlob(p.words[0], name)
	}
	return p.matchesWhole(func(glob string) bool { return mustMatchGlob(glob, joinCommand(name, argv[1:], blank)) })
}

// mayMatch says whether p may deny the command or one that begins with its words, whatever its
// unknown parts become.
func (p pattern) mayMatch(argv []word) bool {
	name := argv[0].Text
	if !strings.Contains(p.words[0], "/") {
		name = path.Base(name)
	}
	if len(p.words) == 1 {
		return mayMatchGlob(p.words[0], name)
	}
	text := joinCommand(name, argv[1:], ' ')
	return p.matchesWhole(func(glob string) bool { return mayMatchGlob(glob, text) || mayMatchGlob(glob+" *", text) })
}

// matchesWhole asks f about the pattern, and about the pattern without its " *" at the end.
func (p pattern) matchesWhole(f func(glob string) bool) bool {
	if f(strings.Join(p.words, " ")) {
		return true
	}
	last := len(p.words) - 1
	return p.words[last] == "*" && f(strings.Join(p.words[:last], " "))
}

// joinCommand writes a command as one text. Spaces inside an argument become space.
func joinCommand(name string, args []word, space rune) string {
	var b strings.Builder
	b.WriteString(name)
	for _, w := range args {
		b.WriteByte(' ')
		b.WriteString(strings.Map(func(r rune) rune {
			if r == ' ' || r == '\t' || r == '\n' {
				return space
			}
			return r
		}, w.Text))
	}
	return b.String()
}

// mustMatchGlob says whether every text that text stands for matches glob: an unknown part only
// matches *.
func mustMatchGlob(glob, text string) bool {
	g, t := []rune(glob), []rune(text)
	star, back := -1, 0 // where the last * is, and what it has taken
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(g) && g[i] == '*':
			star, back = i, j
			i++
		case i < len(g) && t[j] != unknown && (g[i] == '?' || g[i] == t[j]):
			i, j = i+1, j+1
		case star >= 0:
			back++
			i, j = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(string(g[i:]), "*") == ""
}

// mayMatchGlob says whether some text that text stands for matches glob.
func mayMatchGlob(glob, text string) bool {
	t := []rune(text)
	row := make([]bool, len(t)+1) // row[j]: g[:i] can be t[:j]
	row[0] = true
	for j := 1; j <= len(t); j++ {
		row[j] = row[j-1] && t[j-1] == unknown
	}
	for _, c := range glob {
		next := make([]bool, len(t)+1)
		next[0] = row[0] && c == '*'
		for j := 1; j <= len(t); j++ {
			switch {
			case c == '*', t[j-1] == unknown: // both stand for nothing or for one more
				next[j] = row[j] || next[j-1]
			default:
				next[j] = row[j-1] && (c == '?' || c == t[j-1])
			}
		}
		row = next
	}
	return row[len(t)]
}
