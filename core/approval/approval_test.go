package approval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/testwait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk collects what a gate publishes.
type desk struct {
	mu     sync.Mutex
	events []event.Event
	asked  chan event.ApprovalAsked
}

func newDesk() *desk { return &desk{asked: make(chan event.ApprovalAsked, 16)} }

func (d *desk) publish(e event.Event) {
	d.mu.Lock()
	d.events = append(d.events, e)
	d.mu.Unlock()
	if a, ok := e.(event.ApprovalAsked); ok {
		d.asked <- a
	}
}

func (d *desk) settled() []event.ApprovalSettled {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []event.ApprovalSettled
	for _, e := range d.events {
		if s, ok := e.(event.ApprovalSettled); ok {
			out = append(out, s)
		}
	}
	return out
}

func shell(d *desk, cmd string) Request {
	args, _ := json.Marshal(map[string]string{"command": cmd})
	return meant(Request{
		Session: "s", Turn: "t", Call: chat.ToolCall{ID: "c1", Name: "terminal"},
		Dir: "/proj", Detail: cmd, Backend: "here", Publish: d.publish,
	}, string(args))
}

// decide runs Check and answers its question, if there is one.
func decide(t *testing.T, g *Gate, d *desk, r Request, answer event.Decision) (v Verdict, asked bool) {
	t.Helper()
	done := make(chan Verdict, 1)
	go func() {
		v, err := g.Check(context.Background(), r)
		if err != nil {
			t.Errorf("check: %v", err)
		}
		done <- v
	}()
	for {
		select {
		case v := <-done:
			return v, asked
		case q := <-d.asked:
			asked = true
			if err := g.Answer(q.ID, answer); err != nil {
				t.Fatal(err)
			}
		case <-time.After(testwait.Hang):
			t.Fatal("no verdict within 5 s")
		}
	}
}

func TestWhatIsRemembered(t *testing.T) {
	d := newDesk()
	other := func(change func(r *Request)) Request {
		r := shell(d, "rm -rf build/")
		change(&r)
		return r
	}
	tests := []struct {
		name   string
		answer event.Decision
		next   Request
		asks   bool
	}{
		{"once is once", event.DecisionOnce, shell(d, "rm -rf build/"), true},
		{"denied is asked again", event.DecisionDeny, shell(d, "rm -rf build/"), true},
		{"session covers the same", event.DecisionSession, shell(d, "rm -rf build/"), false},
		{"white space means nothing", event.DecisionSession, shell(d, "  rm   -rf  build/ \n"), false},
		{"white space in quotes means something", event.DecisionSession, shell(d, "rm -rf 'build/ '"), true},
		{"another path", event.DecisionSession, shell(d, "rm -rf build2/"), true},
		{"more of it", event.DecisionSession, shell(d, "rm -rf build/ && ls"), true},
		{"another back end", event.DecisionSession, other(func(r *Request) { r.Backend = "box" }), true},
		{"another folder", event.DecisionProject, other(func(r *Request) { r.Dir = "/else" }), true},
		{"project covers another session", event.DecisionProject, other(func(r *Request) { r.Session = "s2" }), false},
		{"another session", event.DecisionSession, other(func(r *Request) { r.Session = "s2" }), true},
		{"and so does this folder", event.DecisionProject, other(func(r *Request) { r.Session = "s2" }), false},
		{"another tool", event.DecisionProject, other(func(r *Request) { r.Call.Name = "process" }), true},
		{"another working directory", event.DecisionProject, other(func(r *Request) {
			*r = meant(*r, `{"command":"rm -rf build/","workdir":"/"}`)
		}), true},
		{"a longer timeout", event.DecisionProject, other(func(r *Request) {
			*r = meant(*r, `{"timeout":9,"command":"rm -rf build/"}`)
		}), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := New(Policy{}, NewFile(filepath.Join(t.TempDir(), "approvals.json")))
			if v, asked := decide(t, g, d, shell(d, "rm -rf build/"), tt.answer); !asked || v.Allowed != (tt.answer != event.DecisionDeny) {
				t.Fatalf("first: %+v, asked %v", v, asked)
			}
			if v, asked := decide(t, g, d, tt.next, event.DecisionDeny); asked != tt.asks || v.Allowed == tt.asks {
				t.Fatalf("second: %+v, asked %v, want asked %v", v, asked, tt.asks)
			}
		})
	}
}

