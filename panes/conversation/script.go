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
	stopped *note    // says that the turn's answer was interrupted: it learns after how long
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

func (s *script) newBase(msg int64) base { return base{e: s.pane.env, msg: msg} }

func (s *script) anyRunning() bool { return len(s.running) > 0 }

// runningSeconds are those that the clocks of all running calls show.
func (s *script) runningSeconds() (n uint64) {
	for _, c := range s.running {
		n += c.runningSeconds()
	}
	return n
}

// nextSecond is when the first of the running clocks shows another second. Each has begun at a
// moment of its own.
func (s *script) nextSecond(now time.Time) (at time.Time) {
	for _, c := range s.running {
		next := now.Add(time.Second - c.timeTaken()%time.Second)
		if at.IsZero() || next.Before(at) {
			at = next
		}
	}
	return at
}

// addItems appends items and counts them while the view is locked.
func (s *script) addItems(items ...list.Item) {
	p := s.pane
	p.list.Append(items...)
	if !p.list.Follow() {
		p.fresh++
	}
}

// addMessage appends a finished message.
func (s *script) addMessage(m chat.Message) {
	if m.ID != 0 {
		s.known[m.ID] = true
	}
	s.addItems(s.messageItems(m)...)
}

// messageItems makes the items of a finished message. It is also how a page of history becomes a
// list.
func (s *script) messageItems(m chat.Message) []list.Item {
	switch m.Role {
	case chat.RoleUser:
		var out []list.Item
		if s.last != "" && !s.spaced { // it stands right under a call
			out = append(out, &gap{s.newBase(m.ID)})
		}
		s.last, s.spaced = m.Role, true
		if m.From.IsSummary() {
			m.Parts = nil // they quote what stands above
		}
		s.you = &header{base: s.newBase(m.ID), name: oneLine(m.From.Words()), at: m.At, user: true}
		s.typed = &prompt{base: s.newBase(m.ID), body: text.Sanitize(m.Text), pieces: m.Parts}
		return append(out, s.you, s.typed)
	case chat.RoleAssistant:
		return s.assistantItems(m)
	case chat.RoleTool:
		s.takeResult(m.At, m.Result)
	case chat.RoleSystem:
	}
	return nil
}

func (s *script) assistantItems(m chat.Message) []list.Item {
	if m.From.IsPerson() {
		s.joinPersonCalls()
		return s.closingItems(m)
	}
	out := s.openingItems(m.ID, m.Model, m.At)
	if s.head != nil {
		s.head.usage = s.head.usage.Add(m.Usage)
		if s.head.took = ""; m.Took > 0 && len(m.Calls) == 0 && m.Status != chat.StatusCancelled {
			s.head.took = text.Duration(m.Took)
		}
	}
	if m.Reasoning != "" {
		t := &thought{base: s.newBase(m.ID), took: m.Thought}
		t.addText(m.Reasoning)
		out = append(out, t)
	}
	var doc markdown.Doc
	doc.Seal(m.Text)
	blocks, _ := doc.Blocks()
	for _, b := range blocks {
		out = append(out, &block{base: s.newBase(m.ID), b: b})
	}
	return append(out, s.closingItems(m)...)
}

// openingItems is the name line of a turn's first answer; later ones are only set off.
func (s *script) openingItems(id int64, model string, at time.Time) []list.Item {
	first, spaced := s.last != chat.RoleAssistant, s.spaced || s.last == ""
	s.last, s.spaced = chat.RoleAssistant, true
	switch {
	case !first && spaced:
		return nil
	case !first:
		return []list.Item{&gap{s.newBase(id)}}
	}
	s.head = &header{base: s.newBase(id), name: "Hermes", at: at}
	out := []list.Item{s.head}
	if !spaced {
		out = []list.Item{&gap{s.newBase(id)}, s.head}
	}
	if model = oneLine(model); model != "" {
		s.head.facts = []string{model}
	}
	return out
}

// closingItems are a message's calls, and how it ended when it did not end well.
func (s *script) closingItems(m chat.Message) []list.Item {
	var out []list.Item
	for _, tc := range m.Calls {
		if s.calls[tc.ID] != nil {
			continue
		}
		c := newCall(s.pane.env, m.ID, tc, time.Time{})
		c.markPersonal(m.From)
		s.calls[tc.ID] = c
		s.spaced = false
		out = append(out, c)
	}
	calls := len(out)
	switch {
	case m.Status == chat.StatusCancelled || m.Finish == chat.FinishInterrupted:
		s.stopped = &note{base: s.newBase(m.ID), glyph: s.pane.env.s.Glyphs.Stopped, body: "interrupted", level: noteWarn}
		out = append(out, s.stopped)
	case m.Finish == chat.FinishLength:
		out = append(out, &note{base: s.newBase(m.ID), glyph: "!", body: "the answer reached the model's length limit", level: noteWarn})
	case m.Finish == chat.FinishContentFilter:
		out = append(out, &note{base: s.newBase(m.ID), glyph: "!", body: "the provider's filter ended the answer", level: noteWarn})
	}
	s.spaced = s.spaced || len(out) > calls
	return out
}

