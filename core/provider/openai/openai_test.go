package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are watchdogs for tests: long enough for a busy machine, short enough to wait for.
var quick = provider.Timeouts{Connect: 5 * time.Second, FirstByte: 5 * time.Second, Idle: 5 * time.Second}

func client(t *testing.T, url string, times provider.Timeouts) *openai.Provider {
	t.Helper()
	p, err := openai.New(provider.Endpoint{Name: "test", BaseURL: url, Key: "sk-test-secret-123456", Timeouts: times})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// got is what a stream yielded.
type got struct {
	text, reasoning string
	calls           []chat.ToolCall
	end             *provider.Chunk
	err             *provider.Error
}

func collect(t *testing.T, p provider.Provider, r provider.Request) got {
	t.Helper()
	return collectCtx(t.Context(), t, p, r)
}

func collectCtx(ctx context.Context, t *testing.T, p provider.Provider, r provider.Request) (g got) {
	t.Helper()
	for c, err := range p.Stream(ctx, r) {
		if g.end != nil || g.err != nil {
			t.Fatal("a chunk came after the end")
		}
		if err != nil {
			if !errors.As(err, &g.err) {
				t.Fatalf("not a *provider.Error: %v", err)
			}
			continue
		}
		switch c.Kind {
		case provider.ChunkText:
			g.text += c.Text
		case provider.ChunkReasoning:
			g.reasoning += c.Text
		case provider.ChunkToolStart:
			if c.Index != len(g.calls) {
				t.Fatalf("call %d starts as number %d", len(g.calls), c.Index)
			}
			g.calls = append(g.calls, chat.ToolCall{ID: c.CallID, Name: c.Name})
		case provider.ChunkToolArgs:
			g.calls[c.Index].Args = append(g.calls[c.Index].Args, c.Text...)
		case provider.ChunkEnd:
			g.end = &c
		}
	}
	if (g.end == nil) == (g.err == nil) {
		t.Fatalf("a stream must end with one end or one error: %+v %v", g.end, g.err)
	}
	return g
}

func ask(text string) provider.Request {
	return provider.Request{Model: "test-model", System: "Be brief.", Messages: []chat.Message{{Role: chat.RoleUser, Text: text}}}
}

func TestAnswer(t *testing.T) {
	for name, turn := range map[string]modeltest.Turn{
		"plain":           {},
		"split bytes":     {WireSplit: 1},
		"crlf":            {CRLF: true, WireSplit: 3},
		"heartbeat":       {Heartbeat: true},
		"no done":         {Fault: modeltest.FaultNoDone},
		"no finish":       {Fault: modeltest.FaultNoFinish},
		"does not stream": {Fault: modeltest.FaultPlainJSON},
		"other reasoning": {ReasoningField: "reasoning"},
		"no options":      {Fault: modeltest.FaultNoUsage},
	} {
		t.Run(name, func(t *testing.T) {
			turn.Text, turn.Reasoning = "Grüße 世界 👋🏽 \"quoted\"\nnext", "Überlegen …"
			turn.Usage = &modeltest.Usage{Input: 12, Output: 7, Cached: 4, Reasoning: 3}
			s := modeltest.New(t, turn)
			g := collect(t, client(t, s.URL, quick), ask("hello"))
			if g.err != nil {
				t.Fatal(g.err)
			}
			if g.text != turn.Text || g.reasoning != turn.Reasoning {
				t.Errorf("got %q and %q", g.text, g.reasoning)
			}
			if g.end.Finish != chat.FinishStop || g.end.Model != "test-model" {
				t.Errorf("end: %+v", g.end)
			}
			want := chat.Usage{Input: 12, Output: 7, Cached: 4, Reasoning: 3} // what it costs is for whoever knows the person's prices
			if turn.Fault != modeltest.FaultNoFinish && g.end.Usage != want {
				t.Errorf("usage %+v, want %+v", g.end.Usage, want)
			}
		})
	}
}

func TestToolCalls(t *testing.T) {
	calls := []modeltest.Call{
		{ID: "a", Name: "read_file", Args: `{"path":"grün.txt"}`},
		{ID: "b", Name: "terminal", Args: `{"command":"ls -la"}`},
		{ID: "c", Name: "terminal", Args: `{}`},
	}
	for name, turn := range map[string]modeltest.Turn{
		"by the book":     {},
		"fragments":       {ArgChunk: 1},
		"no index":        {NoIndex: true, ArgChunk: 3},
		"no id":           {NoID: true, ArgChunk: 3},
		"neither":         {NoIndex: true, NoID: true},
		"says stop":       {Finish: "stop"},
		"does not stream": {Fault: modeltest.FaultPlainJSON},
	} {
		t.Run(name, func(t *testing.T) {
			turn.Text, turn.Calls = "I look.", calls
			s := modeltest.New(t, turn)
			g := collect(t, client(t, s.URL, quick), ask("go"))
			if g.err != nil {
				t.Fatal(g.err)
			}
			if g.end.Finish != chat.FinishToolCalls || len(g.calls) != len(calls) {
				t.Fatalf("finish %s, %d calls", g.end.Finish, len(g.calls))
			}
			seen := map[string]bool{}
			for i, c := range g.calls {
				if c.Name != calls[i].Name || string(c.Args) != calls[i].Args {
					t.Errorf("call %d: %s %s", i, c.Name, c.Args)
				}
				if !turn.NoID && c.ID != calls[i].ID || c.ID == "" || seen[c.ID] {
					t.Errorf("call %d has the id %q", i, c.ID)
				}
				seen[c.ID] = true
			}
		})
	}
}

func TestBrokenArgumentsArePassedOn(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command": "ls`}}})
	g := collect(t, client(t, s.URL, quick), ask("go"))
	if g.err != nil || string(g.calls[0].Args) != `{"command": "ls` {
		t.Fatalf("%v %s", g.err, g.calls[0].Args)
	}
}

func TestFaults(t *testing.T) {
	short := quick
	short.Idle, short.FirstByte = 150*time.Millisecond, 150*time.Millisecond
	long := strings.Repeat("word ", 20)
	for name, c := range map[string]struct {
		turn  modeltest.Turn
		times provider.Timeouts
		class provider.Class
		text  bool // what came before must be kept
	}{
		"rate limit":    {turn: modeltest.Turn{Status: 429, RetryAfter: "7"}, class: provider.ClassRateLimit},
		"quota":         {turn: modeltest.Turn{Status: 429, Code: "insufficient_quota"}, class: provider.ClassBilling},
		"server":        {turn: modeltest.Turn{Status: 500}, class: provider.ClassServer},
		"overloaded":    {turn: modeltest.Turn{Status: 503}, class: provider.ClassOverloaded},
		"key":           {turn: modeltest.Turn{Status: 401, Message: "Incorrect API key: sk-test-secret-123456"}, class: provider.ClassAuth},
		"no model":      {turn: modeltest.Turn{Status: 404}, class: provider.ClassModelNotFound},
		"page, not API": {turn: modeltest.Turn{Status: 404, Body: "<html><body>404</body></html>"}, class: provider.ClassModelNotFound},
		"bad gateway":   {turn: modeltest.Turn{Status: 502, Body: "upstream connect error"}, class: provider.ClassServer},
		"overflow": {
			turn:  modeltest.Turn{Status: 400, Code: "context_length_exceeded", Message: "This model's maximum context length is 128000 tokens."},
			class: provider.ClassContextOverflow,
		},
		"redirect":    {turn: modeltest.Turn{Status: 302}, class: provider.ClassMalformed},
		"cut, closed": {turn: modeltest.Turn{Fault: modeltest.FaultCutFIN, After: 3}, class: provider.ClassNetwork, text: true},
		"cut, reset":  {turn: modeltest.Turn{Fault: modeltest.FaultCutRST, After: 3}, class: provider.ClassNetwork},
		"malformed":   {turn: modeltest.Turn{Fault: modeltest.FaultMalformed, After: 3}, class: provider.ClassMalformed, text: true},
		"error event": {turn: modeltest.Turn{Fault: modeltest.FaultErrorEvent, After: 3}, class: provider.ClassServer, text: true},
		"overloaded in the stream": {
			turn:  modeltest.Turn{Fault: modeltest.FaultErrorEvent, After: 1, Message: "Overloaded: server is busy"},
			class: provider.ClassOverloaded, text: true,
		},
		"no end": {turn: modeltest.Turn{Fault: modeltest.FaultNoEnd}, class: provider.ClassMalformed, text: true},
		"empty":  {turn: modeltest.Turn{Fault: modeltest.FaultEmpty}, class: provider.ClassMalformed},
		"html":   {turn: modeltest.Turn{Fault: modeltest.FaultHTML}, class: provider.ClassMalformed},
		"slow":   {turn: modeltest.Turn{Fault: modeltest.FaultSlow}, times: short, class: provider.ClassTimeout},
		"stall":  {turn: modeltest.Turn{Fault: modeltest.FaultStall, After: 3}, times: short, class: provider.ClassTimeout, text: true},
		"pings":  {turn: modeltest.Turn{Fault: modeltest.FaultPings, After: 3}, times: short, class: provider.ClassTimeout, text: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.times == (provider.Timeouts{}) {
				c.times = quick
			}
			if c.turn.Text == "" {
				c.turn.Text = long
			}
			s := modeltest.New(t, c.turn)
			g := collect(t, client(t, s.URL, c.times), ask("go"))
			if g.err == nil || g.err.Class != c.class {
				t.Fatalf("got %v, want %s", g.err, c.class)
			}
			if c.text && (g.text == "" || !strings.HasPrefix(long, g.text)) {
				t.Errorf("what came before the fault is lost: %q", g.text)
			}
			if g.err.Provider != "test" || g.err.Model != "test-model" || g.err.Message == "" {
				t.Errorf("the error does not say who, which and what: %+v", g.err)
			}
			if strings.Contains(g.err.Error()+g.err.Hint, "secret") {
				t.Errorf("the error shows the key: %v", g.err)
			}
			if len(s.Requests()) != 1 {
				t.Errorf("%d requests: a provider does not retry", len(s.Requests()))
			}
		})
	}
}