func TestFileToolsAreRememberedByPath(t *testing.T) {
	d := newDesk()
	g := New(Policy{}, nil)
	write := func(path, content string) Request {
		args, _ := json.Marshal(map[string]string{"path": path, "content": content})
		return Request{
			Session: "s", Call: chat.ToolCall{ID: "c", Name: "write_file", Args: args},
			Intent: intent.Intent{Paths: []string{path}, OnlyPaths: true}, Dir: "/proj", Diff: "+x", Publish: d.publish,
		}
	}
	if _, asked := decide(t, g, d, write("a.txt", "1"), event.DecisionSession); !asked {
		t.Fatal("the first write was not asked about")
	}
	if _, asked := decide(t, g, d, write("/proj/./a.txt", "2"), event.DecisionDeny); asked {
		t.Fatal("the same file was asked about again")
	}
	if _, asked := decide(t, g, d, write("../a.txt", "1"), event.DecisionDeny); !asked {
		t.Fatal("another file was not asked about")
	}
}

func TestTheQuestion(t *testing.T) {
	d := newDesk()
	g := New(Policy{}, NewFile(filepath.Join(t.TempDir(), "a.json")))
	r := shell(d, "make test")
	r.Detail = "in /proj:\nmake test"
	if v, _ := decide(t, g, d, r, event.DecisionDeny); v.Allowed || !strings.Contains(v.Text, "Do not try the same thing again") {
		t.Fatalf("%+v", v)
	}
	q := d.events[0].(event.ApprovalAsked)
	if q.Title != "Run this in here?" || q.Detail[q.Span[0]:q.Span[1]] != "make test" || q.Scope == "" {
		t.Fatalf("%+v", q)
	}
	want := []event.Decision{
		event.DecisionDeny, event.DecisionOnce, event.DecisionSession, event.DecisionProject, event.DecisionAlways,
		event.DecisionSessionPrefix, event.DecisionProjectPrefix, event.DecisionAlwaysPrefix,
	}
	if !reflect.DeepEqual(q.Choices, want) {
		t.Fatalf("choices %v: the first is the default and must be deny", q.Choices)
	}
	if s := d.settled(); len(s) != 1 || s[0].ID != q.ID || s[0].By != "user" || s[0].Decision != event.DecisionDeny {
		t.Fatalf("settled %+v", s)
	}
	if err := g.Answer(q.ID, event.DecisionOnce); err == nil {
		t.Fatal("a settled question took an answer")
	}
	if len(g.Pending("")) != 0 {
		t.Fatal("a settled question is still pending")
	}
}

func TestAnswerMustBeOffered(t *testing.T) {
	d := newDesk()
	g := New(Policy{}, nil)
	done := make(chan Verdict, 1)
	go func() { v, _ := g.Check(context.Background(), shell(d, "make")); done <- v }()
	q := <-d.asked
	if err := g.Answer(q.ID, event.DecisionAlways); err == nil {
		t.Fatal("always was taken although nothing can keep it")
	}
	if p := g.Pending("s"); len(p) != 1 || p[0].ID != q.ID {
		t.Fatalf("pending: %+v", p)
	}
	if err := g.Answer(q.ID, event.DecisionOnce); err != nil || !(<-done).Allowed {
		t.Fatal("once was not taken")
	}
}

func TestSilenceDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		g := New(Policy{}, nil)
		start := time.Now()
		v, err := g.Check(context.Background(), shell(d, "make"))
		if err != nil || v.Allowed || v.By != "timeout" || time.Since(start) != DefaultTimeout {
			t.Fatalf("%+v, %v after %v", v, err, time.Since(start))
		}
		if s := d.settled(); len(s) != 1 || s[0].By != "timeout" || s[0].Decision != event.DecisionDeny {
			t.Fatalf("settled %+v", s)
		}
	})
}

func TestInterruptDenies(t *testing.T) {
	d := newDesk()
	g := New(Policy{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan Verdict, 1)
	go func() { v, _ := g.Check(ctx, shell(d, "make")); done <- v }()
	<-d.asked
	cancel()
	if v := <-done; v.Allowed || v.By != "interrupt" {
		t.Fatalf("%+v", v)
	}
	if s := d.settled(); len(s) != 1 || s[0].By != "interrupt" || len(g.Pending("")) != 0 {
		t.Fatalf("settled %+v", s)
	}
}

// An answer races with the interrupt and the deadline: exactly one settlement, and never "allowed"
// after the interrupt.
func TestAnswerRacesWithInterrupt(t *testing.T) {
	for range 300 {
		d := newDesk()
		g := New(Policy{}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan Verdict, 1)
		go func() { v, _ := g.Check(ctx, shell(d, "make")); done <- v }()
		q := <-d.asked
		go cancel()
		_ = g.Answer(q.ID, event.DecisionOnce)
		v := <-done
		if s := d.settled(); len(s) != 1 || (s[0].Decision == event.DecisionDeny) == v.Allowed {
			t.Fatalf("verdict %+v, settled %+v", v, s)
		}
	}
}

func TestPolicies(t *testing.T) {
	d := newDesk()
	reading := shell(d, "anything")
	reading.Intent.Reads = true
	tests := []struct {
		name    string
		policy  Policy
		r       Request
		allowed bool
		by      event.Decider
	}{
		{"reading runs", Policy{}, reading, true, "read-only"},
		{"off runs", Policy{Mode: ModeOff}, shell(d, "make"), true, "policy"},
		{"off keeps the floor", Policy{Mode: ModeOff}, shell(d, "sudo rm -rf /"), false, "floor"},
		{"manual keeps the floor", Policy{}, shell(d, "sudo rm -rf /"), false, "floor"},
		{"nobody there", Policy{Unattended: true}, shell(d, "make"), false, "policy"},
		{"nobody there, but yes", Policy{Unattended: true, Mode: ModeOff}, shell(d, "make"), true, "policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := New(tt.policy, nil).Check(context.Background(), tt.r)
			if err != nil || v.Allowed != tt.allowed || v.By != tt.by || v.Allowed == (v.Text != "") {
				t.Fatalf("%+v, %v", v, err)
			}
		})
	}
	if len(d.events) != 3 {
		t.Fatalf("refused or asked: %+v", d.events)
	}
	for _, told := range d.events {
		if e, ok := told.(event.ApprovalSettled); !ok || e.Decision != event.DecisionDeny || e.CallID == "" {
			t.Fatalf("a refusal without a question must be told: %+v", told)
		}
	}
}

func TestRulesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approvals.json")
	one, two := NewFile(path), NewFile(path) // two workbenches in one home
	a, b := Entry{Rule: Rule{Tool: "terminal", Subject: "ls"}}, Entry{Rule: Rule{Tool: "terminal", Subject: "pwd"}}
	if err := errors.Join(one.Add(a), two.Add(b), one.Add(b)); err != nil {
		t.Fatal(err)
	}
	kept, err := one.Entries()
	if err != nil || len(kept) != 2 || kept[0].Rule != a.Rule || kept[1].Rule != b.Rule || kept[0].ID == kept[1].ID {
		t.Fatalf("%+v, %v", kept, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if kept, err := one.Entries(); len(kept) > 0 || err == nil {
		t.Fatalf("a broken file allowed something or said nothing: %v, %v", kept, err)
	}
	if err := one.Add(a); err == nil {
		t.Fatal("a broken file was overwritten")
	}
}
