// Package text is the one place where the program measures, cleans, cuts and wraps what it shows.
//
// The contract:
//
//   - A width is counted in terminal cells, by grapheme cluster. Everybody uses Width, so everybody
//     agrees.
//   - Whatever came from a model, a tool, a file or the network crosses Sanitize (or
//     SanitizeKeepSGR) once, before a pane keeps it. What comes out holds printable characters,
//     newlines and tabs only.
//   - Tabs have no width of their own: ExpandTabs before measuring.
//   - Fit, Truncate and Wrap take SGR-styled text and never leave a style open at the end of a
//     line.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Reset ends every style.
const Reset = reset

const reset = "\x1b[m"

// Width returns the cells that s takes on one line. SGR sequences count nothing, and neither do
// tabs and newlines.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return max(i-1, 0) + measure(s[max(i-1, 0):]) // the character before may be joined with this one
		}
	}
	return len(s)
}

func measure(s string) int {
	w := 0
	for i := 0; i < len(s); {
		if s[i] == ansi.ESC {
			i += Sequence(s[i:])
			continue
		}
		n, cells := firstCluster(s[i:])
		w += cells
		i += n
	}
	return w
}

// MarkLines is s on one line, a ↵ where a line ended: two commands do not read as one.
func MarkLines(s string) string {
	return OneLine(strings.NewReplacer("\r\n", " ↵ ", "\n", " ↵ ", "\r", " ↵ ").Replace(strings.TrimSpace(s)))
}

// OneLine is text from outside in one line: sanitised, runs of white space one space.
func OneLine(s string) string { return strings.Join(strings.Fields(Sanitize(s)), " ") }

// Inline is text from outside as a piece of a line: sanitised, line breaks and tabs one space each.
func Inline(s string) string { return breaks.Replace(Sanitize(s)) }

var breaks = strings.NewReplacer("\n", " ", "\t", " ")

// Truncate shortens s, one line, to at most w cells; tail stands for what was cut and counts. A
// style that is open at the cut is closed before tail.
func Truncate(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	tw := Width(tail)
	if tw > w {
		tail, tw = "", 0
	}
	head, pen := cutToWidth(s, w-tw)
	if pen != (Pen{}) {
		head += reset
	}
	return head + tail
}

// Fit returns exactly w cells: s cut without a mark or padded with blanks, with its styles closed.
// A newline ends s.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	n := Width(s)
	if n > w {
		head, pen := cutToWidth(s, w)
		if pen != (Pen{}) {
			head += reset
		}
		s, n = head, Width(head)
	} else if strings.IndexByte(s, ansi.ESC) >= 0 {
		var pen Pen
		pen.Scan(s)
		if pen != (Pen{}) {
			s += reset
		}
	}
	return s + Blank(w-n)
}

// FitLeft is Fit for text that stands at the right: padded on its left side.
func FitLeft(s string, w int) string {
	if n := Width(s); n < w {
		return Blank(w-n) + s
	}
	return Fit(s, w)
}

// Block returns exactly h lines of exactly w cells, joined by newlines, made from the first h
// lines.
func Block(lines []string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(h * (w + 8))
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) {
			b.WriteString(Fit(lines[i], w))
		} else {
			b.WriteString(Blank(w))
		}
	}
	return b.String()
}

const blanks = "                                                                                                                                "

// Blank returns n spaces; nothing when n is not positive.
func Blank(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	default:
		return strings.Repeat(" ", n)
	}
}

// Lines splits at newlines. A newline at the very end adds no empty line; the empty text has no
// line.
func Lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// ExpandTabs replaces each tab by blanks up to the next multiple of width cells. Columns start
// again after a newline.
func ExpandTabs(s string, width int) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	width = max(width, 1)
	var b strings.Builder
	b.Grow(len(s) + 4*width)
	for n, line := range strings.Split(s, "\n") {
		if n > 0 {
			b.WriteByte('\n')
		}
		col := 0
		for {
			i := strings.IndexByte(line, '\t')
			if i < 0 {
				b.WriteString(line)
				break
			}
			b.WriteString(line[:i])
			col += Width(line[:i])
			pad := width - col%width
			b.WriteString(Blank(pad))
			col += pad
			line = line[i+1:]
		}
	}
	return b.String()
}

