package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/tool"
)

func TestConversation(t *testing.T) {
	r := newRig(t,
		chunks(provider.Chunk{Kind: provider.ChunkReasoning, Text: "hm"}, textChunk("Let me "), textChunk("look."),
			provider.Chunk{Kind: provider.ChunkToolStart, Index: 0, CallID: "x", Name: "echo"},
			provider.Chunk{Kind: provider.ChunkToolStart, Index: 1, CallID: "x", Name: "echo"},
			provider.Chunk{Kind: provider.ChunkToolArgs, Index: 1, Text: `{"v":"b"}`},
			provider.Chunk{Kind: provider.ChunkToolArgs, Index: 0, Text: `{"v":"a"}`},
			endChunk(chat.FinishToolCalls)),
		says("It is so."))
	r.submit("hello", "")
	end := r.ended(1)
	r.idle()
	wantShape(t, r, "user:hello", "assistant:Let me look.+2", "tool:echo a", "tool:echo b", "assistant:It is so.")
	if end.Reason != event.TurnDone || end.Steps != 2 || end.Usage.Input != 20 || !end.Usage.CostKnown || end.Usage.Cost != 40 {
		t.Fatalf("end %+v", end)
	}
	h := r.history()
	if h[1].Reasoning != "hm" || h[1].Calls[0].ID == h[1].Calls[1].ID || h[2].Result.CallID != h[1].Calls[0].ID {
		t.Fatalf("calls and results do not belong together: %+v", h)
	}
	reqs := r.model.seen()
	if reqs[0].System != "You are in /proj" || reqs[1].System != reqs[0].System || len(reqs[1].Messages) != 4 || len(reqs[0].Tools) != 3 {
		t.Fatalf("requests %+v", reqs)
	}
	ticks := each[event.UsageTick](r.sink)
	if last := ticks[len(ticks)-1]; last.Total.Input != 20 || last.Context != 15 || last.Window != 1000 {
		t.Fatalf("ticks %+v", ticks)
	}
}

func TestSystemPromptIsFrozen(t *testing.T) {
	r := newRig(t)
	builds := 0
	r.deps.Prompt = func(context.Context, event.SessionInfo, []provider.ToolSpec) (string, error) {
		builds++
		return strings.Repeat("x", builds), nil
	}
	r.agent = New(r.deps)
	for i := range 3 {
		r.submit("hello", "")
		r.ended(i + 1)
		r.idle()
	}
	for _, q := range r.model.seen() {
		if q.System != "x" {
			t.Fatalf("the prompt changed to %q", q.System)
		}
	}
}

