package ui

import (
	"encoding/json"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/layout"
)

// columns are the open conversations, column by column. at counts down the columns.
type columns struct {
	cols [][]Pane
	at   int
}

func (c *columns) allPanes() []Pane {
	var out []Pane
	for _, col := range c.cols {
		out = append(out, col...)
	}
	return out
}

func (c *columns) rowCounts() []int {
	out := make([]int, len(c.cols))
	for i, col := range c.cols {
		out[i] = len(col)
	}
	return out
}

func (c *columns) currentPane() Pane {
	if all := c.allPanes(); c.at < len(all) {
		return all[c.at]
	}
	return nil
}

// currentPlace returns the column and the row of the current conversation.
func (c *columns) currentPlace() (col, row int) {
	n := c.at
	for i := range c.cols {
		if n < len(c.cols[i]) {
			return i, n
		}
		n -= len(c.cols[i])
	}
	return 0, 0
}

// placePane shows p at the place that w names, and makes it current. It returns the pane that it
// replaced, or nil.
func (c *columns) placePane(p Pane, w Where) (old Pane) {
	if len(c.cols) == 0 {
		c.cols = [][]Pane{{p}}
		return nil
	}
	col, row := c.currentPlace()
	switch w {
	case Right:
		c.cols = append(c.cols[:col+1], append([][]Pane{{p}}, c.cols[col+1:]...)...)
		c.at += len(c.cols[col]) - row
	case Below:
		rows := c.cols[col]
		c.cols[col] = append(rows[:row+1:row+1], append([]Pane{p}, rows[row+1:]...)...)
		c.at++
	case Here:
		old = c.cols[col][row]
		c.cols[col][row] = p
	}
	return old
}

// removeCurrent takes the current conversation away, unless it is the only one.
func (c *columns) removeCurrent() (old Pane, ok bool) {
	if len(c.allPanes()) < 2 {
		return nil, false
	}
	col, row := c.currentPlace()
	old = c.cols[col][row]
	c.cols[col] = append(c.cols[col][:row:row], c.cols[col][row+1:]...)
	if len(c.cols[col]) == 0 {
		c.cols = append(c.cols[:col:col], c.cols[col+1:]...)
	}
	c.at = min(c.at, len(c.allPanes())-1)
	return old, true
}

// keep is how many conversations out of sight stay as they were: scroll position, draft, live
// deltas.
const keep = 4

// openSession shows a session: the pane that shows it already, one kept out of sight, or a new one.
func (f *frame) openSession(msg OpenSession) tea.Cmd {
	f.blurPane(f.focusedPane())
	f.focus = layout.Conversation
	if f.findOpen(msg) {
		f.computeLayout()
		return f.sendToConversation(msg)
	}
	p := f.takeCached(msg.UID)
	if p == nil {
		p = f.opt.Conversation(msg.UID)
	}
	if old := f.convs.placePane(p, msg.Where); old != nil {
		f.cachePane(old)
	}
	p.Restyle(f.styles)
	f.computeLayout()
	return tea.Batch(f.sendToConversation(msg), f.tellOfHidden(msg.Where))
}

// tellOfHidden says how to reach the conversation that a new one was to stand beside, where the
// screen has room for one only.
func (f *frame) tellOfHidden(w Where) tea.Cmd {
	shown := 0
	for _, b := range f.plan.Boxes {
		if b.Slot == layout.Conversation {
			shown++
		}
	}
	if w == Here || shown > 1 {
		return nil
	}
	hint := ""
	if key := f.keys.firstKey("focus.conversation", "alt+2"); key != "" {
		hint = key + " goes to the other one"
	}
	return f.showToast(event.Info, "split; there is room for one conversation", hint)
}

// sendToConversation gives msg to the current conversation.
func (f *frame) sendToConversation(msg tea.Msg) tea.Cmd {
	p := f.convs.currentPane()
	return ownedCommand(p, p.Update(msg))
}

// findOpen makes the conversation that shows the session current: a session is never shown twice,
// also not beside itself.
func (f *frame) findOpen(msg OpenSession) bool {
	if msg.UID == "" {
		return false
	}
	for i, p := range f.convs.allPanes() {
		if sessionOf(p) == msg.UID {
			f.convs.at = i
			return true
		}
	}
	return false
}

func (f *frame) takeCached(uid string) Pane {
	for i, p := range f.cached {
		if uid != "" && sessionOf(p) == uid {
			f.cached = append(f.cached[:i:i], f.cached[i+1:]...)
			return p
		}
	}
	return nil
}

func (f *frame) cachePane(p Pane) {
	p.Resize(0, 0)
	if sessionOf(p) == "" {
		return // nothing was said in it
	}
	f.cached = append([]Pane{p}, f.cached...)
	f.cached = f.cached[:min(len(f.cached), keep)]
}

func (f *frame) closeSplit() tea.Cmd {
	f.blurPane(f.focusedPane())
	old, ok := f.convs.removeCurrent()
	if ok {
		f.cachePane(old)
	}
	f.computeLayout()
	return nil
}

