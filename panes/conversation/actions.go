package conversation

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
)

// Actions implements ui.Pane. Every key that does something but write text stands here, so that a
// person can change it. While keys mean something else (the queue, browsing) the others say so,
// which hands the key on.
func (p *Pane) Actions() []ui.Action {
	return slices.Concat(p.lineActions(), p.writingActions(), p.queueActions(), p.scrollingActions(), p.browsingActions(), p.commandActions())
}

// runPlain makes an action's Run of what needs no command; runCmd of what does.
func (p *Pane) runPlain(f func()) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		p.memoOK = false
		f()
		return nil
	}
}

func (p *Pane) runCmd(f func() tea.Cmd) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		p.memoOK = false
		return f()
	}
}

// keyOf returns the key that an action has now, for hints inside the pane.
func (p *Pane) keyOf(id, usual string) string {
	if p.deps.Key == nil {
		return usual
	}
	return p.deps.Key(id, usual)
}

// whyNoTranscript is the reason against everything that needs a transcript.
func (p *Pane) whyNoTranscript() string {
	if p.list.Len() == 0 {
		return "nothing was said yet"
	}
	return ""
}

func (p *Pane) writingActions() []ui.Action {
	waits := func() string {
		if len(p.asks)+len(p.question) == 0 {
			return "nothing waits for you"
		}
		return ""
	}
	turn := func() string {
		switch {
		case !p.running:
			return "no turn runs"
		case p.browsing || p.queue.choosing:
			return "esc goes back to the line first"
		default:
			return ""
		}
	}
	return []ui.Action{
		{ID: "conversation.answer", Keys: []string{"ctrl+y"}, Title: "Answer what waits for you", Card: true, Why: waits, Run: p.runCmd(p.openWaiting)},
		{ID: "conversation.editor", Keys: []string{"ctrl+g"}, Slash: "editor", Title: "Write in $EDITOR", Card: true, Run: p.runCmd(p.openEditor)},
		{ID: "conversation.mode", Keys: []string{"alt+q"}, Title: "Queue, steer or interrupt", Card: true, Help: "What enter does while a turn runs: queue for after it, show the prompt to the model in it, or stop it.", Run: p.runPlain(p.cycleMode)},
		{ID: "conversation.stop", Keys: []string{"esc"}, Slash: "stop", Title: "Stop the running turn", Card: true, Help: "What was said so far is kept and marked.", Why: turn, Run: p.runCmd(p.interruptTurn)},
		p.leaveAction(),
		{ID: "conversation.reload", Keys: []string{"f5"}, Title: "Read the conversation again", Run: p.runCmd(func() tea.Cmd {
			p.loaded = false
			return p.beginLoading()
		})},
	}
}

func (p *Pane) scrollingActions() []ui.Action {
	line := func() string { // home and end belong to the line while something stands there
		if !p.browsing && p.composer.Text() != "" {
			return "the line is not empty"
		}
		return p.whyNoTranscript()
	}
	up := func(f func()) func(string) tea.Cmd {
		return p.runCmd(func() tea.Cmd {
			f()
			return p.loadOlder()
		})
	}
	return []ui.Action{
		{ID: "conversation.pageup", Keys: []string{"pgup"}, Title: "Page up", Why: p.whyNoTranscript, Run: up(func() { p.list.Page(-1) })},
		{ID: "conversation.pagedown", Keys: []string{"pgdown"}, Title: "Page down", Why: p.whyNoTranscript, Run: p.runPlain(func() { p.list.Page(1) })},
		{ID: "conversation.top", Keys: []string{"ctrl+home"}, Title: "Go to the first loaded message", Why: p.whyNoTranscript, Run: up(p.toTop)},
		{ID: "conversation.end", Keys: []string{"ctrl+end"}, Title: "Go to the end and follow", Why: p.whyNoTranscript, Run: p.runPlain(p.toEnd)},
		{ID: "conversation.top.empty", Keys: []string{"home"}, Title: "Go to the first loaded message", Hidden: true, Why: line, Run: up(p.toTop)},
		{ID: "conversation.end.empty", Keys: []string{"end"}, Title: "Go to the end and follow", Hidden: true, Why: line, Run: p.runPlain(p.toEnd)},
	}
}

