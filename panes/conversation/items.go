package conversation

import (
	"strconv"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/ui/highlight"
	"hermes/ui/list"
	"hermes/ui/markdown"
	"hermes/ui/style"
	"hermes/ui/text"
)

// env is what all items draw with.
type env struct {
	s    *style.Styles
	md   *markdown.Renderer
	code *highlight.Highlighter
	now  func() time.Time

	display Display
	// contentPath is the file that holds the content of a part; may be nil.
	contentPath func(blob string) string
}

// item is a list item of the transcript. Every line begins with a blank: the selection's mark goes
// there.
type item interface {
	list.Item
	// message is the id of the message it belongs to; 0 for none.
	messageID() int64
	// plain is what copying and searching it sees, and what it is called.
	plainText() (content, what string)
	// toggle opens or closes it, if it can.
	toggleOpen()
}

// base is what most items have. Every mutator bumps version.
type base struct {
	e       *env
	msg     int64
	version uint64
	open    bool
}

func (b *base) Version() uint64             { return b.version }
func (b *base) messageID() int64            { return b.msg }
func (b *base) toggleOpen()                 {}
func (b *base) plainText() (string, string) { return "", "" }
func (b *base) bumpVersion()                { b.version++ }
func (b *base) flipOpen()                   { b.open = !b.open; b.bumpVersion() }

// leftMargin is what stands left of everything that was said.
func leftMargin(w int) string {
	if w < 24 {
		return " "
	}
	return "   "
}

func indentLines(lines []string, pad string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = pad + l
	}
	return out
}

// joinSides puts left and right on one line of w cells; right gives way.
func joinSides(left, right string, w int) string {
	room := w - text.Width(left) - text.Width(right)
	if room < 1 {
		return text.Fit(left, w)
	}
	return left + text.Blank(room) + right
}

// gap is an empty line.
type gap struct{ base }

func (g *gap) Lines(int) []string { return []string{""} }

// maxPrompt is how many lines of a long prompt are shown until it is opened.
const maxPrompt = 30

// prompt is what a person wrote.
type prompt struct {
	base
	body   string
	pieces []chat.Part
	ran    bool // a command: the call below shows it
}

func (p *prompt) Lines(w int) []string {
	if p.ran && !p.open {
		return nil
	}
	pad := leftMargin(w)
	inner := max(1, w-len(pad))
	body, cut := p.body, false
	if limit := maxPrompt * inner; !p.open && len(body) > limit*4 {
		body, cut = strings.ToValidUTF8(body[:limit*4], ""), true
	}
	var lines []string
	if body != "" { // a paste may be all there is
		lines = text.Wrap(text.ExpandTabs(body, markdown.TabWidth), inner)
	}
	if !p.open && len(lines) > maxPrompt {
		lines, cut = lines[:maxPrompt], true
	}
	if cut {
		lines = append(lines, p.e.s.Dim.Render(p.e.s.Glyphs.Ellipsis+" enter shows all"))
	}
	for _, a := range p.pieces {
		lines = append(lines, p.e.drawPart(a, inner, p.open)...)
		if p.open && a.Text != "" {
			lines = append(lines, p.drawPiece(a.Text, inner)...)
		}
	}
	return append(indentLines(lines, pad), "")
}

// maxPiece is how much of a paste an opened prompt shows.
const maxPiece = 500

func (p *prompt) drawPiece(body string, w int) []string {
	body = text.ExpandTabs(text.Sanitize(strings.TrimRight(body, "\n")), markdown.TabWidth)
	if limit := maxPiece * w; len(body) > limit {
		body = strings.ToValidUTF8(body[:limit], "")
	}
	lines := text.Wrap(body, w)
	if more := len(lines) - maxPiece; more > 0 {
		lines = append(lines[:maxPiece], p.e.s.Dim.Render(p.e.s.Glyphs.Ellipsis+" and more"))
	}
	return lines
}

func (p *prompt) plainText() (content, what string) {
	content = p.body
	for _, a := range p.pieces {
		if a.Text != "" {
			content = strings.TrimLeft(content+"\n"+text.Sanitize(a.Text), "\n")
		}
	}
	return content, "message"
}