func TestRetryAfterAndWindowReachTheCaller(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Status: 429, RetryAfter: "7"},
		modeltest.Turn{Status: 400, Message: "This model's maximum context length is 8192 tokens, but you sent 9000."})
	p := client(t, s.URL, quick)
	if g := collect(t, p, ask("1")); g.err.RetryAfter != 7*time.Second || g.err.HTTP != 429 {
		t.Errorf("%+v", g.err)
	}
	if g := collect(t, p, ask("2")); g.err.Window != 8192 {
		t.Errorf("%+v", g.err)
	}
}

// Whatever byte the connection breaks after, the text is a prefix and the end is one clear error, or the whole answer.
func TestCutAfterEveryByte(t *testing.T) {
	const text = "Grüße 世界"
	turn := modeltest.Turn{Text: text, Chunk: 3, Calls: []modeltest.Call{{Name: "t", Args: `{"a":1}`}}}
	full := streamLength(t, turn)
	turns := make([]modeltest.Turn, 0, full)
	for k := 1; k <= full; k++ {
		cut := turn
		cut.CutAt = k
		turns = append(turns, cut)
	}
	s := modeltest.New(t, turns...)
	p := client(t, s.URL, quick)
	whole := 0
	for k := 1; k <= full; k++ {
		g := collect(t, p, ask("go"))
		if !strings.HasPrefix(text, g.text) {
			t.Fatalf("cut after %d bytes: %q is not the begin of the text", k, g.text)
		}
		switch {
		case g.err == nil:
			whole++
			if g.text != text || string(g.calls[0].Args) != `{"a":1}` {
				t.Fatalf("cut after %d bytes: taken for whole with %q", k, g.text)
			}
		case g.err.Class != provider.ClassNetwork && g.err.Class != provider.ClassMalformed:
			t.Fatalf("cut after %d bytes: %v", k, g.err)
		}
	}
	if whole == 0 || whole == full {
		t.Errorf("%d of %d cuts were taken for whole answers", whole, full)
	}
}

