package ui

import (
	"reflect"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/ui/layout"
)

// panes returns the conversations in their order, then the side panes, and what stands over them.
func (f *frame) panes() []Pane {
	return append(append(f.convs.all(), f.opt.Side...), f.guests.panes()...)
}

// sideSlots are the slots of Options.Side, in order.
var sideSlots = [...]layout.Slot{layout.Sessions, layout.Output, layout.Backends}

// paneAt returns the pane of a box, or nil.
func (f *frame) paneAt(slot layout.Slot, index int) Pane {
	if slot == layout.Conversation {
		if all := f.convs.all(); index < len(all) {
			return all[index]
		}
		return nil
	}
	if g := f.guests.front(); g != nil && slot == layout.Output {
		return g
	}
	for i, s := range sideSlots {
		if s == slot && i < len(f.opt.Side) {
			return f.opt.Side[i]
		}
	}
	return nil
}

// focused returns the pane with the focus; nil only before Init.
func (f *frame) focused() Pane { return f.paneAt(f.focus, f.convs.at) }

// own makes the messages of a pane's command come back to that pane. FrameMsgs go to the frame, with the pane as the one
// who asked; bubbletea's own messages pass.
func own(p Pane, cmd tea.Cmd) tea.Cmd {
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
				msg[i] = own(p, c)
			}
			return msg
		default:
			if foreign(msg) {
				return msg
			}
			return from{p, msg}
		}
	}
}

// foreign reports messages that bubbletea itself understands.
func foreign(msg tea.Msg) bool {
	t := reflect.TypeOf(msg)
	return t.PkgPath() == "github.com/charmbracelet/bubbletea"
}

// after counts the messages that commands will bring, so that Program.Idle can tell when all is done. Timers are not work.
func (f *frame) after(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	f.inflight.Add(1)
	return func() tea.Msg {
		defer crash.Guard("command")
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for i, c := range msg {
				msg[i] = f.after(c)
			}
			f.inflight.Add(-1)
			return msg
		case nil:
			f.inflight.Add(-1)
			return nil
		default:
			if foreign(msg) {
				f.inflight.Add(-1)
				return msg
			}
			return handled{msg}
		}
	}
}

// deliver hands a command's message to the pane that asked.
func (f *frame) deliver(m from) tea.Cmd {
	if fm, ok := m.msg.(FrameMsg); ok {
		return f.frameMsg(m.pane, fm)
	}
	if m.pane == nil {
		cmd, _ := f.handle(m.msg)
		return cmd
	}
	f.dirty = true
	return own(m.pane, m.pane.Update(m.msg))
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
		return f.say(msg.Level, msg.Text, msg.Hint)
	case ShowOverlay:
		f.push(who, msg.Overlay)
	case CloseOverlay:
		f.pop()
	case CopyText:
		return f.copyText(msg)
	case EditText:
		return f.edit(who, msg)
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
	uid := sessionOf(f.convs.current())
	if uid == f.session {
		return nil
	}
	f.session = uid
	return f.broadcast(SessionFocused{UID: uid})
}

func (f *frame) broadcast(msg tea.Msg) tea.Cmd {
	f.dirty = true
	var cmds []tea.Cmd
	for _, p := range f.panes() {
		cmds = append(cmds, own(p, p.Update(msg)))
	}
	return tea.Batch(cmds...)
}

func sessionOf(p Pane) string {
	if s, ok := p.(Sessioner); ok {
		return s.Session()
	}
	return ""
}

// scheduleRefresh keeps one timer for whatever the clock alone changes: panes that show time, the spinner, a toast.
func (f *frame) scheduleRefresh() tea.Cmd {
	now := f.opt.Now()
	next := f.status.refreshAt(now, f.blurred)
	earlier := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	earlier(f.toasts.until())
	for _, b := range f.plan.Boxes {
		if r, ok := f.paneAt(b.Slot, b.Index).(Refresher); ok {
			earlier(r.RefreshAt(now))
		}
	}
	if o := f.top(); o != nil {
		if r, ok := o.overlay.(Refresher); ok {
			earlier(r.RefreshAt(now))
		}
	}
	if next.IsZero() || !f.refresh.IsZero() && !next.Before(f.refresh) {
		return nil
	}
	f.refresh = next
	return f.timer(max(next.Sub(now), time.Millisecond), refreshNow{next})
}

// refreshed is the clock; who has work to do at this time may do it. A timer that an earlier one replaced says nothing.
func (f *frame) refreshed(msg refreshNow) {
	if !msg.at.Equal(f.refresh) {
		return
	}
	f.refresh = time.Time{}
	f.toasts.expire(f.opt.Now())
	f.dirty, f.moved = true, true
}

// say shows a toast.
func (f *frame) say(level event.Level, text, hint string) tea.Cmd {
	f.dirty = true
	f.toasts.show(f.opt.Now(), level, text, hint)
	return nil
}
