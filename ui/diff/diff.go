// Package diff draws unified diffs: one column below SplitWidth cells, old and new side by side
// from there on. Lines are exactly as wide as asked for, numbered, with the changed part of a
// changed line marked. The text is hostile until it has been through here.
package diff

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"hermes/ui/highlight"
	"hermes/ui/style"
	"hermes/ui/text"
)

// SplitWidth is the width from which old and new stand side by side.
const SplitWidth = 140

const tabWidth = 4

// line is one line of a diff. Kind is ' ', '-', '+', '@' or '\\'.
type line struct {
	kind     byte
	text     string
	old, new int // numbers from 1; 0 when it has none
	from, to int // changed part of text; equal when all or nothing changed

	runs []highlight.Run // text in the colours of its language
}

// Render draws a unified diff w cells wide.
func Render(unified string, w int, s *style.Styles) []string {
	if w <= 0 {
		return nil
	}
	lines := parseHunks(unified)
	if len(lines) == 0 {
		return nil
	}
	p := newPainter(s, numberWidth(lines))
	p.colour(lines, highlight.Language(fileOf(unified)))
	if w >= SplitWidth {
		return p.drawSplit(lines, w)
	}
	return p.drawUnified(lines, w)
}

// fileOf is the name of the file that a diff changes, as its head says; "" when it has none.
func fileOf(unified string) string {
	for _, head := range []string{"+++ ", "--- "} {
		for rest := unified; rest != ""; {
			line := rest
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				line, rest = rest[:i], rest[i+1:]
			} else {
				rest = ""
			}
			if strings.HasPrefix(line, "@@ ") {
				break
			}
			if name, ok := strings.CutPrefix(line, head); ok && !strings.HasPrefix(name, "/dev/null") {
				name, _, _ = strings.Cut(name, "\t")
				return strings.TrimSpace(name)
			}
		}
	}
	return ""
}

// parseHunks reads the hunks; everything before the first one (file names) is left out.
func parseHunks(unified string) []line {
	var out []line
	var oldN, newN int
	in := false
	for _, raw := range text.Lines(text.Sanitize(unified)) {
		if o, n, ok := parseHunkHeader(raw); ok {
			oldN, newN, in = o, n, true
			out = append(out, line{kind: '@', text: raw})
			continue
		}
		if strings.HasPrefix(raw, "--- ") || strings.HasPrefix(raw, "diff ") {
			in = in && !strings.HasPrefix(raw, "diff ") && oldN > 0
		}
		if !in {
			continue
		}
		l := line{kind: ' '}
		if raw != "" {
			l.kind, l.text = raw[0], text.ExpandTabs(raw[1:], tabWidth)
		}
		switch l.kind {
		case '+':
			l.new, newN = newN, newN+1
		case '-':
			l.old, oldN = oldN, oldN+1
		case ' ':
			l.old, l.new, oldN, newN = oldN, newN, oldN+1, newN+1
		case '\\':
		default:
			continue
		}
		out = append(out, l)
	}
	markChanges(out)
	return out
}

// parseHunkHeader reads "@@ -1,2 +3,4 @@".
func parseHunkHeader(s string) (oldN, newN int, ok bool) {
	rest, found := strings.CutPrefix(s, "@@ -")
	if !found {
		return 0, 0, false
	}
	before, after, found := strings.Cut(rest, " +")
	if !found {
		return 0, 0, false
	}
	oldN, ok1 := leadingNumber(before)
	newN, ok2 := leadingNumber(after)
	return oldN, newN, ok1 && ok2
}

func leadingNumber(s string) (int, bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	return n, err == nil
}

// markChanges pairs removed with added lines that follow them and finds what differs.
func markChanges(lines []line) {
	for i := 0; i < len(lines); {
		dels := i
		for i < len(lines) && lines[i].kind == '-' {
			i++
		}
		adds := i
		for i < len(lines) && lines[i].kind == '+' {
			i++
		}
		for k := range min(adds-dels, i-adds) {
			markDifference(&lines[dels+k], &lines[adds+k])
		}
		if i == dels {
			i++
		}
	}
}

// markDifference marks what is between the common beginning and the common end, when there is
// something in common.
func markDifference(a, b *line) {
	x, y := a.text, b.text
	pre, post := commonEnds(x, y)
	if common := strings.TrimSpace(x[:pre] + x[len(x)-post:]); len(common) < 3 {
		return
	}
	for pre > 0 && wordByte(x[pre-1]) && (pre < len(x) && wordByte(x[pre]) || pre < len(y) && wordByte(y[pre])) {
		pre--
	}
	for post > 0 && wordByte(x[len(x)-post]) && (wordByte(last(x, post)) || wordByte(last(y, post))) {
		post--
	}
	a.from, a.to = pre, max(len(x)-post, pre)
	b.from, b.to = pre, max(len(y)-post, pre)
}

// commonEnds are the lengths of the common beginning and end of two lines, in whole characters.
func commonEnds(x, y string) (pre, post int) {
	for pre < len(x) && pre < len(y) && x[pre] == y[pre] {
		pre++
	}
	for pre > 0 && (pre < len(x) && !utf8.RuneStart(x[pre]) || pre < len(y) && !utf8.RuneStart(y[pre])) {
		pre--
	}
	for post < len(x)-pre && post < len(y)-pre && x[len(x)-1-post] == y[len(y)-1-post] {
		post++
	}
	for post > 0 && !utf8.RuneStart(x[len(x)-post]) {
		post--
	}
	return pre, post
}

// last is the byte before the last n of s; a blank when there is none.
func last(s string, n int) byte {
	if len(s) <= n {
		return ' '
	}
	return s[len(s)-n-1]
}

// wordByte reports whether c is of a word that is marked as a whole.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func numberWidth(lines []line) int {
	n := 1
	for _, l := range lines {
		n = max(n, len(strconv.Itoa(max(l.old, l.new))))
	}
	return n
}