func TestFailuresOfTheModel(t *testing.T) {
	tests := []struct {
		name   string
		script []reply
		shape  []string
		reason event.TurnReason
		phase  string
	}{
		{"429 passes", []reply{fails("", provider.ClassRateLimit, 429), says("ok")}, []string{"user:hi", "assistant:ok"}, event.TurnDone, "429 rate limit"},
		{
			"500 in the middle is replaced",
			[]reply{fails("half", provider.ClassServer, 500), fails("", provider.ClassServer, 500), says("whole")},
			[]string{"user:hi", "assistant:whole"},
			event.TurnDone, "500 server error",
		},
		{"cut without an end", []reply{chunks(textChunk("half")), says("whole")}, []string{"user:hi", "assistant:whole"}, event.TurnDone, "malformed stream"},
		{
			"it does not pass",
			[]reply{fails("a", provider.ClassServer, 500), fails("b", provider.ClassServer, 500), fails("c", provider.ClassServer, 500), fails("the rest", provider.ClassServer, 500)},
			[]string{"user:hi", "assistant:the rest!error"},
			event.TurnFailed, "500 server error",
		},
		{"wrong key", []reply{fails("", provider.ClassAuth, 401)}, []string{"user:hi"}, event.TurnFailed, ""},
		{"empty once", []reply{chunks(endChunk(chat.FinishStop)), says("ok")}, []string{"user:hi", "assistant:ok"}, event.TurnDone, ""},
		{"empty twice", []reply{chunks(endChunk(chat.FinishStop)), chunks(endChunk(chat.FinishStop))}, []string{"user:hi"}, event.TurnFailed, ""},
		{"only thought", []reply{chunks(provider.Chunk{Kind: provider.ChunkReasoning, Text: "hm"}, endChunk(chat.FinishStop)), says("ok")}, []string{"user:hi", "assistant:ok"}, event.TurnDone, ""},
		{"cut by its length", []reply{chunks(textChunk("long"), endChunk(chat.FinishLength))}, []string{"user:hi", "assistant:long"}, event.TurnFailed, ""},
		{
			"cut in the arguments of a call after a tool ran",
			[]reply{
				callsTools(fakeCall{"echo", `{"v":"1"}`}),
				func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
					_ = yield(provider.Chunk{Kind: provider.ChunkToolStart, Name: "echo", CallID: "z"}, nil) &&
						yield(provider.Chunk{Kind: provider.ChunkToolArgs, Text: `{"v":`}, nil) &&
						yield(provider.Chunk{}, &provider.Error{Class: provider.ClassNetwork, Message: "reset"})
				},
				says("ok"),
			},
			[]string{"user:hi", "assistant:+1", "tool:echo 1", "assistant:ok"},
			event.TurnDone, "network",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, tt.script...)
				r.submit("hi", "")
				end := r.ended(1)
				r.idle()
				wantShape(t, r, tt.shape...)
				if end.Reason != tt.reason || (end.Reason == event.TurnFailed) != (end.Err != "") || (end.Err != "") != advised(end) {
					t.Fatalf("end %+v", end)
				}
				said := slices.ContainsFunc(each[event.TurnPhase](r.sink), func(p event.TurnPhase) bool {
					return p.Kind == event.PhaseRetrying && strings.Contains(p.Cause.String(), tt.phase)
				})
				if tt.phase != "" && !said {
					t.Fatalf("no phase says %q: %+v", tt.phase, each[event.TurnPhase](r.sink))
				}
				synctest.Wait()
			})
		})
	}
}

func TestBadCallsAreToldToTheModel(t *testing.T) {
	tests := []struct{ name, tool, args, says string }{
		{"not JSON", "echo", `{"v": "a`, "not valid JSON"},
		{"wrong argument", "echo", `{"w":"a"}`, "w"},
		{"no such tool", "ecko", `{}`, "echo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, callsTools(fakeCall{tt.tool, tt.args}), says("sorry"))
			r.submit("hi", "")
			if end := r.ended(1); end.Reason != event.TurnDone {
				t.Fatalf("end %+v", end)
			}
			h := r.history()
			if res := h[2].Result; res == nil || !res.IsError || !strings.Contains(res.Text, tt.says) {
				t.Fatalf("result %+v", h[2])
			}
			if !strings.Contains(h[2].Result.Text, tt.says) || len(each[event.ApprovalAsked](r.sink)) > 0 {
				t.Fatal("a call that cannot run must not be asked about")
			}
		})
	}
}

func TestBudget(t *testing.T) {
	r := newRig(t)
	n := 0
	r.model.always = func(ctx context.Context, q provider.Request, yield func(provider.Chunk, error) bool) {
		if len(q.Tools) == 0 {
			says("So far.")(ctx, q, yield)
			return
		}
		n++
		callsTools(fakeCall{"echo", `{"v":"` + strings.Repeat("x", n) + `"}`})(ctx, q, yield)
	}
	r.submit("go", "")
	end := r.ended(1)
	r.idle()
	h := r.history()
	if end.Reason != event.TurnBudget || end.Steps != 9 || h[len(h)-1].Text != "So far." || !advised(end) {
		t.Fatalf("%+v, last %+v", end, h[len(h)-1])
	}
	reqs := r.model.seen()
	last := reqs[len(reqs)-1].Messages
	if m := last[len(last)-1]; m.Role != chat.RoleUser || !strings.Contains(m.Text, "all 8 steps") {
		t.Fatalf("the model was not told: %+v", m)
	}
}