// replaceDeletedSession puts a new conversation in the place of each that shows a session which is
// gone.
func (f *frame) replaceDeletedSession(uid string) tea.Cmd {
	f.cached = slices.DeleteFunc(f.cached, func(p Pane) bool { return sessionOf(p) == uid })
	var cmds []tea.Cmd
	for _, col := range f.convs.cols {
		for row, old := range col {
			if uid == "" || sessionOf(old) != uid {
				continue
			}
			p := f.opt.Conversation("")
			p.Restyle(f.styles)
			col[row] = p
			cmds = append(cmds, ownedCommand(p, p.Update(OpenSession{UID: sessionOf(p)})))
		}
	}
	if len(cmds) > 0 {
		f.computeLayout()
	}
	return tea.Batch(cmds...)
}

// arrangement is what is remembered between starts.
type arrangement struct {
	Preset layout.Preset `json:"preset"`
	Sizes  layout.Sizes  `json:"sizes"`
	Zoom   bool          `json:"zoom,omitempty"`
}

// saved is the end of a save.
type saved struct{ err error }

func (f *frame) loadArrangement() arrangement {
	a := arrangement{Preset: layout.Work}
	if f.opt.State == nil {
		return a
	}
	data, err := f.opt.State.Load()
	if err != nil || len(data) == 0 || json.Unmarshal(data, &a) != nil {
		return arrangement{Preset: layout.Work} // a layout is not worth a complaint: it comes back with one key
	}
	return a
}

func (f *frame) saveArrangement() tea.Cmd {
	if f.opt.State == nil {
		return nil
	}
	data, err := json.Marshal(f.arranged)
	return func() tea.Msg {
		if err == nil {
			err = f.opt.State.Save(data)
		}
		return from{nil, saved{err}}
	}
}

// computeLayout computes the plan and hands every pane its size.
func (f *frame) computeLayout() {
	f.dirty, f.moved = true, true
	r := layout.Request{
		W: f.w, H: f.h, Preset: f.arranged.Preset, Sizes: f.arranged.Sizes, Zoom: f.arranged.Zoom,
		Columns: f.convs.rowCounts(), Focus: f.focus, Index: f.convs.at,
	}
	f.plan = layout.Arrange(r)
	if f.plan.Tabs && f.focus == layout.Output && f.guests.frontPane() != nil { // a terminal wants every row there is
		r.Zoom = true
		f.plan = layout.Arrange(r)
	}
	seen := map[Pane]bool{}
	for _, b := range f.plan.Boxes {
		if p := f.paneAt(b.Slot, b.Index); p != nil {
			seen[p] = true
			p.Resize(b.W-2, b.H-2)
		}
	}
	for _, p := range f.allPanes() {
		if !seen[p] {
			p.Resize(0, 0)
		}
	}
	if p, ok := f.focusedPane().(Focuser); ok {
		p.Focus(len(f.overlays) == 0)
	}
}

func (f *frame) blurPane(p Pane) {
	if b, ok := p.(Focuser); ok {
		b.Focus(false)
	}
}

// setFocus moves the focus to a slot; a slot without a pane is refused.
func (f *frame) setFocus(slot layout.Slot, index int) {
	here := slot == f.focus && (slot != layout.Conversation || index == f.convs.at)
	if f.paneAt(slot, index) == nil || here { // a pane that has the focus would end what is typed in it
		return
	}
	f.blurPane(f.focusedPane())
	f.focus = slot
	if slot == layout.Conversation {
		f.convs.at = index
	}
	f.computeLayout()
}

func (f *frame) focusPane(id ID) {
	for i, p := range f.convs.allPanes() {
		if p.ID() == id {
			f.setFocus(layout.Conversation, i)
			return
		}
	}
	if f.guests.bringToFront(id) {
		f.setFocus(layout.Output, 0)
		f.computeLayout()
		return
	}
	for i, p := range f.opt.Side {
		if p.ID() == id && i < len(sideSlots) {
			if sideSlots[i] == layout.Output {
				f.guests.at = 0
			}
			f.setFocus(sideSlots[i], 0)
		}
	}
}

// nextFocus goes round the panes on the screen, or all of them where only one fits.
func (f *frame) nextFocus(step int) {
	type place struct {
		slot  layout.Slot
		index int
	}
	ring := []place{}
	add := func(s layout.Slot) {
		if _, on := f.plan.Find(s); (on || f.plan.Tabs || f.arranged.Zoom) && f.paneAt(s, 0) != nil {
			ring = append(ring, place{s, 0})
		}
	}
	add(layout.Sessions)
	for i := range f.convs.allPanes() {
		ring = append(ring, place{layout.Conversation, i})
	}
	add(layout.Output)
	add(layout.Backends)
	for i, p := range ring {
		if p.slot == f.focus && (p.slot != layout.Conversation || p.index == f.convs.at) {
			next := ring[(i+step+len(ring))%len(ring)]
			f.setFocus(next.slot, next.index)
			return
		}
	}
	f.setFocus(layout.Conversation, f.convs.at)
}

func (f *frame) restyleAll() {
	for _, p := range append(f.allPanes(), f.cached...) {
		p.Restyle(f.styles)
	}
	for _, o := range f.overlays {
		o.overlay.Restyle(f.styles)
	}
	f.dirty = true
}