// Wrap breaks s into lines of at most w cells: at blanks where it can, inside words and between CJK
// characters where it must. Newlines in s are kept. A style that runs over a break is closed at the
// line's end and opened again on the next.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	if !strings.Contains(s, "\n") && Width(s) <= w {
		return CloseSGR([]string{s})
	}
	var lines []string
	for _, line := range strings.Split(ansi.Wrap(s, w, ""), "\n") {
		lines = appendHard(lines, line, w)
	}
	return CloseSGR(lines)
}

// WrapRendered is foreign text on lines of at most w cells, each of them rendered.
func WrapRendered(s string, w int, render func(...string) string) []string {
	if s = OneLine(s); s == "" {
		return nil
	}
	lines := Wrap(s, w)
	for i := range lines {
		lines[i] = render(lines[i])
	}
	return lines
}

// appendHard appends line, broken wherever it passes w cells: ansi.Wrap miscounts some clusters.
func appendHard(lines []string, line string, w int) []string {
	for Width(line) > w {
		head, _ := cutToWidth(line, w)
		if head == "" { // a wide character and a single cell
			_, n := utf8.DecodeRuneInString(line)
			line = "?" + line[n:]
			continue
		}
		lines, line = append(lines, head), line[len(head):]
	}
	return append(lines, line)
}

// CloseSGR ends every line without an open style, and starts the next with what was open. It
// changes lines in place.
func CloseSGR(lines []string) []string {
	var pen Pen
	for i, line := range lines {
		open := pen
		if strings.IndexByte(line, ansi.ESC) >= 0 {
			pen.Scan(line)
		}
		if open != (Pen{}) {
			line = open.SGR() + line
		}
		if pen != (Pen{}) {
			line += reset
		}
		lines[i] = line
	}
	return lines
}

// cutToWidth returns the part of s that fits into w cells and the style open at its end.
func cutToWidth(s string, w int) (string, Pen) {
	var pen Pen
	used, i := 0, 0
	for i < len(s) {
		if s[i] == ansi.ESC {
			n := Sequence(s[i:])
			pen.Scan(s[i : i+n])
			i += n
			continue
		}
		n, cells := firstCluster(s[i:])
		if used+cells > w {
			break
		}
		used += cells
		i += n
	}
	return s[:i], pen
}

// firstCluster returns the bytes and cells of the first grapheme cluster of s.
func firstCluster(s string) (n, cells int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if s[0] < 0x20 || s[0] == 0x7f {
			return 1, 0
		}
		return 1, 1
	}
	c, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if r, first := utf8.DecodeRuneInString(c); first < len(c) && isOwnCluster(r) {
		c, cells = ansi.FirstGraphemeCluster(c[:first], ansi.GraphemeWidth)
	}
	return max(len(c), 1), cells
}

// isOwnCluster reports characters that are a cluster of their own here, though Unicode joins them
// with what follows. Lines are measured before blanks and borders are put around them, so neither
// may swallow the mark that a hostile line begins with, and no sign at a line's end may swallow the
// blank behind it.
func isOwnCluster(r rune) bool {
	switch r {
	case ' ', 0xd4e, 0x111c2, 0x111c3, 0x113d1, 0x1193f, 0x11941, 0x11a3a, 0x11d46, 0x11f02: // prepended, as the signs below
		return true
	default:
		return r >= 0x2500 && r < 0x2580 || r >= 0x11a84 && r < 0x11a8a || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
}

// Cluster returns the first grapheme cluster of s and its width in cells. It returns "" and 0 for
// the empty text.
func Cluster(s string) (c string, cells int) {
	if s == "" {
		return "", 0
	}
	n, cells := firstCluster(s)
	return s[:n], cells
}

// Percent writes a share of a whole: something that is less than one of a hundred is not nothing.
func Percent(part, whole int) string {
	if n := part * 100 / max(whole, 1); n > 0 || part <= 0 {
		return strconv.Itoa(n) + "%"
	}
	return "<1%"
}

// Grouped writes a number whole, in groups of three digits: 1234567 as 1,234,567.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	first := len(s) - len(strings.TrimPrefix(s, "-")) // the sign
	for at := len(s) - 3; at > first; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Thousands writes a number short: 4915 as 4.9k, 12345 as 12k, 1234567 as 1.2M.
func Thousands(n int) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64), ".0") + "M"
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return strings.TrimSuffix(fmt.Sprintf("%d.%d", n/1000, n%1000/100), ".0") + "k"
	default:
		return strconv.Itoa(n)
	}
}

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Duration shows a duration as screens do: 4 ms, 6.2 s, 41 s, 2:05, 1:02:03.
func Duration(d time.Duration) string {
	switch d = max(0, d); {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
}
