package score

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconText string

// class is the index of a line of the lexicon.
type class = uint8

// lexicon knows the classes of words.
type lexicon struct {
	names   []string
	exact   map[string][]class
	stems   map[string][]class // words that count with any ending
	first   map[string]bool    // words that a phrase begins with
	longest int                // most characters of a Chinese word
}

// shortestStem bounds the prefixes that are looked up.
const shortestStem = 3

var words = sync.OnceValue(func() *lexicon { return parseLexicon(lexiconText) })

func parseLexicon(text string) *lexicon {
	l := &lexicon{exact: map[string][]class{}, stems: map[string][]class{}, first: map[string]bool{}}
	for line := range strings.Lines(text) {
		name, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		id := class(len(l.names))
		l.names = append(l.names, name)
		for word := range strings.FieldsSeq(list) {
			l.add(word, id)
		}
	}
	return l
}

func (l *lexicon) add(word string, id class) {
	if stem, ok := strings.CutSuffix(word, "*"); ok && len(stem) >= shortestStem {
		l.stems[stem] = append(l.stems[stem], id)
		return
	}
	l.exact[word] = append(l.exact[word], id)
	if i := strings.IndexByte(word, '_'); i > 0 {
		l.first[word[:i]] = true
	}
	if isHan(word) {
		l.longest = max(l.longest, utf8.RuneCountInString(word))
	}
}

// classesOf lists the classes of a word: those of itself, else those of the longest stem that it
// begins with.
func (l *lexicon) classesOf(word string) []class {
	if c := l.exact[word]; c != nil {
		return c
	}
	for n := min(len(word), 16); n >= shortestStem; n-- {
		if c := l.stems[word[:n]]; c != nil {
			return c
		}
	}
	return nil
}

func isHan(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return isHanRune(r)
}

func isHanRune(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf
}
