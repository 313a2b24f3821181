package output

import (
	"strings"

	"hermes/core/chat"
	"hermes/core/event"
)

// inside folds what happens inside of a call, the calls of a script, into that call: one line for each as it begins, what it prints,
// and why it failed if it did. They are no calls of their own here: a script makes fifty, and each would take the pane over.
func (p *Pane) inside(up *call, env event.Envelope) bool {
	switch e := env.Event.(type) {
	case event.ToolStarted:
		up.note(p.arrow() + " " + oneLine(e.Call.Name) + "  " + oneLine(e.Gist))
	case event.ToolOutput:
		up.buf.write(e.Data)
	case event.ToolEnded:
		if line := failure(e.Result); line != "" {
			up.note("  " + line)
		}
	case event.ApprovalAsked:
		up.waits = e.ID
	case event.ApprovalSettled:
		up.waits = ""
	default:
		return false
	}
	return up == p.current()
}

func (p *Pane) arrow() string {
	if p.styles == nil {
		return ">"
	}
	return p.styles.Glyphs.Closed
}

// failure is one line about a call that failed, or nothing.
func failure(r chat.ToolResult) string {
	if !r.IsError {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(r.Text), "\n")
	return "failed: " + oneLine(first)
}
