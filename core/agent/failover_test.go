package agent

import (
	"context"
	"slices"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
	"hermes/core/session"
)

var wireKinds = map[string]provider.Maker{openai.Kind: openai.Make, anthropic.Kind: anthropic.Make, responses.Kind: responses.Make}

// chain is a rig over real servers, a wire format each: the first is the model, the others are its
// fallbacks.
func chain(t *testing.T, kinds []string, scripts ...[]modeltest.Turn) (*rig, []*modeltest.Server) {
	t.Helper()
	s := provider.Settings{NoDetect: true, Kinds: wireKinds, Providers: map[string]provider.Endpoint{}}
	var servers []*modeltest.Server
	for i, turns := range scripts {
		srv := modeltest.New(t, turns...)
		name := []string{"lab", "backup", "third"}[i]
		s.Providers[name] = provider.Endpoint{
			BaseURL: srv.URL, Kind: kinds[i%len(kinds)], Key: name + "-key-1", KeyFrom: strings.ToUpper(name) + "_KEY", Models: []string{"test-model"},
		}
		if servers = append(servers, srv); i == 0 {
			s.Default = name + "/test-model"
		} else {
			s.Fallbacks = append(s.Fallbacks, name+"/test-model")
		}
	}
	r := newRig(t)
	set := provider.NewSet(s)
	t.Cleanup(set.Close)
	r.deps.Models = set
	r.agent = New(r.deps)
	return r, servers
}

func attempts(t *testing.T, r *rig) (out []string) {
	t.Helper()
	all, err := r.svc.Attempts(context.Background(), r.uid)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		out = append(out, a.Provider+" "+a.ErrorClass)
	}
	return out
}

// A turn goes on at the fallback where it stands: a call that ran is not run again, what it said is
// sent on, and every attempt is stored. The next turn begins at the fallback while the model rests.
func TestATurnGoesOnAtTheFallback(t *testing.T) {
	call := []modeltest.Call{{Name: "echo", Args: `{"v":"a"}`}}
	r, servers := chain(t, []string{openai.Kind, anthropic.Kind},
		[]modeltest.Turn{{Text: "Look:", Calls: call}, {Status: 404}},
		[]modeltest.Turn{{Text: "It is a."}, {Text: "Still here."}})
	r.submit("hi", "")
	if end := r.ended(1); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
	r.idle()
	wantShape(t, r, "user:hi", "assistant:Look:+1", "tool:echo a", "assistant:It is a.")
	if got, want := attempts(t, r), []string{"lab ", "lab model_not_found", "backup "}; !slices.Equal(got, want) {
		t.Fatalf("attempts %q", got)
	}
	moved := each[event.ModelMoved](r.sink)
	if len(moved) != 1 || moved[0].From != "lab/test-model" || moved[0].To != "backup/test-model" || moved[0].Cause.HTTP != 404 || !moved[0].Rested.IsZero() {
		t.Fatalf("%+v", moved)
	}
	if len(each[event.ToolStarted](r.sink)) != 1 || !strings.Contains(string(servers[1].Requests()[0].Body), "echo a") {
		t.Fatal("the call was run again, or its result was not sent on")
	}
	info, err := r.svc.Get(context.Background(), r.uid)
	if err != nil || info.Provider != "lab" {
		t.Fatalf("the session's model is its own: %+v %v", info, err)
	}

	r.submit("again", "")
	if end := r.ended(2); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
	r.idle()
	if moved := each[event.ModelMoved](r.sink); len(moved) != 2 || moved[1].Rested.IsZero() {
		t.Fatalf("%+v", moved)
	}
	if len(servers[0].Requests()) != 2 {
		t.Fatal("a model that rests was asked")
	}
	if info, err = r.svc.Get(context.Background(), r.uid); err != nil || info.Provider != "lab" {
		t.Fatalf("the session's model is its own: %+v %v", info, err)
	}
}

