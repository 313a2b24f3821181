package stream_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is a wire format: its path and what ends its streams.
type wire struct {
	name string
	make provider.Maker
	path string
	last string
}

var formats = []wire{
	{openai.Kind, openai.Make, "/chat/completions", "data: [DONE]\n\n"},
	{anthropic.Kind, anthropic.Make, "/messages", "\"type\":\"message_stop\"}\n\n"},
	{responses.Kind, responses.Make, "/responses", "\"type\":\"response.completed\"}\n\n"},
}

// each runs f once for each format.
func each(t *testing.T, f func(t *testing.T, w wire)) {
	t.Helper()
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) { f(t, format) })
	}
}

// quick are watchdogs that no test waits for.
var quick = provider.Timeouts{Connect: testwait.Hang, FirstByte: testwait.Hang, Idle: testwait.Hang}

func client(t *testing.T, w wire, url string, times provider.Timeouts) provider.Provider {
	t.Helper()
	return modeltest.Client(t, w.make, provider.Endpoint{Name: "test", BaseURL: url, Key: "sk-test-secret-123456", Timeouts: times})
}

func collect(t *testing.T, p provider.Provider, r provider.Request) modeltest.Heard {
	t.Helper()
	return modeltest.Hear(t.Context(), t, p, r)
}

func ask(text string) provider.Request {
	return provider.Request{Model: "test-model", System: "Be brief.", Messages: []chat.Message{{Role: chat.RoleUser, Text: text}}}
}

func TestAnswer(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
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
			if turn.Fault == modeltest.FaultNoFinish && w.name == responses.Kind {
				continue // its finish is its end
			}
			t.Run(name, func(t *testing.T) {
				turn.Text, turn.Reasoning = "Grüße 世界 👋🏽 \"quoted\"\nnext", "Überlegen …"
				turn.Usage = &modeltest.Usage{Input: 12, Output: 7, Cached: 4, Written: 5, Reasoning: 3}
				s := modeltest.New(t, turn)
				g := collect(t, client(t, w, s.URL, quick), ask("hello"))
				if g.Err != nil {
					t.Fatal(g.Err)
				}
				if g.Text != turn.Text || g.Reasoning != turn.Reasoning {
					t.Errorf("got %q and %q", g.Text, g.Reasoning)
				}
				if g.End.Finish != chat.FinishStop || g.End.Model != "test-model" {
					t.Errorf("end: %+v", g.End)
				}
				want := chat.Usage{Input: 12, Output: 7, Cached: 4, Written: 5, Reasoning: 3} // what it costs is for whoever knows the person's prices
				if turn.Fault != modeltest.FaultNoFinish && g.End.Usage != want {
					t.Errorf("usage %+v, want %+v", g.End.Usage, want)
				}
			})
		}
	})
}

func TestToolCalls(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
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
				g := collect(t, client(t, w, s.URL, quick), ask("go"))
				if g.Err != nil {
					t.Fatal(g.Err)
				}
				if g.End.Finish != chat.FinishToolCalls || len(g.Calls) != len(calls) {
					t.Fatalf("finish %s, %d calls", g.End.Finish, len(g.Calls))
				}
				seen := map[string]bool{}
				for i, c := range g.Calls {
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
	})
}

func TestBrokenArgumentsArePassedOn(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		s := modeltest.New(t, modeltest.Turn{Calls: []modeltest.Call{{Name: "terminal", Args: `{"command": "ls`}}})
		g := collect(t, client(t, w, s.URL, quick), ask("go"))
		if g.Err != nil || string(g.Calls[0].Args) != `{"command": "ls` {
			t.Fatalf("%v %s", g.Err, g.Calls[0].Args)
		}
	})
}

