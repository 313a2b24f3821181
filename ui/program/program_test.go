package program

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
	"hermes/ui/cli"
)

// line is an event as --output jsonl writes it.
type line struct {
	Seq  uint64 `json:"seq"`
	Type string `json:"type"`
	Data struct {
		Text    string       `json:"text"`
		Message chat.Message `json:"message"`
	} `json:"data"`
}

// events reads the lines of --output jsonl.
func events(t *testing.T, out string) []line {
	t.Helper()
	var all []line
	in := bufio.NewScanner(strings.NewReader(out))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%v in %q", err, in.Text())
		}
		all = append(all, l)
	}
	return all
}

func TestEventsOfATurnAreOneOrderedStream(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t,
		modeltest.Turn{Reasoning: "hm", Text: "I look.", Calls: []modeltest.Call{
			{Name: "terminal", Args: `{"command": "echo one"}`}, {Name: "terminal", Args: `{"command": "echo two"}`},
		}},
		modeltest.Turn{Text: "Both ran."})
	r := h.run("run", "--yes", "--output", "jsonl", "go")
	if r.code != cli.ExitOK {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	var seq uint64
	count := map[string]int{}
	text := ""
	for _, l := range events(t, r.out) {
		if l.Seq <= seq {
			t.Errorf("%s has number %d behind %d", l.Type, l.Seq, seq)
		}
		seq = l.Seq
		count[l.Type]++
		text += l.Data.Text
	}
	for kind, want := range map[string]int{"TurnStarted": 1, "MessageStarted": 2, "MessageSealed": 2, "ToolStarted": 2, "ToolEnded": 2, "TurnEnded": 1} {
		if count[kind] != want {
			t.Errorf("%d events %s, want %d: %v", count[kind], kind, want, count)
		}
	}
	if !strings.Contains(text, "I look.") || !strings.Contains(text, "Both ran.") {
		t.Errorf("the deltas are %q", text)
	}
}

func TestAnInterruptEndsWithItsOwnCodeAndKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	h, server := homeWith(t, modeltest.Turn{Text: "The first words and the rest.", After: 3, Hold: never})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_ = server.WaitRequests(ctx, 1)
		cancel()
	}()
	if r := h.runCtx(ctx, "run", "go"); r.code != cli.ExitInterrupted {
		t.Errorf("code %d: %s", r.code, r.err)
	}
	svc, _ := h.sessions()
	info, err := svc.Resolve(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, err := svc.Messages(t.Context(), info.UID, session.Page{})
	if err != nil || len(msgs) == 0 || msgs[0].Text != "go" {
		t.Fatalf("%d messages: %v", len(msgs), err)
	}
	for _, m := range msgs[1:] {
		if m.Status != chat.StatusCancelled {
			t.Errorf("message %d is %s, not marked as stopped", m.ID, m.Status)
		}
	}
}
