package markdown

import (
	"strings"
	"unicode/utf8"

	"hermes/ui/text"
)

// maxOpen is how long the open block may be before it is shown in pieces, of which only the last is
// drawn again.
const maxOpen = 4096

// maxWhole is how long a block may be to be parsed in one go. Parsing costs the square of some
// texts' length ("[a](" or ">" without end), so what is longer, and only that, is drawn in pieces;
// a link definition then serves its own piece only.
const maxWhole = 16 << 10

// Block is a part of a document that is drawn on its own. A closed one never changes.
type Block struct {
	Text  string // sanitised source
	tight bool   // no empty line after it: the next piece of the same block follows
	fence string // opening line to draw before Text, for a piece out of the middle of a code fence
}

// Lines draws the block, with the empty line after it.
func (b *Block) Lines(r *Renderer, w int) []string {
	if len(b.Text) <= maxWhole {
		return b.drawBlock(r, w)
	}
	fence, rest := openingFence(b.Text), b.Text
	var out []string
	for rest != "" {
		piece := Block{Text: rest, tight: true}
		if len(rest) > maxOpen {
			piece.Text = rest[:pieceEnd(rest[:maxOpen])]
		}
		if len(rest) < len(b.Text) {
			piece.fence = fence
		}
		out = append(out, piece.drawBlock(r, w)...)
		rest = rest[len(piece.Text):]
	}
	return append(out, "")
}

func (b *Block) drawBlock(r *Renderer, w int) []string {
	src := b.Text
	if b.fence != "" {
		src = b.fence + "\n" + src
	}
	lines := r.render(src, w, b.fence != "")
	if b.tight && len(lines) > 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Doc is a document that may still grow. The zero value is an empty one.
type Doc struct {
	buf    strings.Builder
	split  *splitter
	closed []*Block
	open   []*Block // pieces of what is not closed; rebuilt when the text grew
	openAt int      // bytes of text the open pieces cover from, -1 when they are stale
	frozen int      // pieces of open that do not change any more
	held   string   // the start of a character that is not complete yet
	all    []*Block // what Blocks returned last: closed, then open
	listed int      // closed blocks in all
	dirty  bool
	sealed bool
}

// Append adds what the model just said.
func (d *Doc) Append(s string) {
	if s = d.held + s; s == "" {
		return
	}
	n := len(s)
	for i := 1; i < utf8.UTFMax && i <= n; i++ {
		if utf8.RuneStart(s[n-i]) {
			if !utf8.FullRuneInString(s[n-i:]) {
				n -= i
			}
			break
		}
	}
	d.held = s[n:]
	d.buf.WriteString(text.Sanitize(s[:n]))
	d.grow()
}

func (d *Doc) grow() {
	if d.split == nil {
		s := newSplitter()
		d.split = &s
	}
	d.dirty = true
	d.split.feedLines(d.buf.String(), d.cutBlock)
	if d.split.whole {
		d.closed, d.listed = nil, 0
	}
}

func (d *Doc) cutBlock(from, to int) {
	src := d.buf.String()
	d.closed = append(d.closed, &Block{Text: src[from:min(to, len(src))]}) // the last line may lack its newline
	d.open, d.frozen, d.openAt = nil, 0, 0
}

// Text is the sanitised text so far.
func (d *Doc) Text() string { return d.buf.String() }

// Seal replaces the text by its final form. Blocks that did not change stay the same blocks.
func (d *Doc) Seal(final string) {
	final = text.Sanitize(final)
	old := d.closed
	*d = Doc{sealed: true}
	d.buf.WriteString(final)
	d.grow()
	src := d.buf.String()
	if s := d.split; s.whole {
		d.closed = nil
		if strings.TrimSpace(src) != "" {
			d.closed = []*Block{{Text: src}}
		}
	} else if s.start < 0 {
		if strings.TrimSpace(src[s.pos:]) != "" { // a last line without a newline, after a block that is over
			d.closed = append(d.closed, &Block{Text: src[s.pos:]})
		}
	} else {
		d.closeOpen(src)
	}
	for i := 0; i < len(old) && i < len(d.closed) && old[i].Text == d.closed[i].Text; i++ {
		d.closed[i] = old[i]
	}
	d.split, d.dirty = nil, false
}

// closeOpen closes the open block at the end of the text, whose last line may lack its newline.
func (d *Doc) closeOpen(src string) {
	s := d.split
	if s.pos < len(src) {
		at := s.pos
		s.pos = len(src)
		s.takeLine(src[at:], at, d.cutBlock)
	}
	switch {
	case s.whole:
		d.closed = []*Block{{Text: src}}
	case s.start >= 0:
		d.closed = append(d.closed, &Block{Text: src[s.start:]})
	}
}

// Blocks returns the document's blocks; the first stable of them are closed for good (unless a link
// definition appears, and then stable is 0). The slice is valid until the next call.
func (d *Doc) Blocks() (blocks []*Block, stable int) {
	if d.sealed {
		return d.closed, len(d.closed)
	}
	if d.dirty {
		d.dirty = false
		d.cutOpen()
	}
	n := min(d.listed, len(d.closed))
	d.all = append(append(d.all[:n], d.closed[n:]...), d.open...)
	d.listed = len(d.closed)
	return d.all, d.listed
}

// cutOpen cuts what is open into parts of bounded size. Full parts stay as they are, so only the
// last is drawn again.
func (d *Doc) cutOpen() {
	src := d.buf.String()
	from := 0
	if s := d.split; s != nil && !s.whole {
		from = s.start
		if from < 0 {
			from = s.pos
		}
	}
	rest := src[from:]
	if strings.TrimSpace(rest) == "" {
		d.open, d.frozen = nil, 0
		return
	}
	d.open = d.open[:d.frozen]
	if d.frozen == 0 {
		d.openAt = 0
	}
	fence := openingFence(rest)
	for len(rest)-d.openAt > maxOpen {
		n := pieceEnd(rest[d.openAt : d.openAt+maxOpen])
		d.open = append(d.open, d.openPiece(rest, n, fence, true))
		d.openAt += n
		d.frozen++
	}
	d.open = append(d.open, d.openPiece(rest, len(rest)-d.openAt, fence, false))
}

func (d *Doc) openPiece(rest string, n int, fence string, tight bool) *Block {
	b := &Block{Text: rest[d.openAt : d.openAt+n], tight: tight}
	if d.openAt > 0 {
		b.fence = fence
	}
	return b
}

// pieceEnd looks for a place near the end of s where a cut shows least: an empty line, a line, a
// blank.
func pieceEnd(s string) int {
	half := len(s) / 2
	for _, sep := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(s, sep); i > half {
			return i + len(sep)
		}
	}
	n := len(s)
	for n > half && !utf8.RuneStart(s[n-1]) {
		n--
	}
	return n - 1
}

// openingFence returns the first line when it opens a code fence.
func openingFence(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if _, _, ok := fenceOpener(line); ok {
		return line
	}
	return ""
}
