package injection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Block returns s with each line that a hit of ScanDocument touches replaced by a mark that names
// the reason, and the hits. It is for texts of which the rest is worth keeping: project files,
// summaries, fetched pages.
func Block(s string) (string, []Finding) {
	hits := ScanDocument(s)
	if len(hits) == 0 {
		return s, nil
	}
	// What is left can read differently without its neighbours, and there may be more than one scan
	// names.
	all, left := hits, s
	for len(hits) > 0 {
		next := blankLines(left, hits)
		if next == left {
			break
		}
		left, hits = next, ScanDocument(next)
		all = append(all, hits...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	done := 0
	for _, h := range all {
		start, end := wholeLines(s, h)
		if end <= done {
			continue
		}
		if start < done { // it begins in a line that is gone already and goes on behind it
			b.WriteByte('\n')
		}
		b.WriteString(s[done:max(done, start)])
		fmt.Fprintf(&b, "[BLOCKED: %s]", h.Reason)
		done = end
	}
	return b.String() + s[done:], all
}

// blankLines overwrites the lines of the hits; everything else stays where it is.
func blankLines(s string, hits []Finding) string {
	out := []byte(s)
	for _, h := range hits {
		start, end := wholeLines(s, h)
		for i := start; i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return string(out)
}

// wholeLines are the lines that a hit touches, without the end of the last one.
func wholeLines(s string, h Finding) (start, end int) {
	start = strings.LastIndexByte(s[:h.Start], '\n') + 1
	if i := strings.IndexByte(s[h.End:], '\n'); i >= 0 {
		return start, h.End + i
	}
	return start, len(s)
}
