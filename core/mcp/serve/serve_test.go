package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/session"
	"hermes/core/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is a real store of conversations and a bus, and nobody who answers.
type program struct {
	client.Client
	bus      *event.Bus
	sessions *session.Service
	other    *session.Service // of another process
	sent     []agent.Input
	answered []event.Decision
}

func (p *program) Events() *event.Bus       { return p.bus }
func (p *program) History() client.Sessions { return p.sessions }

func (p *program) Submit(ctx context.Context, uid string, in agent.Input) error {
	p.sent = append(p.sent, in)
	if _, err := p.sessions.Get(ctx, uid); err != nil {
		if _, err := p.sessions.Create(ctx, session.NewSession{UID: uid, Source: "mcp"}); err != nil {
			return err
		}
	}
	return p.sessions.Append(ctx, uid, &chat.Message{Role: chat.RoleUser, From: in.From, Text: in.Text, Status: chat.StatusFinal})
}

func (p *program) Answer(_ string, d event.Decision) error {
	p.answered = append(p.answered, d)
	return nil
}

func newProgram(t *testing.T) *program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "workbench.db")
	p := &program{bus: event.NewBus()}
	for service, bus := range map[**session.Service]*event.Bus{&p.sessions: p.bus, &p.other: event.NewBus()} {
		st, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		*service = session.New(st, bus)
	}
	return p
}

// talk makes a conversation of so many exchanges.
func talk(t *testing.T, s *session.Service, title string, exchanges int) string {
	t.Helper()
	info, err := s.Create(t.Context(), session.NewSession{Title: title, Source: "tui", Cwd: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range exchanges {
		say(t, s, info.UID, chat.Message{Role: chat.RoleUser, Text: fmt.Sprintf("question %d", i)})
		say(t, s, info.UID, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "c", Name: "terminal", Text: "output"}})
		say(t, s, info.UID, chat.Message{Role: chat.RoleAssistant, Text: fmt.Sprintf("answer %d", i)})
	}
	return info.UID
}

func say(t *testing.T, s *session.Service, uid string, m chat.Message) chat.Message {
	t.Helper()
	if m.Status == "" {
		m.Status = chat.StatusFinal
	}
	if err := s.Append(t.Context(), uid, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// connected is a real client of the server, over memory.
type connected struct {
	t *testing.T
	*sdk.ClientSession
}

func connect(t *testing.T, o Options) connected {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := sdk.NewInMemoryTransports()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- s.server.Run(ctx, theirs) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test client", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		<-done
		s.Close()
	})
	return connected{t, session}
}

// call calls a tool; its result must fit its schema, which the library sees to.
func call[T any](c connected, name, args string) (out T, failed string) {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		c.t.Fatal(err)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		return out, text
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		c.t.Fatalf("%v: %s", err, text)
	}
	data, err := json.Marshal(res.StructuredContent)
	var again, first any
	_ = json.Unmarshal(data, &again)
	_ = json.Unmarshal([]byte(text), &first)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
		c.t.Errorf("two results: %s and %s", data, text)
	}
	return out, ""
}

func names(c connected) string {
	var out []string
	for tool, err := range c.Tools(c.t.Context(), nil) {
		if err != nil {
			c.t.Fatal(err)
		}
		if tool.Description == "" {
			c.t.Errorf("%s says nothing about itself", tool.Name)
		}
		out = append(out, tool.Name)
	}
	return strings.Join(out, " ")
}

const reading = "attachments_fetch conversation_get conversations_list events_poll events_wait messages_read messages_search"

// What writes is there when the person said so, and not before.
func TestWhatIsServed(t *testing.T) {
	p := newProgram(t)
	if got := names(connect(t, Options{Client: p})); got != reading {
		t.Error(got)
	}
	if got := names(connect(t, Options{Client: p, Send: true})); got != reading+" messages_send" {
		t.Error(got)
	}
	if got := names(connect(t, Options{Client: p, Send: true, Permissions: true})); !strings.Contains(got, "permissions_respond") {
		t.Error(got)
	}
}

