package output

import (
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
)

// What a script calls is shown inside of the script, which keeps the pane.
func TestCallsOfAScriptStandInIt(t *testing.T) {
	p := opened(t, nil)
	p.Resize(60, 14)
	p.all(here, event.ToolStarted{Call: chat.ToolCall{ID: "c1", Name: "execute_code"}, Gist: "count (9 lines)"})
	in := here
	in.Parent = "c1"
	p.all(in, event.ToolStarted{Call: chat.ToolCall{ID: "c1.1", Name: "read_file"}, Gist: "a\x1b[31m.txt"},
		event.ToolEnded{Result: chat.ToolResult{CallID: "c1.1", Name: "read_file", Text: "long text"}},
		event.ToolStarted{Call: chat.ToolCall{ID: "c1.2", Name: "terminal"}, Gist: "make"}, printed("c1.2", 0, "built\n"),
		event.ApprovalAsked{ID: "a1", Call: chat.ToolCall{ID: "c1.3"}})
	if got := p.Title().Right; !strings.Contains(got, "waits for you") {
		t.Errorf("the title says %q", got)
	}
	p.all(in, event.ApprovalSettled{ID: "a1", CallID: "c1.3"},
		event.ToolEnded{Result: chat.ToolResult{CallID: "c1.3", Name: "patch", Text: "Denied by the person.\nmore", IsError: true}})
	p.all(here, printed("c1", 0, "total 3\n"))
	got := p.View()
	for _, want := range []string{"read_file  a.txt", "terminal  make", "built", "failed: Denied by the person.", "total 3"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "long text") || !strings.Contains(p.Title().Text, "count (9 lines)") || len(p.calls) != 1 {
		t.Errorf("%d calls, %q\n%s", len(p.calls), p.Title().Text, got)
	}
}
