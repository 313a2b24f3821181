package conversation

import (
	"fmt"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/text"
)

// applyEvent folds one event and reports whether the picture changed. Events of other sessions are
// somebody else's.
func (p *Pane) applyEvent(e event.Envelope) bool {
	if _, ok := e.Event.(event.Resync); ok {
		p.reload = true
		return false
	}
	if _, ok := e.Event.(event.ConfigReloaded); ok {
		p.applyDisplay()
		return true
	}
	if p.session == "" || e.Session != p.session {
		return false
	}
	if p.loading {
		p.held = append(p.held, e)
		return false
	}
	return p.foldEvent(e)
}

func (p *Pane) foldEvent(e event.Envelope) bool {
	if e.Parent != "" {
		return p.foldInside(e)
	}
	s := &p.script
	switch ev := e.Event.(type) {
	case event.TextDelta:
		return s.textDelta(ev)
	case event.ReasoningDelta:
		return s.reasoningDelta(ev)
	case event.MessageStarted:
		s.beginMessage(ev.MessageID, ev.Model, ev.From, e.At)
	case event.MessageSealed:
		s.takeSealed(ev.Message)
	case event.MessageDiscarded:
		return s.discardStreaming(ev.MessageID)
	case event.MessageAdded:
		if !s.known[ev.Message.ID] || ev.Message.ID == 0 {
			s.addMessage(ev.Message)
		}
	case event.ToolStarted, event.ToolOutput, event.ToolFinished, event.ToolEnded:
		return p.foldTool(e)
	case event.SessionOpened:
		p.title = oneLine(ev.Info.Title)
	case event.SessionChanged:
		p.title = oneLine(ev.Info.Title)
	default:
		return p.foldTurn(e)
	}
	return true
}

func (p *Pane) foldTool(e event.Envelope) bool {
	s := &p.script
	switch ev := e.Event.(type) {
	case event.ToolStarted:
		c := s.calls[ev.Call.ID]
		if c == nil {
			c = newCall(p.env, 0, ev.Call, e.At)
			s.calls[c.id] = c
			s.addItems(c)
			s.spaced = false
		}
		c.noteStart(e.At, ev)
		s.running[c.id] = c
	case event.ToolOutput:
		c := s.running[ev.CallID]
		if c == nil {
			return false
		}
		c.addOutput(ev.Data)
	case event.ToolFinished:
		c := s.running[ev.CallID]
		if c == nil {
			return false
		}
		c.over = &ev
		c.bumpVersion()
		delete(s.running, ev.CallID)
	case event.ToolEnded:
		s.takeResult(e.At, &ev.Result)
	}
	return true
}

// foldInside shows what happens inside of a call under that call: the calls it makes. What it says
// is its own affair.
func (p *Pane) foldInside(e event.Envelope) bool {
	s := &p.script
	switch ev := e.Event.(type) {
	case event.ToolStarted:
		parent := s.calls[e.Parent]
		if parent == nil || s.calls[ev.Call.ID] != nil {
			return p.foldTool(e)
		}
		c := newCall(p.env, parent.msg, ev.Call, e.At)
		c.up, parent.inside = parent, append(parent.inside, c)
		s.calls[c.id] = c
		return p.foldTool(e)
	case event.ToolOutput, event.ToolEnded:
		return p.foldTool(e)
	case event.MemoryChanged: // what lasts concerns the person, whoever calls
		return p.showMemoryChange(ev)
	case event.TodoChanged: // the session has one list, whoever changes it
		return p.foldTurn(e)
	default:
		return p.foldAsk(e)
	}
}

func (p *Pane) foldTurn(e event.Envelope) bool {
	s := &p.script
	switch ev := e.Event.(type) {
	case event.TurnStarted:
		p.running, p.began, s.todo, s.heard, s.stopped = true, e.At, nil, nil, nil
	case event.TurnEnded:
		p.turnEnded(ev)
	case event.TurnPhase:
		p.running = p.running && ev.Kind != event.PhaseOver
	case event.QueueChanged:
		p.queue.setItems(ev.Items)
	case event.TodoChanged:
		s.showSteps(ev.Items)
	case event.MemoryChanged:
		return p.showMemoryChange(ev)
	case event.ToolsChanged:
		hint := "/tools reload takes them"
		if ev.Empty() {
			hint = ""
		}
		s.addNote(noteInfo, "", "tools since this session began: "+oneLine(ev.Words()), hint)
	case event.Compressed:
		by := ""
		if ev.By != "" {
			by = " by the plugin " + oneLine(ev.By)
		}
		s.addNote(noteDim, "", fmt.Sprintf("older messages were summed up%s: %d tokens became %d", by, ev.Before, ev.After), "")
	case event.HookRan:
		return p.showHookRun(ev)
	case event.ProcessEnded:
		s.addNote(noteDim, "", fmt.Sprintf("%s ended with exit code %d after %s: %s", oneLine(ev.ID), ev.ExitCode, text.Duration(ev.Took), oneLine(ev.Command)), "")
	case event.Notice:
		level := map[event.Level]noteLevel{event.Info: noteInfo, event.Warn: noteWarn, event.Error: noteBad}[ev.Level]
		if said := oneLine(ev.Text); said != "" {
			s.heard = append(s.heard, said)
		}
		s.addNote(level, "!", ev.Text, ui.HintWords(ev.Hint, ev.Do))
	case event.ModelMoved:
		s.addNote(noteInfo, "!", ui.MovedWords(ev), "")
	case event.HistoryChanged:
		p.reload = true
	default:
		return p.foldAsk(e)
	}
	return true
}

