package memory

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/text"
)

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	move := func(delta int) func(string) tea.Cmd {
		return func(string) tea.Cmd { p.moveCursor(delta); return nil }
	}
	page := max(1, p.h/2)
	e, f := p.currentEntry()
	none := func() string {
		if e.Text == "" {
			return "no entry is selected"
		}
		return ""
	}
	return []ui.Action{
		{ID: "memory.up", Keys: []string{"up", "k"}, Title: "Up", Hidden: true, Run: move(-1)},
		{ID: "memory.down", Keys: []string{"down", "j"}, Title: "Down", Hidden: true, Run: move(1)},
		{ID: "memory.pageup", Keys: []string{"pgup"}, Title: "Page up", Hidden: true, Run: move(-page)},
		{ID: "memory.pagedown", Keys: []string{"pgdown"}, Title: "Page down", Hidden: true, Run: move(page)},
		{ID: "memory.first", Keys: []string{"home", "g"}, Title: "First entry", Hidden: true, Run: move(-len(p.rows))},
		{ID: "memory.last", Keys: []string{"end", "G"}, Title: "Last entry", Hidden: true, Run: move(len(p.rows))},
		{ID: "memory.add", Keys: []string{"a"}, Title: "Add an entry to this file", Bar: "add", InBar: true, Run: func(string) tea.Cmd { return p.askText(Change{Target: f.Target}) }},
		{ID: "memory.edit", Keys: []string{"enter"}, Title: "Change this entry", Bar: "change", InBar: true, Why: none, Run: func(string) tea.Cmd { return p.editEntry(e, f) }},
		{
			ID: "memory.delete", Keys: []string{"d", "delete"}, Title: "Forget this entry", Bar: "forget", InBar: true, Dangerous: true, Why: none,
			Help: p.shortPath(e.Text), Run: func(string) tea.Cmd { return p.makeChange(Change{Target: f.Target, Old: e.Text}) },
		},
		{ID: "memory.undo", Keys: []string{"u"}, Title: "Take the last change of memory back", Help: "Yours or the agent's; again goes one further back.", Bar: "undo", InBar: true, Dangerous: true, Run: p.undoLast},
		{ID: "memory.file", Keys: []string{"ctrl+g"}, Title: "Open the file in $EDITOR", Bar: "open file", InBar: true, Run: func(string) tea.Cmd {
			store := p.store
			return func() tea.Msg { return store.Open(f.Target, max(e.Line, 1)) }
		}},
		{ID: "memory.reload", Keys: []string{"ctrl+r", "f5"}, Title: "Read the files again", Run: func(string) tea.Cmd { return p.loadEntries }},
		{ID: "memory.close", Keys: []string{"esc", "q"}, Title: "Close", Bar: "close", InBar: true, Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.ClosePane{Pane: PaneID} }
		}},
	}
}

func (p *Pane) shortPath(s string) string {
	return text.Truncate(text.OneLine(s), 60, "…")
}

// askText opens the line in which an entry is written.
func (p *Pane) askText(c Change) tea.Cmd {
	return func() tea.Msg { return ui.ShowOverlay{Overlay: p.promptOverlay(c)} }
}

func (p *Pane) promptOverlay(c Change) ui.Overlay {
	title := "Remember in " + c.Target
	if c.Old != "" {
		title = "Change this entry"
	}
	return ui.NewPrompt(ui.PromptOptions{
		Title: title, Text: c.New, Placeholder: "one fact, in few words",
		Done: func(line string) (tea.Cmd, string) {
			if strings.TrimSpace(line) == "" {
				return nil, "write something, or esc"
			}
			next := c
			next.New = line
			return p.makeChange(next), ""
		},
	})
}

// editEntry lets the person edit an entry: in a line when it is one, else in their editor.
func (p *Pane) editEntry(e Entry, f File) tea.Cmd {
	c := Change{Target: f.Target, Old: e.Text, New: e.Text}
	if !strings.Contains(e.Text, "\n") {
		return p.askText(c)
	}
	return p.saveChange(c)
}

// editedMsg is what an editor made of an entry.
type editedMsg struct {
	change Change
	err    error
}

func (p *Pane) saveChange(c Change) tea.Cmd {
	return func() tea.Msg {
		return ui.EditText{Text: c.New, Suffix: ".md", Done: func(text string, err error) tea.Msg {
			c.New = text
			return editedMsg{c, err}
		}}
	}
}

func (p *Pane) handleEdited(m editedMsg) tea.Cmd {
	if m.err != nil {
		return showToast(event.Error, m.err.Error())
	}
	if now := strings.TrimSpace(m.change.New); now == "" || now == m.change.Old {
		return showToast(event.Info, "nothing was changed")
	}
	return p.makeChange(m.change)
}

// makeChange makes a change. What is refused comes back to be changed, so that nothing that was
// written is lost.
func (p *Pane) makeChange(c Change) tea.Cmd {
	store := p.store
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		said, refused, err := store.Do(ctx, c)
		switch {
		case err != nil:
			return retryMsg{c, Refused{Reason: err.Error()}}
		case refused != nil:
			return retryMsg{c, *refused}
		}
		if c.Target == UserModel { // what it counts has no way back
			return changedMsg{said}
		}
		return ui.ShowUndo{Text: said, Undo: p.undoLast("")}
	}
}

// retryPrompt shows why, and the text once more.
func (p *Pane) retryPrompt(m retryMsg) tea.Cmd {
	why := showToast(event.Warn, m.refused.Reason)
	switch {
	case m.refused.Doubtful:
		// The reason may be longer than a row of the question is wide.
		return tea.Batch(why, func() tea.Msg { return ui.ShowOverlay{Overlay: p.confirmOverlay(m)} })
	case m.change.New == "":
		return why
	case strings.Contains(m.change.New, "\n"):
		return tea.Batch(why, p.saveChange(m.change))
	}
	return tea.Batch(why, p.askText(m.change))
}

// confirmOverlay asks about text that looks like orders to the agent. No comes first.
func (p *Pane) confirmOverlay(m retryMsg) ui.Overlay {
	return ui.NewPicker(ui.PickerOptions{
		Title: "Keep this?", Hint: "enter choose  esc leave it",
		Items: []ui.Item{
			{ID: "no", Title: "No, write it in other words", Detail: p.shortPath(m.refused.Reason)},
			{ID: "yes", Title: "Keep it in the file", Detail: "it stays out of the prompt: the agent never reads it"},
		},
		Choose: func(it ui.Item) tea.Cmd {
			c := m.change
			if it.ID == "yes" {
				c.Anyway = true
				return p.makeChange(c)
			}
			if strings.Contains(c.New, "\n") { // a line for input has no room for it
				return p.saveChange(c)
			}
			return p.askText(c)
		},
	})
}

func (p *Pane) undoLast(string) tea.Cmd {
	store := p.store
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		said, err := store.Undo(ctx)
		if err != nil {
			return ui.ShowToast{Level: event.Warn, Text: err.Error()}
		}
		return ui.ShowToast{Level: event.Info, Text: said}
	}
}

func showToast(l event.Level, s string) tea.Cmd {
	return func() tea.Msg { return ui.ShowToast{Level: l, Text: s} }
}
