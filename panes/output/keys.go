package output

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui"
	"hermes/ui/text"
)

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case ui.SessionFocused:
		return p.focusSession(m.UID)
	case loadedMsg:
		p.restore(m)
	case tea.MouseMsg:
		switch m.Button {
		case tea.MouseButtonWheelUp:
			p.scroll(-3)
		case tea.MouseButtonWheelDown:
			p.scroll(3)
		default:
		}
	}
	return nil
}

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	do := func(f func()) func(string) tea.Cmd {
		return func(string) tea.Cmd {
			f()
			p.memoOK = false
			return nil
		}
	}
	none := func() string {
		if p.current() == nil {
			return "no tool has run in this session"
		}
		return ""
	}
	return []ui.Action{
		{ID: "output.up", Keys: []string{"up", "k"}, Title: "Scroll up", Why: none, Run: do(func() { p.scroll(-1) }), Hidden: true},
		{ID: "output.down", Keys: []string{"down", "j"}, Title: "Scroll down", Why: none, Run: do(func() { p.scroll(1) }), Hidden: true},
		{ID: "output.pageup", Keys: []string{"pgup", "ctrl+b"}, Title: "Page up", Why: none, Run: do(func() { p.scroll(-max(1, p.h-1)) })},
		{ID: "output.pagedown", Keys: []string{"pgdown", "ctrl+f"}, Title: "Page down", Why: none, Run: do(func() { p.scroll(max(1, p.h-1)) })},
		{ID: "output.top", Keys: []string{"home", "g"}, Title: "Go to the beginning", Why: none, Run: do(p.toTop)},
		{ID: "output.end", Keys: []string{"end", "G"}, Title: "Go to the end and follow", Why: none, Run: do(func() { p.view.follow = true }), InBar: true},
		{ID: "output.previous", Keys: []string{"["}, Title: "Previous tool call", Why: none, Run: do(func() { p.selectCall(-1) }), InBar: true},
		{ID: "output.next", Keys: []string{"]"}, Title: "Next tool call", Why: none, Run: do(func() { p.selectCall(1) })},
		{ID: "output.newest", Keys: []string{"0"}, Title: "Follow the newest call", Why: none, Run: do(func() { p.pinned = nil; p.view.reset() })},
		{ID: "output.wrap", Keys: []string{"w"}, Title: "Wrap long lines", Run: do(func() { p.view.wrap = !p.view.wrap })},
	}
}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	c := p.current()
	if c == nil {
		return "", ""
	}
	return c.buf.text(), "output"
}

// Search implements ui.Searcher.
func (p *Pane) Search(query string) int {
	p.view.query, p.view.hits, p.view.hit, p.memoOK = query, nil, -1, false
	c := p.current()
	if c == nil || query == "" {
		return 0
	}
	q := strings.ToLower(query)
	for n := c.buf.first; n < c.buf.end(); n++ {
		if strings.Contains(strings.ToLower(text.Sanitize(c.buf.line(n))), q) {
			p.view.hits = append(p.view.hits, n)
		}
	}
	p.NextHit(-1) // the newest hit first: the end is what people look at
	return len(p.view.hits)
}

// NextHit implements ui.SearchMover.
func (p *Pane) NextHit(delta int) {
	hits := p.view.hits
	if len(hits) == 0 {
		return
	}
	if p.view.hit < 0 {
		p.view.hit = len(hits) - 1
	} else {
		p.view.hit = (p.view.hit + delta + len(hits)) % len(hits)
	}
	p.lock()
	p.view.top, p.view.row = max(0, hits[p.view.hit]-p.h/2), 0
	p.memoOK = false
}

// lock stops following, at the rows that are shown now.
func (p *Pane) lock() {
	c := p.current()
	if c == nil || !p.view.follow {
		return
	}
	p.view.follow, p.view.seen = false, c.buf.end()
	p.view.top, p.view.row = p.topOfEnd(c)
}

// topOfEnd is the position whose rows end with the buffer.
func (p *Pane) topOfEnd(c *call) (line, row int) {
	count := 0
	for n := c.buf.end() - 1; n >= c.buf.first; n-- {
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
	line, row := max(p.view.top, c.buf.first), p.view.row
	for ; rows < 0; rows++ {
		if row > 0 {
			row--
		} else if line > c.buf.first {
			line--
			row = len(p.lineRows(c, line)) - 1
		}
	}
	for ; rows > 0; rows-- {
		if row+1 < len(p.lineRows(c, line)) {
			row++
		} else if line+1 < c.buf.end() {
			line, row = line+1, 0
		}
	}
	p.view.top, p.view.row = line, row
	if endLine, endRow := p.topOfEnd(c); line > endLine || line == endLine && row >= endRow {
		p.view.follow = true
	}
}

func (p *Pane) toTop() {
	p.lock()
	if c := p.current(); c != nil {
		p.view.top, p.view.row = c.buf.first, 0
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
