// Command scripted is a model server for pictures: it answers requests that bring tools with the
// turns of a file, in order, and all others with one word. The key "wrong" it refuses. It prints
// its address.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

type turn struct {
	Thought string `json:"thought"` // before the text, for two seconds
	Text    string `json:"text"`
	Calls   []call `json:"calls"`
}

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func main() {
	if err := serveTurns(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}

func serveTurns(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var turns []turn
	if err := json.Unmarshal(data, &turns); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var next atomic.Int64
	http.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"demo-large","context_length":200000},{"id":"demo-small","context_length":32000}]}`)
	})
	http.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer wrong" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error"}}`)
			return
		}
		var asked struct {
			Tools []json.RawMessage `json:"tools"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked) // what cannot be read has no tools
		t := turn{Text: "Weather"}
		if n := int(next.Load()); len(asked.Tools) > 0 && n < len(turns) {
			t = turns[n]
			next.Add(1)
		}
		answer(w, t)
	})
	fmt.Println("http://" + l.Addr().String() + "/v1")
	return http.Serve(l, nil) //nolint:gosec // on this machine, for as long as the pictures take
}

// answer streams a turn as chat completions do.
func answer(w http.ResponseWriter, t turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, finish any) {
		line, _ := json.Marshal(map[string]any{ // of maps and texts: cannot fail
			"id": "1", "object": "chat.completion.chunk", "model": "demo-large",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", line)
		_ = http.NewResponseController(w).Flush() // a server that cannot sends it at the end
	}
	if t.Thought != "" {
		send(map[string]any{"role": "assistant", "reasoning_content": t.Thought}, nil)
		time.Sleep(2 * time.Second)
	}
	send(map[string]any{"role": "assistant", "content": t.Text}, nil)
	finish := "stop"
	for i, c := range t.Calls {
		finish = "tool_calls"
		send(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": strings.TrimSpace(string(c.Arguments))},
		}}}, nil)
	}
	send(map[string]any{}, finish)
	fmt.Fprintf(w, `data: {"id":"1","object":"chat.completion.chunk","model":"demo-large","choices":[],"usage":{"prompt_tokens":6400,"completion_tokens":%d}}`+"\n\n", 20+len(t.Text)/4)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