func TestReading(t *testing.T) {
	p := newProgram(t)
	long := talk(t, p.sessions, "A long talk", 120)
	other := talk(t, p.sessions, "Another", 1)
	c := connect(t, Options{Client: p})

	list, _ := call[listOut](c, "conversations_list", `{}`)
	if list.Count != 2 || list.Conversations[0].SessionKey != other || list.Conversations[1].DisplayName != "A long talk" {
		t.Errorf("%+v", list)
	}
	if list, _ := call[listOut](c, "conversations_list", `{"search":"long","limit":1}`); list.Count != 1 {
		t.Errorf("%+v", list)
	}
	if one, _ := call[getOut](c, "conversation_get", `{"session_key":"last"}`); one.SessionKey != other || one.Folder != "/work" {
		t.Errorf("%+v", one)
	}
	if _, failed := call[getOut](c, "conversation_get", `{"session_key":"nobody"}`); !strings.Contains(failed, "nobody") {
		t.Error(failed)
	}

	page, _ := call[readOut](c, "messages_read", `{"session_key":"`+long+`","limit":100}`)
	if page.Count != 100 || !page.More || page.Messages[99].Content != "answer 119" || page.Messages[0].Content != "question 70" {
		t.Errorf("%d %v %+v", page.Count, page.More, page.Messages[0])
	}
	all := page.Count
	for page.More {
		page, _ = call[readOut](c, "messages_read", fmt.Sprintf(`{"session_key":%q,"limit":100,"before":%d}`, long, page.Messages[0].Seq))
		all += page.Count
	}
	if all != 240 || page.Messages[0].Content != "question 0" {
		t.Errorf("%d messages, the first %+v", all, page.Messages[0])
	}
	with, _ := call[readOut](c, "messages_read", `{"session_key":"`+other+`","include_tools":true}`)
	if with.Count != 3 || with.Messages[1].Tool != "terminal" || with.Messages[1].Content != "output" {
		t.Errorf("%+v", with)
	}
	found, _ := call[searchOut](c, "messages_search", `{"query":"question 77"}`)
	if found.Count == 0 || found.Hits[0].SessionKey != long {
		t.Errorf("%+v", found)
	}
}

// No result is longer than its bound, and a text that was cut says so.
func TestResultsAreBounded(t *testing.T) {
	p := newProgram(t)
	uid := talk(t, p.sessions, "Big", 0)
	for range 30 {
		say(t, p.sessions, uid, chat.Message{Role: chat.RoleUser, Text: strings.Repeat("wörd ", 10_000)})
	}
	m := say(t, p.sessions, uid, chat.Message{Role: chat.RoleUser, Text: "see", Parts: []chat.Part{
		{Kind: chat.PartPaste, Name: "paste", Text: strings.Repeat("x", 50_000)}, {Kind: chat.PartImage, Name: "a.png", Media: "image/png", Size: 7},
	}})
	c := connect(t, Options{Client: p})
	usual, _ := call[readOut](c, "messages_read", `{"session_key":"`+uid+`"}`)
	if one := usual.Messages[0]; usual.Count != 31 || !one.Truncated || len([]rune(one.Content)) != usualText {
		t.Errorf("%d %d", usual.Count, len(one.Content))
	}
	much, _ := call[readOut](c, "messages_read", `{"session_key":"`+uid+`","max_chars":1000000}`)
	size := 0
	for _, one := range much.Messages {
		size += len(one.Content)
	}
	if !much.More || size > maxResult || len([]rune(much.Messages[0].Content)) != maxText {
		t.Errorf("%d characters, more %v", size, much.More)
	}
	got, _ := call[attachmentsOut](c, "attachments_fetch", fmt.Sprintf(`{"session_key":%q,"message_id":%d}`, uid, m.ID))
	if got.Count != 2 || !got.Attachments[0].Truncated || len(got.Attachments[0].Text) != maxText || got.Attachments[1].Media != "image/png" {
		t.Errorf("%+v", got.Count)
	}
	if _, failed := call[attachmentsOut](c, "attachments_fetch", `{"session_key":"`+uid+`","message_id":9999}`); !strings.Contains(failed, "no message 9999") {
		t.Error(failed)
	}
}

