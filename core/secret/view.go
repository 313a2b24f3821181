package secret

import (
	"sort"
	"strings"
)

// view is a text without what nobody sees: escape sequences, and control and zero-width characters
// inside of words. Colours in the middle of a key must not hide it from us.
type view struct {
	src  string
	text string
	cuts []cut // nil when text is src

	dirty bool // there is more to leave out than line ends
}

// cut says that from byte "at" of the view on, the source is "raw" bytes in.
type cut struct{ at, raw int }

// newView returns the view of src; joined also takes line ends out, because encoders break lines.
func newView(src string, joined bool) *view {
	v := &view{src: src, text: src}
	dirty := strings.IndexByte(src, 0x1b) >= 0 || strings.IndexByte(src, 0) >= 0 || strings.IndexByte(src, '\b') >= 0 ||
		strings.Contains(src, "\xe2\x80\x8b") || strings.Contains(src, "\xe2\x80\x8d") || strings.Contains(src, "\xef\xbb\xbf")
	if !dirty && (!joined || strings.IndexByte(src, '\n') < 0 && strings.IndexByte(src, '\r') < 0) {
		return v
	}
	v.dirty = dirty
	var b strings.Builder
	b.Grow(len(src))
	next := next{src: src, joined: joined, at: -1}
	for i := 0; i < len(src); {
		n := next.lineEnd(i) - i
		if dirty {
			n = visibleLength(src[i:i+n], joined)
		}
		if n > 0 {
			v.cuts = append(v.cuts, cut{b.Len(), i})
			b.WriteString(src[i : i+n])
			i += n
		}
		for i < len(src) {
			skip := invisibleLength(src[i:], joined)
			if skip == 0 {
				break
			}
			i += skip
		}
	}
	v.text = b.String()
	return v
}

// next remembers where the next line ends, so that it is looked for once.
type next struct {
	src    string
	joined bool
	at     int
}

func (n *next) lineEnd(from int) int {
	if !n.joined {
		return len(n.src)
	}
	if n.at < from {
		n.at = len(n.src)
		if i := strings.IndexByte(n.src[from:], '\n'); i >= 0 {
			n.at = from + i
		}
		if i := strings.IndexByte(n.src[from:n.at], '\r'); i >= 0 {
			n.at = from + i
		}
	}
	return n.at
}

// visibleLength returns how many bytes at the start of s are shown.
func visibleLength(s string, joined bool) int {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c >= 0xe2 || c == 0x7f) && invisibleLength(s[i:], joined) > 0 {
			return i
		}
	}
	return len(s)
}

// invisibleLength returns how many bytes at the start of s are not shown; 0 when they are.
func invisibleLength(s string, joined bool) int {
	switch c := s[0]; {
	case c == 0x1b:
		return escapeLength(s)
	case c == '\n' || c == '\r':
		if joined {
			return 1
		}
		return 0
	case c < ' ' && c != '\t' || c == 0x7f:
		return 1
	case c >= 0xe2:
		for _, z := range []string{"\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x81\xa0", "\xef\xbb\xbf"} {
			if strings.HasPrefix(s, z) {
				return len(z)
			}
		}
	}
	return 0
}

// escapeLength is the length of the escape sequence at the start of s.
func escapeLength(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if c := s[i]; c < ' ' {
				return i
			} else if c > '?' {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X': // the text inside is data of its own: only what opens it is left out
		return 2
	case '(', ')', '*', '+', '#', '%':
		return min(3, len(s))
	}
	return 2
}

// sourceOffset returns where byte "at" of the view is in the source.
func (v *view) sourceOffset(at int) int {
	if v.cuts == nil {
		if v.text == "" {
			return min(at, len(v.src))
		}
		return at
	}
	i := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].at > at }) - 1
	if i < 0 {
		return 0
	}
	return v.cuts[i].raw + at - v.cuts[i].at
}

// sourceHits translates ranges of the view to ranges of the source.
func (v *view) sourceHits(found []hit) []hit {
	if v.cuts == nil {
		return found
	}
	for i, h := range found {
		from, to := v.sourceOffset(h.from), v.sourceOffset(h.to-1)+1
		found[i] = hit{from: from, to: to, keep: escapeSequences(v.src[from:to])}
	}
	return found
}

// escapeSequences are the colours and movements in s.
func escapeSequences(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '[' {
			n := escapeLength(s[i:])
			b.WriteString(s[i : i+n])
			i += n - 1
		}
	}
	return b.String()
}
