package run

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// preview shows the end of an answer on a terminal while it comes. It never shows more than the
// screen holds, so that all of it can be taken back: the answer itself is printed once, when it is
// whole.
type preview struct {
	out   io.Writer
	size  func() (columns, rows int)
	text  string
	stale bool  // text is not what is shown
	shown []int // widths of the rows on the screen
}

// newPreview is nil when out is no terminal, or one that cannot take back what it shows.
func newPreview(out io.Writer, kind string) *preview {
	f, ok := out.(*os.File)
	if !ok || !base.IsTerminal(out) || kind == "" || kind == "dumb" {
		return nil
	}
	return &preview{out: out, size: func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0
		}
		return columns, rows
	}}
}

// addText takes the next piece of the answer.
func (p *preview) addText(s string) {
	const most = 32 << 10 // more than a screen holds
	if p.text += s; len(p.text) > 2*most {
		p.text = strings.ToValidUTF8(p.text[len(p.text)-most:], "")
	}
	p.stale = true
}

// drawTail puts the end of the text on the screen, in place of what is there.
func (p *preview) drawTail() {
	columns, rows := p.size()
	if !p.stale || columns < 2 || rows < 2 {
		return
	}
	p.stale = false
	clean := strings.ReplaceAll(text.Sanitize(p.text), "\t", "    ")
	lines := text.Wrap(strings.TrimRight(clean, "\n"), columns-1)
	lines = lines[max(0, len(lines)-rows+1):]
	var b strings.Builder
	b.WriteString(cursorUp(p.rowsTaken(columns)))
	p.shown = p.shown[:0]
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\r\n")
		p.shown = append(p.shown, text.Width(line))
	}
	if len(lines) > 0 {
		b.WriteString("\x1b[J")
	}
	_, _ = io.WriteString(p.out, b.String()) // who prints the answer tells when it cannot be written
}

// rowsTaken is how many rows of the screen are taken. A window that became narrower has broken long
// ones.
func (p *preview) rowsTaken(columns int) (n int) {
	for _, width := range p.shown {
		n += max(1, (width+columns-1)/max(1, columns))
	}
	return n
}

// cursorUp moves to the beginning of the line that is n rows above.
func cursorUp(n int) string {
	if n == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", n)
}

// hideShown takes back what is shown. The text stays, for the next draw.
func (p *preview) hideShown() {
	if p == nil || len(p.shown) == 0 {
		return
	}
	columns, _ := p.size()
	n := p.rowsTaken(columns)
	// Row by row: a screen that is cleared from its first cell on goes into the history of some
	// terminals.
	_, _ = io.WriteString(p.out, cursorUp(n)+strings.Repeat("\x1b[2K\x1b[B", n)+cursorUp(n))
	p.shown, p.stale = p.shown[:0], true
}

// dropText hides the preview and forgets its text.
func (p *preview) dropText() {
	if p != nil {
		p.hideShown()
		p.text, p.stale = "", false
	}
}
