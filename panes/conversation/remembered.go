package conversation

import (
	"strings"

	"hermes/core/event"
	"hermes/ui/text"
)

// remembered says in a line what became of memory, and how to take it back. What was refused a notice has said.
func (p *Pane) remembered(ev event.MemoryChanged) bool {
	var said string
	short := func(list []string) string { return text.Truncate(oneLine(strings.Join(list, "; ")), 120, "…") }
	switch {
	case ev.Action == "undo":
		said = "memory is as it was before the last change"
	case ev.Action != "write":
		return false
	case len(ev.Added) == 0:
		said = "forgotten: " + short(ev.Removed)
	case len(ev.Removed) == 0:
		said = "remembered: " + short(ev.Added)
	default:
		said = "remembered: " + short(ev.Added) + " (instead of: " + short(ev.Removed) + ")"
	}
	hint := ""
	if ev.Action == "write" && ev.By == "agent" {
		hint = "/memory undo takes it back"
	}
	p.script.say(noteInfo, p.env.s.Glyphs.Done, said, hint)
	return true
}
