package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/testwait"
	"hermes/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is one scripted answer of a model.
type reply func(ctx context.Context, r provider.Request, yield func(provider.Chunk, error) bool)

// fakeModel answers with its script in order; after it with "Done.".
type fakeModel struct {
	mu       sync.Mutex
	script   []reply
	always   reply
	requests []provider.Request
	listed   []provider.Model // what its server tells
	lists    int              // how often it was asked
}

func (f *fakeModel) Name() string { return "fake" }

func (f *fakeModel) Models(context.Context) ([]provider.Model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists++
	return f.listed, nil
}

func (f *fakeModel) Resolve(_ context.Context, ref string) (provider.Provider, provider.Model, error) {
	if ref == "none" {
		return nil, provider.Model{}, errors.New("no model is called none")
	}
	if ref == "" {
		ref = "fake/m1"
	}
	window := 1000
	if ref == "fake/unknown" {
		window = 0
	}
	return f, provider.Model{ID: filepath.Base(ref), Provider: "fake", Window: window, PriceIn: 1, PriceOut: 2, Priced: true, Images: ref == "fake/eyes", Files: ref == "fake/reads"}, nil
}

func (f *fakeModel) Route(ctx context.Context, ref string, tries int) (*provider.Route, error) {
	p, m, err := f.Resolve(ctx, ref)
	return provider.Direct(p, m, tries), err
}

func (f *fakeModel) Aside(ctx context.Context, refs []string, own string, tries int) (*provider.Route, error) {
	for _, ref := range append(slices.Clone(refs), own) {
		if r, err := f.Route(ctx, ref, tries); err == nil {
			return r, nil
		}
	}
	return nil, errors.New("none of them is there")
}

func (f *fakeModel) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	f.mu.Lock()
	answer := f.always
	if len(f.script) > 0 {
		answer, f.script = f.script[0], f.script[1:]
	} else if answer == nil {
		answer = says("Done.")
	}
	f.requests = append(f.requests, r)
	f.mu.Unlock()
	return func(yield func(provider.Chunk, error) bool) { answer(ctx, r, yield) }
}

