package output

import (
	"strings"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/text"
)

// foldNestedCall folds what happens inside of a call, the calls of a script, into that call: one
// line for each as it begins, what it prints, and why it failed if it did. They are no calls of
// their own here: a script makes fifty, and each would take the pane over.
func (p *Pane) foldNestedCall(up *call, env event.Envelope) bool {
	switch e := env.Event.(type) {
	case event.ToolStarted:
		up.addNote(p.callArrow() + " " + text.Inline(e.Call.Name) + "  " + text.Inline(e.Gist))
	case event.ToolOutput:
		up.buf.writeRaw(e.Data)
	case event.ToolEnded:
		if line := failureLine(e.Result); line != "" {
			up.addNote("  " + line)
		}
	case event.ApprovalAsked:
		up.waits = e.ID
	case event.ApprovalSettled:
		up.waits = ""
	default:
		return false
	}
	return up == p.currentCall()
}

func (p *Pane) callArrow() string {
	if p.styles == nil {
		return ">"
	}
	return p.styles.Glyphs.Closed
}

// failureLine is one line about a call that failed, or nothing.
func failureLine(r chat.ToolResult) string {
	if !r.IsError {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(r.Text), "\n")
	return "failed: " + text.Inline(first)
}
