package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/layout"
)

// guests are the panes that stand over the output, in the order in which they were opened. at is
// the one in front, from 1; 0 is the output itself.
type guests struct {
	list []guest
	at   int
}

// guest is a pane with the place that had the focus before it.
type guest struct {
	pane Pane
	from layout.Slot
}

// frontPane is the pane in front of the output; nil when that is seen.
func (g *guests) frontPane() Pane {
	if g.at < 1 || g.at > len(g.list) {
		return nil
	}
	return g.list[g.at-1].pane
}

func (g *guests) panes() []Pane {
	var out []Pane
	for _, x := range g.list {
		out = append(out, x.pane)
	}
	return out
}

func (g *guests) indexOf(id ID) int {
	return slices.IndexFunc(g.list, func(x guest) bool { return x.pane.ID() == id })
}

// bringToFront puts an open pane to the front.
func (g *guests) bringToFront(id ID) bool {
	i := g.indexOf(id)
	if i < 0 {
		return false
	}
	g.at = i + 1
	return true
}

// openGuest shows a pane over the output.
func (f *frame) openGuest(p Pane) {
	f.blurPane(f.focusedPane())
	if !f.guests.bringToFront(p.ID()) {
		p.Restyle(f.styles)
		f.guests.list = append(f.guests.list, guest{p, f.focus})
		f.guests.at = len(f.guests.list)
	}
	f.focus = layout.Output
	f.computeLayout()
}

// closeGuest takes a pane away; the focus goes back to where it was before.
func (f *frame) closeGuest(id ID) {
	i := f.guests.indexOf(id)
	if i < 0 {
		return
	}
	gone := f.guests.list[i]
	had := f.focusedPane() == gone.pane
	f.blurPane(gone.pane)
	gone.pane.Resize(0, 0)
	f.guests.list = slices.Delete(f.guests.list, i, i+1)
	if f.guests.at > i {
		f.guests.at--
	}
	if had && gone.from != layout.Output {
		f.focus = gone.from
	}
	f.computeLayout()
}

// turnGuests goes to the next pane in the place of the output.
func (f *frame) turnGuests() {
	if len(f.guests.list) == 0 {
		return
	}
	f.blurPane(f.focusedPane())
	f.guests.at = (f.guests.at + 1) % (len(f.guests.list) + 1)
	f.computeLayout()
}

// sendGrabbedKey gives a key to the focused pane when that takes all of them; ok is false when it
// does not.
func (f *frame) sendGrabbedKey(msg tea.KeyMsg, name string) (cmd tea.Cmd, ok bool) {
	p := f.focusedPane()
	g, is := p.(Grabber)
	if !is || f.topOverlay() != nil {
		return nil, false
	}
	escape := g.Grabs()
	if escape == "" {
		return nil, false
	}
	for _, e := range ofPane(p) {
		keys := f.keys.keysOf(e.Action)
		if len(keys) == 0 {
			keys = e.Keys // settings cannot lock anybody in
		}
		if e.ID == escape && slices.Contains(keys, name) && !msg.Paste {
			return f.runAction(e, ""), true
		}
	}
	return ownedCommand(p, p.Update(msg)), true
}
