package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
)

// musing is a stream of Gemini's compatible end point as it sends one when it was asked for
// thoughts: they are content that is marked, the answer begins with the end of a tag, calls have no
// index, and thoughts count in the total of tokens only.
// https://ai.google.dev/gemini-api/docs/openai#thinking, .../thought-signatures#openai
const musing = `data: {"choices":[{"delta":{"content":"<thought>**Looking**\n\nI need ","extra_content":{"google":{"thought":true}},"role":"assistant"},"index":0}],"created":1763000000,"id":"r1","model":"gemini-3.5-flash","object":"chat.completion.chunk","usage":{"completion_tokens":0,"prompt_tokens":40,"total_tokens":240}}

data: {"choices":[{"delta":{"content":"the <file>.","extra_content":{"google":{"thought":true}},"role":"assistant"},"index":0}],"created":1763000000,"id":"r1","model":"gemini-3.5-flash","object":"chat.completion.chunk"}

data: {"choices":[{"delta":{"content":"</thought>I read ","role":"assistant"},"index":0}],"created":1763000000,"id":"r1","model":"gemini-3.5-flash","object":"chat.completion.chunk"}

data: {"choices":[{"delta":{"content":"</thought> it.","extra_content":null,"role":"assistant"},"index":0}],"created":1763000000,"id":"r1","model":"gemini-3.5-flash","object":"chat.completion.chunk"}

data: {"choices":[{"delta":{"role":"assistant","tool_calls":[{"extra_content":` + signed + `,"function":{"arguments":"{\"a\":1}","name":"f"},"id":"c1","type":"function"},{"function":{"arguments":"{}","name":"f"},"id":"c2","type":"function"}]},"index":0}],"created":1763000000,"id":"r1","model":"gemini-3.5-flash","object":"chat.completion.chunk"}

data: {"choices":[{"delta":{"role":"assistant"},"finish_reason":"stop","index":0}],"created":1763000000,"id":"r1","model":"gemini-3.5-flash","object":"chat.completion.chunk","usage":{"completion_tokens":12,"prompt_tokens":40,"total_tokens":252}}

data: [DONE]

`

// ofGoogle is a client whose endpoint has the name of the vendor.
func ofGoogle(t *testing.T, url string) provider.Provider {
	t.Helper()
	return modeltest.Client(t, openai.Make, provider.Endpoint{Name: "gemini", BaseURL: url, Key: "sk-test-secret-123456"})
}

// wanted is what a request says about thinking.
func wanted(t *testing.T, s *modeltest.Server) string {
	t.Helper()
	all := s.Requests()
	var body struct {
		Effort json.RawMessage `json:"reasoning_effort"`
		Extra  json.RawMessage `json:"extra_body"`
	}
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	return string(body.Effort) + string(body.Extra)
}

// Thoughts that a vendor marks among the content are reasoning, no tag is left in the answer, and
// their tokens are paid for.
func TestMarkedThoughtsAreReasoning(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Body: musing}, modeltest.Turn{}, modeltest.Turn{})
	p, r := ofGoogle(t, s.URL), ask("go")
	r.Model = "gemini-3.5-flash"
	g := collect(t, p, r)
	if g.Err != nil || g.Reasoning != "**Looking**\n\nI need the <file>." || g.Text != "I read </thought> it." || len(g.Calls) != 2 {
		t.Fatalf("%+v", g)
	}
	if u := g.Usage; u.Input != 40 || u.Output != 212 || u.Reasoning != 200 {
		t.Errorf("%+v", u)
	}
	r.Messages = append(r.Messages, answered(g.Message)...)
	collect(t, p, r)
	if m := sentBack(t, s); string(m.Calls[0].Extra) != signed || m.Calls[1].Extra != nil {
		t.Errorf("%+v", m)
	}
	if all := s.Requests(); strings.Contains(string(all[1].Body), "Looking") {
		t.Error("the thoughts went back as text")
	}
	other := modeltest.New(t, modeltest.Turn{})
	collect(t, client(t, other.URL), r)
	if body := string(other.Requests()[0].Body); strings.Contains(body, "Looking") || strings.Contains(body, "AYsig") || strings.Contains(body, "extra_") {
		t.Errorf("another server got %s", body)
	}
}

// An answer in one piece has them in one text.
func TestMarkedThoughtsOfAWholeAnswer(t *testing.T) {
	for content, want := range map[string][2]string{
		`"<thought>I think.</thought>Good."`:   {"I think.", "Good."},
		`"<thought>I was cut"`:                 {"I was cut", ""},
		`"No tag."`:                            {"No tag.", ""},
		`"<thought></thought>Good.</thought>"`: {"", "Good.</thought>"},
	} {
		body := `{"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` +
			content + `,"extra_content":{"google":{"thought":true}}}}]}`
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		if g := collect(t, ofGoogle(t, s.URL), ask("go")); g.Err != nil || g.Reasoning != want[0] || g.Text != want[1] {
			t.Errorf("%s: %+v", content, g)
		}
	}
}

