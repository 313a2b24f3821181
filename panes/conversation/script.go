package conversation

import (
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/list"
	"hermes/ui/markdown"
	"hermes/ui/text"
)

// script turns messages and events into items of the list, and keeps what still changes within
// reach.
type script struct {
	pane    *Pane
	calls   map[string]*call
	running map[string]*call
	live    *live
	todo    *todo
	last    chat.Role // of the newest message; assistant turns have one name line
	known   map[int64]bool
	you     *header  // of the newest prompt
	typed   *prompt  // what it says
	head    *header  // of the turn's answers: it learns how long the turn took
	spaced  bool     // the newest item ends with an empty line
	heard   []string // what notices of this turn said
}

// live is the message that streams in. Its items are list items start to start+len(items).
type live struct {
	id      int64
	start   int
	items   []list.Item // the blocks only
	doc     markdown.Doc
	thought *thought
	got     int // bytes of text taken
	gotMind int // bytes of reasoning taken
	stable  int // blocks at the last sync that were closed
	dirty   bool
}

func (s *script) reset() {
	*s = script{pane: s.pane, calls: map[string]*call{}, running: map[string]*call{}, known: map[int64]bool{}}
}

func (s *script) base(msg int64) base { return base{e: s.pane.env, msg: msg} }

func (s *script) anyRunning() bool { return len(s.running) > 0 }

// seconds are those that the clocks of all running calls show.
func (s *script) seconds() (n uint64) {
	for _, c := range s.running {
		n += c.seconds()
	}
	return n
}

// nextSecond is when the first of the running clocks shows another second. Each has begun at a
// moment of its own.
func (s *script) nextSecond(now time.Time) (at time.Time) {
	for _, c := range s.running {
		next := now.Add(time.Second - c.took()%time.Second)
		if at.IsZero() || next.Before(at) {
			at = next
		}
	}
	return at
}

// add appends items and counts them while the view is locked.
func (s *script) add(items ...list.Item) {
	p := s.pane
	p.list.Append(items...)
	if !p.list.Follow() {
		p.fresh++
	}
}

// message appends a finished message.
func (s *script) message(m chat.Message) {
	if m.ID != 0 {
		s.known[m.ID] = true
	}
	s.add(s.items(m)...)
}

// items makes the items of a finished message. It is also how a page of history becomes a list.
func (s *script) items(m chat.Message) []list.Item {
	switch m.Role {
	case chat.RoleUser:
		var out []list.Item
		if s.last == chat.RoleAssistant && !s.spaced { // it steers, right under a call
			out = append(out, &gap{s.base(m.ID)})
		}
		s.last, s.spaced = m.Role, true
		if m.From.IsSummary() {
			m.Parts = nil // they quote what stands above
		}
		s.you = &header{base: s.base(m.ID), name: oneLine(m.From.Words()), at: m.At, user: true}
		s.typed = &prompt{base: s.base(m.ID), body: text.Sanitize(m.Text), pieces: m.Parts}
		return append(out, s.you, s.typed)
	case chat.RoleAssistant:
		return s.assistant(m)
	case chat.RoleTool:
		s.result(m.At, m.Result)
	case chat.RoleSystem:
	}
	return nil
}

func (s *script) assistant(m chat.Message) []list.Item {
	if m.From.IsPerson() {
		s.ran()
		return s.closing(m)
	}
	out := s.opening(m.ID, m.Model, m.At)
	if s.head != nil {
		s.head.usage = s.head.usage.Add(m.Usage)
		if s.head.took = ""; m.Took > 0 && len(m.Calls) == 0 && m.Status != chat.StatusCancelled {
			s.head.took = clock(m.Took)
		}
	}
	if m.Reasoning != "" {
		t := &thought{base: s.base(m.ID), took: m.Thought}
		t.add(m.Reasoning)
		out = append(out, t)
	}
	var doc markdown.Doc
	doc.Seal(m.Text)
	blocks, _ := doc.Blocks()
	for _, b := range blocks {
		out = append(out, &block{base: s.base(m.ID), b: b})
	}
	return append(out, s.closing(m)...)
}

