package learn

import (
	"strings"
	"testing"
)

// A trace goes from memory over skills and tools to what was learned.
func TestTraceLines(t *testing.T) {
	one := 1
	got := TraceLines(Experience{
		Turn: "t1", Task: "deploy it", Recalled: []string{"host"}, Outcome: Bad, Tainted: "a page",
		Skills:  []Loaded{{Name: "ship", Version: 3, By: "model", Hash: strings.Repeat("a", 64)}, {Name: "old", By: "person"}},
		Calls:   []Step{{Tool: "memory_recall", Args: `{"query":"host"}`}, {Tool: "terminal", Ran: strings.Repeat("ü", 200), Exit: &one}, {Tool: "patch", Failed: true}},
		Signals: []Signal{{Says: Bad, Why: "exit code 1"}},
	}, []Proposal{{ID: "p1", Kind: "edit", Skill: "ship", State: StateOpen}})
	var kinds []string
	text := ""
	for _, l := range got {
		kinds = append(kinds, l.What)
		text += l.Text + "\n"
	}
	if s := strings.Join(kinds, " "); s != "turn asked memory skill skill memory tool tool read signal outcome learned" {
		t.Error(s)
	}
	for _, want := range []string{
		"host (unasked)\n", "ship v3, chosen by the model, text aaaaaaaaaaaa\n", "old, chosen by the person",
		"1. memory_recall {\"query\":\"host\"} -> ok\n", strings.Repeat("ü", 100) + "… -> exit code 1\n", "3. patch  -> failed\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
