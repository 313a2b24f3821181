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
		p.moveSelection(-1)
	}
}

// inSight is the newest item that begins in the window of somebody who has scrolled up and has
// something to show, so that browsing begins where they read; -1 for none.
func (p *Pane) inSight() int {
	if p.list.Follow() {
		return -1
	}
	for y := p.h - 1; y >= 0; y-- {
		if pos, ok := p.list.Hit(y); ok && pos.Line == 0 && p.isSelectable(pos.Item) {
			return pos.Item
		}
	}
	return -1
}

func (p *Pane) isSelectable(i int) bool {
	if _, tool := p.itemAt(i).(*call); tool {
		return true
	}
	it := p.itemAt(i)
	if it == nil {
		return false
	}
	s, _ := it.plainText()
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

func (p *Pane) itemAt(i int) item {
	if i < 0 || i >= p.list.Len() {
		return nil
	}
	it, _ := p.list.At(i).(item)
	return it
}

// moveSelection selects the next item in a direction that has something to show.
func (p *Pane) moveSelection(delta int) {
	for i := p.selected + delta; i >= 0 && i < p.list.Len(); i += delta {
		if p.isSelectable(i) {
			p.selected = i
			break
		}
	}
	p.list.Reveal(p.selected)
}

func (p *Pane) toggleSelected() {
	if it := p.itemAt(p.selected); it != nil {
		it.toggleOpen()
	}
}

// Copy implements ui.Copier: the selected item, else the newest answer.
func (p *Pane) Copy() (content, what string) {
	if p.browsing {
		if it := p.itemAt(p.selected); it != nil {
			return it.plainText()
		}
	}
	return p.newestAnswer(), "message"
}

// newestAnswer joins the blocks of the newest message that has any.
func (p *Pane) newestAnswer() string {
	i := p.list.Len() - 1
	for i >= 0 {
		if _, ok := p.itemAt(i).(*block); ok {
			break
		}
		i--
	}
	if i < 0 {
		return ""
	}
	id := p.itemAt(i).messageID()
	var parts []string
	for ; i >= 0 && p.itemAt(i).messageID() == id; i-- {
		if b, ok := p.itemAt(i).(*block); ok {
			parts = append([]string{b.b.Text}, parts...)
		}
	}
	return strings.TrimRight(strings.Join(parts, ""), "\n")
}

func (p *Pane) copySelected() tea.Cmd {
	content, what := p.Copy()
	if content == "" {
		return showToast(event.Info, "There is nothing to copy here", "")
	}
	return func() tea.Msg { return ui.CopyText{Text: content, What: what} }
}

// forkSession opens a copy of the session that ends with the selected message.
func (p *Pane) forkSession() tea.Cmd {
	it := p.itemAt(p.selected)
	if p.deps.Fork == nil || it == nil || it.messageID() == 0 {
		return showToast(event.Info, "Select a message to fork at", "")
	}
	session, id := p.session, it.messageID()
	return withTimeout(func(ctx context.Context) tea.Msg {
		uid, err := p.deps.Fork(ctx, session, id)
		if err != nil {
			return doneMsg{"The session was not forked", err}
		}
		return ui.OpenSession{UID: uid}
	})
}

// judgeTurn keeps how the turn of the selected message went.
func (p *Pane) judgeTurn(good bool) tea.Cmd {
	it := p.itemAt(p.selected)
	if it == nil || it.messageID() == 0 {
		return showToast(event.Info, "Select a message of the turn to mark", "")
	}
	return p.deps.Mark(p.session, it.messageID(), good)
}

func (p *Pane) retryTurn() tea.Cmd {
	p.stopBrowsing()
	return p.changeSession(p.deps.Retry, "Nothing was tried again")
}

func (p *Pane) undoTurn() tea.Cmd {
	session := p.session
	return withTimeout(func(ctx context.Context) tea.Msg {
		prompt, err := p.deps.Undo(ctx, session)
		return undoneMsg{session, prompt, err}
	})
}

// applyUndo puts the prompt that was taken back into the line, to be changed and sent again, unless
// something stands there.
func (p *Pane) applyUndo(m undoneMsg) tea.Cmd {
	if m.err != nil {
		return showToast(event.Error, "Nothing was undone: "+oneLine(m.err.Error()), "")
	}
	if m.session == p.session && p.composer.Empty() {
		p.composer.SetText(m.prompt.Text)
		for _, part := range m.prompt.Parts {
			p.composer.Attach(part)
		}
	}
	return nil
}

func (p *Pane) changeSession(f func(context.Context, string) error, failed string) tea.Cmd {
	if f == nil || p.session == "" {
		return nil
	}
	session := p.session
	return withTimeout(func(ctx context.Context) tea.Msg { return doneMsg{failed, f(ctx, session)} })
}

// Search implements ui.Searcher: the loaded part of the transcript.
func (p *Pane) Search(query string) int {
	p.hits, p.hit, p.query, p.memoOK = nil, -1, query, false
	if query == "" {
		return 0
	}
	for i := range p.list.Len() {
		if s, _ := p.itemAt(i).plainText(); containsFold(s, query) {
			p.hits = append(p.hits, i)
		}
	}
	p.NextHit(-1)
	return len(p.hits)
}

func containsFold(s, query string) bool {
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
	it := p.itemAt(p.selected)
	line := p.lineOfHit(it)
	if line < 0 {
		it.toggleOpen()
		if line = p.lineOfHit(it); line < 0 {
			it.toggleOpen()
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
		if containsFold(ansi.Strip(l), p.query) {
			return i
		}
	}
	return -1
}
