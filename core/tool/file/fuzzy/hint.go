package fuzzy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hermes/core/clip"
)

// NotFoundError says that no way found the quote, and what comes closest.
type NotFoundError struct{ Closest []Near }

// Near is a place in the text that looks like the quote.
type Near struct {
	Line int    // 1-based
	Text string // a few lines, each "LINE|content"
}

func (e *NotFoundError) Error() string {
	if len(e.Closest) == 0 {
		return "old_string was not found, and nothing in the file resembles it: read the file again"
	}
	return "old_string was not found. Closest lines:\n" + e.Excerpts() +
		"Quote the text exactly as it is there, or read the file again."
}

// Excerpts are the closest lines as text.
func (e *NotFoundError) Excerpts() string {
	texts := make([]string, len(e.Closest))
	for i, n := range e.Closest {
		texts[i] = n.Text
	}
	return strings.Join(texts, "---\n")
}

// closestLines finds up to three places whose line resembles the first solid line of the quote.
func closestLines(q *query) []Near {
	solid := trimBlank(q.oldLines)
	if len(solid) == 0 {
		return nil
	}
	type place struct {
		line  int
		score float64
	}
	want, wantCount := solid[0], letterCounts(strings.TrimSpace(solid[0]))
	var places []place
	for i, s := range q.text[:min(len(q.text), 50_000)] {
		have := strings.TrimSpace(s)
		if have == "" || letterCounts(have).likenessBound(wantCount) < 0.5 {
			continue
		}
		if l := q.lineLikeness(have, want); l >= 0.5 {
			places = append(places, place{i, l})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	var out []Near
	for _, p := range places[:min(3, len(places))] {
		out = append(out, Near{Line: p.line + 1, Text: q.numberedLines(p.line-1, p.line+min(len(solid), 6)+1)})
	}
	return out
}

func (q *query) numberedLines(from, to int) string {
	last := len(q.text)
	if q.text[last-1] == "" {
		last-- // what follows the last line end is no line
	}
	var b strings.Builder
	for i := max(0, from); i < min(to, last); i++ {
		s := q.text[i]
		s = clip.Runes(s, longLine, "...")
		fmt.Fprintf(&b, "%d|%s\n", i+1, s)
	}
	return b.String()
}