// A stream that ends after any of its events, and marks of a form that nobody announced, leave no
// thought among the text.
func TestThoughtsOfBrokenStreams(t *testing.T) {
	parts := strings.SplitAfter(musing, "\n\n")
	for i := range len(parts) - 3 {
		s := modeltest.New(t, modeltest.Turn{Body: strings.Join(parts[:i+1], "")})
		g := collect(t, ofGoogle(t, s.URL), ask("go"))
		if g.Err == nil || g.Err.Class != provider.ClassMalformed || strings.Contains(g.Text, "Looking") || !strings.HasPrefix(g.Reasoning, "**Looking**") {
			t.Errorf("after %d events: %+v", i+1, g)
		}
	}
	for _, odd := range []string{`null`, `7`, `"x"`, `[]`, `{"google":7}`, `{"google":{"thought":"yes"}}`, `{"google":{"thought":false}}`, `{}`} {
		s := modeltest.New(t, modeltest.Turn{Body: events("stop", `{"content":"<thought>plain","extra_content":`+odd+`}`)})
		if g := collect(t, ofGoogle(t, s.URL), ask("go")); g.Err != nil || g.Text != "<thought>plain" || g.Reasoning != "" {
			t.Errorf("%s: %+v", odd, g)
		}
	}
}

// Thoughts are asked for in the vendor's own field, which stands alone: with reasoning_effort
// beside it the vendor refuses.
func TestThoughtsAreAskedFor(t *testing.T) {
	config := func(s string) string { return `{"google":{"thinking_config":{"include_thoughts":true` + s + `}}}` }
	for _, c := range []struct{ model, effort, want string }{
		{"gemini-3.5-flash", "", config("")},
		{"gemini-3.5-flash", "medium", config(`,"thinking_level":"medium"`)},
		{"gemini-3.1-pro-preview", "minimal", config(`,"thinking_level":"low"`)},
		{"gemini-3.5-flash", "xhigh", config(`,"thinking_level":"high"`)},
		{"gemini-2.5-flash", "low", config(`,"thinking_budget":1024`)},
		{"gemini-2.5-pro", "max", config(`,"thinking_budget":24576`)},
		{"gemini-2.5-flash", "none", `"none"`},
	} {
		s := modeltest.New(t, modeltest.Turn{})
		r := ask("go")
		r.Model, r.Effort = c.model, c.effort
		collect(t, ofGoogle(t, s.URL), r)
		if got := wanted(t, s); got != c.want {
			t.Errorf("%s, %q: %s", c.model, c.effort, got)
		}
	}
	s := modeltest.New(t, modeltest.Turn{})
	r := ask("go")
	r.Effort = "high"
	if collect(t, client(t, s.URL), r); wanted(t, s) != `"high"` {
		t.Errorf("another vendor was asked %s", wanted(t, s))
	}
}

// A model that has no thoughts, or a server behind the vendor's name that knows nothing of the
// field, is not asked again; other models are.
func TestAModelThatRefusesToBeAskedForThoughts(t *testing.T) {
	for _, refusal := range []string{"Unable to submit request because thinking is not supported by this model.", "Extra inputs are not permitted: extra_body"} {
		body := `[{"error":{"code":400,"message":"` + refusal + `","status":"INVALID_ARGUMENT"}}]`
		s := modeltest.New(t, modeltest.Turn{Status: 400, Body: body}, modeltest.Turn{Text: "Good."}, modeltest.Turn{}, modeltest.Turn{})
		p, r := ofGoogle(t, s.URL), ask("go")
		r.Model, r.Effort = "gemini-2.0-flash", "low"
		if g := collect(t, p, r); g.Err != nil || g.Text != "Good." || wanted(t, s) != `"low"` {
			t.Fatalf("%v, asked %s", g.Err, wanted(t, s))
		}
		if collect(t, p, r); wanted(t, s) != `"low"` {
			t.Errorf("it was asked again: %s", wanted(t, s))
		}
		r.Model = "gemini-3.5-flash"
		if collect(t, p, r); !strings.Contains(wanted(t, s), "include_thoughts") {
			t.Errorf("another model was asked %s", wanted(t, s))
		}
	}
}

// Thoughts count once, whether the server counts them among what was written or beside it.
func TestThoughtsInTheTotal(t *testing.T) {
	for usage, want := range map[string]chat.Usage{
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":3}}`:  {Input: 10, Output: 5, Reasoning: 3},
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`: {Input: 10, Output: 25, Reasoning: 20},
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35}`:                                                     {Input: 10, Output: 25, Reasoning: 20},
		`{"prompt_tokens":10,"completion_tokens":5}`:                                                                       {Input: 10, Output: 5},
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":-9}`:                                                     {Input: 10, Output: 5},
	} {
		stream := strings.Replace(events("stop", `{"content":"x"}`), "data: [DONE]", `data: {"object":"chat.completion.chunk","choices":[],"usage":`+usage+"}\n\ndata: [DONE]", 1)
		s := modeltest.New(t, modeltest.Turn{Body: stream})
		if g := collect(t, client(t, s.URL), ask("go")); g.Err != nil || g.Usage != want {
			t.Errorf("%s: %+v %v", usage, g.Usage, g.Err)
		}
	}
}
