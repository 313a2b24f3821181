package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/core/cjk"
)

const (
	maxQuery = 2048 // bytes of a query that are looked at
	maxTerms = 16
)

// Or is the term that stands for the word OR of a query: what is before it, or what is behind it.
const Or = "\x00OR"

// Terms splits a query at blanks; "quoted words" stay together. It looks at the first 2,048 bytes
// and 16 terms. A term keeps a trailing '*', which asks for words that start so. OR is Or; in
// quotes, or small, it is a word.
func Terms(query string) []string {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	var terms []string
	for query != "" && len(terms) < maxTerms {
		var term string
		query = strings.TrimLeftFunc(query, unicode.IsSpace)
		plain := !strings.HasPrefix(query, `"`)
		if term, query = cutTerm(query); term == "OR" && plain {
			term = Or
		}
		if strings.IndexFunc(term, cjk.IsWord) >= 0 {
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

// splitAtOr splits terms at Or. All terms of one group must be found; no group is empty.
func splitAtOr(terms []string) (groups [][]string) {
	from := 0
	for i := range len(terms) + 1 {
		if i < len(terms) && terms[i] != Or {
			continue
		}
		if i > from {
			groups = append(groups, terms[from:i])
		}
		from = i + 1
	}
	return groups
}

// matchQuery returns the MATCH expression of terms. Every term is quoted, so that none can be an
// operator but Or. It returns "" when there is nothing to look for.
func matchQuery(terms []string, typing bool) string {
	groups := splitAtOr(terms)
	var all []string
	for g, group := range groups {
		var b strings.Builder
		for i, term := range group {
			last := g == len(groups)-1 && i == len(group)-1
			writePhrase(&b, strings.TrimRight(term, "*"), strings.HasSuffix(term, "*") || typing && last)
		}
		if b.Len() > 0 {
			all = append(all, strings.TrimSpace(b.String()))
		}
	}
	return strings.Join(all, " OR ")
}

func writePhrase(b *strings.Builder, term string, prefix bool) {
	term = strings.TrimRightFunc(term, func(r rune) bool { return !cjk.IsWord(r) })
	if strings.IndexFunc(term, cjk.IsWord) < 0 {
		return
	}
	var text strings.Builder
	cjk.WritePairs(&text, strings.ReplaceAll(term, "\x00", " "), false)
	b.WriteString(` "`)
	b.WriteString(strings.ReplaceAll(text.String(), `"`, `""`))
	b.WriteByte('"')
	if prefix && !endsInPair(term) || endsInLone(term) {
		b.WriteByte('*')
	}
}

// endsInLone reports whether term ends in a run of one character, which is found as the start of a
// pair.
func endsInLone(term string) bool {
	last, n := utf8.DecodeLastRuneInString(term)
	if !cjk.Is(last) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(term[:len(term)-n])
	return !cjk.Is(before)
}

func endsInPair(term string) bool {
	last, _ := utf8.DecodeLastRuneInString(term)
	return cjk.Is(last) && !endsInLone(term)
}