// opening is the name line of a turn's first answer; later ones are only set off.
func (s *script) opening(id int64, model string, at time.Time) []list.Item {
	first, spaced := s.last != chat.RoleAssistant, s.spaced
	s.last, s.spaced = chat.RoleAssistant, true
	switch {
	case !first && spaced:
		return nil
	case !first:
		return []list.Item{&gap{s.base(id)}}
	}
	s.head = &header{base: s.base(id), name: "Hermes", at: at}
	if model = oneLine(model); model != "" {
		s.head.facts = []string{model}
	}
	return []list.Item{s.head}
}

// closing are a message's calls, and how it ended when it did not end well.
func (s *script) closing(m chat.Message) []list.Item {
	var out []list.Item
	for _, tc := range m.Calls {
		if s.calls[tc.ID] != nil {
			continue
		}
		c := newCall(s.pane.env, m.ID, tc, time.Time{})
		c.own(m.From)
		s.calls[tc.ID] = c
		s.spaced = false
		out = append(out, c)
	}
	calls := len(out)
	switch {
	case m.Status == chat.StatusCancelled || m.Finish == chat.FinishInterrupted:
		out = append(out, &note{base: s.base(m.ID), glyph: s.pane.env.s.Glyphs.Stopped, body: "interrupted", level: noteWarn})
	case m.Finish == chat.FinishLength:
		out = append(out, &note{base: s.base(m.ID), glyph: "!", body: "the answer reached the model's length limit", level: noteWarn})
	case m.Finish == chat.FinishContentFilter:
		out = append(out, &note{base: s.base(m.ID), glyph: "!", body: "the provider's filter ended the answer", level: noteWarn})
	}
	s.spaced = s.spaced || len(out) > calls
	return out
}

func (s *script) result(at time.Time, r *chat.ToolResult) {
	if r == nil {
		return
	}
	if c := s.calls[r.CallID]; c != nil && c.result == nil {
		c.end(at, s.unheard(*r))
		delete(s.running, r.CallID)
	}
}

// unheard is r without the warnings that a notice has said already, in full and with what to do.
func (s *script) unheard(r chat.ToolResult) chat.ToolResult {
	r.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool {
		return slices.ContainsFunc(s.heard, func(said string) bool { return strings.Contains(oneLine(w), said) })
	})
	return r
}

// ---- streaming ----

// ran makes one block of the newest prompt and the calls that follow: the person ran them.
func (s *script) ran() {
	s.last, s.spaced, s.head = chat.RoleAssistant, false, nil
	if s.you == nil {
		return
	}
	s.you.name, s.typed.ran = "You ran", true
	s.you.bump()
	s.typed.bump()
}

func (s *script) begin(id int64, model string, from chat.Author, at time.Time) {
	if s.known[id] || s.live != nil && s.live.id == id {
		return
	}
	s.known[id] = true
	s.seal(nil)
	if from.IsPerson() {
		s.ran()
	} else {
		s.add(s.opening(id, model, at)...)
	}
	t := &thought{base: s.base(id), live: true}
	s.add(t)
	s.live = &live{id: id, start: s.pane.list.Len(), thought: t}
}

// textDelta takes what is new of a delta; one that begins before what we have is a repeat.
func (s *script) textDelta(d event.TextDelta) bool {
	l := s.live
	if l == nil || l.id != d.MessageID {
		return false
	}
	if n := l.got - d.Offset; n > 0 {
		d.Text = d.Text[min(n, len(d.Text)):]
	}
	if d.Text == "" {
		return false
	}
	l.got += len(d.Text)
	if l.thought.live {
		l.thought.end()
	}
	l.doc.Append(d.Text)
	l.dirty = true
	return true
}

