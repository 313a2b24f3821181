package conversation

import (
	"strings"
	"testing"

	"hermes/core/event"
)

// What is remembered, forgotten or refused is said in the conversation, also when a call of the
// agent did it.
func TestMemoryIsSaid(t *testing.T) {
	for _, c := range []struct {
		ev   event.MemoryChanged
		want string
	}{
		{event.MemoryChanged{Target: "memory", Action: "write", By: "agent", Added: []string{"x"}, Used: 33, Limit: 2200}, "remembered in MEMORY.md; 33/2200 characters"},
		{event.MemoryChanged{Target: "user", Action: "write", By: "person", Added: []string{"likes tea"}, Limit: 1375}, "remembered in USER.md: likes tea; 0/1375"},
		{event.MemoryChanged{Target: "memory", Action: "write", By: "agent", Removed: []string{"old\x1b[2J"}}, "forgotten: old; 0/0 characters"},
		{event.MemoryChanged{Target: "memory", Action: "undo", By: "person", Removed: []string{"x"}}, "the last change of MEMORY.md is taken back"},
		{event.MemoryChanged{Target: "memory", Action: "refused", By: "agent", Reason: "refused: gives orders"}, "not remembered: refused: gives orders"},
		{event.MemoryChanged{Target: "memory", Action: "disk"}, ""},
	} {
		for _, tell := range []func(p *Pane, e event.Event){
			func(p *Pane, e event.Event) { say(p, e) }, func(p *Pane, e event.Event) { inside(p, "call", e) },
		} {
			p := open(t, &world{})
			before := p.View()
			tell(p, c.ev)
			got := seen(p)
			if c.want == "" && p.View() != before || !strings.Contains(got, c.want) {
				t.Errorf("%+v: want %q in\n%s", c.ev, c.want, got)
			}
			if c.ev.Action == "write" && !strings.Contains(got, "/memory undo takes it back") {
				t.Errorf("%+v: no way back:\n%s", c.ev, got)
			}
		}
	}
}

// Other tools than the session's are told, with the way to take them; a name is a server's word.
func TestOtherToolsAreTold(t *testing.T) {
	p := open(t, &world{})
	say(p, event.ToolsChanged{Added: []string{"srv_new\x1b[2J"}, Removed: []string{"srv_old"}})
	if got := seen(p); !strings.Contains(got, "1 new (srv_new); 1 gone (srv_old)") || !strings.Contains(got, "/tools reload") {
		t.Error(got)
	}
	p = open(t, &world{})
	say(p, event.ToolsChanged{})
	if got := seen(p); !strings.Contains(got, "the same as when the session began") || strings.Contains(got, "/tools reload") {
		t.Error(got)
	}
}