func (f *fakeModel) seen() []provider.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// chunks yields what a model would, and stops when nobody listens.
func chunks(cs ...provider.Chunk) reply {
	return func(_ context.Context, _ provider.Request, yield func(provider.Chunk, error) bool) {
		for _, c := range cs {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func textChunk(s string) provider.Chunk { return provider.Chunk{Kind: provider.ChunkText, Text: s} }

func endChunk(f chat.Finish) provider.Chunk {
	return provider.Chunk{Kind: provider.ChunkEnd, Finish: f, Usage: chat.Usage{Input: 10, Output: 5}}
}

func says(s string) reply { return chunks(textChunk(s), endChunk(chat.FinishStop)) }

type fakeCall struct{ name, args string }

// callsTools is an answer that calls tools; ids repeat over answers, as they do with some servers.
func callsTools(calls ...fakeCall) reply {
	var cs []provider.Chunk
	for i, c := range calls {
		cs = append(cs, provider.Chunk{Kind: provider.ChunkToolStart, Index: i, CallID: fmt.Sprintf("call_%d", i), Name: c.name},
			provider.Chunk{Kind: provider.ChunkToolArgs, Index: i, Text: c.args})
	}
	return chunks(append(cs, endChunk(chat.FinishToolCalls))...)
}

// fails yields some text, then an error.
func fails(text string, class provider.Class, http int) reply {
	return func(_ context.Context, _ provider.Request, yield func(provider.Chunk, error) bool) {
		if text != "" && !yield(textChunk(text), nil) {
			return
		}
		yield(provider.Chunk{}, &provider.Error{Class: class, Provider: "fake", HTTP: http, Message: "scripted", Hint: "a hint"})
	}
}

// hangs yields some text, then waits for the interrupt; a deaf one does not hear it.
func hangs(text string, deaf <-chan struct{}) reply {
	return func(ctx context.Context, _ provider.Request, yield func(provider.Chunk, error) bool) {
		if text != "" && !yield(textChunk(text), nil) {
			return
		}
		if deaf != nil {
			<-deaf
			return
		}
		<-ctx.Done()
		yield(provider.Chunk{}, &provider.Error{Class: provider.ClassCancelled, Provider: "fake", Err: ctx.Err()})
	}
}

// fakeTool runs a function.
type fakeTool struct {
	spec tool.Spec
	run  func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fakeTool) Spec() tool.Spec { return f.spec }
func (f fakeTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	return f.run(ctx, c)
}

const anyObject = `{"type":"object","properties":{"v":{"type":"string"},"path":{"type":"string"},"command":{"type":"string"}},"additionalProperties":false}`

func newTool(name string, change func(*tool.Spec), run func(ctx context.Context, c tool.Call) (tool.Result, error)) tool.Tool {
	s := tool.Spec{Name: name, Toolset: "terminal", Description: name, Schema: json.RawMessage(anyObject), Intent: reads}
	if change != nil {
		change(&s)
	}
	return fakeTool{s, run}
}

func reads(json.RawMessage) intent.Intent { return intent.Intent{Reads: true} }

// acts is the intent of a tool that changes something, asks that of its Spec.
func acts(json.RawMessage) intent.Intent { return intent.Intent{Effects: intent.UnknownAction()} }

func asks(s *tool.Spec) { s.Intent = acts }

// commands is for tools that run a command in the session's back end.
func commands(s *tool.Spec) {
	s.Intent = tool.Arg(func(a struct{ Command string }) intent.Intent {
		return intent.Intent{Gist: a.Command, Shell: &intent.Shell{Command: a.Command}, InBackend: true}
	})
}

func argument(c tool.Call, key string) string {
	var m map[string]string
	_ = json.Unmarshal(c.Args, &m)
	return m[key]
}

// standardTools are what most tests call.
func standardTools() []tool.Tool {
	echo := func(_ context.Context, c tool.Call) (tool.Result, error) {
		c.Output(event.Stdout, []byte("live "+argument(c, "v")))
		return tool.Result{Text: "echo " + argument(c, "v")}, nil
	}
	wait := func(ctx context.Context, c tool.Call) (tool.Result, error) {
		c.Output(event.Stdout, []byte("waiting"))
		<-ctx.Done()
		return tool.Result{Text: "partial"}, ctx.Err()
	}
	return []tool.Tool{newTool("echo", nil, echo), newTool("wait", nil, wait), newTool("change", asks, echo)}
}

// rig is an agent over the real store, with a scripted model.
type rig struct {
	t     testing.TB
	model *fakeModel
	bus   *event.Bus
	svc   *session.Service
	gate  *approval.Gate
	agent *Agent
	uid   string
	sink  *sink
	deps  Deps
}

func newRig(t testing.TB, script ...reply) *rig { return rigWith(t, standardTools(), script...) }

func rigWith(t testing.TB, tools []tool.Tool, script ...reply) *rig {
	t.Helper()
	st, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "workbench.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reg, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, model: &fakeModel{script: script}, bus: event.NewBus(), gate: approval.New(approval.Policy{}, nil)}
	r.sink = listen(t, r.bus)
	r.svc = session.New(st, r.bus)
	r.deps = Deps{
		Bus: r.bus, Sessions: r.svc, Models: r.model, Tools: reg, Gate: r.gate,
		Prompt: func(_ context.Context, s event.SessionInfo, _ []provider.ToolSpec) (string, error) {
			return "You are in " + s.Cwd, nil
		},
		Settings: func(string) Settings { return Settings{MaxTurns: 8, Toolsets: []string{"terminal"}} },
	}
	r.agent = New(r.deps)
	r.uid = r.newSession()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := r.agent.Close(ctx); err != nil {
			t.Error(err)
		}
		r.sink.stop()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) newSession() string {
	r.t.Helper()
	info, err := r.svc.Create(context.Background(), session.NewSession{Cwd: "/proj", Source: "test"})
	if err != nil {
		r.t.Fatal(err)
	}
	return info.UID
}

func (r *rig) submit(text string, mode event.InputMode) {
	r.t.Helper()
	if err := r.agent.Submit(context.Background(), r.uid, Input{From: chat.Person(), Text: text, Mode: mode}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) idle() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := r.agent.Wait(ctx, r.uid); err != nil {
		r.t.Fatalf("the session is still busy: %v", err)
	}
}

func (r *rig) history() []chat.Message {
	r.t.Helper()
	h, err := r.svc.History(context.Background(), r.uid)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// ended waits for the n-th TurnEnded and returns it.
func (r *rig) ended(n int) event.TurnEnded {
	r.t.Helper()
	var out event.TurnEnded
	r.sink.until(func(all []event.Envelope) bool {
		seen := 0
		for _, e := range all {
			if end, ok := e.Event.(event.TurnEnded); ok {
				if seen++; seen == n {
					out = end
					return true
				}
			}
		}
		return false
	})
	return out
}

// shape is a history in short: "user:hi assistant+call tool assistant:Done.".
func shape(history []chat.Message) []string {
	var out []string
	for _, m := range history {
		s := string(m.Role) + ":" + m.Text
		if m.Result != nil {
			s += m.Result.Text
		}
		if len(m.Calls) > 0 {
			s += fmt.Sprintf("+%d", len(m.Calls))
		}
		if m.Status != chat.StatusFinal {
			s += "!" + string(m.Status)
		}
		out = append(out, s)
	}
	return out
}

func wantShape(t testing.TB, r *rig, want ...string) {
	t.Helper()
	if got := shape(r.history()); !slices.Equal(got, want) {
		t.Fatalf("history\n got %q\nwant %q", got, want)
	}
}

// advised reports whether the end of a turn says what can be done next.
func advised(e event.TurnEnded) bool { return e.Hint != "" || len(e.Do) > 0 }
