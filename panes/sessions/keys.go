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
		return p.takeFound(m)
	case previewMsg:
		if m.uid == p.preview.uid && m.at == p.preview.at {
			p.preview, p.memoOK = m.preview, false
		}
	case tea.KeyMsg:
		return p.handleKey(m)
	case tea.MouseMsg:
		return p.handleMouse(m)
	}
	return nil
}

func (p *Pane) sessionFocused(uid string) tea.Cmd {
	p.focused, p.memoOK = uid, false
	if p.active[uid] == finished {
		delete(p.active, uid) // seen
	}
	p.followScreen()
	if p.request == 0 || p.stale {
		return p.reloadList()
	}
	return nil
}

// handleKey gets what no action took: text and editing keys for the field that is open.
func (p *Pane) handleKey(k tea.KeyMsg) tea.Cmd {
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
		return p.openSelected(ui.Here)
	case "esc":
		p.typing = false
		return nil
	}
	if p.query.Update(k) {
		return p.runSearch()
	}
	return explainIgnored(k)
}

// explainIgnored has the frame say why a key did nothing in a field.
func explainIgnored(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	if k.Type == tea.KeyRunes && !k.Alt || k.Type == tea.KeySpace || field.Takes(name) || name == "ctrl+c" {
		return nil
	}
	return func() tea.Msg { return ui.KeyIgnored{Key: name} }
}

func (p *Pane) renameKey(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		title := p.rename.String()
		p.rename = nil
		return p.saveTitle(title)
	case "esc", "ctrl+c":
		p.rename = nil
	default:
		if !p.rename.Update(k) {
			return explainIgnored(k)
		}
	}
	return nil
}

func (p *Pane) handleMouse(m tea.MouseMsg) tea.Cmd {
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		return p.moveCursor(-1)
	case m.Button == tea.MouseButtonWheelDown:
		return p.moveCursor(1)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress:
		return p.handleClick(m.X, m.Y)
	}
	return nil
}

// handleClick opens the search field, selects a row, or opens the row that is selected.
func (p *Pane) handleClick(x, y int) tea.Cmd {
	switch {
	case x >= p.w-p.previewWidth():
		return nil
	case y < headRows:
		p.typing, p.memoOK = y == 0, false
		return nil
	}
	if y-headRows >= len(p.lineRow) {
		return nil
	}
	i := p.lineRow[y-headRows]
	if i == p.cursor {
		return p.openSelected(ui.Here)
	}
	return p.moveCursor(i - p.cursor)
}

// moveCursor puts the cursor on another row. What was typed as its new title is not meant for the
// next one.
func (p *Pane) moveCursor(delta int) tea.Cmd {
	p.cursor = max(0, min(p.cursor+delta, len(p.rows)-1))
	p.rename, p.memoOK = nil, false
	return tea.Batch(p.loadPreview(), p.nextPage())
}

func (p *Pane) openSelected(where ui.Where) tea.Cmd {
	r := p.currentHit()
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
	return tea.Batch(focus, p.runSearch())
}

// goBack takes the search away, then leaves the pane.
func (p *Pane) goBack(string) tea.Cmd {
	if p.query.String() == "" {
		return func() tea.Msg { return ui.RunAction{ID: "focus.conversation"} }
	}
	p.query, p.memoOK = field.Field{}, false
	return p.runSearch()
}