// What is known to be secret leaves by no tool, not even when the person's screen shows it.
func TestNoSecretLeaves(t *testing.T) {
	p := newProgram(t)
	uid := talk(t, p.sessions, "Talk", 0)
	m := say(t, p.sessions, uid, chat.Message{Role: chat.RoleUser, Text: `the word is blue-horse-battery, {"password":"x"}`, Parts: []chat.Part{
		{Kind: chat.PartPaste, Name: "p", Text: `{"a":"blue-horse-battery"}`},
	}})
	say(t, p.sessions, uid, chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{Name: "t", Text: `{"password":"hunter2hunter2"}`}})
	secret.Add("blue-horse-battery") // learnt after it was stored
	secret.Enable(false)
	defer secret.Enable(true)
	c := connect(t, Options{Client: p})
	for name, args := range map[string]string{
		"conversations_list": `{}`, "conversation_get": `{"session_key":"last"}`, "messages_search": `{"query":"word"}`,
		"messages_read":     `{"session_key":"last","include_tools":true}`,
		"attachments_fetch": fmt.Sprintf(`{"session_key":"last","message_id":%d}`, m.ID),
		"messages_send":     `{"target":"blue-horse-battery","message":"x"}`,
	} {
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		data, _ := json.Marshal(res)
		if err == nil && (strings.Contains(string(data), "blue-horse") || strings.Contains(string(data), "hunter2")) {
			t.Errorf("%s: %s", name, data)
		}
	}
	if one, _ := call[getOut](c, "conversation_get", `{"session_key":"last"}`); one.SessionKey != uid {
		t.Errorf("a key is no secret: %+v", one)
	}
}

// Events come from this process and from others, once and in order, and waiting ends with the
// first.
func TestEvents(t *testing.T) {
	p := newProgram(t)
	old := talk(t, p.sessions, "Before", 2)
	<-time.After(5 * time.Millisecond)
	c := connect(t, Options{Client: p})
	if first, _ := call[pollOut](c, "events_poll", `{}`); len(first.Events) != 0 {
		t.Errorf("what was before: %+v", first)
	}
	say(t, p.sessions, old, chat.Message{Role: chat.RoleUser, Text: "mine"})
	got, _ := call[pollOut](c, "events_wait", `{"timeout_ms":20000}`)
	if len(got.Events) != 1 || got.Events[0].Message.Content != "mine" || got.Events[0].SessionKey != old {
		t.Fatalf("%+v", got)
	}
	cursor := got.NextCursor

	began := make(chan struct{})
	go func() {
		<-began
		theirs := talk(t, p.other, "Theirs", 0)
		say(t, p.other, theirs, chat.Message{Role: chat.RoleUser, Text: "from elsewhere"})
	}()
	close(began)
	got, _ = call[pollOut](c, "events_wait", fmt.Sprintf(`{"after_cursor":%d,"timeout_ms":20000}`, cursor))
	if len(got.Events) != 1 || got.Events[0].Message.Content != "from elsewhere" {
		t.Fatalf("%+v", got)
	}
	p.bus.Publish(event.Header{Session: old}, event.TurnEnded{Reason: event.TurnDone})
	got, _ = call[pollOut](c, "events_wait", fmt.Sprintf(`{"after_cursor":%d,"session_key":%q}`, got.NextCursor, old))
	if len(got.Events) != 1 || got.Events[0].Type != "turn_ended" || got.Events[0].Reason != "done" {
		t.Errorf("%+v", got)
	}
	all, _ := call[pollOut](c, "events_poll", `{"limit":200}`)
	if len(all.Events) != 3 || all.Missed || all.Events[2].Cursor != 3 {
		t.Errorf("%+v", all)
	}
	if later, _ := call[pollOut](c, "events_wait", `{"after_cursor":3,"timeout_ms":1}`); len(later.Events) != 0 || later.NextCursor != 3 {
		t.Errorf("%+v", later)
	}
	if anew, _ := call[pollOut](c, "events_poll", `{"after_cursor":1000000}`); !anew.Missed || len(anew.Events) != 3 {
		t.Errorf("a cursor of an earlier life: %+v", anew)
	}
}

