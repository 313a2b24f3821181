package sessions

import (
	"context"
	"fmt"
	"strings"

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
	searches := func() string {
		if p.isSearching() {
			return "a search looks among all sessions"
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
		{ID: "sessions.fork", Keys: []string{"alt+f"}, Title: "Fork at the message that was found", Help: "Without a search: at the end.", Bar: "fork", InBar: true, Why: none, Run: p.forkSession},
		{ID: "sessions.rename", Keys: []string{"r"}, Title: "Rename", Bar: "rename", InBar: true, Why: none, Run: p.startRename},
		{ID: "sessions.delete", Keys: []string{"d", "delete"}, Title: "Delete for good", Bar: "delete", InBar: true, Help: p.selectedName(), Dangerous: true, Why: none, Run: p.deleteSelected()},
		{ID: "sessions.beside", Keys: []string{"alt+o"}, Title: "Open beside the current one", Bar: "beside", InBar: true, Why: none, Run: func(string) tea.Cmd { return p.openSelected(ui.Right) }},
		{ID: "sessions.new", Keys: []string{"ctrl+n"}, Title: "New session", Bar: "new", InBar: true, Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.OpenSession{} }
		}},
		{ID: "sessions.pin", Keys: []string{"p"}, Title: "Pin or unpin", Bar: "pin", InBar: true, Why: none, Run: p.togglePin},
		{ID: "sessions.archive", Keys: []string{"a"}, Title: "Archive or bring back", Bar: "archive", InBar: true, Why: none, Run: p.toggleArchive},
		{ID: "sessions.archived", Keys: []string{"A"}, Title: "List archived sessions too, or not", Run: p.toggleArchived},
		{ID: "sessions.filter", Keys: []string{"s"}, Title: "Show others", Help: "All, those that wait for you, that work, that are done, archived ones.", Bar: "show", InBar: true, Why: searches, Run: p.nextFilter},
		{ID: "sessions.export", Keys: []string{"e"}, Title: "Export as Markdown", Bar: "export", InBar: true, Why: none, Run: p.exportSession},
		{ID: "sessions.reload", Keys: []string{"ctrl+r", "f5"}, Title: "Read the list again", Run: func(string) tea.Cmd { return p.reloadList() }},
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
	return fmt.Sprintf("%s, %s", text.Truncate(titleOf(*r), 40, p.styles.Glyphs.Ellipsis), text.Count(r.Info.Messages, "message", "messages"))
}

func (p *Pane) startRename(string) tea.Cmd {
	f := field.New(p.currentHit().Info.Title)
	p.rename, p.renames, p.renamedFrom = &f, p.currentHit().Info.UID, p.currentHit().Info.Title
	p.typing, p.memoOK = false, false
	return nil
}

func (p *Pane) saveTitle(title string) tea.Cmd {
	uid, store := p.renames, p.store
	was := p.renamedFrom
	return runUndoable("renamed to "+text.Truncate(title, 40, p.styles.Glyphs.Ellipsis),
		func(ctx context.Context) error { return store.Rename(ctx, uid, title) },
		func(ctx context.Context) error { return store.Rename(ctx, uid, was) })
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
	info, store := p.currentHit().Info, p.store
	done := "pinned: it stays on top of the list"
	if info.Pinned {
		done = "no longer pinned"
	}
	return runUndoable(done,
		func(ctx context.Context) error { return store.Pin(ctx, info.UID, !info.Pinned) },
		func(ctx context.Context) error { return store.Pin(ctx, info.UID, info.Pinned) })
}

// toggleArchive archives a session, or brings it back. An archived one has ended: when that removes
// something that was made for it, it is asked first; else it can be taken back.
func (p *Pane) toggleArchive(string) tea.Cmd {
	hit, store := *p.currentHit(), p.store
	uid, name := hit.Info.UID, p.selectedName()
	away := func(ctx context.Context) error { return store.Archive(ctx, uid, true) }
	back := func(ctx context.Context) error { return store.Archive(ctx, uid, false) }
	if hit.Info.Archived {
		return runUndoable("brought back from the archive", back, away)
	}
	const done = "archived: A lists it, a search finds it"
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		held, err := store.Holds(ctx, uid)
		switch {
		case err != nil:
			held = []string{"what could not be looked at (" + err.Error() + ")"}
		case len(held) == 0:
			return runUndoable(done, away, back)()
		}
		help := name + ". It ends with that, and this is removed with its files: " + strings.Join(held, ", ")
		return ui.ShowOverlay{Overlay: ui.NewConfirm("Archive", help, func() tea.Cmd { return runTask(done, away) })}
	}
}

func (p *Pane) toggleArchived(string) tea.Cmd {
	p.archived, p.memoOK = !p.archived, false
	return p.reloadList()
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
		return ui.ShowUndo{Text: "written to " + path, Undo: func() tea.Msg {
			if err := store.Unexport(path); err != nil {
				return ui.ShowToast{Level: event.Error, Text: err.Error()}
			}
			return nil
		}}
	}
}

// runUndoable does something and offers to take it back.
func runUndoable(done string, do, undo func(ctx context.Context) error) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		if err := do(ctx); err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error()}
		}
		return ui.ShowUndo{Text: done, Undo: func() tea.Msg {
			ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
			defer cancel()
			if err := undo(ctx); err != nil {
				return ui.ShowToast{Level: event.Error, Text: "not taken back: " + err.Error()}
			}
			return nil
		}}
	}
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
