package conversation

import (
	"fmt"
	"strings"

	"hermes/core/event"
	"hermes/ui/text"
)

// showMemoryChange says in a line what became of memory, and how to take it back. The call of the
// agent's tool shows what is new.
func (p *Pane) showMemoryChange(ev event.MemoryChanged) bool {
	file := map[string]string{"memory": "MEMORY.md", "user": "USER.md", "recall": "long-term memory"}[ev.Target]
	short := func(list []string) string { return text.Truncate(oneLine(strings.Join(list, "; ")), 120, "…") }
	var said []string
	switch {
	case ev.Action == event.MemoryRefused:
		p.script.addNote(noteWarn, "!", "not remembered: "+oneLine(ev.Reason), "nothing was written to "+file+"; what the agent has read may have told it to")
		return true
	case ev.Action == event.MemoryUndone:
		said = append(said, "the last change of "+file+" is taken back")
	case ev.Action != event.MemoryWritten:
		return false
	case len(ev.Added) > 0 && ev.By == event.MemoryByAgent:
		said = append(said, "remembered in "+file)
	case len(ev.Added) > 0:
		said = append(said, "remembered in "+file+": "+short(ev.Added))
	}
	if len(ev.Removed) > 0 && ev.Action == event.MemoryWritten {
		said = append(said, "forgotten: "+short(ev.Removed))
	}
	hint := ""
	switch ev.Target {
	case "recall":
		hint = "hermes memory facts shows all of it, forget takes it out"
	default:
		said = append(said, fmt.Sprintf("%d/%d characters", ev.Used, ev.Limit))
		if ev.Action == event.MemoryWritten {
			hint = "/memory undo takes it back"
		}
	}
	p.script.addNote(noteInfo, p.env.s.Glyphs.Done, strings.Join(said, "; "), hint)
	return true
}
