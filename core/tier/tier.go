// Package tier estimates how much a request asks of a model, so that a new session can begin with
// one that is enough for it.
//
// The contract: equal texts give equal estimates; nothing is asked and nothing is read but the
// text. The rules are data (rules.yaml), and every estimate has its reasons.
package tier

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Tier is a kind of model by what it is enough for.
type Tier string

// The tiers.
const (
	Small    Tier = "small"
	Standard Tier = "standard"
	Strong   Tier = "strong"
	Code     Tier = "code"
)

// Below them a small model is enough, and the standard one.
const (
	smallBelow    = 0.3
	standardBelow = 0.7
)

// Estimate is what a request asks of a model.
type Estimate struct {
	Complexity float64  `json:"complexity"` // 0..1
	Code       bool     `json:"code"`       // it is a request for code
	Reasons    []string `json:"reasons"`    // what added to it, for people
}

// Tier is the tier that is enough.
func (e Estimate) Tier() Tier {
	switch {
	case e.Code:
		return Code
	case e.Complexity < smallBelow:
		return Small
	case e.Complexity < standardBelow:
		return Standard
	default:
		return Strong
	}
}

// Words are the estimate in one line.
func (e Estimate) Words() string {
	why := "nothing special in it"
	if len(e.Reasons) > 0 {
		why = strings.Join(e.Reasons, ", ")
	}
	if e.Code {
		return fmt.Sprintf("a request for code, complexity %.2f: %s", e.Complexity, why)
	}
	return fmt.Sprintf("complexity %.2f: %s", e.Complexity, why)
}

//go:embed rules.yaml
var rulesData []byte

type rules struct {
	Length []struct {
		Over   int     `yaml:"over"`
		Adds   float64 `yaml:"adds"`
		Reason string  `yaml:"reason"`
	} `yaml:"length"`
	Steps  counted    `yaml:"steps"`
	Files  counted    `yaml:"files"`
	Code   wordRule   `yaml:"code"`
	Words  []wordRule `yaml:"words"`
	Coding wordRule   `yaml:"coding"`
}

// counted adds something for each of some things.
type counted struct {
	Each    float64  `yaml:"each"`
	Most    float64  `yaml:"most"`
	Reason  string   `yaml:"reason"`
	Words   []string `yaml:"words"`
	Endings []string `yaml:"endings"`
}

type wordRule struct {
	Adds   float64  `yaml:"adds"`
	Reason string   `yaml:"reason"`
	Short  int      `yaml:"short"`
	Words  []string `yaml:"words"`
}

var loaded = sync.OnceValues(func() (rules, error) {
	var r rules
	d := yaml.NewDecoder(strings.NewReader(string(rulesData)))
	d.KnownFields(true)
	return r, d.Decode(&r)
})

// longest is how much of a request is read, in bytes: what is longer is complex by its length.
const longest = 64 << 10

// Judge estimates a request.
func Judge(request string) Estimate {
	r, err := loaded()
	if err != nil {
		return Estimate{Complexity: 0.5, Reasons: []string{"the rules cannot be read: " + err.Error()}} // a test reads them
	}
	text := strings.TrimSpace(request)
	var e Estimate
	for _, l := range r.Length {
		if utf8.RuneCountInString(text) > l.Over {
			e.add(l.Adds, l.Reason)
		}
	}
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	lower := strings.ToLower(text)
	files, code := countFiles(text, r.Files.Endings), holdsCode(text, r.Code.Words)
	e.count(r.Steps, countSteps(lower, r.Steps.Words))
	e.count(r.Files, files)
	if code {
		e.add(r.Code.Adds, r.Code.Reason)
	}
	for _, w := range r.Words {
		fits := w.Short == 0 || utf8.RuneCountInString(text) <= w.Short
		if fits && countHits(lower, w.Words) > 0 {
			e.add(w.Adds, w.Reason)
		}
	}
	coding := countHits(lower, r.Coding.Words)
	e.Code = coding >= 2 || coding == 1 && (files > 0 || code)
	e.Complexity = min(max(e.Complexity, 0), 1)
	return e
}

func (e *Estimate) add(n float64, reason string) {
	e.Complexity += n
	e.Reasons = append(e.Reasons, reason)
}

func (e *Estimate) count(c counted, n int) {
	if n > 1 || n == 1 && c.Each >= c.Most/4 {
		e.add(min(float64(n)*c.Each, c.Most), c.Reason)
	}
}

// countHits counts the words that stand in a text, each once.
func countHits(lower string, words []string) int {
	n := 0
	for _, w := range words {
		n += min(1, countWord(lower, w))
	}
	return n
}

// countWord counts how often a word stands in a text as a whole one; where a script has no blanks
// between words, anywhere.
func countWord(text, word string) int {
	n := 0
	first, _ := utf8.DecodeRuneInString(word)
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return n
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if unicode.Is(unicode.Han, first) || !joined(before) && !joined(after) {
			n++
		}
		from = at + len(word)
	}
}

func joined(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// countFiles counts what looks like the name of a file, each once.
func countFiles(text string, endings []string) int {
	seen := map[string]bool{}
	for _, m := range fileSign().FindAllString(text, -1) {
		for _, part := range endingSign().FindAllStringSubmatch(m, -1) {
			if slices.Contains(endings, part[1]) {
				seen[m] = true
			}
		}
	}
	return len(seen)
}

// countSteps counts items of lists and words that say what comes next, each time they stand there.
func countSteps(lower string, words []string) int {
	n := len(itemSign().FindAllString(lower, -1))
	for _, w := range words {
		n += countWord(lower, w)
	}
	return n
}

// holdsCode reports a fence, the lines of a diff, or the head of a declaration.
func holdsCode(text string, words []string) bool {
	if fenceSign().MatchString(text) {
		return true
	}
	for line := range strings.Lines(text) {
		word, rest, more := strings.Cut(strings.TrimLeft(line, " \t"), " ")
		if more && slices.Contains(words, word) && strings.ContainsAny(rest, "({:;\"<") {
			return true
		}
	}
	return false
}

var (
	fileSign = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\w./-]*\w\.[a-z]+\b`)
	})
	endingSign = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([a-z]+)\b`) })
	fenceSign  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?m)```|^(?:diff --git|@@ |\\+\\+\\+ |--- a/)")
	})
	itemSign = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:\d+[.)]|[-*]) `)
	})
)
