package ui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/layout"
)

// handleKey sends a key where it belongs: to the overlay on top, to an action, or to the focused
// pane.
func (f *frame) handleKey(msg tea.KeyMsg) tea.Cmd {
	f.dirty = true
	name := msg.String()
	f.forgetFirstPress(name)
	if cmd, ok := f.sendGrabbedKey(msg, name); ok {
		return cmd
	}
	if f.isJoinedKeys(msg) {
		return f.handleJoinedKeys(msg)
	}
	if name == "ctrl+c" && !msg.Paste {
		return f.handleInterrupt(msg)
	}
	if o := f.topOverlay(); o != nil {
		return f.updateOverlay(o, msg)
	}
	p := f.focusedPane()
	if p == nil {
		return nil
	}
	typing := false
	if t, ok := p.(Typer); ok {
		typing = t.Typing()
	}
	if typing && f.run.letters != "" {
		return tea.Batch(f.continueWord(p, msg), f.handleKey(msg))
	}
	caught := false
	if c, ok := p.(Catcher); ok {
		caught = c.Catches(name)
	}
	e, ok := entry{}, false
	if !msg.Paste && !caught {
		e, ok = f.findAction(name, typing)
	}
	if !typing && !caught {
		if to, text := f.meantAsText(msg, ok, e); text {
			return f.writeIn(to, msg)
		}
	}
	if ok {
		return f.runAction(e, "")
	}
	return ownedCommand(p, p.Update(msg))
}

// isJoinedKeys reports keys that came in one read, so that bubbletea made one message of them: "jj"
// of somebody who holds a key on a slow line. For who types it is text.
func (f *frame) isJoinedKeys(msg tea.KeyMsg) bool {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 || msg.Paste || f.topOverlay() != nil {
		return false
	}
	t, ok := f.focusedPane().(Typer)
	return !ok || !t.Typing()
}

// handleJoinedKeys handles them one by one. What a key opens gets the keys behind it, as it would
// from somebody who types slowly: "/memory" looks for "memory" and is not m, e, m, o, r and y.
// Whether something is really meant is never answered by the read that asked for it: nobody has
// seen the question yet.
func (f *frame) handleJoinedKeys(msg tea.KeyMsg) tea.Cmd {
	var cmds []tea.Cmd
	for i, r := range msg.Runes {
		one, rest := msg, msg
		one.Runes, rest.Runes = []rune{r}, msg.Runes[i+1:]
		cmd := f.handleKey(one)
		o := f.topOverlay()
		switch {
		case len(rest.Runes) == 0:
		case o != nil:
			return tea.Batch(append(cmds, cmd, f.handleKey(rest))...)
		case cmd != nil && rest.Runes[0] != r: // a key that is held may overtake its command
			return tea.Batch(append(cmds, tea.Sequence(cmd, func() tea.Msg { return rest }))...)
		}
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// quitWithin is how soon ctrl+c must follow ctrl+c to quit.
const quitWithin = 1500 * time.Millisecond

// handleInterrupt is ctrl+c: it closes an overlay, else the focused pane stops its turn or clears
// its line; twice it quits.
func (f *frame) handleInterrupt(msg tea.KeyMsg) tea.Cmd {
	const said = "ctrl+c again quits"
	if f.quit.pressAgain(f.opt.Now(), quitWithin, "ctrl+c", said) {
		return tea.Quit
	}
	if o := f.topOverlay(); o != nil {
		f.popOverlay()
		if d, ok := o.overlay.(dismisser); ok {
			return o.ownMessages(d.dismissCommand())
		}
		return nil
	}
	f.toasts.addToast(f.opt.Now(), event.Info, said, "")
	if p := f.focusedPane(); p != nil {
		return ownedCommand(p, p.Update(msg))
	}
	return nil
}

// runAction does an action: it says why not, asks before what is dangerous, and leaves its messages
// to the owner.
func (f *frame) runAction(e entry, arg string) tea.Cmd {
	f.dirty = true
	switch why := e.disabledReason(); {
	case why != "":
		return f.showToast(event.Info, e.Title+": "+why, "")
	case e.Run == nil:
		return nil
	}
	if e.Dangerous {
		f.pushOverlay(e.owner, NewConfirm(e.Title, e.Help, func() tea.Cmd { return e.runOwned(arg) }))
		return nil
	}
	return e.runOwned(arg)
}

// maxRecent is how many of the actions that a person chose are suggested.
const maxRecent = 3

// rememberRun notes what a person chose by its name, newest first: who has a key for it needs no
// list. Going to a pane is no news.
func (f *frame) rememberRun(id string) {
	if id == "palette" || id == "help" || strings.HasPrefix(id, "focus.") {
		return
	}
	f.recent = slices.DeleteFunc(f.recent, func(x string) bool { return x == id })
	f.recent = slices.Insert(f.recent, 0, id)
	f.recent = f.recent[:min(len(f.recent), maxRecent)]
}

func (e entry) runOwned(arg string) tea.Cmd { return ownedCommand(e.owner, e.Run(arg)) }

// handleMouse sends the mouse to the overlay on top, to an edge that is dragged, or to the pane
// under the pointer.
func (f *frame) handleMouse(msg tea.MouseMsg) tea.Cmd {
	if o := f.topOverlay(); o != nil {
		f.drag, f.selection = nil, nil // the release goes to the overlay
		b := o.centredBox(f.w, f.h)
		msg.X, msg.Y = msg.X-b.X-1, msg.Y-b.Y-1
		if !tea.MouseEvent(msg).IsWheel() && (msg.X < 0 || msg.Y < 0 || msg.X >= b.W-2 || msg.Y >= b.H-2) {
			return nil // beside it: nothing there is meant
		}
		cmd, left := PointAt(o.overlay, msg)
		if f.dirty = true; left == nil {
			return o.ownMessages(cmd)
		}
		return f.updateOverlay(o, left)
	}
	switch {
	case f.drag != nil:
		return f.dragTo(msg)
	case f.selection != nil:
		return f.dragSelection(msg)
	}
	f.run = run{}
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
	return f.pointAtPane(b, msg, press)
}

// pointAtPane hands the mouse to the pane of a box.
func (f *frame) pointAtPane(b layout.Box, msg tea.MouseMsg, press bool) tea.Cmd {
	p := f.paneAt(b.Slot, b.Index)
	if p == nil {
		return nil
	}
	f.dirty = true
	if _, ok := p.(TextSelector); ok && press {
		f.beginSelection(b, p, msg)
		return nil
	}
	msg.X, msg.Y = msg.X-b.X-1, msg.Y-b.Y-1
	cmd, left := PointAt(p, msg)
	if key, isKey := left.(tea.KeyMsg); isKey {
		return f.handleKey(key)
	}
	if left != nil {
		cmd = p.Update(left)
	}
	return ownedCommand(p, cmd)
}

func (f *frame) dragTo(msg tea.MouseMsg) tea.Cmd {
	f.arranged.Sizes = f.plan.Drag(f.arranged.Sizes, f.arranged.Preset, f.drag.Which, msg.X, msg.Y)
	f.computeLayout()
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
			f.focusSlot(t.slot)
			return
		}
	}
}

// focusSlot focuses a slot; on the conversations, and on what stands over the output, it goes to
// the next one when one has the focus already.
func (f *frame) focusSlot(slot layout.Slot) {
	index := 0
	if slot == layout.Conversation {
		index = f.convs.at
		if f.focus == slot {
			index = (index + 1) % max(len(f.convs.allPanes()), 1)
		}
	}
	if slot == layout.Output && f.focus == slot {
		f.turnGuests()
		return
	}
	f.setFocus(slot, index)
}
