package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"hermes/core/agent"
	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/checkpoint"
	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/learn"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/tool"
	"hermes/ui/cli"
)

// fake is a program whose agent does what the prompt says, one word a behaviour. What it keeps
// lives in this process only.
type fake struct {
	bus   *event.Bus
	start cli.Start

	mu       sync.Mutex
	sessions []event.SessionInfo
	messages map[string][]chat.Message
	decision chan event.Decision
	stop     chan struct{}
	idle     sync.WaitGroup
}

func openFake(_ context.Context, start cli.Start) (client.Client, error) {
	if start.Model == "broken" {
		return nil, errors.New("the database cannot be opened; see `hermes sessions check`")
	}
	f := &fake{
		bus: event.NewBus(), start: start, messages: map[string][]chat.Message{}, decision: make(chan event.Decision, 1), stop: make(chan struct{}, 1),
	}
	f.add("20261120_101010_aaaaaa", "An old talk \x1b[31mred", "how do whales sleep?", "Half of the brain at a time.")
	f.add("20261121_101010_bbbbbb", "Another", "second", "answer")
	return f, nil
}

func (f *fake) Events() *event.Bus              { return f.bus }
func (f *fake) History() client.Sessions        { return f }
func (f *fake) Catalog() client.Models          { return models{f} }
func (f *fake) Backends() backend.Pool          { return nil }
func (f *fake) Checkpointed() *checkpoint.Store { return nil }
func (f *fake) Servers() client.Servers         { return nil }
func (f *fake) Learning() *learn.Learner        { return nil }
func (f *fake) Config() *config.Config          { return f.start.Config }
func (f *fake) OpeningNotices() []event.Notice  { return nil }
func (f *fake) Close(context.Context) error     { f.idle.Wait(); return nil }

// registry has a tool that is there and one that is not.
var registry = sync.OnceValue(func() *tool.Registry {
	r, err := tool.NewRegistry(
		bare{tool.Spec{Name: "read_file", Toolset: "file"}},
		bare{tool.Spec{Name: "web_search", Toolset: "web", Available: func() error { return errors.New("no engine") }}})
	if err != nil {
		panic(err)
	}
	return r
})

// bare is a tool that does nothing.
type bare struct{ spec tool.Spec }

