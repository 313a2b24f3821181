package sessions

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/field"
	"hermes/ui/text"
)

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	list := append(p.moveActions(), p.sessionActions()...)
	for i := range list {
		if k := list[i].Keys[0]; p.Typing() && len(k) == 1 {
			list[i].InBar = false // it would be text now
		}
	}
	return list
}

func (p *Pane) moveActions() []ui.Action {
	move := func(delta int) func(string) tea.Cmd { return func(string) tea.Cmd { return p.moveCursor(delta) } }
	page := max(1, (p.h-headRows)/rowHeight)
	return []ui.Action{
		{ID: "sessions.up", Keys: []string{"up", "k"}, Title: "Up", Hidden: true, Run: move(-1)},
		{ID: "sessions.down", Keys: []string{"down", "j"}, Title: "Down", Hidden: true, Run: move(1)},
		{ID: "sessions.pageup", Keys: []string{"pgup"}, Title: "Page up", Hidden: true, Run: move(-page)},
		{ID: "sessions.pagedown", Keys: []string{"pgdown"}, Title: "Page down", Hidden: true, Run: move(page)},
		{ID: "sessions.first", Keys: []string{"home", "g"}, Title: "Newest session", Hidden: true, Run: func(string) tea.Cmd { return p.moveCursor(-len(p.rows)) }},
		{ID: "sessions.last", Keys: []string{"end", "G"}, Title: "Oldest listed session", Hidden: true, Run: func(string) tea.Cmd { return p.moveCursor(len(p.rows)) }},
	}
}

// sessionActions are what can be done with a session. Help says which one, so that a question about
// it does too.
func (p *Pane) sessionActions() []ui.Action {
	none := func() string {
		if p.currentHit() == nil {
			return "no session is selected"
		}
		return ""
	}
	return []ui.Action{
		{ID: "sessions.open", Keys: []string{"enter"}, Title: "Resume", Help: "At the message that was found.", Bar: p.enterHint(), InBar: true, Why: none, Run: func(string) tea.Cmd { return p.openSelected(ui.Here) }},
		{ID: "sessions.back", Keys: []string{"esc"}, Title: "Show all sessions, then back to the conversation", Bar: p.escapeHint(), InBar: p.Typing() || p.query.String() != "", Run: p.goBack},
		{
			ID: "sessions.search", Keys: []string{"/"}, Slash: "search", Arg: "[words]", Title: "Search all sessions", Bar: "search", InBar: true, Run: p.startSearch,
			Help: "OR finds either side. Filters are words too: tool:terminal backend:analytics since:2w in:project role:user.",
		},
		{ID: "sessions.fork", Keys: []string{"f"}, Title: "Fork at the message that was found", Help: "Without a search: at the end.", Bar: "fork", InBar: true, Why: none, Run: p.forkSession},
		{ID: "sessions.rename", Keys: []string{"r"}, Title: "Rename", Bar: "rename", InBar: true, Why: none, Run: p.startRename},
		{ID: "sessions.delete", Keys: []string{"d", "delete"}, Title: "Delete for good", Bar: "delete", InBar: true, Help: p.selectedName(), Dangerous: true, Why: none, Run: p.deleteSelected()},
		{ID: "sessions.beside", Keys: []string{"o"}, Title: "Open beside the current one", Bar: "beside", InBar: true, Why: none, Run: func(string) tea.Cmd { return p.openSelected(ui.Right) }},
		{ID: "sessions.new", Keys: []string{"n"}, Title: "New session", Bar: "new", InBar: true, Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.OpenSession{} }
		}},
		{ID: "sessions.pin", Keys: []string{"p"}, Title: "Pin or unpin", Bar: "pin", InBar: true, Why: none, Run: p.togglePin},
		{ID: "sessions.archive", Keys: []string{"a"}, Title: "Archive or bring back", Bar: "archive", InBar: true, Why: none, Run: p.toggleArchive},
		{ID: "sessions.archived", Keys: []string{"A"}, Title: "List archived sessions too, or not", Run: p.toggleArchived},
		{ID: "sessions.export", Keys: []string{"e"}, Title: "Export as Markdown", Bar: "export", InBar: true, Why: none, Run: p.exportSession},
		{ID: "sessions.reload", Keys: []string{"ctrl+r"}, Title: "Read the list again", Run: func(string) tea.Cmd { return p.reload() }},
	}
}

// enterHint and escape say what these keys do now.
func (p *Pane) enterHint() string {
	if p.rename != nil {
		return "rename"
	}
	return "open"
}

func (p *Pane) escapeHint() string {
	switch {
	case p.rename != nil:
		return "cancel"
	case p.typing:
		return "list"
	default:
		return "all"
	}
}

// selectedName says which session an action is about.
func (p *Pane) selectedName() string {
	r := p.currentHit()
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s", text.Truncate(titleOf(*r), 40, p.styles.Glyphs.Ellipsis), countMessages(r.Info.Messages))
}

func (p *Pane) startRename(string) tea.Cmd {
	f := field.New(p.currentHit().Info.Title)
	p.rename, p.renames = &f, p.currentHit().Info.UID
	p.typing, p.memoOK = false, false
	return nil
}

func (p *Pane) saveTitle(title string) tea.Cmd {
	uid, store := p.renames, p.store
	return runTask("renamed", func(ctx context.Context) error { return store.Rename(ctx, uid, title) })
}

func (p *Pane) forkSession(string) tea.Cmd {
	hit, store := *p.currentHit(), p.store
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

func (p *Pane) togglePin(string) tea.Cmd {
	on, store := !p.currentHit().Info.Pinned, p.store
	done := "pinned: it stays on top of the list"
	if !on {
		done = "no longer pinned"
	}
	return p.changeSelected(done, func(ctx context.Context, h Hit) error { return store.Pin(ctx, h.Info.UID, on) })
}

func (p *Pane) toggleArchive(string) tea.Cmd {
	on, store := !p.currentHit().Info.Archived, p.store
	done := "archived: A lists it, a search finds it"
	if !on {
		done = "brought back from the archive"
	}
	return p.changeSelected(done, func(ctx context.Context, h Hit) error { return store.Archive(ctx, h.Info.UID, on) })
}

func (p *Pane) toggleArchived(string) tea.Cmd {
	p.archived, p.memoOK = !p.archived, false
	return p.reload()
}

// deleteSelected is bound to the session that is selected when it is asked for: the list may move
// while the question stands.
func (p *Pane) deleteSelected() func(string) tea.Cmd {
	r := p.currentHit()
	if r == nil {
		return nil
	}
	uid, store := r.Info.UID, p.store
	return func(string) tea.Cmd {
		return runTask("deleted", func(ctx context.Context) error { return store.Delete(ctx, uid) })
	}
}

func (p *Pane) exportSession(string) tea.Cmd {
	hit, store := *p.currentHit(), p.store
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

// changeSelected runs f on the session under the cursor and says how it went.
func (p *Pane) changeSelected(done string, f func(ctx context.Context, h Hit) error) tea.Cmd {
	r := p.currentHit()
	if r == nil {
		return nil
	}
	hit := *r
	return runTask(done, func(ctx context.Context) error { return f(ctx, hit) })
}

func runTask(done string, f func(ctx context.Context) error) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		if err := f(ctx); err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error()}
		}
		return ui.ShowToast{Level: event.Info, Text: done}
	}
}
