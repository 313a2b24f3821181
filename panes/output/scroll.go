package output

import (
	"strings"

	"hermes/ui/text"
)

// stopFollowing stops following, at the rows that are shown now.
func (p *Pane) stopFollowing() {
	c := p.currentCall()
	if c == nil || !p.view.follow {
		return
	}
	p.view.follow, p.view.seen = false, p.endLine(c)
	p.view.top, p.view.row = p.topOfEnd(c)
}

// followEnd goes back to the end.
func (p *Pane) followEnd() { p.view.follow = true }

// topOfEnd is the position whose rows end with the last one.
func (p *Pane) topOfEnd(c *call) (line, row int) {
	count := 0
	for n := p.endLine(c) - 1; n >= c.buf.first; n-- {
		count += len(p.lineRows(c, n))
		if count >= p.h {
			return n, count - p.h
		}
	}
	return c.buf.first, 0
}

// scrollRows moves by rows. Up locks; reaching the end follows again.
func (p *Pane) scrollRows(rows int) {
	c := p.currentCall()
	if c == nil || p.h <= 0 || p.w <= 0 {
		return
	}
	p.memoOK = false
	if rows < 0 {
		p.stopFollowing()
	}
	if p.view.follow {
		return
	}
	p.view.top, p.view.row = p.movePosition(c, max(p.view.top, c.buf.first), p.view.row, rows)
	if p.atEnd(c) {
		p.followEnd()
	}
}

// movePosition is the position some rows away, between the first and the last row.
func (p *Pane) movePosition(c *call, line, row, rows int) (int, int) {
	for ; rows < 0; rows++ {
		if row > 0 {
			row--
		} else if line > c.buf.first {
			line--
			row = len(p.lineRows(c, line)) - 1
		}
	}
	for end := p.endLine(c); rows > 0 && line < end; rows-- {
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
	p.stopFollowing()
	if c := p.currentCall(); c != nil {
		p.view.top, p.view.row = c.buf.first, 0
		if p.atEnd(c) {
			p.followEnd()
		}
	}
}

// selectCall shows the call before or after the current one.
func (p *Pane) selectCall(delta int) {
	calls, cur := p.sessionCalls(), p.currentCall()
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
		calls := p.sessionCalls()
		switch at := p.placeView(calls); {
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

func (p *Pane) placeView(calls []*call) int {
	cur := p.currentCall()
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
	c := p.currentCall()
	if c == nil || query == "" {
		return 0
	}
	q := strings.ToLower(p.view.query)
	for n := c.buf.first; n < p.endLine(c); n++ {
		if strings.Contains(strings.ToLower(text.Sanitize(p.styledLine(c, n))), q) {
			p.view.hits = append(p.view.hits, n)
		}
	}
	p.NextHit(-1) // the newest hit first: the end is what people look at
	return len(p.view.hits)
}

// NextHit implements ui.SearchMover.
func (p *Pane) NextHit(delta int) {
	c, hits := p.currentCall(), p.view.hits
	if len(hits) == 0 || c == nil || p.w <= 0 || p.h <= 0 {
		return
	}
	if p.view.hit < 0 {
		p.view.hit = len(hits) - 1
	} else {
		p.view.hit = (p.view.hit + delta + len(hits)) % len(hits)
	}
	p.stopFollowing()
	line := min(max(hits[p.view.hit], c.buf.first), max(p.endLine(c)-1, c.buf.first))
	p.view.wrap = p.view.wrap || text.Width(p.styledLine(c, line)) > p.w // a hit behind the edge must be seen
	p.view.top, p.view.row = p.movePosition(c, line, p.hitRow(c, line), -p.h/2)
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
