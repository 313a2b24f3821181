package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/layout"
)

// FrameActions lists what the frame itself offers, for docs/keys.md. Their Run is nil.
func FrameActions() []Action {
	list := (&frame{}).frameActions()
	for i := range list {
		list[i].Run, list[i].Why, list[i].Complete = nil, nil, nil
		list[i].Group = "everywhere"
	}
	return list
}

// withoutCommand makes an action's Run of something that needs no command.
func withoutCommand(do func()) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		do()
		return nil
	}
}

// frameActions are the frame's own.
func (f *frame) frameActions() []Action {
	return slices.Concat(f.programActions(), f.focusActions(), f.layoutActions())
}

func (f *frame) programActions() []Action {
	return []Action{
		{ID: "palette", Keys: []string{"ctrl+p"}, Title: "Commands", Card: true, Help: "Everything that can be done, by typing a part of its name.", Run: withoutCommand(f.openPalette)},
		{ID: "help", Keys: []string{"f1", "?"}, Slash: "help", Also: []string{"commands"}, First: true, Title: "Help", Help: "The keys that matter, then all of them, searchable.", Run: withoutCommand(f.openHelp)},
		{ID: "theme", Slash: "theme", Also: []string{"skin"}, Arg: "[name]", Title: "Choose a theme", Help: "Shows each while you move.", Run: f.pickTheme, Complete: f.themeNames},
		{ID: "copy", Keys: []string{"alt+y"}, Slash: "copy", Title: "Copy", Help: "What the focused pane has selected.", Why: f.whyNoCopy, Run: f.copyFocused},
		{ID: "takeback", Keys: []string{"alt+u"}, Slash: "takeback", Title: "Take back what was just done", Help: "What a key did in a list: a session archived or renamed, a file exported.", Why: f.whyNoUndo, Run: f.takeBack},
		{ID: "mouse", Keys: []string{"alt+m"}, Slash: "mouse", Title: "Mouse on or off", Help: "On, a drag copies what it marks in the conversation and the output, two clicks a word. Off, the terminal's own selection works; shift+drag does in most terminals anyway.", Run: f.toggleMouse},
		{ID: "search", Keys: []string{"alt+/"}, Title: "Search in this pane", Card: true, Why: f.whyNoSearch, Run: withoutCommand(f.openSearch)},
		{ID: "search.next", Keys: []string{"alt+n"}, Title: "Next hit", Why: f.whyNoHits, Run: withoutCommand(func() { f.nextHit(1) })},
		{ID: "search.previous", Keys: []string{"alt+p"}, Title: "Previous hit", Why: f.whyNoHits, Run: withoutCommand(func() { f.nextHit(-1) })},
		{ID: "redraw", Keys: []string{"ctrl+l"}, Title: "Draw the screen anew", Run: withoutCommand(f.repaintAll)},
		{ID: "interrupt", Keys: []string{"ctrl+c"}, Title: "Stop, clear; twice quits", Card: true, Help: "It stops the turn, else clears the line, and closes what stands over the panes. ctrl+c does that whatever the settings say.", Run: func(string) tea.Cmd { return f.handleInterrupt(tea.KeyMsg{Type: tea.KeyCtrlC}) }},
		{ID: "suspend", Keys: []string{"ctrl+z"}, Title: "Suspend", Help: "Back to the shell; fg returns.", Run: func(string) tea.Cmd { return f.suspendToShell() }},
		{ID: "quit", Slash: "quit", Also: []string{"exit", "q"}, Title: "Quit", Help: "ctrl+c twice does the same.", Run: func(string) tea.Cmd { return tea.Quit }},
	}
}

