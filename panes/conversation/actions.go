package conversation

import (
	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
)

// Actions implements ui.Pane. The keys that only write text are the composer's own and stand in the help of "Send".
func (p *Pane) Actions() []ui.Action {
	return append(p.writing(), append(p.reading(), p.commandActions()...)...)
}

// press makes an action do what its key does.
func (p *Pane) press(name string) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		p.memoOK = false
		cmd, _ := p.common(name)
		return cmd
	}
}

func (p *Pane) browseKey(name string) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		p.memoOK = false
		p.startBrowsing()
		return p.browse(name)
	}
}

func (p *Pane) writing() []ui.Action {
	queued := func() string {
		if len(p.queue) == 0 {
			return "nothing is queued"
		}
		return ""
	}
	waits := func() string {
		if len(p.asks)+len(p.question) == 0 {
			return "nothing waits for you"
		}
		return ""
	}
	return []ui.Action{
		{ID: "conversation.answer", Keys: []string{"ctrl+y"}, Title: "Answer what waits for you", Why: waits, Run: p.press("ctrl+y"), InBar: len(p.asks)+len(p.question) > 0},
		{ID: "conversation.editor", Keys: []string{"ctrl+g"}, Slash: "editor", Title: "Write the prompt in $EDITOR", Run: p.press("ctrl+g")},
		{ID: "conversation.mode", Keys: []string{"alt+q"}, Title: "Change what enter does while a turn runs", Help: "Queue for after the turn, steer the running turn, or interrupt it.", Run: p.press("alt+q")},
		{ID: "conversation.queue.edit", Keys: []string{"alt+e"}, Title: "Edit the newest queued prompt", Why: queued, Run: p.press("alt+e")},
		{ID: "conversation.queue.drop", Keys: []string{"alt+x"}, Title: "Drop the newest queued prompt", Why: queued, Run: p.press("alt+x")},
		{
			ID: "conversation.stop", Slash: "stop", Title: "Stop the running turn", Help: "The key is esc. What was said so far is kept and marked.", InBar: p.running,
			Why: func() string {
				if !p.running {
					return "no turn runs"
				}
				return ""
			},
			Run: func(string) tea.Cmd { return p.interrupt() },
		},
	}
}

func (p *Pane) reading() []ui.Action {
	nothing := func() string {
		if p.list.Len() == 0 {
			return "nothing was said yet"
		}
		return ""
	}
	return []ui.Action{
		{ID: "conversation.pageup", Keys: []string{"pgup"}, Title: "Page up", Why: nothing, Run: p.press("pgup")},
		{ID: "conversation.pagedown", Keys: []string{"pgdown"}, Title: "Page down", Why: nothing, Run: p.press("pgdown")},
		{ID: "conversation.top", Keys: []string{"ctrl+home"}, Title: "Go to the first loaded message", Why: nothing, Run: p.press("ctrl+home")},
		{ID: "conversation.end", Keys: []string{"ctrl+end"}, Title: "Go to the end and follow", Why: nothing, Run: p.press("ctrl+end")},
		{ID: "conversation.browse", Keys: []string{"ctrl+up"}, Title: "Browse what was said", Help: "Then j and k move, enter opens, y copies, f forks, r tries again, esc writes.", Why: nothing, Run: p.press("ctrl+up"), InBar: !p.running},
		{ID: "conversation.open", Title: "Open or close the selected item", Why: nothing, Run: p.browseKey("enter")},
		{ID: "conversation.copy", Slash: "copy", Title: "Copy the selected message, block or output", Why: nothing, Run: func(string) tea.Cmd { return p.copySelected() }},
		{ID: "conversation.fork", Title: "Fork the session at the selected message", Why: nothing, Run: p.browseKey("f")},
		{ID: "conversation.reload", Keys: []string{"ctrl+r"}, Title: "Read the conversation again", Run: p.press("ctrl+r")},
	}
}

// commandActions are the slash commands that are about this conversation.
func (p *Pane) commandActions() []ui.Action {
	idle := func() string {
		switch {
		case p.session == "":
			return "nothing was said yet"
		case p.running:
			return "a turn runs; esc stops it"
		default:
			return ""
		}
	}
	out := []ui.Action{
		p.sendAs("queue", event.InputQueue, "Send a prompt after this turn"),
		p.sendAs("steer", event.InputSteer, "Show a prompt to the model in this turn"),
		p.sendAs("interrupt", event.InputInterrupt, "Stop the turn and send a prompt"),
	}
	if p.deps.Retry != nil {
		out = append(out, ui.Action{ID: "conversation.retry", Slash: "retry", Title: "Answer the last prompt again", Why: idle, Run: func(string) tea.Cmd { return p.retry() }})
	}
	if p.deps.Undo != nil {
		out = append(out, ui.Action{
			ID: "conversation.undo", Slash: "undo", Title: "Take the last prompt and its answer away", Dangerous: true, Why: idle,
			Run: func(string) tea.Cmd { return p.change(p.deps.Undo, "Nothing was undone") },
		})
	}
	return out
}

func (p *Pane) sendAs(name string, mode event.InputMode, title string) ui.Action {
	return ui.Action{
		ID: "conversation." + name, Slash: name, Arg: "prompt", Title: title,
		Run: func(arg string) tea.Cmd {
			if arg == "" {
				p.mode, p.memoOK = mode, false
				return nil
			}
			was := p.mode
			p.mode = mode
			cmd := p.send(sending{text: arg})
			p.mode = was
			return cmd
		},
	}
}
