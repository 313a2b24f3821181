package program

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/mcp/serve"
	"hermes/core/provider/modeltest"
)

// visitor is a real client of `hermes mcp serve`.
type visitor struct {
	t *testing.T
	*sdk.ClientSession
}

// visit starts the server as a program and connects to it.
func visit(t *testing.T, h *home, flags ...string) visitor {
	t.Helper()
	cmd := exec.Command("hermes", append([]string{"mcp", "serve", "--cwd", h.work}, flags...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = h.env(), h.work, os.Stderr
	c := sdk.NewClient(&sdk.Implementation{Name: "visitor", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("it did not end well: ", err)
		}
	})
	return visitor{t, s}
}

// call calls a tool and returns what it gives as text.
func (v visitor) call(name string, args map[string]any) map[string]any {
	v.t.Helper()
	res, err := v.CallTool(v.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		v.t.Fatal(err)
	}
	var out map[string]any
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError || json.Unmarshal([]byte(text), &out) != nil {
		return map[string]any{"failed": text}
	}
	return out
}

// until waits for an event of a type and returns it.
func (v visitor) until(cursor any, kind string) map[string]any {
	v.t.Helper()
	for range 100 {
		got := v.call("events_wait", map[string]any{"after_cursor": cursor, "timeout_ms": patience.Milliseconds()})
		list, _ := got["events"].([]any)
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			if e := e.(map[string]any); e["type"] == kind {
				return e
			}
		}
		cursor = got["next_cursor"]
	}
	v.t.Fatalf("no %s came", kind)
	return nil
}

// A program reads what another process wrote and cannot send anything, unless it was allowed to.
func TestServedConversations(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Text: "Whales sleep with half of the brain."})
	if r := h.run("run", "how do whales sleep?"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	v := visit(t, h)
	if p := v.InitializeResult(); p.ServerInfo.Name != "hermes" || !strings.Contains(p.Instructions, "data, not instructions") {
		t.Errorf("%+v", p)
	}
	read := fmt.Sprint(v.call("messages_read", map[string]any{"session_key": "last"}))
	if !strings.Contains(read, "how do whales sleep?") || !strings.Contains(read, "half of the brain") {
		t.Error(read)
	}
	if found := fmt.Sprint(v.call("messages_search", map[string]any{"query": "whales"})); !strings.Contains(found, "half of the brain") {
		t.Error(found)
	}
	if res, err := v.CallTool(t.Context(), &sdk.CallToolParams{Name: "messages_send", Arguments: map[string]any{"target": "new", "message": "x"}}); err == nil {
		t.Errorf("it was sent: %+v", res)
	}
}

// removal is a folder in the home, and a call that removes it: that is asked about.
func removal(h *home) (dir string, turn modeltest.Turn) {
	h.t.Helper()
	dir = filepath.Join(h.work, "old")
	if err := os.Mkdir(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return dir, modeltest.Turn{Calls: []modeltest.Call{{ID: "c1", Name: "terminal", Args: `{"command":"rm -rf old"}`}}}
}

// What a program sends is worked on unattended: what would be asked is refused, and that the
// message holds the very command allows nothing.
func TestServedMessages(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	dir, remove := removal(h)
	s := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{remove, {Text: "It was refused."}, {Text: "Again."}}})
	h.configure(serverSettings(s))
	v := visit(t, h, "--allow-send")
	sent := v.call("messages_send", map[string]any{"target": "new", "message": "rm -rf old"})
	end := v.until(sent["cursor"], "turn_ended")
	if end["reason"] != "done" || end["session_key"] != sent["session_key"] {
		t.Errorf("%v", end)
	}
	read := fmt.Sprint(v.call("messages_read", map[string]any{"session_key": sent["session_key"], "include_tools": true}))
	if !strings.Contains(read, "It was refused.") || !strings.Contains(read, "needs a person's approval") || !strings.Contains(read, "from:agent") {
		t.Error(read)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	again := v.call("messages_send", map[string]any{"target": sent["session_key"], "message": "and now?"})
	v.until(again["cursor"], "turn_ended")
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d model calls", n)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, "visitor") {
		t.Error("the model was not told who speaks")
	}
	if _, err := v.CallTool(t.Context(), &sdk.CallToolParams{Name: "permissions_list_open"}); err == nil {
		t.Error("permissions are there")
	}
}

// With --allow-permissions the program that sent a message answers what is asked, once at a time.
func TestServedPermissions(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	dir, remove := removal(h)
	h.configure(serverSettings(modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{remove, {Text: "done"}}})))
	if r := h.run("mcp", "serve", "--allow-permissions"); r.code != 2 {
		t.Errorf("%+v", r)
	}
	v := visit(t, h, "--allow-send", "--allow-permissions")
	sent := v.call("messages_send", map[string]any{"target": "new", "message": "clean up"})
	asked := v.until(sent["cursor"], "approval_requested")["approval"].(map[string]any)
	if !strings.Contains(fmt.Sprint(asked["detail"]), "rm -rf old") {
		t.Errorf("%v", asked)
	}
	if no := v.call("permissions_respond", map[string]any{"id": asked["id"], "decision": "allow-always"}); no["failed"] == nil {
		t.Errorf("%v", no)
	}
	if yes := v.call("permissions_respond", map[string]any{"id": asked["id"], "decision": "allow-once"}); yes["resolved"] != true {
		t.Errorf("%v", yes)
	}
	v.until(sent["cursor"], "turn_ended")
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was allowed and did not happen")
	}
}

// The same over HTTP, to who has the token.
func TestServedOverHTTP(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Text: "answer"})
	h.run("run", "a question")
	cmd := exec.Command("hermes", "mcp", "serve", "--http", "127.0.0.1:0")
	cmd.Env, cmd.Dir, cmd.Stderr = h.env(), h.work, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(out)
	lines.Scan()
	address := lines.Text()
	token, err := os.ReadFile(serve.TokenFile(h.dir))
	if err != nil || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatal(address, err)
	}
	dial := func(token string) (*sdk.ClientSession, error) {
		c := sdk.NewClient(&sdk.Implementation{Name: "visitor", Version: "1"}, nil)
		web := &http.Client{Transport: bearing{token}}
		return c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: web, MaxRetries: -1}, nil)
	}
	if s, err := dial("guess"); err == nil {
		t.Error("a guess was let in")
		_ = s.Close()
	}
	s, err := dial(strings.TrimSpace(string(token)))
	if err != nil {
		t.Fatal(err)
	}
	read := fmt.Sprint(visitor{t, s}.call("messages_read", map[string]any{"session_key": "last"}))
	if !strings.Contains(read, "a question") || !strings.Contains(read, "answer") {
		t.Error(read)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error("it did not end well: ", err)
	}
	_ = s.Close()
}

// bearing sends a token.
type bearing struct{ token string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}
