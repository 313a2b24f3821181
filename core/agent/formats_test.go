package agent

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
	"hermes/core/tool"
)

const mused = "I must look at it first."

// mine is what only the server of a format may see again of an answer that thought mused.
var mine = map[string]string{
	openai.Kind:    `"reasoning_content":"` + mused,
	anthropic.Kind: modeltest.Signature(mused),
	responses.Kind: modeltest.Encrypted(mused),
}

// looks is an answer with everything in it: reasoning, a text, two calls at once.
var looks = modeltest.Turn{
	Reasoning: mused, Text: "I look.", Usage: &modeltest.Usage{Input: 120, Output: 7, Cached: 4, Reasoning: 3},
	Calls: []modeltest.Call{{ID: "call_a", Name: "shot", Args: `{"v":"1"}`}, {ID: "call_b", Name: "shot", Args: `{"v":"2"}`}},
}

// sighted is a rig with a tool that gives images, over models that see.
func sighted(t *testing.T, kinds []string, scripts ...[]modeltest.Turn) (r *rig, servers []*modeltest.Server, fresh func()) {
	t.Helper()
	shot := newTool("shot", nil, func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Result{Text: "taken " + argument(c, "v"), Parts: []chat.Part{
			{Kind: chat.PartImage, Name: "s.png", Media: "image/png", Data: aPNG(t, 20, 10, 7)},
		}}, nil
	})
	s := provider.Settings{NoDetect: true, Kinds: wireKinds, Default: kinds[0] + "/test-model", Providers: map[string]provider.Endpoint{}}
	for i, kind := range kinds {
		srv := modeltest.New(t, scripts[i]...)
		servers = append(servers, srv)
		s.Providers[kind] = provider.Endpoint{
			BaseURL: srv.URL, Kind: kind, Key: "key-of-" + kind, Models: []string{"test-model"},
			Limits: map[string]provider.Limit{"test-model": {Window: 100_000, Images: true}},
		}
		if i > 0 {
			s.Fallbacks = append(s.Fallbacks, kind+"/test-model")
		}
	}
	r = rigWith(t, []tool.Tool{shot})
	r.deps.Settings = func(string) Settings {
		return Settings{MaxTurns: 8, Toolsets: []string{"terminal"}, Effort: "high"}
	}
	fresh = func() {
		set := provider.NewSet(s)
		t.Cleanup(set.Close)
		r.deps.Models = set
		r.agent = New(r.deps)
	}
	fresh()
	return r, servers, fresh
}

func (r *rig) pictured(n int, text string) {
	r.t.Helper()
	picture := chat.Part{Kind: chat.PartImage, Name: "p.png", Media: "image/png", Data: aPNG(r.t, 30, 10, 9)}
	if err := r.agent.Submit(context.Background(), r.uid, Input{From: chat.Person(), Text: text, Parts: []chat.Part{picture}}); err != nil {
		r.t.Fatal(err)
	}
	if end := r.ended(n); end.Reason != event.TurnDone {
		r.t.Fatalf("%+v", end)
	}
	r.idle()
}

// plain is a stored conversation without what may differ: moments, numbers of rows, what a server
// keeps with it.
func (r *rig) plain() []chat.Message {
	h := r.history()
	for i, m := range h {
		h[i] = chat.Message{
			Role: m.Role, From: m.From, Status: m.Status, Text: m.Text, Reasoning: m.Reasoning, Calls: m.Calls, Finish: m.Finish,
			Usage: m.Usage, Parts: m.Parts, Model: m.Model,
		}
		if m.Result != nil {
			res := *m.Result
			res.Took = 0
			h[i].Result = &res
		}
	}
	return h
}

// The same conversation is the same in the store, whatever the format was.
func TestTheSameConversationInEveryFormat(t *testing.T) {
	var first []chat.Message
	again := looks
	again.Calls = []modeltest.Call{{ID: "call_c", Name: "shot", Args: `{"v":"3"}`}, {ID: "call_d", Name: "shot", Args: `{"v":"4"}`}}
	for _, kind := range []string{openai.Kind, anthropic.Kind, responses.Kind} {
		r, servers, _ := sighted(t, []string{kind}, []modeltest.Turn{looks, again, {Text: "So it is."}, {Text: "And so."}})
		r.pictured(1, "look")
		r.pictured(2, "and?")
		got := r.plain()
		if first == nil {
			first = got
		}
		if len(got) != 10 || len(first) != 10 {
			t.Fatalf("%s: %d messages", kind, len(got))
		}
		for i := range got {
			if !reflect.DeepEqual(first[i], got[i]) {
				t.Errorf("%s:\n%+v\nnot\n%+v", kind, got[i], first[i])
			}
		}
		within := servers[0].Requests()[1].Body
		if !bytes.Contains(within, []byte(mine[kind])) {
			t.Errorf("%s does not get its own reasoning back within the turn", kind)
		}
	}
}

// A turn that goes on in another format, in every direction: the other server gets the conversation
// with its images and calls, and nothing of what the first one thought. So it is with a model that
// a person chooses between two turns, and on the way back.
func TestSwitchingInEveryDirection(t *testing.T) {
	kinds := []string{openai.Kind, anthropic.Kind, responses.Kind}
	for _, from := range kinds {
		for _, to := range kinds {
			if from == to {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				r, servers, fresh := sighted(t, []string{from, to},
					[]modeltest.Turn{looks, {Status: 404}, {Text: "I am back."}},
					[]modeltest.Turn{looks, {Text: "So it is."}, {Text: "Still so."}})
				r.pictured(1, "look")
				if err := r.agent.SetModel(context.Background(), r.uid, to+"/test-model"); err != nil {
					t.Fatal(err)
				}
				r.pictured(2, "again")
				if err := r.agent.SetModel(context.Background(), r.uid, from+"/test-model"); err != nil {
					t.Fatal(err)
				}
				fresh() // else the first model rests still
				r.pictured(3, "and back")
				for i, srv := range servers {
					own, all := []string{from, to}[i], srv.Requests()
					if len(all) != 3 {
						t.Fatalf("%s got %d requests", own, len(all))
					}
					for n, q := range all {
						for kind, secret := range mine {
							if kind != own && bytes.Contains(q.Body, []byte(secret)) {
								t.Errorf("request %d to %s has the reasoning of %s", n+1, own, kind)
							}
						}
					}
				}
				went := servers[1].Requests()
				if n := bytes.Count(went[0].Body, []byte("image/png")); n != 3 {
					t.Errorf("%d images went on", n)
				}
				if !bytes.Contains(went[0].Body, []byte("taken 2")) || !bytes.Contains(went[1].Body, []byte(mine[to])) {
					t.Error("a result was lost, or the second server does not get its own reasoning")
				}
				var said []string
				for _, m := range r.history() {
					if m.Role == chat.RoleAssistant {
						said = append(said, m.Text)
					}
				}
				if !slices.Equal(said, []string{"I look.", "I look.", "So it is.", "Still so.", "I am back."}) {
					t.Errorf("%q", said)
				}
				if runs := len(each[event.ToolEnded](r.sink)); runs != 4 {
					t.Errorf("%d calls ran", runs)
				}
			})
		}
	}
}