func (s *script) reasoningDelta(d event.ReasoningDelta) bool {
	l := s.live
	if l == nil || l.id != d.MessageID {
		return false
	}
	if n := l.gotMind - d.Offset; n > 0 {
		d.Text = d.Text[min(n, len(d.Text)):]
	}
	l.gotMind += len(d.Text)
	l.thought.add(d.Text)
	return d.Text != ""
}

// sync brings the list in line with the streaming document. It runs once a frame, not once a delta.
func (s *script) sync() {
	l := s.live
	if l == nil || !l.dirty {
		return
	}
	l.dirty = false
	blocks, stable := l.doc.Blocks()
	same := min(l.stable, stable, len(l.items))
	l.stable = stable
	for same < len(blocks) && same < len(l.items) && l.items[same].(*block).b == blocks[same] {
		same++
	}
	items := make([]list.Item, 0, len(blocks)-same)
	for _, b := range blocks[same:] {
		items = append(items, &block{base: s.base(l.id), b: b})
	}
	p := s.pane
	p.list.Splice(l.start+same, len(l.items)-same, items...)
	if !p.list.Follow() && len(blocks) > len(l.items) {
		p.fresh += len(blocks) - len(l.items)
	}
	l.items = append(l.items[:same], items...)
}

// seal ends the streaming message: m is what was stored, nil keeps what was streamed.
func (s *script) seal(m *chat.Message) {
	l := s.live
	if l == nil {
		return
	}
	final := l.doc.Text()
	if m != nil {
		final = m.Text
	}
	l.doc.Seal(final)
	l.dirty, l.stable = true, 0
	s.sync()
	l.thought.end()
	if m != nil && m.Reasoning != "" && l.thought.body.Len() == 0 {
		l.thought.add(m.Reasoning)
	}
	if m != nil && m.Thought > 0 {
		l.thought.took = m.Thought
	}
	s.live = nil
	if m != nil {
		s.add(s.closing(*m)...)
	}
}

// sealed takes the stored truth of a message that streamed, or of one that was never seen to
// stream.
func (s *script) sealed(m chat.Message) {
	switch {
	case s.live != nil && s.live.id == m.ID:
		s.seal(&m)
	case !s.known[m.ID]:
		s.message(m)
	}
}

// discard takes a streaming message away that a retry replaces.
func (s *script) discard(id int64) bool {
	l := s.live
	if l == nil || l.id != id {
		return false
	}
	s.pane.list.Splice(l.start, len(l.items))
	l.thought.body.Reset()
	l.thought.end()
	delete(s.known, id)
	s.live = nil
	return true
}

// prepend puts older messages before what is there.
func (s *script) prepend(messages []chat.Message) {
	old := script{pane: s.pane, calls: s.calls, running: s.running, known: s.known}
	var items []list.Item
	for _, m := range messages {
		if !s.known[m.ID] {
			s.known[m.ID] = true
			items = append(items, old.items(m)...)
		}
	}
	p := s.pane
	p.list.Prepend(items...)
	if s.live != nil {
		s.live.start += len(items)
	}
	if p.selected >= 0 {
		p.selected += len(items)
	}
	p.hits = slices.Clone(p.hits)
	for i := range p.hits {
		p.hits[i] += len(items)
	}
}

func (s *script) steps(items []event.TodoItem) {
	if s.todo == nil {
		if !s.spaced && s.pane.list.Len() > 0 {
			s.add(&gap{s.base(0)})
		}
		s.todo = &todo{base: s.base(0)}
		s.add(s.todo)
		s.spaced = true
	}
	s.todo.set(items)
}

func (s *script) say(level noteLevel, glyph, body, hint string) {
	s.spaced = true
	s.add(&note{base: s.base(0), level: level, glyph: glyph, body: strings.TrimSpace(text.Sanitize(body)), hint: text.Sanitize(hint)})
}