// streamLength counts the bytes of a turn's stream.
func streamLength(t *testing.T, turn modeltest.Turn) int {
	t.Helper()
	body := rawStream(t, turn)
	if !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Fatalf("unexpected stream: %q", body)
	}
	return len(body)
}

func TestCancelStopsWithinASecond(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	for name, turn := range map[string]modeltest.Turn{
		"before the first byte": {Fault: modeltest.FaultSlow},
		"in the middle":         {Text: "one two three four", Hold: hold, After: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t, turn)
			ctx, cancel := context.WithCancel(t.Context())
			began := make(chan time.Time, 1)
			stop := context.AfterFunc(ctx, func() { began <- time.Now() })
			defer stop()
			go func() {
				_ = s.WaitRequests(t.Context(), 1)
				cancel()
			}()
			g := collectCtx(ctx, t, client(t, s.URL, quick), ask("go"))
			if g.err == nil || g.err.Class != provider.ClassCancelled {
				t.Fatalf("got %v", g.err)
			}
			if took := time.Since(<-began); took > time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestLeavingTheLoopEndsTheCall(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	s := modeltest.New(t, modeltest.Turn{Text: "one two three four", Hold: hold, After: 2})
	for range client(t, s.URL, quick).Stream(t.Context(), ask("go")) {
		break // goleak tells if anything stays behind
	}
}

// A consumer that thinks for longer than the idle time must not be taken for a silent server.
func TestSlowConsumerIsNotSilence(t *testing.T) {
	times := quick
	times.Idle = 300 * time.Millisecond
	s := modeltest.New(t, modeltest.Turn{Text: "one two three"})
	for c, err := range client(t, s.URL, times).Stream(t.Context(), ask("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == provider.ChunkText {
			<-time.After(200 * time.Millisecond)
		}
	}
}

func TestOptionalFieldsAreLeftOutAfterARefusal(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Fault: modeltest.FaultNoUsage}, modeltest.Turn{},
		modeltest.Turn{Status: 400, Message: "Unknown parameter: 'reasoning_effort'."}, modeltest.Turn{}, modeltest.Turn{})
	p := client(t, s.URL, quick)
	effort := ask("go")
	effort.Effort = "high"
	for i, r := range []provider.Request{ask("1"), ask("2"), effort, effort} {
		if g := collect(t, p, r); g.err != nil {
			t.Fatalf("request %d: %v", i, g.err)
		}
	}
	var options, efforts int
	for _, r := range s.Requests() {
		var body map[string]json.RawMessage
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		if body["stream_options"] != nil {
			options++
		}
		if body["reasoning_effort"] != nil {
			efforts++
		}
	}
	if options != 1 || efforts != 1 {
		t.Errorf("stream_options was sent %d times, reasoning_effort %d times: want one each", options, efforts)
	}
}

