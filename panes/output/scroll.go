package output

import (
	"strings"

	"hermes/ui/text"
)

// lock stops following, at the rows that are shown now.
func (p *Pane) lock() {
	c := p.current()
	if c == nil || !p.view.follow {
		return
	}
	p.view.follow, p.view.seen = false, p.end(c)
	p.view.top, p.view.row = p.topOfEnd(c)
}

// follow goes back to the end.
func (p *Pane) follow() { p.view.follow = true }

// topOfEnd is the position whose rows end with the last one.
func (p *Pane) topOfEnd(c *call) (line, row int) {
	count := 0
	for n := p.end(c) - 1; n >= c.buf.first; n-- {
		count += len(p.lineRows(c, n))
		if count >= p.h {
			return n, count - p.h
		}
	}
	return c.buf.first, 0
}

// scroll moves by rows. Up locks; reaching the end follows again.
func (p *Pane) scroll(rows int) {
	c := p.current()
	if c == nil || p.h <= 0 || p.w <= 0 {
		return
	}
	p.memoOK = false
	if rows < 0 {
		p.lock()
	}
	if p.view.follow {
		return
	}
	p.view.top, p.view.row = p.step(c, max(p.view.top, c.buf.first), p.view.row, rows)
	if p.atEnd(c) {
		p.follow()
	}
}

// step is the position some rows away, between the first and the last row.
func (p *Pane) step(c *call, line, row, rows int) (int, int) {
	for ; rows < 0; rows++ {
		if row > 0 {
			row--
		} else if line > c.buf.first {
			line--
			row = len(p.lineRows(c, line)) - 1
		}
	}
	for end := p.end(c); rows > 0 && line < end; rows-- {
		if row+1 < len(p.lineRows(c, line)) {
			row++
		} else if line+1 < end {
			line, row = line+1, 0
		}
	}
	return line, row
}

func (p *Pane) atEnd(c *call) bool {
	line, row := p.topOfEnd(c)
	return p.view.top > line || p.view.top == line && p.view.row >= row
}

func (p *Pane) toTop() {
	p.lock()
	if c := p.current(); c != nil {
		p.view.top, p.view.row = c.buf.first, 0
		if p.atEnd(c) {
			p.follow()
		}
	}
}

// selectCall shows the call before or after the current one.
func (p *Pane) selectCall(delta int) {
	calls, cur := p.mine(), p.current()
	for i, c := range calls {
		if c != cur {
			continue
		}
		if j := i + delta; j >= 0 && j < len(calls) {
			p.pinned = calls[j]
			p.view.reset()
		}
		return
	}
}

// whyNotSelect says why there is no call in that direction.
func (p *Pane) whyNotSelect(delta int) func() string {
	return func() string {
		calls := p.mine()
		switch at := p.place(calls); {
		case len(calls) == 0:
			return "no tool has run in this session"
		case at+delta < 0:
			return "this is the oldest call that is kept"
		case at+delta >= len(calls):
			return "this is the newest call"
		default:
			return ""
		}
	}
}

func (p *Pane) place(calls []*call) int {
	cur := p.current()
	for i, c := range calls {
		if c == cur {
			return i
		}
	}
	return -1
}

// Search implements ui.Searcher.
func (p *Pane) Search(query string) int {
	p.view.query, p.view.hits, p.view.hit, p.memoOK = text.Sanitize(query), nil, -1, false
	c := p.current()
	if c == nil || query == "" {
		return 0
	}
	q := strings.ToLower(p.view.query)
	for n := c.buf.first; n < p.end(c); n++ {
		if strings.Contains(strings.ToLower(text.Sanitize(p.line(c, n))), q) {
			p.view.hits = append(p.view.hits, n)
		}
	}
	p.NextHit(-1) // the newest hit first: the end is what people look at
	return len(p.view.hits)
}

// NextHit implements ui.SearchMover.
func (p *Pane) NextHit(delta int) {
	c, hits := p.current(), p.view.hits
	if len(hits) == 0 || c == nil || p.w <= 0 || p.h <= 0 {
		return
	}
	if p.view.hit < 0 {
		p.view.hit = len(hits) - 1
	} else {
		p.view.hit = (p.view.hit + delta + len(hits)) % len(hits)
	}
	p.lock()
	line := min(max(hits[p.view.hit], c.buf.first), max(p.end(c)-1, c.buf.first))
	p.view.wrap = p.view.wrap || text.Width(p.line(c, line)) > p.w // a hit behind the edge must be seen
	p.view.top, p.view.row = p.step(c, line, p.hitRow(c, line), -p.h/2)
	if p.atEnd(c) {
		p.view.top, p.view.row = p.topOfEnd(c)
	}
	p.memoOK = false
}

// hitRow is the row of a wrapped line that holds the match.
func (p *Pane) hitRow(c *call, line int) int {
	q := strings.ToLower(p.view.query)
	for i, row := range p.lineRows(c, line) {
		if strings.Contains(strings.ToLower(text.Sanitize(row)), q) {
			return i
		}
	}
	return 0
}
