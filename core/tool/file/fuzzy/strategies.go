package fuzzy

import "strings"

func findExact(q *query) []Span { return findOccurrences(q.content, q.old, q.new) }

func findOccurrences(content, old, text string) []Span {
	var spans []Span
	for at := 0; ; {
		i := strings.Index(content[at:], old)
		if i < 0 {
			return spans
		}
		spans = append(spans, Span{at + i, at + i + len(old), text})
		at += i + len(old)
	}
}

// lineTrimmed ignores white space at both ends of every line.
func lineTrimmed(q *query) []Span { return q.blockSpans(strings.TrimSpace) }

// whitespaceNormalised takes any run of blanks and tabs within a line for one blank: whole lines
// first, then a piece of a line.
func whitespaceNormalised(q *query) []Span {
	if spans := q.blockSpans(func(s string) string { return collapseBlanks(s).text }); spans != nil {
		return spans
	}
	return q.mappedSpans(collapseBlanks)
}

// indentationFlexible also ignores indentation: the sum of the two before.
func indentationFlexible(q *query) []Span {
	return q.blockSpans(func(s string) string { return collapseBlanks(strings.TrimSpace(s)).text })
}

// escapeNormalised reads \n, \t, \" and the like in the quote as what they stand for, in the
// replacement too: a call that was escaped twice was escaped twice everywhere.
func escapeNormalised(q *query) []Span {
	old, text := unescapeQuote(q.old), unescapeQuote(q.new)
	if old == q.old || strings.TrimSpace(old) == "" {
		return nil
	}
	if spans := findOccurrences(q.content, old, text); spans != nil {
		return spans
	}
	lines, ended := splitLines(old)
	return q.blocksOf(lines, text, ended, strings.TrimSpace)
}

func unescapeQuote(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, `'`).Replace(s)
}

// trimmedBoundary drops blank lines around the quote, then white space around it.
func trimmedBoundary(q *query) []Span {
	want := trimBlank(q.oldLines)
	if len(want) < len(q.oldLines) {
		lines, _ := splitLines(q.new)
		text := strings.Join(trimBlank(lines), "\n")
		if spans := q.blocksOf(want, text, false, strings.TrimSpace); spans != nil {
			return spans
		}
	}
	old := strings.TrimSpace(q.old)
	if old == q.old {
		return nil
	}
	return findOccurrences(q.content, old, strings.TrimSpace(q.new))
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// unicodeNormalised takes typographic quotes, dashes, ellipses and special blanks for their ASCII
// forms.
func unicodeNormalised(q *query) []Span {
	forms := []func(string) normal{toASCII, asciiLong}
	for _, norm := range forms {
		if spans := q.mappedSpans(norm); spans != nil {
			return spans
		}
	}
	for _, norm := range forms {
		var spans []Span
		for _, i := range q.matchingRuns(q.oldLines, func(s string) string { return norm(strings.TrimSpace(s)).text }) {
			spans = append(spans, q.blockSpan(i, q.oldLines, q.asFileSpells(i, norm), q.ended))
		}
		if spans != nil {
			return spans
		}
	}
	return nil
}

// asFileSpells is the replacement for the lines from first on as the file spells it: a line that
// the quote has too stays as it is in the file.
func (q *query) asFileSpells(first int, norm func(string) normal) string {
	var pairs []string
	for k, old := range q.oldLines {
		old, have := strings.TrimSpace(old), strings.TrimSpace(q.text[first+k])
		pairs = append(pairs, pairSpellings(old, norm(old), have, norm(have))...)
	}
	habits := strings.NewReplacer(pairs...)
	lines := strings.Split(q.new, "\n")
	next := 0
	for i, s := range lines {
		if k := indexTrimmed(q.oldLines[next:], s); k >= 0 {
			lines[i] = indentOf(s) + strings.TrimSpace(q.text[first+next+k])
			next += k + 1
			continue
		}
		lines[i] = habits.Replace(s)
	}
	return strings.Join(lines, "\n")
}

// blockAnchor finds a block by its first and last line; what is between must be similar: half for a
// single candidate, 70 % when there are several.
func blockAnchor(q *query) []Span {
	n := len(q.oldLines)
	if n < 3 || n > len(q.text) {
		return nil
	}
	first, last := strings.TrimSpace(q.oldLines[0]), strings.TrimSpace(q.oldLines[n-1])
	if first == "" || last == "" {
		return nil
	}
	var at []int
	for i := 0; i+n <= len(q.text); i++ {
		if strings.TrimSpace(q.text[i]) == first && strings.TrimSpace(q.text[i+n-1]) == last {
			at = append(at, i)
		}
	}
	floor := 0.5
	if len(at) > 1 {
		floor = 0.7
	}
	var spans []Span
	for _, i := range at {
		if q.averageLikeness(q.text[i+1:i+n-1], q.oldLines[1:n-1]) >= floor {
			spans = append(spans, q.blockSpan(i, q.oldLines, q.new, q.ended))
		}
	}
	return spans
}

// contextAware finds the run of lines of which most are alike: at least half of the quote's lines
// that are not blank, each to 80 %, the first or the last among them. Only the best run counts;
// several best ones are ambiguous.
func contextAware(q *query) []Span {
	n := len(q.oldLines)
	if len(trimBlank(q.oldLines)) < 2 || n > len(q.text) || n*len(q.text) > 2_000_000 {
		return nil
	}
	c := newComparer(q)
	best, at := 0.5, []int(nil)
	for i := 0; i+n <= len(q.text); i++ {
		share, anchored := c.shareAlike(i)
		switch {
		case !anchored || share < best:
		case share > best || at == nil:
			best, at = share, []int{i}
		default:
			at = append(at, i)
		}
	}
	var spans []Span
	for _, i := range at {
		spans = append(spans, q.blockSpan(i, q.oldLines, q.new, q.ended))
	}
	return spans
}