// The newest events are kept; who is late is told that some are gone.
func TestEventsAreBounded(t *testing.T) {
	p := newProgram(t)
	c := connect(t, Options{Client: p})
	for range keptEvents + 10 {
		p.bus.Publish(event.Header{Session: "s"}, event.TurnStarted{})
	}
	for cursor := int64(0); cursor < keptEvents+10; {
		got, _ := call[pollOut](c, "events_wait", fmt.Sprintf(`{"after_cursor":%d,"limit":200}`, cursor))
		if cursor = got.NextCursor; len(got.Events) == 0 {
			t.Fatalf("they ended at %d", cursor)
		}
	}
	if got, _ := call[pollOut](c, "events_poll", `{"after_cursor":5}`); !got.Missed || got.Events[0].Cursor != 11 || len(got.Events) != 20 || got.NextCursor != 30 {
		t.Errorf("%v %d", got.Missed, len(got.Events))
	}
}

func TestSending(t *testing.T) {
	p := newProgram(t)
	c := connect(t, Options{Client: p, Send: true, Permissions: true})
	sent, _ := call[sendOut](c, "messages_send", `{"target":"new","message":"do something"}`)
	if len(p.sent) != 1 || p.sent[0].From != (chat.Author{Kind: chat.AuthorAgent, ID: "test client"}) || p.sent[0].Mode != event.InputQueue {
		t.Fatalf("%+v", p.sent)
	}
	got, _ := call[pollOut](c, "events_wait", fmt.Sprintf(`{"after_cursor":%d,"session_key":%q}`, sent.Cursor, sent.SessionKey))
	if len(got.Events) != 1 || got.Events[0].Message.From != "agent" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{`{"target":"new","message":" "}`, `{"target":"","message":"x"}`, `{"target":"nobody","message":"x"}`} {
		if _, failed := call[sendOut](c, "messages_send", bad); failed == "" {
			t.Errorf("%s was sent", bad)
		}
	}
	if len(p.sent) != 1 {
		t.Errorf("%+v", p.sent)
	}

	p.bus.Publish(event.Header{Session: "s"}, event.ApprovalAsked{ID: "a1", Title: "Run?", Choices: []event.Decision{event.DecisionOnce, event.DecisionAlways, event.DecisionDeny}})
	asked, _ := call[pollOut](c, "events_wait", fmt.Sprintf(`{"after_cursor":%d}`, got.NextCursor))
	if len(asked.Events) != 1 || asked.Events[0].Approval.Decisions[0] != "allow-once" {
		t.Fatalf("%+v", asked)
	}
	if open, _ := call[openOut](c, "permissions_list_open", `{}`); open.Count != 1 || open.Approvals[0].ID != "a1" {
		t.Errorf("%+v", open)
	}
	for _, bad := range []string{"allow-always", "allow-session", "yes"} {
		if _, failed := call[respondOut](c, "permissions_respond", `{"id":"a1","decision":"`+bad+`"}`); !strings.Contains(failed, "only the person") {
			t.Errorf("%s: %q", bad, failed)
		}
	}
	if done, _ := call[respondOut](c, "permissions_respond", `{"id":"a1","decision":"allow-once"}`); !done.Resolved || len(p.answered) != 1 {
		t.Errorf("%+v %v", done, p.answered)
	}
	p.bus.Publish(event.Header{Session: "s"}, event.ApprovalSettled{ID: "a1", Decision: event.DecisionOnce, By: event.ByUser})
	call[pollOut](c, "events_wait", fmt.Sprintf(`{"after_cursor":%d}`, asked.NextCursor))
	if open, _ := call[openOut](c, "permissions_list_open", `{}`); open.Count != 0 {
		t.Errorf("%+v", open)
	}
}

