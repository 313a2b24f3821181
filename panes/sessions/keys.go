package sessions

import (
	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui"
	"hermes/ui/field"
)

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case ui.SessionFocused:
		return p.sessionFocused(m.UID)
	case foundMsg:
		return p.take(m)
	case previewMsg:
		if m.uid == p.preview.uid && m.at == p.preview.at {
			p.preview, p.memoOK = m.preview, false
		}
	case tea.KeyMsg:
		return p.key(m)
	case tea.MouseMsg:
		return p.mouse(m)
	}
	return nil
}

func (p *Pane) sessionFocused(uid string) tea.Cmd {
	p.focused, p.memoOK = uid, false
	if p.active[uid] == finished {
		delete(p.active, uid) // seen
	}
	p.attend()
	if p.request == 0 || p.stale {
		return p.reload()
	}
	return nil
}

// key gets what no action took: text and editing keys for the field that is open.
func (p *Pane) key(k tea.KeyMsg) tea.Cmd {
	p.memoOK = false
	switch {
	case p.rename != nil:
		return p.renameKey(k)
	case p.typing:
		return p.searchKey(k)
	default:
		return nil
	}
}

func (p *Pane) searchKey(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		if p.pending { // what is listed answers an older query
			p.opening = true
			return nil
		}
		return p.open(ui.Here)
	case "esc":
		p.typing = false
		return nil
	}
	if p.query.Update(k) {
		return p.search()
	}
	return nil
}

func (p *Pane) renameKey(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		title := p.rename.String()
		p.rename = nil
		return p.renamed(title)
	case "esc", "ctrl+c":
		p.rename = nil
	default:
		p.rename.Update(k)
	}
	return nil
}

func (p *Pane) mouse(m tea.MouseMsg) tea.Cmd {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		return p.move(-1)
	case m.Button == tea.MouseButtonWheelDown:
		return p.move(1)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress:
		return p.click(m.X, m.Y)
	}
	return nil
}

// click opens the search field, selects a row, or opens the row that is selected.
func (p *Pane) click(x, y int) tea.Cmd {
	switch {
	case x >= p.w-p.previewWidth():
		return nil
	case y < headRows:
		p.typing, p.memoOK = y == 0, false
		return nil
	}
	i := p.top + (y-headRows)/rowHeight
	switch {
	case i >= len(p.rows):
		return nil
	case i == p.cursor:
		return p.open(ui.Here)
	default:
		return p.move(i - p.cursor)
	}
}

// move puts the cursor on another row. What was typed as its new title is not meant for the next one.
func (p *Pane) move(delta int) tea.Cmd {
	p.cursor = max(0, min(p.cursor+delta, len(p.rows)-1))
	p.rename, p.memoOK = nil, false
	return tea.Batch(p.loadPreview(), p.nextPage())
}

func (p *Pane) open(where ui.Where) tea.Cmd {
	r := p.current()
	if r == nil {
		return nil
	}
	p.typing, p.memoOK = false, false
	msg := ui.OpenSession{UID: r.Info.UID, Where: where, At: r.Message}
	return func() tea.Msg { return msg }
}

// startSearch opens the field, or searches for what stood behind /search.
func (p *Pane) startSearch(arg string) tea.Cmd {
	p.typing, p.rename, p.memoOK = true, nil, false
	focus := func() tea.Msg { return ui.FocusPane{Pane: PaneID} }
	if arg == "" {
		return focus
	}
	p.query = field.New(arg)
	return tea.Batch(focus, p.search())
}

// back takes the search away, then leaves the pane.
func (p *Pane) back(string) tea.Cmd {
	if p.query.String() == "" {
		return func() tea.Msg { return ui.RunAction{ID: "focus.conversation"} }
	}
	p.query, p.memoOK = field.Field{}, false
	return p.search()
}
