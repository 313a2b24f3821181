package recall

import (
	_ "embed" // the words that say nothing
	"strings"
	"sync"
	"unicode"

	"hermes/core/cjk"
)

//go:embed stopwords.txt
var stopWordList string

var stopWords = sync.OnceValue(func() map[string]bool {
	stop := map[string]bool{}
	for line := range strings.Lines(stopWordList) {
		if !strings.HasPrefix(line, "#") {
			for _, w := range strings.Fields(line) {
				stop[w] = true
			}
		}
	}
	return stop
})

const (
	maxQuery = 4096 // bytes that are looked at
	maxTerms = 40
)

// queryTerms are the words of a query that say something, as the index has them, each once. When
// all say nothing they are all there.
func queryTerms(query string) []string {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	words := strings.FieldsFunc(cjk.IndexText(strings.ToLower(query)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	seen := map[string]bool{}
	var terms, empty []string
	for _, w := range words {
		if seen[w] || len(seen) >= maxTerms {
			continue
		}
		seen[w] = true
		// The lone last character of a run of Chinese is half of a pair that is there already.
		if stopWords()[w] || isLone(w) && len(words) > 1 {
			empty = append(empty, w)
			continue
		}
		terms = append(terms, w)
	}
	if len(terms) == 0 {
		return empty
	}
	return terms
}

func isLone(w string) bool {
	r := []rune(w)
	return len(r) == 1 && (cjk.Is(r[0]) || r[0] < unicode.MaxASCII && !unicode.IsNumber(r[0]))
}

// anyOf is the MATCH expression that finds every text with one of the terms.
func anyOf(terms []string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = quoteTerm(t)
	}
	return strings.Join(quoted, " OR ")
}

func quoteTerm(term string) string { return `"` + strings.ReplaceAll(term, `"`, `""`) + `"` }
