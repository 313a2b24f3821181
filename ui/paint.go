package ui

import (
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"hermes/ui/layout"
	"hermes/ui/screen"
	"hermes/ui/style"
	"hermes/ui/text"
)

// compositor makes one frame of many boxes. A box whose pane shows what it showed before costs a
// comparison.
type compositor struct {
	boxes  map[layout.Box]*framed
	styles *style.Styles
}

// framed is a box with its border, and what it was made of.
type framed struct {
	face  face
	view  string
	lines []string
}

// face is what stands in a border.
type face struct {
	title Title
	key   string // what focuses the pane
	bar   string // styled; only with the focus
	focus bool
}

// paintFrame composes what changed and writes it.
func (f *frame) paintFrame() {
	f.removeDoneOverlays()
	f.dirty = false
	if f.w == 0 || f.h == 0 {
		return
	}
	frame, cursor := f.composeFrame()
	f.view = frame
	n, err := f.screen.Paint(frame, cursor)
	if err != nil {
		f.failed = err
	}
	f.wrote(n)
	f.showWindowTitle()
}

const tooSmall = "Hermes needs 40x12 cells. Make the window larger; ctrl+c twice quits."

func (f *frame) composeFrame() (string, screen.Cursor) {
	if f.plan.TooSmall {
		return text.Block(text.Wrap(tooSmall, f.w), f.w, f.h), screen.Cursor{}
	}
	if f.compose.styles != f.styles || len(f.compose.boxes) > 64 { // a new theme, or sizes of long ago
		f.compose = compositor{boxes: map[layout.Box]*framed{}, styles: f.styles}
	}
	rows := make([]string, f.h)
	for _, b := range f.plan.Boxes {
		f.drawBox(b)
	}
	f.joinBoxes(rows)
	f.drawToasts(rows)
	cursor := f.focusedCursor()
	for _, o := range f.overlays {
		cursor = f.drawOverlay(rows, o)
	}
	return f.toASCII(strings.Join(rows, "\n")), cursor
}

// plainSigns are stand-ins for the punctuation that sentences of ours use, each as wide as what it
// stands for.
var plainSigns = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("·", "-", "…", "~", "─", "-", "│", "|", "←", "<", "→", ">", "«", "[", "»", "]", "–", "-", "’", "'", "↵", "~", "•", "*")
})

// toASCII gives a terminal that cannot be trusted with more than ASCII its signs. The glyphs of the
// style are ASCII there already; what a conversation holds in other scripts stays as it is.
func (f *frame) toASCII(frame string) string {
	if !f.styles.ASCII {
		return frame
	}
	return plainSigns().Replace(frame)
}