func TestModels(t *testing.T) {
	s := modeltest.NewScript(t, modeltest.Script{Models: []modeltest.Model{{ID: "b", ContextLength: 4096}, {ID: "a"}}})
	list, err := client(t, s.URL, quick).Models(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != "a" || list[1].Window != 4096 || !list[0].Priced {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestNoServer(t *testing.T) {
	s, err := modeltest.Start(modeltest.Script{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if g := collect(t, client(t, s.URL, quick), ask("go")); g.err.Class != provider.ClassNetwork || g.err.Hint == "" {
		t.Errorf("%+v", g.err)
	}
}

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{"", "host:80", "ftp://host/v1", "http://", "http://[::1"} {
		if _, err := openai.New(provider.Endpoint{BaseURL: bad}); err == nil {
			t.Errorf("%q was taken for an address", bad)
		}
	}
	s := modeltest.New(t, modeltest.Turn{}, modeltest.Turn{}, modeltest.Turn{})
	root := strings.TrimSuffix(s.URL, "/v1")
	for _, url := range []string{root, root + "/v1/", root + "/v1/chat/completions"} {
		if g := collect(t, client(t, url, quick), ask("go")); g.err != nil {
			t.Errorf("%s: %v", url, g.err)
		}
	}
	for _, r := range s.Requests() {
		if r.Path != "/v1/chat/completions" {
			t.Errorf("asked at %s", r.Path)
		}
	}
}

func TestNothingFromTheEnvironmentIsSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-another-host")
	t.Setenv("OPENAI_ORG_ID", "org-secret")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	s := modeltest.New(t, modeltest.Turn{})
	p, err := openai.New(provider.Endpoint{Name: "local", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if g := collect(t, p, ask("go")); g.err != nil {
		t.Fatal(g.err)
	}
	h := s.Requests()[0].Header
	if h.Get("Authorization") != "" || h.Get("OpenAI-Organization") != "" {
		t.Errorf("sent %v", h)
	}
}
