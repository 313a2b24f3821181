package injection

import (
	"fmt"
	"strings"
)

// Block returns s with each line that a hit touches replaced by a mark that names the reason, and the hits. It is for texts of which the
// rest is worth keeping: summaries, fetched pages.
func Block(s string) (string, []Finding) {
	hits := Scan(s)
	if len(hits) == 0 {
		return s, nil
	}
	var b strings.Builder
	done := 0
	for _, h := range hits {
		if h.Start < done {
			continue
		}
		start := done + strings.LastIndexByte(s[done:h.Start], '\n') + 1
		end := len(s)
		if i := strings.IndexByte(s[max(h.End, h.Start):], '\n'); i >= 0 {
			end = h.End + i
		}
		b.WriteString(s[done:start])
		fmt.Fprintf(&b, "[BLOCKED: %s]", h.Reason)
		done = end
	}
	b.WriteString(s[done:])
	out := b.String()
	if len(hits) == maxFindings && done < len(s) { // there may be more than were looked for
		rest, more := Block(s[done:])
		return out[:len(out)-len(s[done:])] + rest, append(hits, more...)
	}
	return out, hits
}
