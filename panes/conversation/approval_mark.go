package conversation

import (
	"strings"
	"unicode/utf8"

	"hermes/core/event"
	"hermes/ui/highlight"
	"hermes/ui/text"
)

// markedLines is what would run, cut into lines, with ^^^^ below its dangerous parts: colour alone
// would not say it. When the words for people leave something of the command out, the command
// itself comes first.
func (a *approval) markedLines(ask event.ApprovalAsked, inner int) []string {
	d, spans := ask.Detail, ask.Spans
	if len(spans) == 0 {
		spans = [][2]int{ask.Span}
	}
	if cmd := shellCommand(ask.Call); cmd != "" && !strings.Contains(d, cmd) {
		d, spans = strings.TrimSuffix(cmd+"\n"+d, "\n"), nil
	}
	m := marker{a: a, width: inner, spans: spans, eol: a.styles.Glyphs.Ellipsis, pens: a.shellPens(ask, d)}
	if !a.styles.ASCII {
		m.eol = "↵"
	}
	for i := 0; i < len(d); {
		c, _ := text.Cluster(d[i:])
		if c == "" {
			_, n := utf8.DecodeRuneInString(d[i:])
			c = d[i : i+n]
		}
		m.addCharacter(c, i, i+len(c) == len(d))
		i += len(c)
	}
	m.cutLine()
	return m.out
}

// maxMarked bounds how many lines of a command are marked; what is longer is shown all the same.
const maxMarked = 10_000

// marker puts the characters of a command into lines.
type marker struct {
	a     *approval
	width int
	spans [][2]int
	eol   string
	pens  []text.Pen // of each byte, in the colours of the shell; may be shorter

	out   []string
	line  strings.Builder // styled
	below strings.Builder // blanks and ^
	cells int
	run   strings.Builder // characters of one look
	look  int
	pen   text.Pen
}

// Looks of characters.
const (
	lookPlain = iota
	lookDanger
	lookHidden
)

// addCharacter adds one character, which begins at byte at.
func (m *marker) addCharacter(c string, at int, last bool) {
	if c == "\n" || c == "\r\n" {
		if !last {
			m.putShown(m.eol, text.Width(m.eol), lookHidden, false)
		}
		m.cutLine()
		return
	}
	shown, danger, look := "", m.isDangerous(at), lookPlain
	if danger {
		look = lookDanger
	}
	shown = revealHidden(c, nil)
	if shown != c && c != "\t" {
		look = lookHidden
	}
	w := text.Width(shown)
	if m.cells+w > m.width && m.cells > 0 {
		m.cutLine()
	}
	if at < len(m.pens) && m.pens[at] != m.pen {
		m.flushRun()
		m.pen = m.pens[at]
	}
	m.putShown(shown, w, look, danger)
}

// shellPens are the colours of a command, a byte each; nil for what is none.
func (a *approval) shellPens(ask event.ApprovalAsked, d string) []text.Pen {
	if shellCommand(ask.Call) == "" || a.styles.Plain {
		return nil
	}
	out := make([]text.Pen, 0, len(d))
	for i, line := range highlight.New(a.styles, text.Pen{}).Lines(d, "bash") {
		if i > 0 {
			out = append(out, text.Pen{})
		}
		for _, r := range line {
			for range len(r.Text) {
				out = append(out, r.Pen)
			}
		}
	}
	return out
}

func (m *marker) isDangerous(at int) bool {
	if len(m.out) > maxMarked {
		return false
	}
	for _, s := range m.spans {
		if at >= s[0] && at < s[1] {
			return true
		}
	}
	return false
}

func (m *marker) putShown(shown string, w, look int, danger bool) {
	if look != m.look {
		m.flushRun()
		m.look = look
	}
	m.run.WriteString(shown)
	m.cells += w
	mark := " "
	if danger {
		mark = "^"
	}
	m.below.WriteString(strings.Repeat(mark, w))
}

func (m *marker) flushRun() {
	s := m.a.styles
	switch body := m.run.String(); {
	case body == "":
	case m.look == lookDanger:
		m.line.WriteString(s.Bad.Inline(true).Render(body))
	case m.look == lookHidden:
		m.line.WriteString(s.Warn.Bold(true).Inline(true).Render(body))
	case m.pen != (text.Pen{}):
		m.line.WriteString(m.pen.SGR() + body + text.Reset)
	default:
		m.line.WriteString(body)
	}
	m.run.Reset()
}

// cutLine ends a line.
func (m *marker) cutLine() {
	m.flushRun()
	for _, l := range text.Wrap(m.line.String(), m.width) { // a code that is wider than all of it
		m.out = append(m.out, "  "+l)
	}
	if below := strings.TrimRight(m.below.String(), " "); below != "" {
		m.out = append(m.out, "  "+m.a.styles.Bad.Render(text.Truncate(below, m.width, "")))
	}
	m.line.Reset()
	m.below.Reset()
	m.cells = 0
}