// joinBoxes joins the boxes of each row from left to right, and adds tabs and status.
func (f *frame) joinBoxes(rows []string) {
	var b strings.Builder
	for y := range rows {
		switch {
		case y == f.h-1:
			rows[y] = f.statusRow(f.w)
			continue
		case y == 0 && f.plan.Tabs:
			rows[y] = f.tabRow()
			continue
		}
		b.Reset()
		for x := 0; x < f.w; {
			box, ok := f.plan.At(x, y)
			if !ok {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(f.compose.boxes[box].lines[y-box.Y])
			x = box.X + box.W
		}
		rows[y] = b.String()
	}
}

// drawBox borders the pane of b, unless it stands already.
func (f *frame) drawBox(b layout.Box) {
	p := f.paneAt(b.Slot, b.Index)
	now := face{focus: f.hasFocus(b), key: string('1' + rune(b.Slot))}
	view := ""
	if p != nil {
		now.title, view = p.Title(), p.View()
	}
	if s := f.selection; s != nil && s.box == b && s.pane == p {
		view = s.drawSelected(f.styles.Selection.Inline(true))
	}
	if now.focus {
		now.bar = f.actionBar(p, b.W-4)
	}
	old, ok := f.compose.boxes[b]
	if ok && old.face == now && old.view == view {
		return
	}
	fr := &framed{face: now, view: view}
	fr.lines = f.drawBorder(b.W, b.H, now, view)
	f.compose.boxes[b] = fr
}

func (f *frame) hasFocus(b layout.Box) bool {
	return b.Slot == f.focus && (b.Slot != layout.Conversation || b.Index == f.convs.at)
}

// drawBorder draws the box of w x h cells around view.
func (f *frame) drawBorder(w, h int, fc face, view string) []string {
	g, line, title := f.styles.Glyphs, f.styles.Border, f.styles.Title
	if fc.focus {
		line, title = f.styles.BorderFocus, f.styles.TitleFocus
	}
	lines := make([]string, 0, h)
	lines = append(lines, titledBorder(w, g, line, title, f.styles.Dim, fc))
	side := line.Render(g.Vertical)
	inner := strings.Split(view, "\n")
	for i := range h - 2 {
		s := ""
		if i < len(inner) {
			s = inner[i]
		}
		if text.Width(s) != w-2 {
			s = text.Fit(s, w-2)
		}
		lines = append(lines, side+s+side)
	}
	rest := max(w-3-text.Width(fc.bar), 0)
	return append(lines, line.Render(g.BottomLeft+g.Horizontal)+fc.bar+line.Render(strings.Repeat(g.Horizontal, rest)+g.BottomRight))
}

// titledBorder draws the top border: key and title at the left, the rest at the right.
func titledBorder(w int, g style.Glyphs, line, title, dim styled, fc face) string {
	left := fc.key
	if fc.title.Text != "" {
		left = strings.TrimSpace(left + " " + oneLine(text.Sanitize(fc.title.Text)))
	}
	right := oneLine(text.Sanitize(fc.title.Right))
	space := w - 6 // corners, one line each, blanks around the title
	if right != "" && text.Width(right)+6 < space {
		space -= text.Width(right) + 3
	} else {
		right = ""
	}
	left = text.Truncate(left, max(space, 0), g.Ellipsis)
	fill := space - text.Width(left)
	if left != "" {
		left = title.Render(" " + left + " ")
	} else {
		fill += 2
	}
	out := line.Render(g.TopLeft+g.Horizontal) + left + line.Render(strings.Repeat(g.Horizontal, max(fill, 0)))
	if right != "" {
		out += dim.Render(" "+right+" ") + line.Render(g.Horizontal)
	}
	return out + line.Render(g.Horizontal+g.TopRight)
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(s) }

// styled is the part of a lipgloss style that drawing needs.
type styled interface{ Render(s ...string) string }

// actionBar lists the actions that the focused pane wants named, as many as fit into w cells.
func (f *frame) actionBar(p Pane, w int) string {
	if p == nil {
		return ""
	}
	out, used := "", 0
	for _, a := range p.Actions() {
		keys := f.keys.keysOf(a)
		if !a.InBar || len(keys) == 0 || a.Why != nil && a.Why() != "" {
			continue
		}
		label := a.Bar
		if label == "" {
			label = a.Title
		}
		n := text.Width(keys[0]) + text.Width(label) + 3
		if used+n > w {
			break
		}
		out += " " + f.styles.Key.Render(keys[0]) + " " + f.styles.Hint.Render(label) + " "
		used += n
	}
	return out
}

var tabNames = [...]struct {
	slot        layout.Slot
	long, short string
}{{layout.Sessions, "1 Sessions", "1"}, {layout.Conversation, "2 Chat", "2"}, {layout.Output, "3 Output", "3"}, {layout.Backends, "4 Back ends", "4"}}

// tabRow names the panes where only one fits.
func (f *frame) tabRow() string {
	var parts []string
	for _, t := range tabNames {
		label := t.long
		if f.w < 60 {
			label = t.short
		}
		st, label := f.styles.Dim, " "+label+" "
		if t.slot == f.focus {
			st = f.styles.Selection
			if f.styles.Plain {
				label = "[" + label[1:len(label)-1] + "]"
			}
		}
		parts = append(parts, st.Render(label))
	}
	row := strings.Join(parts, f.styles.Faint.Render(f.styles.Glyphs.Bar))
	if p := f.convs.currentPane(); p != nil {
		if space := f.w - text.Width(row) - 2; space > 8 {
			row += "  " + f.styles.Dim.Render(text.Truncate(oneLine(text.Sanitize(p.Title().Text)), space, f.styles.Glyphs.Ellipsis))
		}
	}
	return text.Fit(row, f.w)
}

// focusedCursor returns the place of the focused pane's cursor on the screen.
func (f *frame) focusedCursor() screen.Cursor {
	for _, b := range f.plan.Boxes {
		if !f.hasFocus(b) {
			continue
		}
		if c, ok := f.paneAt(b.Slot, b.Index).(Cursorer); ok {
			return cursorIn(b, c)
		}
	}
	return screen.Cursor{}
}

// cursorIn is the place on the screen of a cursor inside of a border.
func cursorIn(b layout.Box, of Cursorer) screen.Cursor {
	x, y, on := of.Cursor()
	on = on && x >= 0 && y >= 0 && x < b.W-2 && y < b.H-2
	return screen.Cursor{X: b.X + 1 + x, Y: b.Y + 1 + y, Show: on}
}

// fitHint leaves out of a hint what does not fit into w cells, a key with what it does at a time.
// The way out stays.
func fitHint(h string, w int) string {
	gap := "  "
	if strings.Contains(h, " · ") {
		gap = " · "
	}
	parts := strings.Split(h, gap)
	room := w + text.Width(gap)
	keep := make([]bool, len(parts))
	for _, wayOut := range []bool{true, false} {
		for i, part := range parts {
			if n := text.Width(gap + part); strings.HasPrefix(part, "esc ") == wayOut && n <= room {
				keep[i], room = true, room-n
			}
		}
	}
	var out []string
	for i, part := range parts {
		if keep[i] {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return h
	}
	return strings.Join(out, gap)
}

// overwriteLine writes line over what stands at x, y in rows of w cells.
func overwriteLine(rows []string, x, y int, line string, w int) {
	if y < 0 || y >= len(rows) {
		return
	}
	n := text.Width(line)
	rows[y] = text.Fit(rows[y], x) + line + text.FitLeft(ansi.Cut(rows[y], x+n, w), w-x-n)
}

// drawOverlay draws one overlay in the middle of the rows and returns its cursor.
func (f *frame) drawOverlay(rows []string, o *shown) screen.Cursor {
	b := o.centredBox(f.w, f.h)
	inner := o.overlay.View(b.W-2, b.H-2)
	hint := ""
	if h := o.overlay.Hint(); h != "" {
		hint = f.styles.Hint.Render(" " + text.Truncate(fitHint(oneLine(h), b.W-6), b.W-6, f.styles.Glyphs.Ellipsis) + " ")
	}
	title := Title{Text: o.overlay.Title()}
	if p, ok := o.overlay.(Placer); ok {
		title.Right = p.Place()
	}
	lines := f.drawBorder(b.W, b.H, face{title: title, focus: true, bar: hint}, inner)
	for i, line := range lines {
		overwriteLine(rows, b.X, b.Y+i, line, f.w)
	}
	if c, ok := o.overlay.(Cursorer); ok {
		return cursorIn(b, c)
	}
	return screen.Cursor{}
}