func TestTheSameCallAgainAndAgain(t *testing.T) {
	r := newRig(t)
	r.model.always = callsTools(fakeCall{"echo", `{"v":"same"}`})
	r.submit("go", "")
	end := r.ended(1)
	if end.Reason != event.TurnFailed || end.Steps != 5 || !strings.Contains(end.Err, "echo was called 5 times") {
		t.Fatalf("end %+v", end)
	}
	var notices []bool
	for _, m := range r.history() {
		if m.Result != nil {
			notices = append(notices, strings.Contains(m.Result.Text, "[Notice"))
		}
	}
	if !slices.Equal(notices, []bool{false, false, true, true, true}) {
		t.Fatalf("notices %v", notices)
	}
}

func TestApprovals(t *testing.T) {
	r := newRig(t, callsTools(fakeCall{"change", `{"v":"1"}`}), callsTools(fakeCall{"change", `{"v":"2"}`}), says("ok"))
	r.submit("go", "")
	for i, d := range []event.Decision{event.DecisionOnce, event.DecisionDeny} {
		r.sink.until(func([]event.Envelope) bool { return len(r.gate.Pending(r.uid)) == 1 })
		q := r.gate.Pending(r.uid)[0]
		if err := r.agent.Answer(q.ID, d); err != nil {
			t.Fatal(i, err)
		}
		r.sink.until(func(all []event.Envelope) bool {
			return slices.ContainsFunc(all, func(e event.Envelope) bool {
				s, ok := e.Event.(event.ApprovalSettled)
				return ok && s.ID == q.ID
			})
		})
	}
	if end := r.ended(1); end.Reason != event.TurnDone {
		t.Fatalf("end %+v", end)
	}
	h := r.history()
	if h[2].Result.Text != "echo 1" || !h[4].Result.IsError || !strings.Contains(h[4].Result.Text, "Denied by the person") {
		t.Fatalf("%q", shape(h))
	}
}

func TestThreeDenialsPauseTheTurn(t *testing.T) {
	c := func(v string) fakeCall { return fakeCall{"change", `{"v":"` + v + `"}`} }
	r := newRig(t, callsTools(c("1")), callsTools(c("2"), c("3"), c("4")))
	r.submit("go", "")
	for n := 1; n <= 3; n++ {
		r.sink.until(func(all []event.Envelope) bool {
			asked := 0
			for _, e := range all {
				if _, ok := e.Event.(event.ApprovalAsked); ok {
					asked++
				}
			}
			return asked == n
		})
		if err := r.agent.Answer(r.gate.Pending(r.uid)[0].ID, event.DecisionDeny); err != nil {
			t.Fatal(err)
		}
	}
	end := r.ended(1)
	if end.Reason != event.TurnInterrupted || !strings.Contains(end.Err, "denied") || !advised(end) {
		t.Fatalf("end %+v", end)
	}
	r.idle()
	if h := shape(r.history()); len(h) != 7 || !strings.Contains(h[6], "not run") {
		t.Fatalf("%q", h)
	}
	if m := r.history()[2]; m.Result == nil || !m.Result.Denied {
		t.Errorf("it is not kept that the call was denied: %+v", m)
	}
}

