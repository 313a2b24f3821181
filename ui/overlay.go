package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/layout"
)

// shown is an overlay on the stack, with the pane that asked for it.
type shown struct {
	overlay Overlay
	who     Pane
}

// fromOverlay is the message of an overlay's command on its way back.
type fromOverlay struct {
	to  *shown
	msg tea.Msg
}

// centredBox puts the overlay in the middle of a screen of w x h cells, border included, and clips
// it.
func (o *shown) centredBox(w, h int) layout.Box {
	ow, oh := o.overlay.Size(w, h)
	ow, oh = min(max(ow, 10)+2, w), min(max(oh, 1)+2, h)
	return layout.Box{X: (w - ow) / 2, Y: max((h-oh)/3, 0), W: ow, H: oh}
}

// dismisser hears that ctrl+c took it away, to undo what it showed for a while.
type dismisser interface{ dismissCommand() tea.Cmd }

func (f *frame) topOverlay() *shown {
	if len(f.overlays) == 0 {
		return nil
	}
	return f.overlays[len(f.overlays)-1]
}

func (f *frame) pushOverlay(who Pane, o Overlay) {
	o.Restyle(f.styles)
	f.overlays = append(f.overlays, &shown{o, who})
	f.blurPane(f.focusedPane())
	f.dirty = true
}

func (f *frame) popOverlay() {
	if n := len(f.overlays); n > 0 {
		f.removeOverlay(f.overlays[n-1])
	}
}

func (f *frame) removeOverlay(o *shown) {
	for i, x := range f.overlays {
		if x == o {
			f.overlays = append(f.overlays[:i:i], f.overlays[i+1:]...)
			break
		}
	}
	if p, ok := f.focusedPane().(Focuser); ok && len(f.overlays) == 0 {
		p.Focus(true)
	}
	f.dirty = true
}

// removeDoneOverlays removes the overlays that have nothing more to ask.
func (f *frame) removeDoneOverlays() {
	for _, o := range slices.Clone(f.overlays) {
		if x, ok := o.overlay.(Finisher); ok && x.Finished() {
			f.removeOverlay(o)
		}
	}
}

// toOverlay hands a message of an overlay's command back. Overlays that are gone leave it to the
// pane that asked.
func (f *frame) toOverlay(msg tea.Msg) tea.Cmd {
	m, ok := msg.(fromOverlay)
	if !ok {
		return nil
	}
	if fm, ok := m.msg.(FrameMsg); ok {
		return f.frameMsg(m.to.who, fm)
	}
	for _, o := range f.overlays {
		if o == m.to {
			return f.updateOverlay(o, m.msg)
		}
	}
	if m.to.who != nil {
		return f.deliverMessage(from{m.to.who, m.msg})
	}
	return nil
}

// updateOverlay updates an overlay and removes it when it is done.
func (f *frame) updateOverlay(o *shown, msg tea.Msg) tea.Cmd {
	cmd, done := o.overlay.Update(msg)
	f.dirty = true
	if !done {
		return o.ownMessages(cmd)
	}
	f.removeOverlay(o)
	c, asked := o.overlay.(*confirm)
	key, _ := msg.(tea.KeyMsg)
	switch letter := textOf(key); {
	case asked && c.words != "":
		return f.writeOn(c.words)
	case asked && letter != "" && cmd == nil: // the n of "undo" is a no, and goes on as a word if one follows
		f.run.noteLetter(letter, f.opt.Now())
	default:
		f.run = run{}
	}
	return o.ownMessages(cmd)
}

// ownMessages makes the messages of the overlay's commands come back to it.
func (o *shown) ownMessages(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case from, fromOverlay:
			return msg
		case tea.BatchMsg:
			for i, c := range msg {
				msg[i] = o.ownMessages(c)
			}
			return msg
		default:
			if isForeign(msg) {
				return msg
			}
			return fromOverlay{o, msg}
		}
	}
}
