package judges

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/npmtest"
	"hermes/core/provider"
	"hermes/core/provider/anthropic"
	"hermes/core/provider/modeltest"
	"hermes/core/provider/openai"
	"hermes/core/provider/responses"
)

//go:embed sdk
var sdk embed.FS

// heard is what a client understood of an answer.
type heard struct {
	Text      string      `json:"text"`
	Reasoning string      `json:"reasoning"`
	Calls     []heardCall `json:"calls"`
	Finish    string      `json:"finish"`
	Usage     struct {
		Input     int `json:"input"`
		Output    int `json:"output"`
		Cached    int `json:"cached"`
		Reasoning int `json:"reasoning"`
	} `json:"usage"`
	Error   string `json:"error"` // the name of an exception; of ours the class
	Status  int    `json:"status"`
	Message string `json:"message"`
}

type heardCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// script are answers as vendors send them. Finish is named as the format names it.
func script(finish map[string]string) (names []string, turns []modeltest.Turn) {
	add := func(name string, t modeltest.Turn) { names, turns = append(names, name), append(turns, t) }
	long := strings.Repeat("A sentence with 容器, 📦 and \"quotes\".\n", 200)
	calls := []modeltest.Call{
		{ID: "call_a", Name: "read_file", Args: `{"path":"a.txt"}`},
		{ID: "call_b", Name: "read_file", Args: `{"path":"b \"quoted\" 容器.txt"}`},
	}
	usage := &modeltest.Usage{Input: 1200, Output: 345, Cached: 1000, Reasoning: 120}
	add("text", modeltest.Turn{Text: "Hello there.", Usage: usage})
	add("long text in small pieces", modeltest.Turn{Text: long, Chunk: 3})
	add("cut anywhere on the wire", modeltest.Turn{Text: long[:400], WireSplit: 7})
	add("carriage returns", modeltest.Turn{Text: "Lines\nof\ntext", CRLF: true})
	add("keep-alive between events", modeltest.Turn{Text: "Slow but sure.", Heartbeat: true})
	add("reasoning", modeltest.Turn{Reasoning: "First I think.", Text: "Then I speak.", Usage: usage})
	add("one call", modeltest.Turn{Calls: calls[:1], Usage: usage})
	add("text and parallel calls", modeltest.Turn{Text: "I look at both.", Calls: calls, ArgChunk: 2, WireSplit: 11})
	add("reasoning and calls", modeltest.Turn{Reasoning: "Which one?", Calls: calls})
	add("a call without arguments", modeltest.Turn{Calls: []modeltest.Call{{ID: "call_c", Name: "read_file", Args: `{}`}}})
	add("length", modeltest.Turn{Text: "This is cut", Finish: finish["length"]})
	add("content filter", modeltest.Turn{Text: "I", Finish: finish["content_filter"]})
	add("error event", modeltest.Turn{Text: "Half of it", Fault: modeltest.FaultErrorEvent, After: 1, Message: "overloaded"})
	add("cut", modeltest.Turn{Text: long, Fault: modeltest.FaultCutRST, After: 3})
	add("rate limit", modeltest.Turn{Status: 429, Message: "slow down"})
	add("server error", modeltest.Turn{Status: 500, Message: "oops"})
	add("wrong key", modeltest.Turn{Status: 401, Message: "no such key"})
	return names, turns
}

// gemini is how Gemini's compatible end point streams: calls come whole, the first one with a
// signature, and the last event counts tokens.
const gemini = `data: {"choices":[{"delta":{"content":"I look.","role":"assistant"},"index":0}],"created":1763000000,` +
	`"id":"r1","model":"gemini-3-pro","object":"chat.completion.chunk"}

data: {"choices":[{"delta":{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"AYsig=="}},` +
	`"function":{"arguments":"{\"path\":\"a.txt\"}","name":"read_file"},"id":"function-call-1","index":0,"type":"function"},` +
	`{"function":{"arguments":"{\"path\":\"b.txt\"}","name":"read_file"},"id":"function-call-2","index":1,"type":"function"}]},` +
	`"finish_reason":"tool_calls","index":0}],"created":1763000000,"id":"r1","model":"gemini-3-pro","object":"chat.completion.chunk",` +
	`"usage":{"completion_tokens":30,"prompt_tokens":90,"total_tokens":120}}

data: [DONE]

`

