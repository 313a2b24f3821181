// Package list is a virtual list of items of unknown height, read from the end: a transcript.
//
// The contract:
//
//   - A position is (item, line). Nothing needs the total height, so nothing ever walks the whole
//     list: a View draws the items in its window and no other, whatever the length.
//   - What an item drew is kept until its version, the width or the theme (Invalidate) changes. At
//     most Keep items keep their lines; the ones drawn longest ago let go first.
//   - Following shows the end. Any move up stops it; reaching the end by a move down, or End,
//     starts it again.
//   - Items may be put before, after, or replaced at the tail without moving what a reader looks
//     at.
//
// A List belongs to one goroutine.
package list

import (
	"slices"

	"hermes/ui/text"
)

// Keep is how many items keep what they drew.
const Keep = 2000

// Item is one thing in the list.
type Item interface {
	// Lines draws the item w cells wide. Zero lines are fine.
	Lines(w int) []string
	// Version changes whenever Lines would.
	Version() uint64
}

type entry struct {
	item    Item
	version uint64
	epoch   uint64
	w       int
	lines   []string
}

// List holds the items and the position. The zero value is an empty list that does not follow; use
// New.
type List struct {
	w, h    int
	entries []*entry
	epoch   uint64
	follow  bool
	top     Pos
	drawn   []*entry // ring of entries that keep lines
	next    int
	count   int // times an entry was drawn, for tests and traces
}

// Pos is a place in the list.
type Pos struct{ Item, Line int }

// New returns an empty list that follows its end.
func New() *List { return &List{follow: true, epoch: 1} }

// Resize sets the window.
func (l *List) Resize(w, h int) { l.w, l.h = max(w, 0), max(h, 0) }

// Invalidate drops everything drawn: the theme changed.
func (l *List) Invalidate() { l.epoch++ }

// Len is the number of items.
func (l *List) Len() int { return len(l.entries) }

// At returns an item.
func (l *List) At(i int) Item { return l.entries[i].item }

// Append adds items at the end.
func (l *List) Append(items ...Item) {
	for _, it := range items {
		l.entries = append(l.entries, &entry{item: it})
	}
}

// Prepend adds items at the beginning; what is in the window stays there.
func (l *List) Prepend(items ...Item) {
	es := make([]*entry, 0, len(items)+len(l.entries))
	for _, it := range items {
		es = append(es, &entry{item: it})
	}
	l.entries = append(es, l.entries...)
	l.top.Item += len(items)
}

// Splice replaces the n items from i on by others. What was drawn of an item that is in both is
// kept.
func (l *List) Splice(i, n int, items ...Item) {
	old := l.entries[i : i+n]
	es := make([]*entry, len(items))
	for k, it := range items {
		if k < len(old) && old[k].item == it {
			es[k] = old[k]
		} else {
			es[k] = &entry{item: it}
		}
	}
	if len(es) == n {
		copy(old, es)
	} else {
		l.entries = slices.Replace(l.entries, i, i+n, es...)
	}
	if l.top.Item >= i+n {
		l.top.Item += len(items) - n
	} else if l.top.Item >= i+len(items) {
		l.top = Pos{Item: max(0, i+len(items)-1), Line: 1 << 30}
	}
}

// Clear removes all items and follows.
func (l *List) Clear() {
	l.entries, l.drawn, l.next, l.top, l.follow = nil, nil, 0, Pos{}, true
}

// itemLines draws item i, or returns what it drew before.
func (l *List) itemLines(i int) []string {
	e := l.entries[i]
	v := e.item.Version()
	if e.lines != nil && e.version == v && e.w == l.w && e.epoch == l.epoch {
		return e.lines
	}
	if e.lines == nil {
		l.keepDrawn(e)
	}
	l.count++
	raw := e.item.Lines(l.w)
	lines := make([]string, len(raw))
	for k, s := range raw {
		lines[k] = text.Fit(s, l.w)
	}
	e.lines, e.version, e.w, e.epoch = lines, v, l.w, l.epoch
	return lines
}

func (l *List) keepDrawn(e *entry) {
	if len(l.drawn) < Keep {
		l.drawn = append(l.drawn, e)
		return
	}
	l.drawn[l.next].lines = nil
	l.drawn[l.next] = e
	l.next = (l.next + 1) % Keep
}

// View returns the lines in the window: at most h, each exactly w cells.
func (l *List) View() []string {
	if l.w <= 0 || l.h <= 0 || len(l.entries) == 0 {
		return nil
	}
	p := l.topPosition()
	out := make([]string, 0, l.h)
	for i, skip := p.Item, p.Line; i < len(l.entries) && len(out) < l.h; i, skip = i+1, 0 {
		lines := l.itemLines(i)
		if skip < len(lines) {
			out = append(out, lines[skip:min(len(lines), skip+l.h-len(out))]...)
		}
	}
	return out
}

// topPosition returns the top of the window, moved so that the window is as full as it can be.
func (l *List) topPosition() Pos {
	end := l.lastPosition()
	if l.follow {
		l.top = end
		return end
	}
	if l.top.Item >= len(l.entries) {
		l.top = end
	}
	if n := len(l.itemLines(l.top.Item)); l.top.Line >= n {
		l.top.Line = max(0, n-1)
	}
	if end.before(l.top) {
		l.top = end
	}
	return l.top
}