func (p *Pane) browsingActions() []ui.Action {
	inside := func() string {
		if !p.browsing {
			return "browse first: " + p.keyOf("conversation.browse", "ctrl+up")
		}
		return ""
	}
	hits := func() string {
		if len(p.hits) == 0 {
			return "nothing was searched for, or nothing found"
		}
		return inside()
	}
	idle := func() string {
		if p.queue.choosing {
			return "esc leaves the queue first"
		}
		return p.whyNoTranscript()
	}
	list := []ui.Action{
		{ID: "conversation.browse", Keys: []string{"ctrl+up", "esc"}, Title: "Browse what was said", Card: true, Help: "Again goes back to writing.", Bar: "browse", Why: idle, Run: p.runPlain(p.toggleBrowsing), InBar: !p.running && !p.browsing && !p.queue.choosing},
		{ID: "conversation.previous", Keys: []string{"k", "up"}, Title: "Select the one above", Why: inside, Run: p.runCmd(func() tea.Cmd {
			p.moveSelection(-1)
			return p.loadOlder()
		})},
		{ID: "conversation.next", Keys: []string{"j", "down"}, Title: "Select the one below", Why: inside, Run: p.runPlain(func() { p.moveSelection(1) })},
		{ID: "conversation.first", Keys: []string{"g"}, Title: "Select the first", Why: inside, Run: p.runCmd(func() tea.Cmd {
			p.toTop()
			return p.loadOlder()
		})},
		{ID: "conversation.last", Keys: []string{"G"}, Title: "Select the last", Why: inside, Run: p.runPlain(p.toEnd)},
		{ID: "conversation.open", Keys: []string{"enter", " "}, Title: "Open or close the selected item", Bar: "open", Why: inside, Run: p.runPlain(p.toggleSelected), InBar: p.browsing},
		{ID: "conversation.copy", Keys: []string{"y"}, Slash: "copy", Title: "Copy the selected message, block or output", Bar: "copy", Why: idle, Run: p.runCmd(p.copySelected), InBar: p.browsing},
		{ID: "conversation.fork", Keys: []string{"alt+f"}, Title: "Fork the session at the selected message", Bar: "fork", Why: inside, Run: p.runCmd(p.forkSession), InBar: p.browsing},
		{ID: "conversation.hit.next", Keys: []string{"n"}, Title: "Next hit", Why: hits, Run: p.runPlain(func() { p.NextHit(1) })},
		{ID: "conversation.hit.previous", Keys: []string{"N"}, Title: "Previous hit", Why: hits, Run: p.runPlain(func() { p.NextHit(-1) })},
		{ID: "conversation.write", Keys: []string{"i", "tab"}, Title: "Go back to writing", Bar: "write", Why: inside, Run: p.runPlain(p.stopBrowsing), InBar: p.browsing},
	}
	if p.deps.Picture != nil {
		list = append(list, ui.Action{
			ID: "conversation.picture", Keys: []string{"v"}, Title: "Show the picture of the selected item", Bar: "picture",
			Help: "On the whole terminal, by kitty's graphics, iTerm2's, sixel, or half blocks.", Why: inside, Run: p.runCmd(p.showPicture),
			InBar: p.browsing && pictureOf(p.itemAt(p.selected)) != nil,
		})
	}
	if p.deps.Mark != nil {
		list = append(list,
			ui.Action{ID: "conversation.good", Keys: []string{"+"}, Title: "Mark the selected turn as good", Help: "Again takes the mark away. It counts for the skills that the turn used.", Why: inside, Run: p.runCmd(func() tea.Cmd { return p.judgeTurn(true) })},
			ui.Action{ID: "conversation.bad", Keys: []string{"-"}, Title: "Mark the selected turn as bad", Help: "Again takes the mark away. /bad with a reason says more.", Why: inside, Run: p.runCmd(func() tea.Cmd { return p.judgeTurn(false) })})
	}
	for i := range list {
		list[i].Group = "browsing"
	}
	return list
}

// commandActions are the slash commands that are about this conversation.
func (p *Pane) commandActions() []ui.Action {
	idle := func() string {
		switch {
		case p.session == "" || p.list.Len() == 0:
			return "nothing was said yet"
		case p.running:
			return "a turn runs; stop it first"
		case p.queue.choosing:
			return "esc leaves the queue first"
		default:
			return ""
		}
	}
	out := []ui.Action{
		p.sendAs("queue", event.InputQueue, "Send a prompt after this turn", "Without a prompt it shows what is queued."),
		p.sendAs("steer", event.InputSteer, "Show a prompt to the model in this turn", ""),
		p.sendAs("interrupt", event.InputInterrupt, "Stop the turn and send a prompt", ""),
	}
	if p.deps.Files != nil {
		out = append(out, ui.Action{
			ID: "conversation.attach", Slash: "attach", Also: []string{"image"}, Arg: "file", Title: "Attach a file or an image",
			Help: "Its path; a text goes into the prompt, an image is shown to the model.",
			Run:  func(arg string) tea.Cmd { return p.attachFile(arg) },
		}, ui.Action{
			ID: "conversation.paste", Keys: []string{"ctrl+v", "alt+v"}, Slash: "paste", Title: "Paste an image", Card: true,
			Help: "The one of the clipboard, by wl-paste, xclip, pngpaste or powershell.exe, whichever is there.", Run: p.runCmd(p.pasteImage),
		})
	}
	if p.deps.Retry != nil {
		out = append(out, ui.Action{
			ID: "conversation.retry", Slash: "retry", Title: "Answer the last prompt again",
			Help: "The answer that stands there goes, and what it ran may run again.", Dangerous: true, Why: idle, Run: p.runCmd(p.retryTurn),
		})
	}
	if p.deps.Undo != nil {
		out = append(out, ui.Action{
			ID: "conversation.undo", Slash: "undo", Title: "Take the last prompt and its answer away", Dangerous: true, Why: idle,
			Run: func(string) tea.Cmd { return p.undoTurn() },
		})
	}
	return out
}

func (p *Pane) sendAs(name string, mode event.InputMode, title, help string) ui.Action {
	return ui.Action{
		ID: "conversation." + name, Slash: name, Arg: "[prompt]", Title: title, Help: help,
		Run: func(arg string) tea.Cmd {
			p.memoOK = false
			switch {
			case arg == "" && mode == event.InputQueue:
				return p.showQueue()
			case arg == "":
				p.mode = mode
				return showToast(event.Info, p.enterDoes()+" from now on", "")
			}
			return p.sendIn(sending{text: arg}, mode)
		},
	}
}

func (p *Pane) showQueue() tea.Cmd {
	if len(p.queue.items) == 0 {
		return showToast(event.Info, "Nothing is queued",
			"/queue and a prompt queues one for after the turn")
	}
	p.chooseQueued()
	return nil
}