func (s *script) takeResult(at time.Time, r *chat.ToolResult) {
	if r == nil {
		return
	}
	if c := s.calls[r.CallID]; c != nil && c.result == nil {
		c.noteEnd(at, s.withoutHeard(*r))
		delete(s.running, r.CallID)
	}
}

// withoutHeard is r without the warnings that a notice has said already, in full and with what to
// do.
func (s *script) withoutHeard(r chat.ToolResult) chat.ToolResult {
	r.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool {
		return slices.ContainsFunc(s.heard, func(said string) bool { return strings.Contains(oneLine(w), said) })
	})
	return r
}

// ---- streaming ----

// joinPersonCalls makes one block of the newest prompt and the calls that follow: the person ran
// them.
func (s *script) joinPersonCalls() {
	s.last, s.spaced, s.head = chat.RoleAssistant, false, nil
	if s.you == nil {
		return
	}
	s.you.name, s.typed.ran = "You ran", true
	s.you.bumpVersion()
	s.typed.bumpVersion()
}

func (s *script) beginMessage(id int64, model string, from chat.Author, at time.Time) {
	if s.known[id] || s.live != nil && s.live.id == id {
		return
	}
	s.known[id] = true
	s.sealStreaming(nil)
	if from.IsPerson() {
		s.joinPersonCalls()
	} else {
		s.addItems(s.openingItems(id, model, at)...)
	}
	t := &thought{base: s.newBase(id), live: true}
	s.addItems(t)
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
		l.thought.endThought()
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
	l.thought.addText(d.Text)
	return d.Text != ""
}

// syncStreaming brings the list in line with the streaming document. It runs once a frame, not once
// a delta.
func (s *script) syncStreaming() {
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
		items = append(items, &block{base: s.newBase(l.id), b: b})
	}
	p := s.pane
	p.list.Splice(l.start+same, len(l.items)-same, items...)
	if !p.list.Follow() && len(blocks) > len(l.items) {
		p.fresh += len(blocks) - len(l.items)
	}
	l.items = append(l.items[:same], items...)
}

// sealStreaming ends the streaming message: m is what was stored, nil keeps what was streamed.
func (s *script) sealStreaming(m *chat.Message) {
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
	s.syncStreaming()
	l.thought.endThought()
	if m != nil && m.Reasoning != "" && l.thought.body.Len() == 0 {
		l.thought.addText(m.Reasoning)
	}
	if m != nil && m.Thought > 0 {
		l.thought.took = m.Thought
	}
	s.live = nil
	if m != nil {
		s.addItems(s.closingItems(*m)...)
	}
}

// takeSealed takes the stored truth of a message that streamed, or of one that was never seen to
// stream.
func (s *script) takeSealed(m chat.Message) {
	switch {
	case s.live != nil && s.live.id == m.ID:
		s.sealStreaming(&m)
	case !s.known[m.ID]:
		s.addMessage(m)
	}
}

// discardStreaming takes a streaming message away that a retry replaces.
func (s *script) discardStreaming(id int64) bool {
	l := s.live
	if l == nil || l.id != id {
		return s.removeReplaced(id)
	}
	s.pane.list.Splice(l.start, len(l.items))
	l.thought.body.Reset()
	l.thought.endThought()
	delete(s.known, id)
	s.live = nil
	return true
}

// removeReplaced takes away what a message said whose place another has taken already: it stood
// until that one had begun.
func (s *script) removeReplaced(id int64) bool {
	p, gone := s.pane, false
	for i := p.list.Len() - 1; i >= 0; i-- {
		it := p.itemAt(i)
		switch it.(type) {
		case *block, *thought:
		default:
			continue
		}
		if it.messageID() != id {
			continue
		}
		gone = true
		p.list.Splice(i, 1)
		if s.live != nil && i < s.live.start {
			s.live.start--
		}
		if i < p.selected {
			p.selected--
		}
	}
	return gone
}

// prependMessages puts older messages before what is there.
func (s *script) prependMessages(messages []chat.Message) {
	old := script{pane: s.pane, calls: s.calls, running: s.running, known: s.known}
	var items []list.Item
	for _, m := range messages {
		if !s.known[m.ID] {
			s.known[m.ID] = true
			items = append(items, old.messageItems(m)...)
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

func (s *script) showSteps(items []event.TodoItem) {
	if s.todo == nil {
		if !s.spaced && s.pane.list.Len() > 0 {
			s.addItems(&gap{s.newBase(0)})
		}
		s.todo = &todo{base: s.newBase(0)}
		s.addItems(s.todo)
		s.spaced = true
	}
	s.todo.setSteps(items)
}

// noteInterrupted says once that the turn was interrupted, after how long, and what to do next.
func (s *script) noteInterrupted(took, hint string) {
	body := "interrupted after " + took
	if s.stopped == nil {
		s.addNote(noteWarn, s.pane.env.s.Glyphs.Stopped, body, hint)
		return
	}
	s.stopped.body, s.stopped.hint = body, text.Sanitize(hint)
	s.stopped.bumpVersion()
}

func (s *script) addNote(level noteLevel, glyph, body, hint string) {
	s.spaced = true
	s.addItems(&note{base: s.newBase(0), level: level, glyph: glyph, body: strings.TrimSpace(text.Sanitize(body)), hint: text.Sanitize(hint)})
}