func (p Pos) before(q Pos) bool { return p.Item < q.Item || p.Item == q.Item && p.Line < q.Line }

// lastPosition returns the top of the window that shows the last line.
func (l *List) lastPosition() Pos {
	need := l.h
	for i := len(l.entries) - 1; i >= 0; i-- {
		n := len(l.itemLines(i))
		if n >= need {
			return Pos{i, n - need}
		}
		need -= n
	}
	return Pos{}
}

// Scroll moves the window by lines, down when positive.
func (l *List) Scroll(lines int) {
	if l.w <= 0 || l.h <= 0 || len(l.entries) == 0 || lines == 0 {
		return
	}
	p := l.topPosition()
	if lines < 0 {
		l.follow = false
		l.top = l.moveUp(p, -lines)
		return
	}
	if l.follow {
		return
	}
	p.Line += lines
	for p.Item < len(l.entries)-1 {
		n := len(l.itemLines(p.Item))
		if p.Line < n {
			break
		}
		p.Item, p.Line = p.Item+1, p.Line-n
	}
	l.top = p
	if end := l.lastPosition(); !p.before(end) {
		l.top, l.follow = end, true
	}
}

func (l *List) moveUp(p Pos, lines int) Pos {
	for lines > p.Line && p.Item > 0 {
		lines -= p.Line
		p.Item--
		p.Line = len(l.itemLines(p.Item))
	}
	return Pos{p.Item, max(0, p.Line-lines)}
}

// Page moves by windows, keeping one line in sight.
func (l *List) Page(pages int) { l.Scroll(pages * max(1, l.h-1)) }

// Home goes to the first item and stops following.
func (l *List) Home() { l.follow, l.top = false, Pos{} }

// End goes to the last line and follows.
func (l *List) End() { l.follow = true }

// Follow reports whether the end is followed.
func (l *List) Follow() bool { return l.follow }

// More reports whether something stands below the window.
func (l *List) More() bool {
	return !l.follow && len(l.entries) > 0 && l.w > 0 && l.h > 0 && l.topPosition().before(l.lastPosition())
}

// Show puts item i at the top of the window and stops following.
func (l *List) Show(i int) {
	l.follow, l.top = false, Pos{Item: min(max(i, 0), max(0, len(l.entries)-1))}
}

// Reveal moves as little as it can to bring the beginning of item i into the window.
func (l *List) Reveal(i int) {
	if i < 0 || i >= len(l.entries) {
		return
	}
	if l.h <= 0 || l.w <= 0 { // not shown yet
		l.Show(i)
		return
	}
	p := l.topPosition()
	if i < p.Item || i == p.Item && p.Line > 0 {
		l.Show(i)
		return
	}
	rows := -p.Line
	for k := p.Item; k < i && rows <= l.h; k++ {
		rows += len(l.itemLines(k))
	}
	if rows+min(len(l.itemLines(i)), l.h) > l.h {
		l.follow = false
		l.top = l.moveUp(Pos{i, min(len(l.itemLines(i)), l.h)}, l.h)
	}
}

// RevealLine is Reveal for one line of item i, with a few lines of what is around it.
func (l *List) RevealLine(i, line int) {
	l.Reveal(i)
	if i < 0 || i >= len(l.entries) || l.h <= 0 || l.w <= 0 {
		return
	}
	p := l.topPosition()
	rows := line - p.Line
	for k := p.Item; k < i; k++ {
		rows += len(l.itemLines(k))
	}
	if rows >= 0 && rows < l.h {
		return
	}
	l.follow = false
	l.top = l.moveUp(Pos{i, line}, min(2, l.h/3))
}

// Top returns the position of the window's first line.
func (l *List) Top() Pos {
	if len(l.entries) == 0 || l.w <= 0 || l.h <= 0 {
		return Pos{}
	}
	return l.topPosition()
}

// Hit returns the item and its line at row y of the window.
func (l *List) Hit(y int) (Pos, bool) {
	if y < 0 || y >= l.h || l.w <= 0 || len(l.entries) == 0 {
		return Pos{}, false
	}
	p := l.topPosition()
	y += p.Line
	for i := p.Item; i < len(l.entries); i++ {
		n := len(l.itemLines(i))
		if y < n {
			return Pos{i, y}, true
		}
		y -= n
	}
	return Pos{}, false
}

// Bar returns where a scrollbar's thumb stands: the first row and the rows, estimated by item
// number, which costs nothing.
func (l *List) Bar() (at, rows int) {
	if l.h <= 0 || len(l.entries) == 0 {
		return 0, l.h
	}
	first := l.Top().Item
	last, _ := l.Hit(l.h - 1)
	if last.Item == 0 {
		last.Item = len(l.entries) - 1
	}
	n := len(l.entries)
	rows = min(l.h, max(1, (last.Item-first+1)*l.h/n))
	if l.follow {
		return l.h - rows, rows
	}
	return min(l.h-rows, first*l.h/n), rows
}

// Drawn counts how often an item was drawn, for tests and traces.
func (l *List) Drawn() int { return l.count }