func (p *prompt) toggleOpen() { p.flipOpen() }

// block is a part of an answer.
type block struct {
	base
	b *markdown.Block
}

func (b *block) Lines(w int) []string {
	pad := leftMargin(w)
	return indentLines(b.b.Lines(b.e.md, max(1, w-len(pad))), pad)
}

func (b *block) plainText() (string, string) {
	s := strings.TrimRight(b.b.Text, "\n")
	if strings.HasPrefix(s, "```") {
		_, body, _ := strings.Cut(s, "\n")
		return strings.TrimSuffix(strings.TrimRight(body, "`"), "\n"), "code block"
	}
	return s, "message"
}

// Reasoning is shown from its end: this much of it at most.
const (
	maxThought      = 16 << 10
	maxThoughtLines = 200
	liveThought     = 3
)

// thought is the model's reasoning.
type thought struct {
	base
	body  strings.Builder
	live  bool
	began time.Time     // of what is live
	took  time.Duration // 0: not known
}

func (t *thought) addText(s string) {
	if t.live && t.began.IsZero() {
		t.began = t.e.now()
	}
	t.body.WriteString(text.Sanitize(s))
	t.bumpVersion()
}

func (t *thought) endThought() {
	if t.live && !t.began.IsZero() {
		t.took = t.e.now().Sub(t.began)
	}
	t.live = false
	t.bumpVersion()
}

// headingLine is the line that stays of it.
func (t *thought) headingLine() string {
	switch {
	case t.live:
		return "thinking"
	case t.took >= time.Second/20: // less would be 0.0 s
		return "thought " + text.Duration(t.took)
	default:
		return "thought"
	}
}

func (t *thought) Lines(w int) []string {
	body := t.body.String()
	if strings.TrimSpace(body) == "" {
		return nil
	}
	g, glyph := t.e.s.Glyphs, t.e.s.Glyphs.Closed
	if t.open {
		glyph = g.Open
	}
	out := []string{" " + t.e.s.Reasoning.Render(glyph+" "+t.headingLine())}
	n := 0
	if t.open {
		n = maxThoughtLines
	} else if t.live && t.e.display.Reasoning {
		n = liveThought
	}
	if n == 0 {
		return append(out, "")
	}
	if len(body) > maxThought {
		body = strings.ToValidUTF8(body[len(body)-maxThought:], "")
	}
	pad := leftMargin(w)
	lines := text.Wrap(text.ExpandTabs(strings.TrimSpace(body), markdown.TabWidth), max(1, w-len(pad)))
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for _, l := range lines {
		out = append(out, pad+t.e.s.Reasoning.Render(l))
	}
	return append(out, "")
}

func (t *thought) plainText() (string, string) { return t.body.String(), "reasoning" }
func (t *thought) toggleOpen()                 { t.flipOpen() }

// note is a line that the program says: the end of a turn, a notice, an error.
type note struct {
	base
	glyph, body, hint string
	level             noteLevel
}

type noteLevel int

const (
	noteDim noteLevel = iota
	noteInfo
	noteWarn
	noteBad
)

func (n *note) Lines(w int) []string {
	st := n.e.s.Dim
	switch n.level {
	case noteInfo:
		st = n.e.s.Info
	case noteWarn:
		st = n.e.s.Warn
	case noteBad:
		st = n.e.s.Bad
	case noteDim:
	}
	pad := leftMargin(w)
	var out []string
	for i, l := range text.Wrap(strings.TrimSpace(n.glyph+" "+n.body), max(1, w-len(pad))) {
		if i == 0 || l != "" {
			out = append(out, pad+st.Render(l))
		}
	}
	for _, l := range text.Wrap(n.hint, max(1, w-len(pad)-2)) {
		if l != "" {
			out = append(out, pad+"  "+n.e.s.Dim.Render(l))
		}
	}
	return append(out, "")
}

func (n *note) plainText() (string, string) {
	return strings.TrimSpace(n.body + "\n" + n.hint),
		"note"
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
