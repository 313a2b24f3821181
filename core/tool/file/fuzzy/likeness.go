package fuzzy

import (
	"strings"

	"hermes/core/nearest"
)

// alike is the least likeness of two lines that count as the same.
const alike = 0.8

// longLine bounds the quadratic comparison: of longer lines only so many characters are compared.
const longLine = 200

// effort bounds what one search spends on comparing letters, in cells of the distance table: well
// under a second. What it does not reach counts as different.
const effort = 30_000_000

// lineLikeness is 1 for equal lines and 0 for lines that share nothing; white space at the ends
// does not count.
func (q *query) lineLikeness(a, b string) float64 {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == b {
		return 1
	}
	if q.spent > effort {
		return 0
	}
	ra, rb := boundedRunes(a), boundedRunes(b)
	if q.spent += len(ra) * len(rb); q.spent > effort {
		return 0
	}
	return 1 - float64(nearest.Distance(ra, rb))/float64(max(len(ra), len(rb), 1))
}

func boundedRunes(s string) []rune {
	r := []rune(s)
	return r[:min(len(r), longLine)]
}

func (q *query) averageLikeness(a, b []string) float64 {
	if len(a) == 0 {
		return 1
	}
	sum := 0.0
	for i := range a {
		sum += q.lineLikeness(a[i], b[i])
	}
	return sum / float64(len(a))
}

// comparer answers "is line i of the text alike line j of the quote", cheaply for the many that are
// not.
type comparer struct {
	q                 *query
	old, text         []string
	oldCount, txCount []histogram
	solid             int // lines of the quote that are not blank
}

type histogram [32]int

func newComparer(q *query) *comparer {
	c := &comparer{q: q, old: mapLines(q.oldLines, strings.TrimSpace), text: mapLines(q.text, strings.TrimSpace)}
	for _, s := range c.old {
		c.oldCount = append(c.oldCount, letterCounts(s))
		if s != "" {
			c.solid++
		}
	}
	for _, s := range c.text {
		c.txCount = append(c.txCount, letterCounts(s))
	}
	return c
}

func letterCounts(s string) (h histogram) {
	for _, r := range boundedRunes(s) {
		h[r%int32(len(h))]++
	}
	return h
}

// likenessBound is the most that two lines can be alike, told by their letters alone.
func (h histogram) likenessBound(o histogram) float64 {
	plus, minus, a, b := 0, 0, 0, 0
	for i := range h {
		d := h[i] - o[i]
		plus += max(d, 0)
		minus += max(-d, 0)
		a, b = a+h[i], b+o[i]
	}
	return 1 - float64(max(plus, minus))/float64(max(a, b, 1))
}

func (c *comparer) areAlike(i, j int) bool {
	if c.text[i] == c.old[j] {
		return true
	}
	return c.txCount[i].likenessBound(c.oldCount[j]) >= alike && c.q.lineLikeness(c.text[i], c.old[j]) >= alike
}

// shareAlike returns the share of the quote's solid lines that are alike in the run from line i,
// and whether its first or last line is among them.
func (c *comparer) shareAlike(i int) (share float64, anchored bool) {
	hits := 0
	for j, s := range c.old {
		if s == "" || !c.areAlike(i+j, j) {
			continue
		}
		hits++
		anchored = anchored || j == 0 || j == len(c.old)-1
	}
	return float64(hits) / float64(max(c.solid, 1)), anchored
}