// The vendors' clients and ours hear the same in every answer.
func TestVendorsHearTheSame(t *testing.T) {
	files, err := fs.Sub(sdk, "sdk")
	if err != nil {
		t.Fatal(err)
	}
	clients := npmtest.Install(t, files)
	for _, format := range []struct {
		name   string
		make   provider.Maker
		finish map[string]string
		others map[string]string // streams of other vendors that speak it
	}{
		{openai.Kind, openai.Make, map[string]string{"length": "length", "content_filter": "content_filter"}, map[string]string{"gemini": gemini}},
		{responses.Kind, responses.Make, map[string]string{"length": "max_output_tokens", "content_filter": "content_filter"}, nil},
		{anthropic.Kind, anthropic.Make, map[string]string{"length": "max_tokens", "content_filter": "refusal"}, nil},
	} {
		t.Run(format.name, func(t *testing.T) {
			names, turns := script(format.finish)
			for name, body := range format.others {
				names, turns = append(names, name), append(turns, modeltest.Turn{Body: body})
			}
			theirs := judge(t, clients, format.name, modeltest.New(t, turns...).URL, len(turns))
			server := modeltest.New(t, turns...)
			p := modeltest.Client(t, format.make, provider.Endpoint{Name: "ours", BaseURL: server.URL, Key: "key"})
			for i, name := range names {
				if wrong := disagree(format.name, theirs[i], listen(t, p)); wrong != "" {
					t.Errorf("%s: %s", name, wrong)
				}
			}
		})
	}
}

// judge has a vendor's client ask a server n times.
func judge(t *testing.T, clients, format, url string, n int) []heard {
	t.Helper()
	if format == anthropic.Kind {
		url = strings.TrimSuffix(url, "/v1") // its client adds that
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(clients, "judge.mjs"), format, url, fmt.Sprint(n))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	var all []heard
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var h heard
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		all = append(all, h)
	}
	if len(all) != n {
		t.Fatalf("%d answers of %d: %s", len(all), n, &said)
	}
	return all
}

// listen is what we understand of the next answer.
func listen(t *testing.T, p provider.Provider) (h heard) {
	t.Helper()
	r := provider.Request{
		Model: "test-model", Messages: []chat.Message{{Role: chat.RoleUser, Text: "go"}},
		Tools: []provider.ToolSpec{{Name: "read_file", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
	g := modeltest.Hear(t.Context(), t, p, r)
	if g.Err != nil {
		h.Error, h.Status, h.Message = string(g.Err.Class), g.Err.HTTP, g.Err.Message
		return h
	}
	h.Text, h.Reasoning, h.Finish = g.Text, g.Reasoning, string(g.Finish)
	for _, c := range g.Calls {
		h.Calls = append(h.Calls, heardCall{ID: c.ID, Name: c.Name, Args: string(c.Args)})
	}
	h.Usage.Input, h.Usage.Output, h.Usage.Cached, h.Usage.Reasoning = g.Usage.Input, g.Usage.Output, g.Usage.Cached, g.Usage.Reasoning
	return h
}

// disagree says in what they heard other things than we.
func disagree(format string, theirs, ours heard) string {
	if (theirs.Error == "") != (ours.Error == "") {
		return fmt.Sprintf("theirs %s %d %s, ours %s %d %s", theirs.Error, theirs.Status, theirs.Message, ours.Error, ours.Status, ours.Message)
	}
	if ours.Error != "" {
		if theirs.Status != ours.Status {
			return fmt.Sprintf("status %d and %d", theirs.Status, ours.Status)
		}
		return ""
	}
	if format == anthropic.Kind { // its client tells no reasoning apart
		ours.Usage.Reasoning = 0
	}
	for i := range ours.Calls {
		ours.Calls[i].Args = compact(ours.Calls[i].Args)
	}
	for i := range theirs.Calls {
		theirs.Calls[i].Args = compact(theirs.Calls[i].Args)
	}
	a, b := fmt.Sprintf("%+v", theirs), fmt.Sprintf("%+v", ours)
	if a != b {
		return "theirs " + a + "\nours   " + b
	}
	return ""
}

func compact(s string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return s
	}
	return b.String()
}
