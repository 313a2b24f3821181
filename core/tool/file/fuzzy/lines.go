package fuzzy

import "strings"

// line is content[start:end]; end excludes the line's own "\n" or "\r\n".
type line struct{ start, end int }

// query is one search: the content and the quote, both also as lines.
type query struct {
	content, old, new string

	lines    []line
	text     []string // content of lines
	oldLines []string // of old without its last line end
	ended    bool     // old ended in a line end
	spent    int      // of effort
}

func newQuery(content, old, replacement string) *query {
	q := &query{content: content, old: old, new: replacement}
	for start := 0; start <= len(content); {
		end := len(content)
		if nl := strings.IndexByte(content[start:], '\n'); nl >= 0 {
			end = start + nl
		}
		next := end + 1
		if end > start && end < len(content) && content[end-1] == '\r' {
			end--
		}
		q.lines = append(q.lines, line{start, end})
		q.text = append(q.text, content[start:end])
		start = next
	}
	q.oldLines, q.ended = splitLines(old)
	return q
}

func splitLines(s string) (lines []string, ended bool) {
	ended = strings.HasSuffix(s, "\n")
	lines = strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines, ended
}

// matchingRuns returns the first lines of all non-overlapping runs that equal want line by line
// under norm.
func (q *query) matchingRuns(want []string, norm func(string) string) []int {
	if len(want) == 0 || len(want) > len(q.text) {
		return nil
	}
	wanted := mapLines(want, norm)
	have := mapLines(q.text, norm)
	var found []int
	for i := 0; i+len(wanted) <= len(have); i++ {
		if equalLines(have[i:i+len(wanted)], wanted) {
			found = append(found, i)
			i += len(wanted) - 1
		}
	}
	return found
}

func mapLines(lines []string, f func(string) string) []string {
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = f(s)
	}
	return out
}

func equalLines(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// blockSpan is the span of n lines from first, replaced by text in the place's own indentation and
// line ends. ended says that the quote included its last line end.
func (q *query) blockSpan(first int, want []string, text string, ended bool) Span {
	last := first + len(want) - 1
	start, end := q.lines[first].start, q.lines[last].end
	text = reindentText(text, want, q.text[first:last+1])
	if ended {
		rest := q.content[end:]
		switch {
		case strings.HasPrefix(rest, "\r\n"):
			end += 2
		case strings.HasPrefix(rest, "\n"):
			end++
		default:
			text = strings.TrimSuffix(text, "\n")
		}
	}
	if q.endsInCRLF(first) {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	return Span{start, end, text}
}

// endsInCRLF reports whether line i ends in "\r\n".
func (q *query) endsInCRLF(i int) bool {
	return strings.HasPrefix(q.content[q.lines[i].end:], "\r\n")
}

// blockSpans makes spans of the windows of the quote under norm.
func (q *query) blockSpans(norm func(string) string) []Span {
	return q.blocksOf(q.oldLines, q.new, q.ended, norm)
}

func (q *query) blocksOf(want []string, text string, ended bool, norm func(string) string) []Span {
	var spans []Span
	for _, i := range q.matchingRuns(want, norm) {
		spans = append(spans, q.blockSpan(i, want, text, ended))
	}
	return spans
}
