package sessions

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
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
		p.active[uid] = quiet // seen
	}
	if p.request == 0 || p.stale {
		return p.reload()
	}
	return nil
}

// key gets what no action took: text for the field that is open.
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
		p.typing = false
		return p.open(ui.Here)
	case "esc":
		p.typing = false
		if p.query.String() == "" {
			return nil
		}
		p.query = field{}
		return p.reload()
	case "down":
		p.typing = false
		return p.move(0)
	case "up", "tab":
		p.typing = false
		return nil
	}
	before := p.query.String()
	if p.query.key(k) && p.query.String() != before {
		return p.reload()
	}
	return nil
}

func (p *Pane) renameKey(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		title := p.rename.String()
		p.rename = nil
		store := p.store
		return p.change("renamed", func(ctx context.Context, h Hit) error { return store.Rename(ctx, h.Info.UID, title) })
	case "esc":
		p.rename = nil
	default:
		p.rename.key(k)
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

func (p *Pane) click(x, y int) tea.Cmd {
	if p.previewWidth() > 0 && x >= p.w-p.previewWidth() {
		return nil
	}
	if y == 0 {
		p.typing, p.memoOK = true, false
		return nil
	}
	i := p.top + (y-headRows)/rowHeight
	if i >= len(p.rows) {
		return nil
	}
	if i == p.cursor {
		return p.open(ui.Here)
	}
	return p.move(i - p.cursor)
}

// move puts the cursor on another row.
func (p *Pane) move(delta int) tea.Cmd {
	p.cursor = max(0, min(p.cursor+delta, len(p.rows)-1))
	p.memoOK = false
	return tea.Batch(p.loadPreview(), p.nextPage())
}

func (p *Pane) open(where ui.Where) tea.Cmd {
	r := p.current()
	if r == nil {
		return nil
	}
	msg := ui.OpenSession{UID: r.Info.UID, Where: where, At: r.Message}
	return func() tea.Msg { return msg }
}

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	none := func() string {
		if p.current() == nil {
			return "no session is selected"
		}
		return ""
	}
	move := func(delta int) func(string) tea.Cmd { return func(string) tea.Cmd { return p.move(delta) } }
	page := max(1, (p.h-headRows)/rowHeight)
	return []ui.Action{
		{ID: "sessions.up", Keys: []string{"up", "k"}, Title: "Up", Hidden: true, Run: move(-1)},
		{ID: "sessions.down", Keys: []string{"down", "j"}, Title: "Down", Hidden: true, Run: move(1)},
		{ID: "sessions.pageup", Keys: []string{"pgup"}, Title: "Page up", Hidden: true, Run: move(-page)},
		{ID: "sessions.pagedown", Keys: []string{"pgdown"}, Title: "Page down", Hidden: true, Run: move(page)},
		{ID: "sessions.first", Keys: []string{"home", "g"}, Title: "Newest session", Hidden: true, Run: func(string) tea.Cmd { return p.move(-len(p.rows)) }},
		{ID: "sessions.last", Keys: []string{"end", "G"}, Title: "Oldest listed session", Hidden: true, Run: func(string) tea.Cmd { return p.move(len(p.rows)) }},
		{ID: "sessions.search", Keys: []string{"/"}, Slash: "search", Arg: "[words]", Title: "Search all sessions", InBar: true, Run: p.search,
			Help: "Filters are words too: tool:terminal backend:analytics since:2w in:project role:user."},
		{ID: "sessions.open", Keys: []string{"enter"}, Title: "Resume", InBar: true, Why: none, Run: func(string) tea.Cmd { return p.open(ui.Here) }},
		{ID: "sessions.beside", Keys: []string{"o"}, Title: "Open beside the current one", Why: none, Run: func(string) tea.Cmd { return p.open(ui.Right) }},
		{ID: "sessions.new", Keys: []string{"n"}, Title: "New session", InBar: true, Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.OpenSession{} }
		}},
		{ID: "sessions.fork", Keys: []string{"f"}, Title: "Fork at the shown message", Why: none, Run: p.fork},
		{ID: "sessions.rename", Keys: []string{"r"}, Title: "Rename", Why: none, Run: p.startRename},
		{ID: "sessions.pin", Keys: []string{"p"}, Title: "Pin or unpin", Why: none, Run: p.pin},
		{ID: "sessions.archive", Keys: []string{"a"}, Title: "Archive or bring back", Why: none, Run: p.archive},
		{ID: "sessions.export", Keys: []string{"e"}, Title: "Export as Markdown", Why: none, Run: p.export},
		{ID: "sessions.delete", Keys: []string{"d", "delete"}, Title: "Delete for good", Dangerous: true, Why: none, Run: p.delete},
		{ID: "sessions.reload", Keys: []string{"ctrl+r"}, Title: "Read the list again", Run: func(string) tea.Cmd { return p.reload() }},
	}
}

// search opens the field, or searches for what stood behind /search.
func (p *Pane) search(arg string) tea.Cmd {
	p.typing, p.memoOK = true, false
	focus := func() tea.Msg { return ui.FocusPane{Pane: PaneID} }
	if arg == "" {
		return focus
	}
	p.query = *newField(arg)
	return tea.Batch(focus, p.reload())
}

func (p *Pane) startRename(string) tea.Cmd {
	p.rename, p.memoOK = newField(p.current().Info.Title), false
	return nil
}

func (p *Pane) fork(string) tea.Cmd {
	hit, store := *p.current(), p.store
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		info, err := store.Fork(ctx, hit.Info.UID, hit.Message)
		if err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error()}
		}
		return ui.OpenSession{UID: info.UID}
	}
}

func (p *Pane) pin(string) tea.Cmd {
	on, store := !p.current().Info.Pinned, p.store
	done := "pinned"
	if !on {
		done = "no longer pinned"
	}
	return p.change(done, func(ctx context.Context, h Hit) error { return store.Pin(ctx, h.Info.UID, on) })
}

func (p *Pane) archive(string) tea.Cmd {
	on, store := !p.current().Info.Archived, p.store
	done := "archived: in:archive finds it"
	if !on {
		done = "brought back"
	}
	return p.change(done, func(ctx context.Context, h Hit) error { return store.Archive(ctx, h.Info.UID, on) })
}

func (p *Pane) delete(string) tea.Cmd {
	store := p.store
	return p.change("deleted", func(ctx context.Context, h Hit) error { return store.Delete(ctx, h.Info.UID) })
}

func (p *Pane) export(string) tea.Cmd {
	hit, store := *p.current(), p.store
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		path, err := store.Export(ctx, hit.Info.UID)
		if err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error()}
		}
		return ui.ShowToast{Level: event.Info, Text: "written to " + path}
	}
}
