package learn

import (
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
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

// A turn that nothing judged says why, as "unknown" alone explains nothing.
func TestATraceSaysWhyAnOutcomeIsUnknown(t *testing.T) {
	lines := TraceLines(Experience{Turn: "t1", Outcome: Unknown}, nil)
	if last := lines[len(lines)-1]; last.What != "outcome" || !strings.Contains(last.Text, "no exit code, no test and no word of yours") {
		t.Errorf("%+v", last)
	}
}

// A turn that did nothing is traced while the program runs; of another one nothing is said, and no
// older turn stands for it.
func TestTracesOfAnIdleTurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, settings(Propose))
	d.o.Wait = true
	d.turn(1, "make it work", "make test", 0, event.TurnEnded{})
	h := event.Header{Session: "s", Turn: "idle", At: d.now.Add(time.Second)}
	for _, e := range []event.Event{said(11, chat.RoleUser, "what is it?"), sealed(12, "It is that."), event.TurnEnded{Reason: event.TurnDone}} {
		d.takeEvent(t.Context(), event.Envelope{Header: h, Event: e})
	}
	list, at, err := d.Traces(Turn{Session: "s", Message: 12})
	if err != nil || len(list) != 2 || list[at].Turn != "idle" {
		t.Errorf("%+v %d %v", list, at, err)
	}
	if _, _, err := d.Traces(Turn{Session: "s", Message: 15}); err == nil {
		t.Error("an older turn stands for one of which nothing is kept")
	}
}