func TestParallelCallsKeepTheirOrder(t *testing.T) {
	release := make(chan struct{})
	started := make(chan string, 16)
	slow := func(_ context.Context, c tool.Call) (tool.Result, error) {
		started <- argument(c, "v")
		if argument(c, "v") == "a" {
			<-release
		} else if argument(c, "v") == "c" {
			close(release) // a ends only because c runs beside it
		}
		return tool.Result{Text: argument(c, "v")}, nil
	}
	r := rigWith(t, []tool.Tool{newTool("slow", nil, slow)},
		callsTools(fakeCall{"slow", `{"v":"a"}`}, fakeCall{"slow", `{"v":"b"}`}, fakeCall{"slow", `{"v":"c"}`}), says("ok"))
	r.submit("go", "")
	r.ended(1)
	wantShape(t, r, "user:go", "assistant:+3", "tool:a", "tool:b", "tool:c", "assistant:ok")
}

func TestModelOfASession(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	if err := r.agent.SetModel(ctx, r.uid, "none"); err == nil {
		t.Fatal("an unknown model was taken")
	}
	if err := r.agent.SetModel(ctx, r.uid, "fake/m2"); err != nil {
		t.Fatal(err)
	}
	again := New(r.deps)
	if ref, err := again.Model(ctx, r.uid); err != nil || ref != "fake/m2" {
		t.Fatalf("after a restart: %q, %v", ref, err)
	}
	r.submit("hi", "")
	r.ended(1)
	if q := r.model.seen(); q[0].Model != "m2" {
		t.Fatalf("asked %q", q[0].Model)
	}
}

func TestUndoAndRetry(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, says("one"), says("two"))
	if err := r.agent.Retry(ctx, r.uid); err == nil {
		t.Fatal("retried nothing")
	}
	r.submit("hi", "")
	r.ended(1)
	r.idle()
	if err := r.agent.Retry(ctx, r.uid); err != nil {
		t.Fatal(err)
	}
	r.ended(2)
	r.idle()
	wantShape(t, r, "user:hi", "assistant:two")
	if text, err := r.agent.Undo(ctx, r.uid, 1); err != nil || text.Text != "hi" || len(r.history()) != 0 {
		t.Fatalf("%q, %v, %q", text.Text, err, shape(r.history()))
	}
}

func TestQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		got := make(chan string, 1)
		go func() {
			a, err := r.agent.AskQuestion(context.Background(), Question{Session: r.uid, Text: "which?", Choices: []string{"a"}})
			got <- a + errText(err)
		}()
		q := first[event.QuestionAsked](r.sink)
		if open := r.agent.Questions(r.uid); len(open) != 1 || open[0].ID != q.ID || len(r.agent.Questions("another")) > 0 {
			t.Fatalf("open: %+v", open)
		}
		if err := r.agent.AnswerQuestion(q.ID, "b"); err != nil || <-got != "b" {
			t.Fatal(err)
		}
		if r.agent.AnswerQuestion(q.ID, "c") == nil || len(r.agent.Questions(r.uid)) > 0 {
			t.Fatal("answered twice")
		}
		start := time.Now()
		_, err := r.agent.AskQuestion(context.Background(), Question{Session: r.uid, Text: "which?"})
		if err == nil || time.Since(start) != defaultQuestion {
			t.Fatalf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := r.agent.AskQuestion(ctx, Question{Session: r.uid}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
}

func errText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// The session tells which model answers it, before its prompt is built and after a change of the
// default.
func TestTheSessionNotesItsModel(t *testing.T) {
	r := newRig(t)
	r.deps.Prompt = func(_ context.Context, s event.SessionInfo, _ []provider.ToolSpec) (string, error) {
		return "You are " + s.Provider + " " + s.Model, nil
	}
	r.agent = New(r.deps)
	t.Cleanup(func() { _ = r.agent.Close(context.Background()) })
	r.submit("go", "")
	r.idle()
	info, err := r.svc.Get(context.Background(), r.uid)
	if err != nil || info.Provider != "fake" || info.Model != "m1" {
		t.Errorf("%+v, %v", info, err)
	}
	if system := r.model.seen()[0].System; system != "You are fake m1" {
		t.Errorf("the prompt is %q", system)
	}
}
