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
		return func(string) tea.Cmd { p.move(delta); return nil }
	}
	page := max(1, p.h/2)
	e, f := p.current()
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
		{ID: "memory.add", Keys: []string{"a"}, Title: "Add an entry to this file", Bar: "add", InBar: true, Run: func(string) tea.Cmd { return p.ask(Change{Target: f.Target}) }},
		{ID: "memory.edit", Keys: []string{"enter"}, Title: "Change this entry", Bar: "change", InBar: true, Why: none, Run: func(string) tea.Cmd { return p.change(e, f) }},
		{
			ID: "memory.delete", Keys: []string{"d", "delete"}, Title: "Forget this entry", Bar: "forget", InBar: true, Dangerous: true, Why: none,
			Help: p.short(e.Text), Run: func(string) tea.Cmd { return p.do(Change{Target: f.Target, Old: e.Text}) },
		},
		{ID: "memory.undo", Keys: []string{"u"}, Title: "Take the last change of memory back", Help: "Yours or the agent's; again goes one further back.", Bar: "undo", InBar: true, Dangerous: true, Run: p.undo},
		{ID: "memory.file", Keys: []string{"o"}, Title: "Open the file in $EDITOR", Bar: "open file", InBar: true, Run: func(string) tea.Cmd {
			store := p.store
			return func() tea.Msg { return store.Open(f.Target, max(e.Line, 1)) }
		}},
		{ID: "memory.reload", Keys: []string{"ctrl+r"}, Title: "Read the files again", Run: func(string) tea.Cmd { return p.load }},
		{ID: "memory.close", Keys: []string{"esc", "q"}, Title: "Close", Bar: "close", InBar: true, Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.ClosePane{Pane: PaneID} }
		}},
	}
}

func (p *Pane) short(s string) string {
	return text.Truncate(strings.Join(strings.Fields(text.Sanitize(s)), " "), 60, "…")
}

// ask opens the line in which an entry is written.
func (p *Pane) ask(c Change) tea.Cmd {
	return func() tea.Msg { return ui.ShowOverlay{Overlay: p.prompt(c)} }
}

func (p *Pane) prompt(c Change) ui.Overlay {
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
			return p.do(next), ""
		},
	})
}

// change lets the person edit an entry: in a line when it is one, else in their editor.
func (p *Pane) change(e Entry, f File) tea.Cmd {
	c := Change{Target: f.Target, Old: e.Text, New: e.Text}
	if !strings.Contains(e.Text, "\n") {
		return p.ask(c)
	}
	return p.write(c)
}

// editedMsg is what an editor made of an entry.
type editedMsg struct {
	change Change
	err    error
}

func (p *Pane) write(c Change) tea.Cmd {
	return func() tea.Msg {
		return ui.EditText{Text: c.New, Suffix: ".md", Done: func(text string, err error) tea.Msg {
			c.New = text
			return editedMsg{c, err}
		}}
	}
}

func (p *Pane) edited(m editedMsg) tea.Cmd {
	if m.err != nil {
		return say(event.Error, m.err.Error())
	}
	if now := strings.TrimSpace(m.change.New); now == "" || now == m.change.Old {
		return say(event.Info, "nothing was changed")
	}
	return p.do(m.change)
}

// do makes a change. What is refused comes back to be changed, so that nothing that was written is lost.
func (p *Pane) do(c Change) tea.Cmd {
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
		return ui.ShowToast{Level: event.Info, Text: said}
	}
}

// again shows why, and the text once more.
func (p *Pane) again(m retryMsg) tea.Cmd {
	why := say(event.Warn, m.refused.Reason)
	switch {
	case m.refused.Doubtful:
		// The reason may be longer than a row of the question is wide.
		return tea.Batch(why, func() tea.Msg { return ui.ShowOverlay{Overlay: p.doubt(m)} })
	case m.change.New == "":
		return why
	case strings.Contains(m.change.New, "\n"):
		return tea.Batch(why, p.write(m.change))
	}
	return tea.Batch(why, p.ask(m.change))
}

// doubt asks about text that looks like orders to the agent. No comes first.
func (p *Pane) doubt(m retryMsg) ui.Overlay {
	return ui.NewPicker(ui.PickerOptions{
		Title: "Keep this?", Hint: "enter choose  esc leave it",
		Items: []ui.Item{
			{ID: "no", Title: "No, write it in other words", Detail: p.short(m.refused.Reason)},
			{ID: "yes", Title: "Keep it in the file", Detail: "it stays out of the prompt: the agent never reads it"},
		},
		Choose: func(it ui.Item) tea.Cmd {
			c := m.change
			if it.ID == "yes" {
				c.Anyway = true
				return p.do(c)
			}
			if strings.Contains(c.New, "\n") { // a line for input has no room for it
				return p.write(c)
			}
			return p.ask(c)
		},
	})
}

func (p *Pane) undo(string) tea.Cmd {
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

func say(l event.Level, s string) tea.Cmd {
	return func() tea.Msg { return ui.ShowToast{Level: l, Text: s} }
}