// showHookRun says what a hook did, when it did something.
func (p *Pane) showHookRun(ev event.HookRan) bool {
	words := oneLine(ev.Words())
	switch {
	case words == "":
		return false
	case ev.Outcome == event.HookFailed:
		p.script.addNote(noteWarn, "!", words, "")
	default:
		p.script.addNote(noteDim, "", words, "")
	}
	return true
}

// foldAsk handles what waits for the person.
func (p *Pane) foldAsk(e event.Envelope) bool {
	switch ev := e.Event.(type) {
	case event.ApprovalAsked:
		p.asks = append(removeMatching(p.asks,
			func(a event.ApprovalAsked) bool { return a.ID == ev.ID }), ev)
		p.unseen = true
		p.markWaiting(ev.Call.ID, true)
	case event.ApprovalSettled:
		p.asks = removeMatching(p.asks, func(a event.ApprovalAsked) bool { return a.ID == ev.ID })
		p.markWaiting(ev.CallID, false)
		if c := p.script.calls[ev.CallID]; c != nil {
			c.started = e.At // what it takes is counted without the wait
		}
		if ev.Decision == event.DecisionDeny {
			p.markDenied(ev)
		}
	case event.QuestionAsked:
		p.question = append(removeMatching(p.question, func(q event.QuestionAsked) bool { return q.ID == ev.ID }), ev)
		p.unseen = true
		p.markWaiting(ev.CallID, true)
	case event.QuestionAnswered:
		for _, q := range p.question {
			if q.ID == ev.ID {
				p.markWaiting(q.CallID, false)
			}
		}
		p.question = removeMatching(p.question, func(q event.QuestionAsked) bool { return q.ID == ev.ID })
	default:
		return false
	}
	return true
}

func removeMatching[T any](list []T, gone func(T) bool) []T {
	var out []T
	for _, x := range list {
		if !gone(x) {
			out = append(out, x)
		}
	}
	return out
}

func (p *Pane) markWaiting(callID string, on bool) {
	if c := p.script.calls[callID]; c != nil {
		c.setWaiting(on)
	}
}

// markDenied marks the call. Nobody needs to be told what they did themselves; what somebody else
// decided they do.
func (p *Pane) markDenied(ev event.ApprovalSettled) {
	c := p.script.calls[ev.CallID]
	if c != nil {
		c.setDenied()
	}
	why := map[event.Decider]string{event.ByUser: "", event.ByInterrupt: "", event.ByTimeout: "nobody answered in time, so it was denied"}
	text, known := why[ev.By]
	if !known {
		text = "denied by the " + oneLine(string(ev.By))
	}
	if text == "" && c == nil {
		text = "denied"
	}
	if text != "" {
		p.script.addNote(noteWarn, "!", text, "")
	}
}

// turnEnded closes what the turn left open. What it took stands in its name line; how it ended is
// said when it did not end well.
func (p *Pane) turnEnded(ev event.TurnEnded) {
	s := &p.script
	s.sealStreaming(nil)
	for id, c := range s.running {
		c.noteEnd(p.deps.Now(), chat.ToolResult{CallID: id, Interrupted: true})
	}
	clear(s.running)
	p.running, p.asks, p.question, s.last = false, nil, nil, chat.RoleUser
	if p.list.Len() > maxItems && p.list.Follow() && !p.browsing && p.query == "" { // nobody reads what goes
		p.reload = true
	}
	if s.head != nil {
		s.head.noteTurnEnd(ev)
		s.head = nil
	}
	took, hint := text.Duration(ev.Took), ui.HintWords(ev.Hint, ev.Do)
	g := p.env.s.Glyphs
	switch ev.Reason {
	case event.TurnDone:
	case event.TurnInterrupted:
		s.noteInterrupted(took, hint)
	case event.TurnBudget:
		s.addNote(noteWarn, "!", "stopped at the limit of steps after "+took, hint)
	case event.TurnFailed:
		s.addNote(noteBad, g.Fail, ev.Err, hint)
	}
}