func TestAnotherKeyIsTaken(t *testing.T) {
	r, servers := chain(t, []string{openai.Kind}, []modeltest.Turn{{Status: 401}, {Text: "ok"}})
	set := provider.NewSet(provider.Settings{
		NoDetect: true, Kinds: wireKinds, Default: "lab/test-model", Providers: map[string]provider.Endpoint{"lab": {
			BaseURL: servers[0].URL, Kind: openai.Kind, Key: "key-of-one", KeyFrom: "LAB_KEY", Models: []string{"test-model"},
			Keys: []provider.Credential{{Key: "key-of-two", From: "LAB_KEY_2"}},
		}},
	})
	t.Cleanup(set.Close)
	r.deps.Models = set
	r.agent = New(r.deps)
	r.submit("hi", "")
	if end := r.ended(1); end.Reason != event.TurnDone {
		t.Fatalf("%+v", end)
	}
	r.idle()
	moved := each[event.ModelMoved](r.sink)
	if len(moved) != 1 || moved[0].FromKey != "LAB_KEY" || moved[0].Key != 2 || moved[0].Keys != 2 {
		t.Fatalf("%+v", moved)
	}
	var keys []string
	for _, q := range servers[0].Requests() {
		keys = append(keys, q.Header.Get("Authorization"))
	}
	if !slices.Equal(keys, []string{"Bearer key-of-one", "Bearer key-of-two"}) {
		t.Fatal(keys)
	}
}

// When nobody answers, the longest of what came stays, the error names everybody who was asked.
func TestNobodyAnswers(t *testing.T) {
	long := strings.Repeat("half ", 40)
	cut := modeltest.Turn{Text: long, Fault: modeltest.FaultCutFIN, After: 12}
	less := modeltest.Turn{Text: long, Fault: modeltest.FaultCutFIN, After: 3}
	r, _ := chain(t, []string{openai.Kind, responses.Kind}, []modeltest.Turn{less, cut, less, less}, []modeltest.Turn{less, {Status: 401}})
	r.submit("hi", "")
	end := r.ended(1)
	r.idle()
	if end.Reason != event.TurnFailed || !strings.Contains(end.Err, "backup") || !strings.Contains(end.Err, "before that lab/test-model: network") {
		t.Fatalf("%+v", end)
	}
	h := r.history()
	if len(h) != 2 || h[1].Status != chat.StatusError || len(h[1].Text) < 80 || !strings.HasPrefix(long, h[1].Text) {
		t.Fatalf("%q", shape(h))
	}
	want := []string{"lab network", "lab network", "lab network", "lab network", "backup network", "backup auth"}
	if got := attempts(t, r); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
}

// Until another call brought as much, what came stays in the store: a crash in the wait loses
// nothing.
func TestAPartialAnswerStaysWhileItIsTriedAgain(t *testing.T) {
	hold := make(chan struct{})
	text := strings.Repeat("half ", 20)
	r, srv := wired(t, modeltest.Turn{Text: text, Fault: modeltest.FaultCutFIN, After: 5}, modeltest.Turn{Text: text, Hold: hold, After: 2})
	r.submit("hi", "")
	if err := srv.WaitRequests(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	msgs, _, err := r.svc.Messages(t.Context(), r.uid, session.Page{})
	if err != nil || len(msgs) < 2 || msgs[1].Status != chat.StatusPartial || len(each[event.MessageDiscarded](r.sink)) > 0 {
		t.Fatalf("%q %v", shape(msgs), err)
	}
	close(hold)
	r.ended(1)
	r.idle()
	wantShape(t, r, "user:hi", "assistant:"+text)
}

// Whoever does not want to wait ends the wait; the call is asked for at once.
func TestAWaitCanBeEnded(t *testing.T) {
	r, srv := wired(t, modeltest.Turn{Status: 429, RetryAfter: "50"}, modeltest.Turn{Text: "ok"})
	r.submit("hi", "")
	r.sink.until(func(all []event.Envelope) bool {
		return slices.ContainsFunc(all, func(e event.Envelope) bool {
			p, ok := e.Event.(event.TurnPhase)
			return ok && p.Kind == event.PhaseRetrying && p.Model == "test-model"
		})
	})
	for !r.agent.Hurry(r.uid) { // the phase is told just before the wait begins
		if srv.Remaining() == 0 {
			break
		}
	}
	if end := r.ended(1); end.Reason != event.TurnDone || end.Took.Seconds() > 20 {
		t.Fatalf("%+v", end)
	}
	if r.idle(); r.agent.Hurry(r.uid) || r.agent.Hurry("nobody") {
		t.Fatal("nothing waits")
	}
}
