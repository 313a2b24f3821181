package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/prompt"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/tool"
	"hermes/core/tool/builtin"
)

// answer200k is 200 kB of answer in pieces of 20 characters, as the rows of the screen have it.
var answer200k = modeltest.Turn{Text: strings.Repeat("twenty characters.. ", 10_000), Chunk: 20}

// BenchmarkClient is the way of an answer through each wire format, against reading the bytes of
// the same stream with net/http. The server sends each event as it comes, as vendors do.
func BenchmarkClient(b *testing.B) {
	for _, f := range []struct {
		name, path string
		make       provider.Maker
	}{
		{openai.Kind, "/chat/completions", openai.Make},
		{responses.Kind, "/responses", responses.Make},
		{anthropic.Kind, "/messages", anthropic.Make},
	} {
		s := modeltest.NewScript(b, modeltest.Script{Turns: []modeltest.Turn{answer200k}, Loop: true})
		ask := client(b, f.make, s.URL)
		ask()
		body := s.Requests()[0].Body
		read := func() []byte { return post(b, s.URL+f.path, body) }
		mine, floor := versus(7, ask, func() { read() })
		gate{"client, 200 kB as it comes: " + f.name, "net/http reads the same stream", 3}.times(b, mine, floor)

		// The same bytes at once: nothing but the reading is left.
		whole := modeltest.NewScript(b, modeltest.Script{Turns: []modeltest.Turn{{Body: string(read())}}, Loop: true})
		mine, floor = versus(7, client(b, f.make, whole.URL), func() { post(b, whole.URL+f.path, body) })
		gate{"client, 200 kB at once: " + f.name, "net/http reads the same bytes", 0}.times(b, mine, floor)
	}
}

// client makes what reads one whole answer.
func client(b *testing.B, make provider.Maker, url string) func() {
	b.Helper()
	p, err := make(provider.Endpoint{Name: "bench", BaseURL: url, Key: "key"})
	must(b, err)
	b.Cleanup(func() { _ = p.(io.Closer).Close() })
	r := provider.Request{Model: "test-model", Messages: []chat.Message{{Role: chat.RoleUser, Text: "go"}}}
	return func() {
		n := 0
		for c, err := range p.Stream(context.Background(), r) {
			must(b, err)
			if c.Kind == provider.ChunkText {
				n += len(c.Text)
			}
		}
		if n != len(answer200k.Text) {
			b.Fatalf("%d bytes of %d", n, len(answer200k.Text))
		}
	}
}