func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		short := quick
		short.Idle = testwait.Within(150 * time.Millisecond) // longer than a busy machine rests between two pieces
		short.FirstByte = short.Idle
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
			"no credit":     {turn: modeltest.Turn{Status: 402, Message: "Insufficient credits"}, class: provider.ClassBilling},
			"not allowed":   {turn: modeltest.Turn{Status: 403, Message: "Your organization has no access"}, class: provider.ClassAuth},
			"busy":          {turn: modeltest.Turn{Status: 529, Message: "Overloaded"}, class: provider.ClassOverloaded},
			"busy, as 429":  {turn: modeltest.Turn{Status: 429, Message: "The model is overloaded, try again later"}, class: provider.ClassOverloaded},
			"gateway":       {turn: modeltest.Turn{Status: 504}, class: provider.ClassServer},
			"wrong request": {turn: modeltest.Turn{Status: 400, Message: "messages: at least one is required"}, class: provider.ClassFormat},
			"wrong, as 500": {turn: modeltest.Turn{Status: 500, Message: "Unknown parameter: 'foo'"}, class: provider.ClassFormat},
			"policy":        {turn: modeltest.Turn{Status: 400, Message: "The prompt was rejected by our content policy"}, class: provider.ClassContentFilter},
			"too long, 413": {turn: modeltest.Turn{Status: 413, Message: "prompt is too long: 210000 tokens > 200000 maximum"}, class: provider.ClassContextOverflow},
			"too long, 422": {turn: modeltest.Turn{Status: 422, Message: "input exceeds the context window"}, class: provider.ClassContextOverflow},
			"too long, zh":  {turn: modeltest.Turn{Status: 400, Message: "输入超过上下文长度限制"}, class: provider.ClassContextOverflow},
			"page, not API": {turn: modeltest.Turn{Status: 404, Body: "<html><body>404</body></html>"}, class: provider.ClassModelNotFound},
			"bad gateway":   {turn: modeltest.Turn{Status: 502, Body: "upstream connect error"}, class: provider.ClassServer},
			"overflow": {
				turn:  modeltest.Turn{Status: 400, Code: "context_length_exceeded", Message: "This model's maximum context length is 128000 tokens."},
				class: provider.ClassContextOverflow,
			},
			"calls": {
				turn:  modeltest.Turn{Calls: slices.Repeat([]modeltest.Call{{Name: "t", Args: "{}"}}, 300)},
				class: provider.ClassTooLarge,
			},
			"never the whole": {
				turn:  modeltest.Turn{Text: strings.Repeat("word ", 2000), Delay: 10 * time.Millisecond},
				times: provider.Timeouts{Total: 300 * time.Millisecond}, class: provider.ClassTimeout,
			},
			"never the first byte": {
				turn:  modeltest.Turn{Fault: modeltest.FaultSlow},
				times: provider.Timeouts{Total: 300 * time.Millisecond}, class: provider.ClassTimeout,
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
				g := collect(t, client(t, w, s.URL, c.times), ask("go"))
				if g.Err == nil || g.Err.Class != c.class {
					t.Fatalf("got %v, want %s", g.Err, c.class)
				}
				if c.text && (g.Text == "" || !strings.HasPrefix(long, g.Text)) {
					t.Errorf("what came before the fault is lost: %q", g.Text)
				}
				if g.Err.Provider != "test" || g.Err.Model != "test-model" || g.Err.Message == "" {
					t.Errorf("the error does not say who, which and what: %+v", g.Err)
				}
				if strings.Contains(g.Err.Error()+g.Err.Hint, "secret") {
					t.Errorf("the error shows the key: %v", g.Err)
				}
				if len(s.Requests()) != 1 {
					t.Errorf("%d requests: a provider does not retry", len(s.Requests()))
				}
			})
		}
	})
}

// Some servers leave the connection open after the finish reason, and never send [DONE].
func TestAnAnswerWithoutItsEndMarkIsThereSoon(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		s := modeltest.New(t, modeltest.Turn{Text: "All of it.", Fault: modeltest.FaultStaysOpen})
		began := time.Now()
		g := collect(t, client(t, w, s.URL, provider.Timeouts{}), ask("go"))
		if g.Err != nil || g.Text != "All of it." || g.End.Usage.Output == 0 {
			t.Errorf("%+v %v", g, g.Err)
		}
		if took := time.Since(began); took > testwait.Within(2*time.Second) {
			t.Errorf("it took %v", took)
		}
	})
}

func TestRetryAfterAndWindowReachTheCaller(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		s := modeltest.New(t, modeltest.Turn{Status: 429, RetryAfter: "7"},
			modeltest.Turn{Status: 400, Message: "This model's maximum context length is 8192 tokens, but you sent 9000."})
		p := client(t, w, s.URL, quick)
		if g := collect(t, p, ask("1")); g.Err.RetryAfter != 7*time.Second || g.Err.HTTP != 429 {
			t.Errorf("%+v", g.Err)
		}
		if g := collect(t, p, ask("2")); g.Err.Window != 8192 {
			t.Errorf("%+v", g.Err)
		}
	})
}