func (b bare) Spec() tool.Spec                                     { return b.spec }
func (b bare) Run(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func (f *fake) Toolsets(chosen []string) []tool.SetView { return registry().Overview(chosen) }
func (f *fake) SwitchToolset(chosen []string, name string, on bool) ([]string, error) {
	return registry().Switch(chosen, name, on)
}

func (f *fake) SelectBackend(_ context.Context, _, name string) error {
	if name != "local" {
		return fmt.Errorf("backend '%s' not found. Available: local", name)
	}
	return nil
}

func (f *fake) Skill(_ context.Context, _, name string) (chat.Part, error) {
	return chat.Part{}, fmt.Errorf("there is no skill %q", name)
}

func (f *fake) add(uid, title, prompt, answer string) {
	at := time.Date(2026, 11, 20, 10, 10, 10, 0, time.UTC)
	f.sessions = append(f.sessions, event.SessionInfo{UID: uid, Title: title, Source: "tui", Started: at, Last: at, Messages: 2})
	f.messages[uid] = []chat.Message{
		{ID: 1, Session: uid, Seq: 1, Role: chat.RoleUser, Text: prompt, At: at, Status: chat.StatusFinal},
		{ID: 2, Session: uid, Seq: 2, Role: chat.RoleAssistant, Text: answer, At: at, Status: chat.StatusFinal},
	}
}

func (f *fake) Submit(_ context.Context, uid string, in agent.Input) error {
	f.idle.Go(func() {
		f.turn(uid, in.Text)
	})
	return nil
}

func (f *fake) publish(uid string, e event.Event) {
	f.bus.Publish(event.Header{Session: uid, Turn: "t1"}, e)
}

func (f *fake) turn(uid, prompt string) {
	f.publish(uid, event.TurnStarted{Prompt: 1, Model: "fake"})
	end := event.TurnEnded{Reason: event.TurnDone, Steps: 1, Took: time.Second, Usage: chat.Usage{Input: 3, Output: 2}}
	word, rest, _ := strings.Cut(prompt, " ")
	switch word {
	case "echo":
		f.say(uid, rest)
	case "where":
		f.say(uid, f.start.Cwd+" "+strings.Join(f.start.Session.Toolsets, ","))
	case "hostile":
		f.say(uid, "red \x1b", "[31mtext\x1b]0;title", "\x07 end")
	case "tool":
		code := 3
		f.publish(uid, event.ToolStarted{Call: chat.ToolCall{ID: "c1", Name: "terminal"}, Gist: "ls\x1b[2J"})
		f.publish(uid, event.ToolEnded{Result: chat.ToolResult{CallID: "c1", Name: "terminal", ExitCode: &code}})
		f.say(uid, "done")
	case "ask":
		f.publish(uid, event.ApprovalAsked{ID: "a1", Title: "Run this?", Choices: []event.Decision{event.DecisionOnce, event.DecisionDeny}})
		d := <-f.decision
		f.publish(uid, event.ApprovalSettled{ID: "a1", Decision: d, By: "user"})
		f.say(uid, string(d))
	case "forbidden":
		f.publish(uid, event.ApprovalSettled{CallID: "c1", Decision: event.DecisionDeny, By: "settings"})
		f.say(uid, "no")
	case "closed":
		f.publish(uid, event.ApprovalAsked{ID: "closed", Title: "Too late?", Choices: []event.Decision{event.DecisionOnce, event.DecisionDeny}})
		f.publish(uid, event.QuestionAsked{ID: "closed", Text: "Too late?"})
		f.say(uid, "went on")
	case "provider":
		end.Reason, end.Err, end.Hint, end.Class = event.TurnFailed, "openai (HTTP 429): slow down", "try later", "rate_limit"
	case "fail":
		end.Reason, end.Err = event.TurnFailed, "the disk is full"
	case "budget":
		end.Reason = event.TurnBudget
	case "wait":
		f.say(uid, "waiting")
		<-f.stop
		end.Reason = event.TurnInterrupted
	case "flood":
		for i := range 40_000 {
			f.publish(uid, event.Notice{Level: event.Info, Text: fmt.Sprint("line ", i)})
		}
		f.say(uid, "after the flood")
	}
	f.publish(uid, end)
}

func (f *fake) say(uid string, parts ...string) {
	offset := 0
	f.publish(uid, event.MessageStarted{MessageID: 7, Model: "fake"})
	for _, p := range parts {
		f.publish(uid, event.TextDelta{MessageID: 7, Offset: offset, Text: p})
		offset += len(p)
	}
	m := chat.Message{ID: 7, Session: uid, Role: chat.RoleAssistant, Text: strings.Join(parts, ""), Model: "fake", Status: chat.StatusFinal}
	f.mu.Lock()
	f.messages[uid] = append(f.messages[uid], m)
	f.mu.Unlock()
	f.publish(uid, event.MessageSealed{Message: m})
}

func (f *fake) TakeTools(context.Context, string) (event.ToolsChanged, error) {
	return event.ToolsChanged{}, nil
}

func (f *fake) Hooks() client.Hooks     { return nil }
func (f *fake) Plugins() client.Plugins { return nil }

func (f *fake) Interrupt(string) bool                                  { f.stop <- struct{}{}; return true }
func (f *fake) Wait(context.Context, string) error                     { f.idle.Wait(); return nil }
func (f *fake) SetPlace(context.Context, string, string, string) error { return nil }

func (f *fake) Answer(id string, d event.Decision) error {
	if id == "closed" {
		return errors.New("approval closed is not open any more")
	}
	f.decision <- d
	return nil
}

func (f *fake) AnswerQuestion(id, _ string) error {
	if id == "closed" {
		return errors.New("question closed is not open any more")
	}
	return nil
}

func (f *fake) SetModel(_ context.Context, _, ref string) error {
	_, _, err := f.model(ref)
	return err
}

func (f *fake) model(ref string) (provider.Provider, provider.Model, error) {
	switch ref {
	case "", "fake/one":
		return named("fake"), provider.Model{ID: "one", Provider: "fake", Window: 1000}, nil
	default:
		return nil, provider.Model{}, fmt.Errorf("no model %q; `hermes model list` shows what there is", ref)
	}
}

func (f *fake) Resolve(_ context.Context, ref string) (event.SessionInfo, error) {
	for _, s := range f.sessions {
		if strings.HasPrefix(s.UID, ref) || s.Title == ref || (ref == "last" && s.UID == f.sessions[len(f.sessions)-1].UID) {
			return s, nil
		}
	}
	return event.SessionInfo{}, fmt.Errorf("no session %q", ref)
}

func (f *fake) Create(_ context.Context, n session.NewSession) (event.SessionInfo, error) {
	return event.SessionInfo{UID: "new1", Cwd: n.Cwd}, nil
}

func (f *fake) Open(ctx context.Context, uid string, _ event.Opening) (event.SessionInfo, error) {
	return f.Resolve(ctx, uid)
}

func (f *fake) List(_ context.Context, x session.Filter) ([]event.SessionInfo, error) {
	var out []event.SessionInfo
	for _, s := range f.sessions {
		if strings.Contains(s.Title, x.Query) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (f *fake) Messages(_ context.Context, uid string, p session.Page) ([]chat.Message, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.messages[uid]
	if p.Limit > 0 && len(list) > p.Limit {
		return list[len(list)-p.Limit:], true, nil
	}
	return list, false, nil
}

func (f *fake) Search(_ context.Context, q session.Query) (session.Results, error) {
	if q.Text != "whales" {
		return session.Results{}, nil
	}
	return session.Results{Total: 1, Hits: []session.Hit{{
		Session: f.sessions[0], MessageID: 1, Role: chat.RoleUser, Snippet: "how do whales sleep?", Marks: [][2]int{{7, 13}},
	}}}, nil
}

func (f *fake) Export(_ context.Context, uid string, w io.Writer, format session.Format) error {
	_, err := fmt.Fprintf(w, "%s %s\n", format, uid)
	return err
}

func (f *fake) Import(_ context.Context, r io.Reader) ([]event.SessionInfo, error) {
	data, err := io.ReadAll(r)
	if err != nil || !strings.HasPrefix(string(data), "{") {
		return nil, errors.New("import: not an export of hermes")
	}
	if strings.Contains(string(data), "again") {
		return nil, nil
	}
	return []event.SessionInfo{{UID: "in1", Title: "Imported"}}, nil
}

func (f *fake) ImportHermes(context.Context, string, func(int, int)) (session.ImportReport, error) {
	return session.ImportReport{Sessions: 1, Messages: 5, Skipped: 2, Problems: []string{"a row without a role"}}, nil
}

func (f *fake) Fork(context.Context, string, int64) (event.SessionInfo, error) {
	return event.SessionInfo{UID: "fork1"}, nil
}

func (f *fake) ConfigOf(context.Context, string) (session.Config, error) {
	level := 0
	return session.Config{Toolsets: []string{"file"}, Policy: session.Policy{Level: &level}}, nil
}

func (f *fake) Rename(_ context.Context, uid, title string) error {
	fmt.Fprintln(os.Stderr, "renamed", uid, title)
	return nil
}

func (f *fake) DeleteSession(_ context.Context, uid string) error {
	fmt.Fprintln(os.Stderr, "deleted", uid)
	return nil
}

func (f *fake) Attempts(context.Context, string) ([]session.Attempt, error) { return nil, nil }

func (f *fake) Stats(context.Context) (session.Stats, error) {
	return session.Stats{Sessions: 2, Messages: 4, Bytes: 2048, BySource: map[string]int{"tui": 2}}, nil
}

func (f *fake) Check(context.Context) (session.CheckReport, error) {
	if f.start.Config.Display.Theme == "broken" {
		return session.CheckReport{Problems: []string{"row 7 is damaged"}, Messages: 4}, nil
	}
	return session.CheckReport{Messages: 4}, nil
}

// models are split off because Sessions and Models both have a Resolve.
type models struct{ *fake }

func (m models) Resolve(_ context.Context, ref string) (provider.Provider, provider.Model, error) {
	return m.model(ref)
}

func (m models) List(context.Context) []provider.Model {
	_, one, _ := m.model("")
	return []provider.Model{one, {ID: "two", Provider: "fake", Priced: true, PriceIn: 1.5, PriceOut: 2}}
}

func (m models) Others() []provider.Model {
	return []provider.Model{{ID: "three", Provider: "locked", Window: 1000}}
}

func (m models) Refresh(_ context.Context, from string) (*provider.Fetched, error) {
	return &provider.Fetched{From: from, Models: map[string][]provider.ModelFacts{"fake": {{ID: "one"}}}}, nil
}

type named string

func (n named) Name() string { return string(n) }

func (n named) Stream(context.Context, provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(func(provider.Chunk, error) bool) {}
}

func (n named) Models(context.Context) ([]provider.Model, error) { return nil, nil }

func (f *fake) Composition(context.Context, string) (agent.Composition, error) {
	return agent.Composition{}, nil
}

func (f *fake) UsageBy(context.Context, store.UsageBy, store.UsageFilter) ([]store.UsageRow, error) {
	return nil, nil
}
