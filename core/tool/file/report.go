package file

import (
	"fmt"
	"strings"

	"hermes/core/clip"
	"hermes/core/files"
)

// countMatches counts the lines that match.
func countMatches(f files.Found) int {
	n := 0
	for _, h := range f.Hits {
		if !h.Context {
			n++
		}
	}
	return n
}

// report makes a page of what a search finds, file by file in path order. Both engines feed it, so
// both look the same.
type report struct {
	search *search
	out    strings.Builder
	seen   int  // results before and on the page
	shown  int  // results on the page
	more   bool // there are results behind the page
	data   []map[string]any
}

// addFile takes the next file and returns false when the page is full.
func (r *report) addFile(f files.Found) bool {
	if r.search.isSecret(f.Path) || countMatches(f) == 0 {
		return true
	}
	if r.search.args.Mode == "" || r.search.args.Mode == "content" {
		return r.addLines(f)
	}
	if !r.takeResult() {
		return !r.more
	}
	hit := map[string]any{"path": r.search.shownName(f.Path)}
	r.out.WriteString(r.search.shownName(f.Path))
	if r.search.args.Mode == "count" {
		fmt.Fprintf(&r.out, ":%d", countMatches(f))
		hit["count"] = countMatches(f)
	}
	r.out.WriteByte('\n')
	r.data = append(r.data, hit)
	return true
}

// takeResult counts one result and reports whether it is on the page.
func (r *report) takeResult() bool {
	a := r.search.args
	if r.seen >= a.Offset+a.Limit {
		r.more = true
		return false
	}
	r.seen++
	if r.seen <= a.Offset {
		return false
	}
	r.shown++
	return true
}

func (r *report) addLines(f files.Found) bool {
	chosen := map[int]bool{}
	for _, h := range f.Hits {
		if !h.Context && r.takeResult() {
			chosen[h.Line] = true
		}
	}
	if len(chosen) > 0 {
		r.writeHits(f, chosen)
	}
	return !r.more
}

func (r *report) writeHits(f files.Found, chosen map[int]bool) {
	if r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
	r.out.WriteString(r.search.shownName(f.Path) + "\n")
	last := 0
	for _, h := range f.Hits {
		mark := ":"
		if !chosen[h.Line] {
			mark = "-"
			if !isNearChosen(chosen, h.Line, r.search.args.Context) {
				continue
			}
		}
		if last > 0 && h.Line > last+1 && r.search.args.Context > 0 {
			r.out.WriteString("--\n")
		}
		last = h.Line
		if chosen[h.Line] && !h.Context {
			r.data = append(r.data, map[string]any{"path": r.search.shownName(f.Path), "line": h.Line, "content": shortenLine(h.Text)})
		}
		fmt.Fprintf(&r.out, "%d%s%s\n", h.Line, mark, shortenLine(h.Text))
	}
}

func isNearChosen(chosen map[int]bool, line, context int) bool {
	for d := 1; d <= context; d++ {
		if chosen[line-d] || chosen[line+d] {
			return true
		}
	}
	return false
}

// shortenLine keeps one minified line from filling the answer.
func shortenLine(s string) string {
	const most = 500
	return clip.Runes(strings.ToValidUTF8(s, "\uFFFD"), most, "...")
}

func (r *report) text() string { return r.out.String() }

func (r *report) note() string {
	a := r.search.args
	switch {
	case r.more:
		return fmt.Sprintf("[results %d-%d; more with offset=%d]", a.Offset+1, a.Offset+r.shown, a.Offset+r.shown)
	case r.shown == 0 && r.seen > 0:
		return fmt.Sprintf("[only %d results: offset %d is behind the last]", r.seen, a.Offset)
	}
	return ""
}