// Whatever byte the connection breaks after, the text is a prefix and the end is one clear error,
// or the whole answer.
func TestCutAfterEveryByte(t *testing.T) {
	testskip.WithoutRace(t, "two thousand answers of what the other tests read too")
	each(t, func(t *testing.T, w wire) {
		const text = "Grüße 世界"
		turn := modeltest.Turn{Text: text, Chunk: 3, Calls: []modeltest.Call{{Name: "t", Args: `{"a":1}`}}}
		full := streamLength(t, w, turn)
		var turns []modeltest.Turn
		for k := 1; k <= full; k++ {
			cut := turn
			cut.CutAt = k
			turns = append(turns, cut)
		}
		s := modeltest.New(t, turns...)
		p := client(t, w, s.URL, quick)
		whole := 0
		for k := 1; k <= full; k++ {
			g := collect(t, p, ask("go"))
			if !strings.HasPrefix(text, g.Text) {
				t.Fatalf("cut after %d bytes: %q is not the begin of the text", k, g.Text)
			}
			switch {
			case g.Err == nil:
				whole++
				if g.Text != text || string(g.Calls[0].Args) != `{"a":1}` {
					t.Fatalf("cut after %d bytes: taken for whole with %q", k, g.Text)
				}
			case g.Err.Class != provider.ClassNetwork && g.Err.Class != provider.ClassMalformed:
				t.Fatalf("cut after %d bytes: %v", k, g.Err)
			}
		}
		if whole == 0 || whole == full {
			t.Errorf("%d of %d cuts were taken for whole answers", whole, full)
		}
	})
}

// streamLength counts the bytes of a turn's stream.
func streamLength(t *testing.T, w wire, turn modeltest.Turn) int {
	t.Helper()
	body := rawStream(t, w, turn)
	if !strings.HasSuffix(body, w.last) {
		t.Fatalf("unexpected stream: %q", body)
	}
	return len(body)
}

func TestCancelStopsWithinASecond(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
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
				g := modeltest.Hear(ctx, t, client(t, w, s.URL, quick), ask("go"))
				if g.Err == nil || g.Err.Class != provider.ClassCancelled {
					t.Fatalf("got %v", g.Err)
				}
				if took := time.Since(<-began); took > testwait.Within(time.Second) {
					t.Errorf("it took %s", took)
				}
			})
		}
	})
}

func TestLeavingTheLoopEndsTheCall(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		hold := make(chan struct{})
		defer close(hold)
		s := modeltest.New(t, modeltest.Turn{Text: "one two three four", Hold: hold, After: 2})
		for range client(t, w, s.URL, quick).Stream(t.Context(), ask("go")) {
			break // goleak tells if anything stays behind
		}
	})
}

// A consumer that thinks for longer than the idle time must not be taken for a silent server.
func TestSlowConsumerIsNotSilence(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		times := quick
		times.Idle = testwait.Within(150 * time.Millisecond)
		s := modeltest.New(t, modeltest.Turn{Text: "one two three"})
		for c, err := range client(t, w, s.URL, times).Stream(t.Context(), ask("go")) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind == provider.ChunkText {
				<-time.After(times.Idle + 50*time.Millisecond)
			}
		}
	})
}

func TestNoServer(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		s, err := modeltest.Start(modeltest.Script{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if g := collect(t, client(t, w, s.URL, quick), ask("go")); g.Err.Class != provider.ClassNetwork || g.Err.Hint == "" {
			t.Errorf("%+v", g.Err)
		}
	})
}

func TestWithoutStream(t *testing.T) {
	each(t, func(t *testing.T, w wire) {
		s := modeltest.New(t, modeltest.Turn{Text: "Whole.", Calls: []modeltest.Call{{Name: "t", Args: "{}"}}})
		r := ask("go")
		r.NoStream = true
		g := collect(t, client(t, w, s.URL, quick), r)
		if g.Err != nil || g.Text != "Whole." || len(g.Calls) != 1 || s.Requests()[0].Stream {
			t.Errorf("%+v %v", g, g.Err)
		}
	})
}

// rawStream is the bytes of a turn's stream.
func rawStream(t *testing.T, w wire, turn modeltest.Turn) string {
	t.Helper()
	s := modeltest.New(t, turn)
	body := `{"model":"test-model","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"x"}],"input":"x"}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+w.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
