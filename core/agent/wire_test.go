package agent

import (
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
)

// wired is a rig whose model is a real HTTP server behind the real client.
func wired(t *testing.T, turns ...modeltest.Turn) (*rig, *modeltest.Server) {
	srv := modeltest.New(t, turns...)
	r := newRig(t)
	r.deps.Models = provider.NewSet(provider.Settings{
		Default: "lab/test-model", NoDetect: true, Kinds: map[string]provider.Maker{openai.Kind: openai.Make},
		Providers: map[string]provider.Endpoint{"lab": {BaseURL: srv.URL, Key: "k", Models: []string{"test-model"}}},
	})
	r.agent = New(r.deps)
	return r, srv
}

func TestOverTheWire(t *testing.T) {
	call := []modeltest.Call{{Name: "echo", Args: `{"v":"a"}`}, {Name: "echo", Args: `{"v":"b"}`}}
	tests := []struct {
		name  string
		turns []modeltest.Turn
		end   event.TurnReason
		shape string // of the history, joined by " | "
	}{
		{
			"text, reasoning, parallel tools",
			[]modeltest.Turn{{Text: "Look:", Reasoning: "hm", Calls: call}, {Text: "It is."}},
			event.TurnDone, "user:hi | assistant:Look:+2 | tool:echo a | tool:echo b | assistant:It is.",
		},
		{
			"cut in the middle of the text",
			[]modeltest.Turn{{Text: strings.Repeat("half ", 20), Fault: modeltest.FaultCutRST, After: 3}, {Text: "whole"}},
			event.TurnDone, "user:hi | assistant:whole",
		},
		{
			"cut in a call after a tool ran",
			[]modeltest.Turn{{Calls: call[:1]}, {Calls: call, Fault: modeltest.FaultCutFIN, After: 2}, {Text: "ok"}},
			event.TurnDone, "user:hi | assistant:+1 | tool:echo a | assistant:ok",
		},
		{"429", []modeltest.Turn{{Status: 429, RetryAfter: "1"}, {Text: "ok"}}, event.TurnDone, "user:hi | assistant:ok"},
		{"500", []modeltest.Turn{{Status: 500}, {Text: "ok"}}, event.TurnDone, "user:hi | assistant:ok"},
		{"401", []modeltest.Turn{{Status: 401}}, event.TurnFailed, "user:hi"},
		{"content filter", []modeltest.Turn{{Text: "no", Finish: "content_filter"}}, event.TurnFailed, ""},
		{"repeated ids", []modeltest.Turn{{Calls: call[:1]}, {Calls: call[1:]}, {Text: "ok"}}, event.TurnDone, "user:hi | assistant:+1 | tool:echo a | assistant:+1 | tool:echo b | assistant:ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, srv := wired(t, tt.turns...)
			r.submit("hi", "")
			end := r.ended(1)
			r.idle()
			if end.Reason != tt.end || end.Reason == event.TurnFailed && (end.Err == "" || !advised(end)) {
				t.Fatalf("end %+v", end)
			}
			if got := strings.Join(shape(r.history()), " | "); tt.shape != "" && got != tt.shape {
				t.Fatalf("history %s", got)
			}
			if srv.Remaining() != 0 {
				t.Fatalf("%d scripted answers were not asked for", srv.Remaining())
			}
			if tt.end == event.TurnDone && end.Usage.Input == 0 {
				t.Fatal("no usage was counted")
			}
		})
	}
}

func TestBrokenArgumentsOverTheWire(t *testing.T) {
	bad := modeltest.Turn{Calls: []modeltest.Call{{Name: "echo", Args: `{"v": "a`}}}
	r, srv := wired(t, bad, modeltest.Turn{Text: "sorry"}, modeltest.Turn{Text: "sorry"}, modeltest.Turn{Text: "sorry"})
	r.submit("hi", "")
	end := r.ended(1)
	r.idle()
	h := r.history()
	if end.Reason != event.TurnDone || h[len(h)-1].Text != "sorry" {
		t.Fatalf("%+v, %q", end, shape(h))
	}
	if len(h) == 4 && !strings.Contains(h[2].Result.Text, "not valid JSON") {
		t.Fatalf("%q", shape(h))
	}
	if len(srv.Requests()) < 2 {
		t.Fatal("the model was not told")
	}
}

func TestStallOverTheWireIsInterrupted(t *testing.T) {
	r, _ := wired(t, modeltest.Turn{Text: strings.Repeat("x", 100), Fault: modeltest.FaultStall, After: 2})
	r.submit("hi", "")
	first[event.TextDelta](r.sink)
	r.agent.Interrupt(r.uid)
	if end := r.ended(1); end.Reason != event.TurnInterrupted {
		t.Fatalf("end %+v", end)
	}
	r.idle()
	if h := shape(r.history()); len(h) != 2 || !strings.HasSuffix(h[1], "!cancelled") {
		t.Fatalf("%q", h)
	}
}
