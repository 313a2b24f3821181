// Package modeltest is a scripted model server for tests and benchmarks, in three wire formats: the
// path of a request says which. It speaks real HTTP on loopback and writes the documented stream
// byte for byte, so that what is tested is the whole way of an answer, wire included.
//
// The contract: every chat request takes the next Turn of the script, in order of arrival, whoever
// sends it, unless Script.Rule answers it. A request after the last turn is answered with HTTP 400
// and says so, unless Script.Loop
// is set. It is as strict as the vendors: what breaks their rules for a request is HTTP 400 (see
// check.go and strict.go). A server that is closed lets go of every stalled answer at once. Nothing
// here sleeps to make a test pass: Turn.Hold stops a stream until the test says.
package modeltest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"hermes/core/crash"
)

// Script is what the server answers.
type Script struct {
	Turns []Turn
	Loop  bool // after the last turn begin again; without it the server answers 400
	// Rule answers by what a request says; false leaves it to the turns. It must not block.
	Rule    func(Request) (Turn, bool)
	AuxText string  // when set, requests without tools take no turn and get this text (titles, summaries)
	Window  int     // tokens, four bytes each: a longer request is refused, and usage tells how long each was; 0: no limit
	Keep    int     // requests that are kept, the newest; 0: all
	Models  []Model // for GET /v1/models; nil: one model called "test-model"
}

// Model is a row of GET /v1/models.
type Model struct {
	ID            string `json:"id"`
	Object        string `json:"object"`
	ContextLength int    `json:"context_length,omitempty"`
}

// Turn is one answer. The zero Turn answers "Hello." and stops.
type Turn struct {
	Text      string
	Reasoning string
	Redacted  string // data of a redacted_thinking block, of Anthropic Messages
	// ReasoningField is the JSON name that carries it; "" means reasoning_content.
	ReasoningField string
	Calls          []Call
	Finish         string // "" means "tool_calls" with calls, else "stop"
	Usage          *Usage // nil means counted from the lengths

	Chunk    int           // runes a text delta; 0: 8
	ArgChunk int           // runes an argument delta; 0: 12
	Delay    time.Duration // before each delta

	Status     int    // an HTTP status that is not 200 ends the turn with an error body
	Message    string // the vendor's words in that body, or in the error event
	Code       string // the vendor's code in that body
	RetryAfter string // sent as it is in the Retry-After header
	Body       string // sent as it is instead of the error body; without Status, instead of the stream

	Fault Fault
	After int // content deltas before the fault or Hold
	// CutAt closes the connection after so many bytes of the body, 0: never. FaultCutRST makes it a
	// reset.
	CutAt int
	Wait  time.Duration // FaultSlow: how long the first byte takes; FaultStall: 0 means until the client leaves
	// Hold stops the stream after After deltas until the channel is closed, or the client leaves.
	Hold <-chan struct{}

	WireSplit int  // bytes a write: cuts events and characters apart
	CRLF      bool // line ends
	Heartbeat bool // a comment before each event
	NoIndex   bool // tool call deltas without "index"
	NoID      bool // tool call deltas without "id"
}

// Call is a tool call. Args is sent raw: it may be broken JSON.
type Call struct {
	ID   string // "" means call_1, call_2 ...
	Name string
	Args string
}

// Usage is what the answer reports, in tokens. Input counts those of the cache too, in every
// format.
type Usage struct{ Input, Output, Cached, Written, Reasoning int }

// cache is what the OpenAI formats tell of the cache; writes only where there are some, as not
// every server counts them.
func (u Usage) cache() map[string]any {
	out := map[string]any{"cached_tokens": u.Cached}
	if u.Written > 0 {
		out["cache_write_tokens"] = u.Written
	}
	return out
}

func (t Turn) usage() Usage {
	if t.Usage != nil {
		return *t.Usage
	}
	return Usage{Input: 10, Output: 1 + (len(t.Text)+len(t.Reasoning))/4}
}

// Fault is what goes wrong in a stream that began with HTTP 200.
type Fault string

// The faults. After says where, for those that happen in the middle.
const (
	FaultNone       Fault = ""
	FaultCutFIN     Fault = "cut_fin"     // the connection closes without an end
	FaultCutRST     Fault = "cut_rst"     // the connection is reset
	FaultMalformed  Fault = "malformed"   // an event that is not JSON, then the rest as if nothing were
	FaultErrorEvent Fault = "error_event" // an error object inside the stream
	FaultEmpty      Fault = "empty"       // no byte in the body
	FaultHTML       Fault = "html"        // a web page
	FaultSlow       Fault = "slow"        // the headers come after Wait
	FaultStall      Fault = "stall"       // silence
	FaultPings      Fault = "pings"       // only keep-alive comments from there on
	FaultNoDone     Fault = "no_done"     // the finish reason came, [DONE] does not
	FaultStaysOpen  Fault = "stays_open"  // like no_done, and the connection stays open
	FaultNoFinish   Fault = "no_finish"   // [DONE] comes, no finish reason did
	FaultNoEnd      Fault = "no_end"      // neither; the body ends cleanly
	FaultNoUsage    Fault = "no_usage"    // a server that rejects stream_options with HTTP 400
	FaultPlainJSON  Fault = "plain_json"  // a server that ignores "stream": true
)

// Request is what a client sent.
type Request struct {
	At       time.Time
	Path     string
	Header   http.Header
	Body     json.RawMessage
	Model    string
	Stream   bool
	Messages []Message
	Tools    []string // names
	Turn     int      // index in the script; -1 for a request that took none

	format *format
}

// Message is a message as the client sent it.
type Message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Text is the content when it is a string, else its JSON.
func (m Message) Text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	return string(m.Content)
}

// Server is a running server.
type Server struct {
	URL string // the base URL, with /v1 at the end

	script   Script
	http     *http.Server
	done     chan struct{}
	stop     context.CancelFunc
	mu       sync.Mutex
	next     int
	requests []Request
	came     chan struct{} // closed and replaced with every request
}

// New starts a server with the turns as its script and closes it when the test ends.
func New(t testing.TB, turns ...Turn) *Server {
	t.Helper()
	return NewScript(t, Script{Turns: turns})
}

// NewScript is New for a whole Script.
func NewScript(t testing.TB, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatalf("modeltest: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start is for benchmarks and commands: like NewScript, but the caller closes it.
func Start(script Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		URL: "http://" + l.Addr().String() + "/v1", script: script,
		done: make(chan struct{}), stop: stop, came: make(chan struct{}),
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	crash.Go("modeltest", func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always ErrServerClosed: Close is the only way out
	})
	return s, nil
}

// Close ends every answer and the server.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close()
	<-s.done
}

// Requests returns the chat requests that are kept, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// WaitRequests blocks until n chat requests came or ctx is done.
func (s *Server) WaitRequests(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		have, came := len(s.requests), s.came
		s.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-came:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Remaining says how many turns of the script nobody took yet.
func (s *Server) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, len(s.script.Turns)-s.next)
}
