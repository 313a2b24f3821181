package fuzzy

import (
	"cmp"
	"slices"
	"strings"
)

// reindentText gives text, written for the indentation of want, the indentation of have: the same
// lines as they are in the file.
func reindentText(text string, want, have []string) string {
	m := newIndents(want, have)
	if m.same {
		return text
	}
	lines := strings.Split(text, "\n")
	inPlace := len(strings.Split(strings.TrimSuffix(text, "\n"), "\n")) == len(want)
	next := 0
	for i, s := range lines {
		body := strings.TrimLeft(s, " \t")
		if strings.TrimSpace(body) == "" {
			continue
		}
		lines[i] = m.indentFor(indentOf(s)) + body
		// A line that the quote has too, or that takes the place of one, gets what the file has
		// there.
		if k := indexTrimmed(want[next:], s); k >= 0 {
			next += k + 1
			lines[i] = indentOf(have[next-1]) + body
		} else if inPlace && indentOf(want[i]) == indentOf(s) && strings.TrimSpace(have[i]) != "" {
			lines[i] = indentOf(have[i]) + body
		}
	}
	return strings.Join(lines, "\n")
}

// indexTrimmed finds a line of the same indentation and content, whatever its trailing white space.
func indexTrimmed(lines []string, s string) int {
	s = strings.TrimRight(s, " \t\r")
	return slices.IndexFunc(lines, func(l string) bool { return strings.TrimRight(l, " \t\r") == s })
}

func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

type pair struct{ from, to string }

// indents maps indentation of the quote to indentation of the file.
type indents struct {
	pairs []pair // longest from first
	same  bool
	unit  int // blanks a level in the quote
}

func newIndents(want, have []string) indents {
	m := indents{same: true}
	seen := map[string]bool{}
	for i := range want {
		if strings.TrimSpace(want[i]) == "" || strings.TrimSpace(have[i]) == "" {
			continue
		}
		from, to := indentOf(want[i]), indentOf(have[i])
		m.same = m.same && from == to
		if !seen[from] {
			seen[from] = true
			m.pairs = append(m.pairs, pair{from, to})
		}
	}
	slices.SortStableFunc(m.pairs, func(a, b pair) int { return cmp.Compare(len(b.from), len(a.from)) })
	m.unit = unitOf(m.pairs)
	return m
}

// unitOf guesses how many blanks one level of the quote has: the smallest step between its
// indentations, else four.
func unitOf(pairs []pair) int {
	unit := 0
	for i := 1; i < len(pairs); i++ {
		if d := len(pairs[i-1].from) - len(pairs[i].from); d > 0 && (unit == 0 || d < unit) {
			unit = d
		}
	}
	return cmp.Or(unit, 4)
}

func (m indents) indentFor(from string) string {
	for _, p := range m.pairs {
		if rest, ok := strings.CutPrefix(from, p.from); ok {
			return p.to + m.deepenIndent(rest, p.to)
		}
	}
	if len(m.pairs) == 0 {
		return from
	}
	// Shallower than anything in the quote: take as much away from the file's shallowest.
	p := m.pairs[len(m.pairs)-1]
	less := len(p.from) - len(from)
	if onlyTabs(p.to) && !strings.Contains(p.from, "\t") {
		less = (less + m.unit - 1) / m.unit
	}
	return p.to[:max(0, len(p.to)-max(0, less))]
}

// deepenIndent writes deeper indentation in the file's own way.
func (m indents) deepenIndent(rest, base string) string {
	if rest == "" || !onlyTabs(base) || strings.Contains(rest, "\t") {
		return rest
	}
	return strings.Repeat("\t", max(1, len(rest)/m.unit))
}

func onlyTabs(s string) bool { return s != "" && strings.Trim(s, "\t") == "" }
