package store

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxQuery = 2048 // bytes of a query that are looked at
	maxTerms = 16
)

// Terms splits a query at blanks; "quoted words" stay together. It looks at the first 2,048 bytes and 16 terms.
// A term keeps a trailing '*', which asks for words that start so.
func Terms(query string) []string {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	var terms []string
	for query != "" && len(terms) < maxTerms {
		var term string
		term, query = cutTerm(strings.TrimLeftFunc(query, unicode.IsSpace))
		if strings.IndexFunc(term, isWord) >= 0 {
			terms = append(terms, term)
		}
	}
	return terms
}

func cutTerm(q string) (term, rest string) {
	if strings.HasPrefix(q, `"`) {
		if end := strings.IndexByte(q[1:], '"'); end >= 0 {
			return q[1 : 1+end], q[end+2:]
		}
	}
	end := strings.IndexFunc(q, unicode.IsSpace)
	if end < 0 {
		return q, ""
	}
	return q[:end], q[end:]
}

// matchQuery returns the MATCH expression of terms, all of which must be found. Every term is quoted, so that none
// can be an operator. It returns "" when there is nothing to look for.
func matchQuery(terms []string, typing bool) string {
	var b strings.Builder
	for i, term := range terms {
		prefix := strings.HasSuffix(term, "*") || typing && i == len(terms)-1
		phrase(&b, strings.TrimRight(term, "*"), prefix)
	}
	return strings.TrimSpace(b.String())
}

func phrase(b *strings.Builder, term string, prefix bool) {
	term = strings.TrimRightFunc(term, func(r rune) bool { return !isWord(r) })
	if strings.IndexFunc(term, isWord) < 0 {
		return
	}
	var text strings.Builder
	pairs(&text, strings.ReplaceAll(term, "\x00", " "), false)
	b.WriteString(` "`)
	b.WriteString(strings.ReplaceAll(text.String(), `"`, `""`))
	b.WriteByte('"')
	if prefix && !endsInPair(term) || endsInLone(term) {
		b.WriteByte('*')
	}
}

// endsInLone reports whether term ends in a run of one character, which is found as the start of a pair.
func endsInLone(term string) bool {
	last, n := utf8.DecodeLastRuneInString(term)
	if !isCJK(last) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(term[:len(term)-n])
	return !isCJK(before)
}

func endsInPair(term string) bool {
	last, _ := utf8.DecodeLastRuneInString(term)
	return isCJK(last) && !endsInLone(term)
}
