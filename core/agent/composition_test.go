package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/store"
	"hermes/core/tool"
)

// Over 50 turns nothing of what was sent changes: system prompt and tools are byte for byte the
// same, and each request begins with the messages of the one before it.
func TestPromptBytesAreEqualOver50Turns(t *testing.T) {
	r := newRig(t)
	for range 50 {
		r.submit("go on", "")
		r.idle()
	}
	all := r.model.seen()
	if len(all) != 50 {
		t.Fatalf("%d requests", len(all))
	}
	sent := func(q provider.Request) (head, messages []byte) {
		head, err := json.Marshal([]any{q.System, q.Tools})
		if err != nil {
			t.Fatal(err)
		}
		if messages, err = json.Marshal(q.Messages); err != nil {
			t.Fatal(err)
		}
		return head, bytes.TrimSuffix(messages, []byte("]"))
	}
	head, before := sent(all[0])
	for i, q := range all[1:] {
		now, messages := sent(q)
		if !bytes.Equal(now, head) || !bytes.HasPrefix(messages, before) {
			t.Fatalf("turn %d sends other bytes than the one before it", i+2)
		}
		before = messages
	}
}

// The composition names what fills the next call, and what a call used is written down for its
// turn.
func TestComposition(t *testing.T) {
	big := newTool("big", nil, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "word word word word", Parts: []chat.Part{{Kind: chat.PartImage, Name: "x.png", Data: aPNG(t, 750, 100, 1)}}}, nil
	})
	r := rigWith(t, []tool.Tool{big}, callsTools(fakeCall{"big", `{}`}))
	if m, err := r.agent.Composition(context.Background(), r.uid); err != nil || m.Tokens != 0 {
		t.Errorf("before anything was said: %+v, %v", m, err)
	}
	r.submit("look", "")
	r.idle()
	m, err := r.agent.Composition(context.Background(), r.uid)
	if err != nil {
		t.Fatal(err)
	}
	got, sum := map[string]int{}, 0
	for _, s := range m.Shares {
		got[s.Name], sum = s.Tokens, sum+s.Tokens
	}
	if got["images"] != 101 || got["definitions"] == 0 || got["results"] == 0 || got["calls"] == 0 || got["messages"] == 0 || sum != m.Tokens || m.Window != 1000 {
		t.Errorf("%+v", m)
	}
	rows, err := r.svc.UsageBy(context.Background(), store.UsageTurn, store.UsageFilter{Session: r.uid})
	if err != nil || len(rows) != 1 || rows[0].Name != "look" {
		t.Errorf("%+v, %v", rows, err)
	}
	r.sink.until(func(all []event.Envelope) bool { return len(all) > 0 })
}