func (f *frame) focusActions() []Action {
	return []Action{
		{ID: "focus.sessions", Keys: []string{"alt+1"}, Title: "Go to the sessions", Card: true, Run: withoutCommand(func() { f.focusSlot(layout.Sessions) })},
		{ID: "focus.conversation", Keys: []string{"alt+2"}, Title: "Go to the conversation", Help: "Again: to the next one.", Run: withoutCommand(func() { f.focusSlot(layout.Conversation) })},
		{ID: "focus.output", Keys: []string{"alt+3"}, Title: "Go to the output", Run: withoutCommand(func() { f.focusSlot(layout.Output) })},
		{ID: "focus.backends", Keys: []string{"alt+4"}, Title: "Go to the back ends", Run: withoutCommand(func() { f.focusSlot(layout.Backends) })},
		{ID: "focus.next", Keys: []string{"tab"}, Title: "Next pane", Card: true, Run: withoutCommand(func() { f.nextFocus(1) })},
		{ID: "focus.previous", Keys: []string{"shift+tab"}, Title: "Previous pane", Run: withoutCommand(func() { f.nextFocus(-1) })},
		{ID: "session.new", Keys: []string{"ctrl+n"}, Slash: "new", Also: []string{"clear", "reset"}, First: true, Title: "New session", Card: true, Run: openWhere(Here)},
		{ID: "split.right", Keys: []string{`ctrl+\`}, Title: "Split to the right", Card: true, Help: "A new session beside this one.", Run: openWhere(Right)},
		{ID: "split.below", Keys: []string{"ctrl+_"}, Title: "Split below", Run: openWhere(Below)},
		{ID: "split.close", Keys: []string{"alt+w"}, Title: "Close this split", Help: "The session goes on running.", Why: f.whyNoSplit, Run: func(string) tea.Cmd { return f.closeSplit() }},
	}
}

func openWhere(w Where) func(string) tea.Cmd {
	return func(string) tea.Cmd { return func() tea.Msg { return OpenSession{Where: w} } }
}

func (f *frame) layoutActions() []Action {
	size := func(wide, high int) func(string) tea.Cmd {
		return func(string) tea.Cmd { return f.resizeFocused(wide, high) }
	}
	return []Action{
		{ID: "layout.zoom", Keys: []string{"alt+z"}, Title: "Zoom this pane", Card: true, Help: "Again brings the others back.", Run: func(string) tea.Cmd {
			f.arranged.Zoom = !f.arranged.Zoom
			f.computeLayout()
			return f.saveArrangement()
		}},
		{ID: "layout.next", Keys: []string{"alt+l"}, Title: "Next arrangement", Help: "work, focus, wide.", Run: func(string) tea.Cmd {
			all := layout.Presets()
			f.arranged.Preset = all[(slices.Index(all, f.arranged.Preset)+1)%len(all)]
			f.arranged.Sizes = layout.Sizes{}
			f.computeLayout()
			f.showToast(event.Info, "arrangement: "+string(f.arranged.Preset), "")
			return f.saveArrangement()
		}},
		{ID: "layout.wider", Keys: []string{"alt+>"}, Title: "Make this pane wider", Run: size(4, 0)},
		{ID: "layout.narrower", Keys: []string{"alt+<"}, Title: "Make this pane narrower", Run: size(-4, 0)},
		{ID: "layout.higher", Keys: []string{"alt+="}, Title: "Make this pane higher", Run: size(0, 3)},
		{ID: "layout.lower", Keys: []string{"alt+-"}, Title: "Make this pane lower", Run: size(0, -3)},
	}
}

// resizeFocused changes the focused pane's size by moving the edge that it owns.
func (f *frame) resizeFocused(wide, high int) tea.Cmd {
	s, side := f.arranged.Sizes, f.focus == layout.Output || f.focus == layout.Backends
	right := func(by int) { // the right column, or the lower row of the wide arrangement
		for _, e := range f.plan.Edges {
			switch {
			case e.Which != layout.RightEdge:
			case f.arranged.Preset == layout.Wide:
				s = f.plan.Drag(s, layout.Wide, e.Which, 0, e.Y+1-by)
			default:
				s = f.plan.Drag(s, f.arranged.Preset, e.Which, e.X+1-by, 0)
			}
		}
	}
	low := func(by int) {
		for _, e := range f.plan.Edges {
			if e.Which == layout.LowerEdge {
				s = f.plan.Drag(s, f.arranged.Preset, e.Which, 0, e.Y+1+by)
			}
		}
	}
	sign := 1
	if !side {
		sign = -1
	}
	wideRow := f.arranged.Preset == layout.Wide
	switch {
	case wide != 0 && f.focus == layout.Sessions:
		if b, ok := f.plan.Find(layout.Sessions); ok {
			s = f.plan.Drag(s, f.arranged.Preset, layout.LeftEdge, b.W-1+wide, 0)
		}
	case wide != 0 && !wideRow:
		right(sign * wide)
	case high != 0 && wideRow:
		right(sign * high)
	case high != 0 && f.focus == layout.Output:
		low(high)
	case high != 0 && f.focus == layout.Backends:
		low(-high)
	}
	f.arranged.Sizes = s
	f.computeLayout()
	return f.saveArrangement()
}

func (f *frame) whyNoSplit() string {
	if len(f.convs.allPanes()) < 2 {
		return "there is only one conversation"
	}
	return ""
}

func (f *frame) whyNoCopy() string {
	if _, ok := f.focusedPane().(Copier); !ok {
		return "this pane has nothing to copy"
	}
	return ""
}

func (f *frame) copyFocused(string) tea.Cmd {
	c, ok := f.focusedPane().(Copier)
	if !ok {
		return nil
	}
	text, what := c.Copy()
	return f.copyText(CopyText{Text: text, What: what})
}

func (f *frame) toggleMouse(string) tea.Cmd {
	on := !f.screen.Mouse()
	if err := f.screen.SetMouse(on); err != nil {
		f.failed = err
	}
	if on {
		return f.showToast(event.Info, "mouse on", "")
	}
	return f.showToast(event.Info, "mouse off: select with the terminal", "")
}

func (f *frame) whyNoSearch() string {
	if _, ok := f.focusedPane().(Searcher); !ok {
		return "this pane cannot be searched"
	}
	return ""
}

func (f *frame) whyNoHits() string {
	if _, ok := f.focusedPane().(SearchMover); !ok {
		return "this pane cannot be searched"
	}
	return ""
}

func (f *frame) nextHit(step int) {
	if m, ok := f.focusedPane().(SearchMover); ok {
		m.NextHit(step)
	}
}