func post(b *testing.B, url string, body []byte) []byte {
	b.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	must(b, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("X-Api-Key", "key")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	must(b, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	must(b, err)
	if res.StatusCode != http.StatusOK || len(data) < len(answer200k.Text) {
		b.Fatalf("HTTP %d, %d bytes", res.StatusCode, len(data))
	}
	return data
}

// talk is an agent over a store of its own and a scripted server.
type talk struct {
	agent    *agent.Agent
	sessions *session.Service
	store    *store.Store
	server   *modeltest.Server
	bus      *event.Bus
}

func newTalk(b *testing.B, script modeltest.Script) talk {
	b.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, filepath.Join(b.TempDir(), "workbench.db"), store.Options{})
	must(b, err)
	bus := event.NewBus()
	t := talk{sessions: session.New(st, bus), store: st, server: modeltest.NewScript(b, script), bus: bus}
	set := provider.NewSet(provider.Settings{
		Default:   "lab/test-model",
		Providers: map[string]provider.Endpoint{"lab": {BaseURL: t.server.URL, Key: "key"}},
		Kinds:     map[string]provider.Maker{openai.Kind: openai.Make},
	})
	tools, err := tool.NewRegistry(builtin.All(builtin.Deps{Home: b.TempDir(), Sessions: t.sessions}).Tools...)
	must(b, err)
	t.agent = agent.New(agent.Deps{
		Bus: bus, Sessions: t.sessions, Models: set, Tools: tools, Gate: approval.New(approval.Policy{}, nil),
		Prompt: func(_ context.Context, s event.SessionInfo, _ []provider.ToolSpec) (string, error) {
			return prompt.Build(prompt.Options{Session: s.UID, Model: s.Model, System: "linux/amd64", Tools: tools.Names()}).Text(), nil
		},
		Settings: func(string) agent.Settings { return agent.Settings{Compress: true} },
	})
	b.Cleanup(func() {
		_ = t.agent.Close(ctx)
		set.Close()
		_ = st.Close()
	})
	return t
}

// BenchmarkCompress is the compression of a conversation of 1,000 messages, its summary by a model
// included, against reading the messages from the store.
func BenchmarkCompress(b *testing.B) {
	ctx := context.Background()
	t := newTalk(b, modeltest.Script{Turns: []modeltest.Turn{{Text: "Goal: a summary of what was done."}}, Loop: true})
	rnd := rand.New(rand.NewPCG(3, 4))
	const sessions, messages = 16, 1000
	for i := range sessions {
		_, err := t.store.ImportSession(ctx, thousand(rnd, fmt.Sprint("long_", i), messages))
		must(b, err)
	}
	next := 0
	mine, floor := versus(9, func() {
		must(b, t.agent.Compress(ctx, fmt.Sprint("long_", next), ""))
		next++
	}, func() {
		list, err := t.sessions.History(ctx, fmt.Sprint("long_", sessions-1))
		must(b, err)
		if len(list) != messages {
			b.Fatalf("%d messages", len(list))
		}
	})
	left, err := t.sessions.History(ctx, "long_0")
	must(b, err)
	if len(left) > messages/2 {
		b.Fatalf("%d messages are left", len(left))
	}
	gate{"compress 1,000 messages, with a model", "read them from the store once", 12}.times(b, mine, floor)
}

// thousand is a session in which questions, calls, results and answers take turns.
func thousand(rnd *rand.Rand, uid string, n int) store.Import {
	in := sessionOf(rnd, uid, 0, n, true)
	for i := range in.Messages {
		m := &in.Messages[i].Message
		text := sentence(rnd, 40)
		*m = chat.Message{At: m.At, Status: chat.StatusFinal, Role: chat.RoleAssistant, Text: text}
		call := fmt.Sprint("c", i/4)
		switch i % 4 {
		case 0:
			m.Role = chat.RoleUser
		case 1:
			m.Calls = []chat.ToolCall{{ID: call, Name: "read_file", Args: json.RawMessage(`{"path":"a.txt"}`)}}
		case 2:
			m.Role, m.Text, m.Result = chat.RoleTool, "", &chat.ToolResult{CallID: call, Name: "read_file", Text: text}
		}
	}
	return in
}

// BenchmarkPromptBytes counts the requests of 50 turns that do not begin with the bytes of the one
// before them: system prompt, tools and messages.
func BenchmarkPromptBytes(b *testing.B) {
	ctx := context.Background()
	const turns = 50
	t := newTalk(b, modeltest.Script{Turns: []modeltest.Turn{{Text: "Done."}}, Loop: true})
	s, err := t.sessions.Create(ctx, session.NewSession{Source: "bench"})
	must(b, err)
	for i := range turns {
		must(b, t.agent.Submit(ctx, s.UID, agent.Input{From: chat.Person(), Text: fmt.Sprint("turn ", i)}))
		must(b, t.agent.Wait(ctx, s.UID))
	}
	var heads, bodies []string
	for _, r := range t.server.Requests() {
		var sent struct{ Messages, Tools json.RawMessage }
		must(b, json.Unmarshal(r.Body, &sent))
		heads = append(heads, string(sent.Tools))
		bodies = append(bodies, strings.TrimSuffix(string(sent.Messages), "]"))
	}
	if len(heads) != turns || len(heads[0]) < 1000 {
		b.Fatalf("%d requests, tools of %d bytes", len(heads), len(heads[0]))
	}
	var other int64
	for i := 1; i < turns; i++ {
		if heads[i] != heads[0] || !strings.HasPrefix(bodies[i], bodies[i-1]) {
			other++
		}
	}
	none(b, "prompt: requests that begin with other bytes", "in 50 turns, system, tools, history", other)
}
