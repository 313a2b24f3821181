package output

import (
	"os"
	"os/exec"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
)

// Update implements ui.Pane.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case ui.SessionFocused:
		return p.focusSession(m.UID)
	case loadedMsg:
		p.takeLoaded(m)
	case overviewMsg:
		return p.takeOverview(m)
	case tea.MouseMsg:
		switch m.Button {
		case tea.MouseButtonWheelUp:
			p.scrollRows(-3)
		case tea.MouseButtonWheelDown:
			p.scrollRows(3)
		default:
		}
	}
	return nil
}

// withoutCommand makes an action's Run of something that changes the picture.
func (p *Pane) withoutCommand(f func()) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		f()
		p.memoOK = false
		return nil
	}
}

// Actions implements ui.Pane.
func (p *Pane) Actions() []ui.Action {
	none := func() string {
		if p.currentCall() == nil {
			return "no tool has run in this session"
		}
		return ""
	}
	return []ui.Action{
		{ID: "output.end", Keys: []string{"end", "G"}, Title: "Go to the end and follow", Bar: "follow", Why: p.whyNotFollow, Run: p.withoutCommand(p.followEnd), InBar: true},
		{ID: "output.previous", Keys: []string{"["}, Title: "Previous tool call", Bar: "previous", Why: p.whyNotSelect(-1), Run: p.withoutCommand(func() { p.selectCall(-1) }), InBar: true},
		{ID: "output.next", Keys: []string{"]"}, Title: "Next tool call", Bar: "next", Why: p.whyNotSelect(1), Run: p.withoutCommand(func() { p.selectCall(1) }), InBar: true},
		{ID: "output.newest", Keys: []string{"0"}, Title: "Follow the newest call", Bar: "newest", Why: p.whyNotNewest, Run: p.withoutCommand(p.showNewest), InBar: true},
		{ID: "output.open", Keys: []string{"enter"}, Title: "Open the kept output", Help: "In $PAGER, when it was too long to be kept here.", Bar: "open", Why: p.whyNotOpen, Run: p.openInPager, InBar: true},
		{ID: "output.wrap", Keys: []string{"w"}, Title: "Wrap long lines or cut them", Bar: "wrap", Why: none, Run: p.withoutCommand(p.toggleWrap), InBar: true},
		{ID: "output.find", Keys: []string{"/"}, Title: "Search in the output", Bar: "search", Why: none, Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.RunAction{ID: "search"} }
		}, InBar: true},
		{ID: "output.hit", Keys: []string{"n"}, Title: "Next hit", Hidden: true, Why: p.whyNoHits, Run: p.withoutCommand(func() { p.NextHit(1) })},
		{ID: "output.hitback", Keys: []string{"N"}, Title: "Previous hit", Hidden: true, Why: p.whyNoHits, Run: p.withoutCommand(func() { p.NextHit(-1) })},
		{ID: "output.up", Keys: []string{"up", "k"}, Title: "Scroll up", Why: none, Run: p.withoutCommand(func() { p.scrollRows(-1) }), Hidden: true},
		{ID: "output.down", Keys: []string{"down", "j"}, Title: "Scroll down", Why: none, Run: p.withoutCommand(func() { p.scrollRows(1) }), Hidden: true},
		{ID: "output.pageup", Keys: []string{"pgup", "ctrl+b"}, Title: "Page up", Why: none, Run: p.withoutCommand(func() { p.scrollRows(-max(1, p.h-1)) })},
		{ID: "output.pagedown", Keys: []string{"pgdown", "ctrl+f"}, Title: "Page down", Why: none, Run: p.withoutCommand(func() { p.scrollRows(max(1, p.h-1)) })},
		{ID: "output.top", Keys: []string{"home", "g"}, Title: "Go to the beginning", Why: none, Run: p.withoutCommand(p.toTop)},
	}
}

func (p *Pane) whyNotFollow() string {
	if p.view.follow {
		return "the end is shown already"
	}
	return ""
}

func (p *Pane) whyNotNewest() string {
	if p.pinned == nil {
		return "the newest call is shown already"
	}
	return ""
}

func (p *Pane) showNewest() {
	p.pinned = nil
	p.view.reset()
}

func (p *Pane) toggleWrap() { p.view.wrap, p.view.row = !p.view.wrap, 0 }

func (p *Pane) whyNoHits() string {
	if len(p.view.hits) == 0 {
		return "nothing was searched, or nothing was found"
	}
	return ""
}

func (p *Pane) whyNotOpen() string {
	if c := p.currentCall(); c == nil || c.isRunning() || c.result.Spill == "" {
		return "no more of it was kept than what is here"
	}
	return ""
}

// openInPager hands the whole output to the person's pager.
func (p *Pane) openInPager(string) tea.Cmd {
	path := p.currentCall().result.Spill
	return func() tea.Msg {
		words := strings.Fields(os.Getenv("PAGER"))
		if len(words) == 0 {
			words = []string{"less"}
		}
		cmd := exec.Command(words[0], append(words[1:], path)...)
		return ui.RunProcess{Cmd: cmd, Done: func(err error) tea.Msg {
			if err == nil {
				return nil
			}
			return ui.ShowToast{Level: event.Error, Text: words[0] + ": " + err.Error(), Hint: "set PAGER to a program that shows files"}
		}}
	}
}

// SelectsText implements ui.TextSelector.
func (*Pane) SelectsText() {}

// Copy implements ui.Copier.
func (p *Pane) Copy() (content, what string) {
	c := p.currentCall()
	if c == nil {
		return "", ""
	}
	return c.buf.text() + c.plainTail(), "output"
}
