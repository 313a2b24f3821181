package ui

import (
	"reflect"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/ui/layout"
)

// allPanes returns the conversations in their order, then the side panes, and what stands over
// them.
func (f *frame) allPanes() []Pane {
	return append(append(f.convs.allPanes(), f.opt.Side...), f.guests.panes()...)
}

// sideSlots are the slots of Options.Side, in order.
var sideSlots = [...]layout.Slot{layout.Sessions, layout.Output, layout.Backends}

// paneAt returns the pane of a box, or nil.
func (f *frame) paneAt(slot layout.Slot, index int) Pane {
	if slot == layout.Conversation {
		if all := f.convs.allPanes(); index < len(all) {
			return all[index]
		}
		return nil
	}
	if g := f.guests.frontPane(); g != nil && slot == layout.Output {
		return g
	}
	for i, s := range sideSlots {
		if s == slot && i < len(f.opt.Side) {
			return f.opt.Side[i]
		}
	}
	return nil
}

// focusedPane returns the pane with the focus; nil only before Init.
func (f *frame) focusedPane() Pane { return f.paneAt(f.focus, f.convs.at) }

// ownedCommand makes the messages of a pane's command come back to that pane. FrameMsgs go to the
// frame, with the pane as the one who asked; bubbletea's own messages pass.
func ownedCommand(p Pane, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case from:
			return msg
		case tea.BatchMsg:
			for i, c := range msg {
				msg[i] = ownedCommand(p, c)
			}
			return msg
		default:
			if isForeign(msg) {
				return msg
			}
			return from{p, msg}
		}
	}
}

// isForeign reports messages that bubbletea itself understands.
func isForeign(msg tea.Msg) bool {
	t := reflect.TypeOf(msg)
	return t.PkgPath() == "github.com/charmbracelet/bubbletea"
}

// trackCommand counts the messages that commands will bring, so that Program.Idle can tell when all
// is done. Timers are not work.
func (f *frame) trackCommand(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	f.inflight.Add(1)
	return func() tea.Msg {
		defer crash.Guard("command")
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for i, c := range msg {
				msg[i] = f.trackCommand(c)
			}
			f.inflight.Add(-1)
			return msg
		case nil:
			f.inflight.Add(-1)
			return nil
		default:
			if isForeign(msg) {
				f.inflight.Add(-1)
				return msg
			}
			return handled{msg}
		}
	}
}

// deliverMessage hands a command's message to the pane that asked.
func (f *frame) deliverMessage(m from) tea.Cmd {
	if fm, ok := m.msg.(FrameMsg); ok {
		return f.frameMsg(m.pane, fm)
	}
	if m.pane == nil {
		cmd, _ := f.handleMessage(m.msg)
		return cmd
	}
	f.dirty = true
	return ownedCommand(m.pane, m.pane.Update(m.msg))
}

// frameMsg does what somebody asked of the frame. who may be nil.
func (f *frame) frameMsg(who Pane, msg FrameMsg) tea.Cmd {
	f.dirty = true
	switch msg := msg.(type) {
	case OpenSession:
		return f.openSession(msg)
	case FocusPane:
		f.focusPane(msg.Pane)
	case OpenPane:
		f.openGuest(msg.Pane)
	case ClosePane:
		f.closeGuest(msg.Pane)
	case ShowToast:
		return f.showToast(msg.Level, msg.Text, msg.Hint)
	case ShowUndo:
		return f.showUndo(who, msg)
	case BeginText:
		return f.beginText(msg.Text)
	case KeyIgnored:
		return f.explainKey(msg.Key)
	case Leave:
		return f.leaveProgram(msg.Key)
	case ShowOverlay:
		f.pushOverlay(who, msg.Overlay)
	case CloseOverlay:
		f.popOverlay()
	case CopyText:
		return f.copyText(msg)
	case EditText:
		return f.openEditor(who, msg)
	case RunProcess:
		return f.runProcess(msg.Cmd, func(err error) tea.Msg {
			if msg.Done == nil {
				return nil
			}
			return from{who, msg.Done(err)}
		})
	case RunAction:
		return f.runByID(msg.ID, msg.Arg)
	}
	return nil
}

// tellSession sends SessionFocused to everybody when the session with the focus changed.
func (f *frame) tellSession() tea.Cmd {
	uid := sessionOf(f.convs.currentPane())
	if uid == f.session {
		return nil
	}
	f.session = uid
	return tea.Batch(f.lookAround(), f.broadcastMessage(SessionFocused{UID: uid}))
}

func (f *frame) broadcastMessage(msg tea.Msg) tea.Cmd {
	f.dirty = true
	var cmds []tea.Cmd
	for _, p := range f.allPanes() {
		cmds = append(cmds, ownedCommand(p, p.Update(msg)))
	}
	return tea.Batch(cmds...)
}

func sessionOf(p Pane) string {
	if s, ok := p.(Sessioner); ok {
		return s.Session()
	}
	return ""
}

// scheduleRefresh keeps one timer for whatever the clock alone changes: panes that show time, the
// spinner, a toast.
func (f *frame) scheduleRefresh() tea.Cmd {
	now := f.opt.Now()
	next := f.status.refreshAt(now, f.blurred)
	earlier := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	earlier(f.toasts.nextExpiry())
	for _, b := range f.plan.Boxes {
		if r, ok := f.paneAt(b.Slot, b.Index).(Refresher); ok {
			earlier(r.RefreshAt(now))
		}
	}
	if o := f.topOverlay(); o != nil {
		if r, ok := o.overlay.(Refresher); ok {
			earlier(r.RefreshAt(now))
		}
	}
	if next.IsZero() || !f.refresh.IsZero() && !next.Before(f.refresh) {
		return nil
	}
	f.refresh = next
	return f.messageAfter(max(next.Sub(now), time.Millisecond), refreshNow{next})
}

// handleTick is the clock; who has work to do at this time may do it. A timer that an earlier one
// replaced says nothing.
func (f *frame) handleTick(msg refreshNow) {
	if !msg.at.Equal(f.refresh) {
		return
	}
	f.refresh = time.Time{}
	f.toasts.dropExpired(f.opt.Now())
	f.dirty, f.moved = true, true
}

// showToast shows a toast.
func (f *frame) showToast(level event.Level, text, hint string) tea.Cmd {
	f.dirty = true
	f.toasts.addToast(f.opt.Now(), level, text, hint)
	return nil
}
