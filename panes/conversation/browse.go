package conversation

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"hermes/core/event"
	"hermes/ui"
)

func (p *Pane) startBrowsing() {
	if p.list.Len() == 0 {
		return
	}
	if !p.browsing {
		p.browsing, p.queue.choosing, p.selected = true, false, p.list.Len()
		if i := p.inSight(); i >= 0 {
			p.selected = i
			return
		}
		p.move(-1)
	}
}

// inSight is the newest item that begins in the window of somebody who has scrolled up and has
// something to show, so that browsing begins where they read; -1 for none.
func (p *Pane) inSight() int {
	if p.list.Follow() {
		return -1
	}
	for y := p.h - 1; y >= 0; y-- {
		if pos, ok := p.list.Hit(y); ok && pos.Line == 0 && p.selectable(pos.Item) {
			return pos.Item
		}
	}
	return -1
}

func (p *Pane) selectable(i int) bool {
	if _, tool := p.at(i).(*call); tool {
		return true
	}
	it := p.at(i)
	if it == nil {
		return false
	}
	s, _ := it.plain()
	return strings.TrimSpace(s) != ""
}

// stopBrowsing gives the keys back to the line. The marks of a search go with it.
func (p *Pane) stopBrowsing() {
	p.browsing, p.query = false, ""
}

func (p *Pane) toggleBrowsing() {
	if p.browsing {
		p.stopBrowsing()
		return
	}
	p.startBrowsing()
}

func (p *Pane) at(i int) item {
	if i < 0 || i >= p.list.Len() {
		return nil
	}
	it, _ := p.list.At(i).(item)
	return it
}

// move selects the next item in a direction that has something to show.
func (p *Pane) move(delta int) {
	for i := p.selected + delta; i >= 0 && i < p.list.Len(); i += delta {
		if p.selectable(i) {
			p.selected = i
			break
		}
	}
	p.list.Reveal(p.selected)
}

func (p *Pane) toggleSelected() {
	if it := p.at(p.selected); it != nil {
		it.toggle()
	}
}

// Copy implements ui.Copier: the selected item, else the newest answer.
func (p *Pane) Copy() (content, what string) {
	if p.browsing {
		if it := p.at(p.selected); it != nil {
			return it.plain()
		}
	}
	return p.newestAnswer(), "message"
}

// newestAnswer joins the blocks of the newest message that has any.
func (p *Pane) newestAnswer() string {
	i := p.list.Len() - 1
	for i >= 0 {
		if _, ok := p.at(i).(*block); ok {
			break
		}
		i--
	}
	if i < 0 {
		return ""
	}
	id := p.at(i).message()
	var parts []string
	for ; i >= 0 && p.at(i).message() == id; i-- {
		if b, ok := p.at(i).(*block); ok {
			parts = append([]string{b.b.Text}, parts...)
		}
	}
	return strings.TrimRight(strings.Join(parts, ""), "\n")
}

func (p *Pane) copySelected() tea.Cmd {
	content, what := p.Copy()
	if content == "" {
		return toast(event.Info, "There is nothing to copy here", "")
	}
	return func() tea.Msg { return ui.CopyText{Text: content, What: what} }
}

// fork opens a copy of the session that ends with the selected message.
func (p *Pane) fork() tea.Cmd {
	it := p.at(p.selected)
	if p.deps.Fork == nil || it == nil || it.message() == 0 {
		return toast(event.Info, "Select a message to fork at", "")
	}
	session, id := p.session, it.message()
	return within(func(ctx context.Context) tea.Msg {
		uid, err := p.deps.Fork(ctx, session, id)
		if err != nil {
			return doneMsg{"The session was not forked", err}
		}
		return ui.OpenSession{UID: uid}
	})
}

// judge keeps how the turn of the selected message went.
func (p *Pane) judge(good bool) tea.Cmd {
	it := p.at(p.selected)
	if it == nil || it.message() == 0 {
		return toast(event.Info, "Select a message of the turn to mark", "")
	}
	return p.deps.Mark(p.session, it.message(), good)
}

func (p *Pane) retry() tea.Cmd {
	p.stopBrowsing()
	return p.change(p.deps.Retry, "Nothing was tried again")
}

func (p *Pane) undo() tea.Cmd {
	session := p.session
	return within(func(ctx context.Context) tea.Msg {
		prompt, err := p.deps.Undo(ctx, session)
		return undoneMsg{session, prompt, err}
	})
}

// undone puts the prompt that was taken back into the line, to be changed and sent again, unless
// something stands there.
func (p *Pane) undone(m undoneMsg) tea.Cmd {
	if m.err != nil {
		return toast(event.Error, "Nothing was undone: "+oneLine(m.err.Error()), "")
	}
	if m.session == p.session && p.composer.Empty() {
		p.composer.SetText(m.prompt.Text)
		for _, part := range m.prompt.Parts {
			p.composer.Attach(part)
		}
	}
	return nil
}

func (p *Pane) change(f func(context.Context, string) error, failed string) tea.Cmd {
	if f == nil || p.session == "" {
		return nil
	}
	session := p.session
	return within(func(ctx context.Context) tea.Msg { return doneMsg{failed, f(ctx, session)} })
}

// Search implements ui.Searcher: the loaded part of the transcript.
func (p *Pane) Search(query string) int {
	p.hits, p.hit, p.query, p.memoOK = nil, -1, query, false
	if query == "" {
		return 0
	}
	for i := range p.list.Len() {
		if s, _ := p.at(i).plain(); contains(s, query) {
			p.hits = append(p.hits, i)
		}
	}
	p.NextHit(-1)
	return len(p.hits)
}

func contains(s, query string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(query))
}

// NextHit implements ui.SearchMover. A hit inside of a closed call opens it: a place that cannot be
// seen is none.
func (p *Pane) NextHit(delta int) {
	if len(p.hits) == 0 {
		return
	}
	if p.hit < 0 {
		p.hit = len(p.hits) - 1
	} else {
		p.hit = (p.hit + delta + len(p.hits)) % len(p.hits)
	}
	p.browsing, p.queue.choosing, p.memoOK = true, false, false
	p.selected = min(p.hits[p.hit], p.list.Len()-1)
	it := p.at(p.selected)
	line := p.lineOfHit(it)
	if line < 0 {
		it.toggle()
		if line = p.lineOfHit(it); line < 0 {
			it.toggle()
		}
	}
	p.list.RevealLine(p.selected, max(0, line))
}

// lineOfHit is the first line of an item that shows what was searched for; -1 when none does.
func (p *Pane) lineOfHit(it item) int {
	if p.w <= 0 {
		return 0
	}
	for i, l := range it.Lines(p.w) {
		if contains(ansi.Strip(l), p.query) {
			return i
		}
	}
	return -1
}