// Over HTTP nobody gets in without the token, no web page with it, and no other name than that of
// this machine.
func TestWhoMaySpeakHTTP(t *testing.T) {
	s, err := New(Options{Client: newProgram(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	token, err := Token(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := s.Handler(token)
	ping := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for name, x := range map[string]struct {
		host, origin, token, site, body string
		want                            int
	}{
		"ours":                {host: "127.0.0.1:8765", token: token, want: 200},
		"localhost":           {host: "localhost:8765", token: token, want: 200},
		"ipv6":                {host: "[::1]:8765", token: token, want: 200},
		"no token":            {host: "127.0.0.1:8765", want: 401},
		"a wrong token":       {host: "127.0.0.1:8765", token: token + "x", want: 401},
		"a rebound name":      {host: "evil.example:8765", token: token, want: 403},
		"a name like ours":    {host: "localhost.evil.example", token: token, want: 403},
		"another address":     {host: "192.168.1.5:8765", token: token, want: 403},
		"a web page":          {host: "127.0.0.1:8765", origin: "https://evil.example", token: token, want: 403},
		"no origin":           {host: "127.0.0.1:8765", origin: "null", token: token, want: 403},
		"another port's page": {host: "127.0.0.1:8765", origin: "http://127.0.0.1:3000", token: token, want: 403},
		"its own page":        {host: "127.0.0.1:8765", origin: "http://127.0.0.1:8765", token: token, want: 200},
		"without an origin":   {host: "127.0.0.1:8765", site: "cross-site", token: token, want: 403},
		"too long":            {host: "127.0.0.1:8765", token: token, body: `{"x":"` + strings.Repeat("x", maxFrame) + `"}`, want: 413},
	} {
		body := ping
		if x.body != "" {
			body = x.body
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+x.host+"/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for key, value := range map[string]string{"Origin": x.origin, "Sec-Fetch-Site": x.site} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		if x.token != "" {
			r.Header.Set("Authorization", "Bearer "+x.token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != x.want {
			data, _ := io.ReadAll(w.Body)
			t.Errorf("%s: %d, wanted %d: %.200s", name, w.Code, x.want, data)
		}
		if id := w.Header().Get("Mcp-Session-Id"); id != "" { // ended, so that nothing is left
			end := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+x.host+"/", http.NoBody)
			end.Header.Set("Mcp-Session-Id", id)
			end.Header.Set("Authorization", "Bearer "+x.token)
			h.ServeHTTP(httptest.NewRecorder(), end)
		}
	}
	for address, ok := range map[string]bool{"127.0.0.1:0": true, "localhost:0": true, "0.0.0.0:0": false, ":0": false, "192.168.1.5:0": false, "example.com:0": false} {
		l, err := Listen(t.Context(), address)
		if (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil {
			l.Close()
		}
	}
}

// The token is made once, readable by its owner only.
func TestToken(t *testing.T) {
	home := t.TempDir()
	first, err := Token(home)
	again, err2 := Token(home)
	info, err3 := os.Stat(TokenFile(home))
	if err != nil || err2 != nil || err3 != nil || first != again || len(first) < shortestToken || info.Mode().Perm() != 0o600 {
		t.Errorf("%q %q %v %v %v", first, again, err, err2, err3)
	}
	if err := os.WriteFile(TokenFile(home), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Token(home); err == nil {
		t.Error("an empty token was taken")
	}
}
