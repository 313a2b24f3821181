package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/layout"
)

// key sends a key where it belongs: to the overlay on top, to an action, or to the focused pane.
func (f *frame) key(msg tea.KeyMsg) tea.Cmd {
	f.dirty = true
	name := msg.String()
	if cmd, ok := f.grabbed(msg, name); ok {
		return cmd
	}
	if f.joined(msg) {
		return f.apart(msg)
	}
	if name == "ctrl+c" && !msg.Paste {
		return f.interrupt(msg)
	}
	if o := f.top(); o != nil {
		return f.feed(o, msg)
	}
	p := f.focused()
	if p == nil {
		return nil
	}
	typing := false
	if t, ok := p.(Typer); ok {
		typing = t.Typing()
	}
	caught := false
	if c, ok := p.(Catcher); ok {
		caught = c.Catches(name)
	}
	if !msg.Paste && !caught {
		if e, ok := f.find(name, typing); ok {
			return f.run(e, "")
		}
	}
	return own(p, p.Update(msg))
}

// joined reports keys that came in one read, so that bubbletea made one message of them: "jj" of somebody who holds a key on a
// slow line. For who types it is text.
func (f *frame) joined(msg tea.KeyMsg) bool {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 || msg.Paste || f.top() != nil {
		return false
	}
	t, ok := f.focused().(Typer)
	return !ok || !t.Typing()
}

// apart handles them one by one. What a key opens gets the keys behind it, as it would from somebody who types slowly: "/memory" looks for
// "memory" and is not m, e, m, o, r and y. Whether something is really meant is never answered by the read that asked for it.
func (f *frame) apart(msg tea.KeyMsg) tea.Cmd {
	var cmds []tea.Cmd
	for i, r := range msg.Runes {
		one, rest := msg, msg
		one.Runes, rest.Runes = []rune{r}, msg.Runes[i+1:]
		cmd := f.key(one)
		o := f.top()
		switch {
		case len(rest.Runes) == 0:
		case o != nil:
			if _, asks := o.overlay.(*confirm); !asks {
				cmd = tea.Batch(cmd, f.key(rest))
			}
			return tea.Batch(append(cmds, cmd)...)
		case cmd != nil && rest.Runes[0] != r: // a key that is held may overtake its command
			return tea.Batch(append(cmds, tea.Sequence(cmd, func() tea.Msg { return rest }))...)
		}
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// quitWithin is how soon ctrl+c must follow ctrl+c to quit.
const quitWithin = 1500 * time.Millisecond

// interrupt is ctrl+c: it closes an overlay, else the focused pane stops its turn or clears its line; twice it quits.
func (f *frame) interrupt(msg tea.KeyMsg) tea.Cmd {
	now := f.opt.Now()
	if now.Sub(f.quitArmed) < quitWithin {
		return tea.Quit
	}
	f.quitArmed = now
	if o := f.top(); o != nil {
		f.pop()
		if d, ok := o.overlay.(dismisser); ok {
			return o.own(d.dismissed())
		}
		return nil
	}
	f.toasts.show(now, event.Info, "ctrl+c again quits", "")
	if p := f.focused(); p != nil {
		return own(p, p.Update(msg))
	}
	return nil
}

// run does an action: it says why not, asks before what is dangerous, and leaves its messages to the owner.
func (f *frame) run(e entry, arg string) tea.Cmd {
	f.dirty = true
	switch why := e.why(); {
	case why != "":
		return f.say(event.Info, e.Title+": "+why, "")
	case e.Run == nil:
		return nil
	case e.Dangerous:
		f.push(e.owner, newConfirm(e.Title, e.Help, func() tea.Cmd { return e.owned(arg) }))
		return nil
	}
	return e.owned(arg)
}

func (e entry) owned(arg string) tea.Cmd { return own(e.owner, e.Run(arg)) }

// mouse sends the mouse to the overlay on top, to an edge that is dragged, or to the pane under the pointer.
func (f *frame) mouse(msg tea.MouseMsg) tea.Cmd {
	if o := f.top(); o != nil {
		f.drag = nil // its release goes to the overlay
		b := o.place(f.w, f.h)
		msg.X, msg.Y = msg.X-b.X-1, msg.Y-b.Y-1
		if !tea.MouseEvent(msg).IsWheel() && (msg.X < 0 || msg.Y < 0 || msg.X >= b.W-2 || msg.Y >= b.H-2) {
			return nil // beside it: nothing there is meant
		}
		return f.feed(o, msg)
	}
	if f.drag != nil {
		return f.dragTo(msg)
	}
	press := msg.Action == tea.MouseActionPress && msg.Button == tea.MouseButtonLeft
	if f.plan.Tabs && msg.Y == 0 && press {
		f.clickTab(msg.X)
		return nil
	}
	b, ok := f.plan.At(msg.X, msg.Y)
	if !ok {
		return nil
	}
	if press {
		if e, on := f.plan.EdgeAt(msg.X, msg.Y); on {
			f.drag = &e
			return nil
		}
		if !f.hasFocus(b) {
			f.setFocus(b.Slot, b.Index)
		}
	}
	p := f.paneAt(b.Slot, b.Index)
	if p == nil {
		return nil
	}
	f.dirty = true
	msg.X, msg.Y = msg.X-b.X-1, msg.Y-b.Y-1
	return own(p, p.Update(msg))
}

func (f *frame) dragTo(msg tea.MouseMsg) tea.Cmd {
	f.arranged.Sizes = f.plan.Drag(f.arranged.Sizes, f.arranged.Preset, f.drag.Which, msg.X, msg.Y)
	f.arrange()
	if msg.Action == tea.MouseActionRelease {
		f.drag = nil
		return f.saveArrangement()
	}
	return nil
}

func (f *frame) clickTab(x int) {
	at := 0
	for _, t := range tabNames {
		label := t.long
		if f.w < 60 {
			label = t.short
		}
		if at += len(label) + 3; x < at {
			f.jump(t.slot)
			return
		}
	}
}

// jump focuses a slot; on the conversations, and on what stands over the output, it goes to the next one when one has the focus already.
func (f *frame) jump(slot layout.Slot) {
	index := 0
	if slot == layout.Conversation {
		index = f.convs.at
		if f.focus == slot {
			index = (index + 1) % max(len(f.convs.all()), 1)
		}
	}
	if slot == layout.Output && f.focus == slot {
		f.turnGuests()
		return
	}
	f.setFocus(slot, index)
}
