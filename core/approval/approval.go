// Package approval decides what may run unasked, what must be asked, and what never runs.
//
// The contract:
//
//   - Read-only tools run. Everything else asks, unless this exact action was allowed before or asking is switched off.
//   - What "this session" and "always" remember is the action itself: the command as the shell reads it, with its other
//     arguments and its back end, or the exact path of a file tool. Never a description, never a pattern.
//   - A command that the person typed as one ("$ ls", a fenced shell block) is the person's own and runs, where they said
//     and with nothing added to it.
//   - Silence is a no: a question denies itself at its deadline, and an interrupt settles it as denied.
//   - A small floor never runs, whatever a person or a rule says: see Floor. Neither does what Policy.Deny forbids.
//   - Every question is published as ApprovalAsked and closed by exactly one ApprovalSettled. What is refused
//     without asking has an ApprovalSettled without a question.
//
// It knows no tool by name and no screen: whoever answers calls Answer with the question's id.
package approval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
)

// Mode says when a Gate asks.
type Mode string

// Modes. The floor holds in both.
const (
	ModeManual Mode = "manual" // ask before everything that is not read-only
	ModeOff    Mode = "off"    // never ask
)

// DefaultTimeout is how long a question waits before it denies itself.
const DefaultTimeout = 5 * time.Minute

// Request is one tool call that wants to run.
type Request struct {
	Session  string
	Turn     string
	Call     chat.ToolCall
	ReadOnly bool
	Paths    []string // files the call touches; the arguments may name them relative to Dir
	Dir      string   // where relative paths begin: the session's folder, or where its commands run now
	Detail   string   // the command or a summary, plain text
	Diff     string   // unified diff, for file changes
	Backend  string   // where it would run; "" for tools that run in the agent
	Prompt   string   // what the person wrote in this turn: a command that stands there as one is theirs
	// Publish emits an event under the call's header. Never nil.
	Publish func(e event.Event)
}

// Verdict is the outcome of Check.
type Verdict struct {
	Allowed  bool
	Asked    bool // a person (or the deadline) was asked, or would have been
	Decision event.Decision
	By       string // "user", "rule", "timeout", "interrupt", "floor", "settings" (Policy.Deny), "policy", "read-only"
	Text     string // for the model, when it is not allowed
}

// Rules keeps what was allowed for good.
type Rules interface {
	// Has reports whether r was added before, by this process or another.
	Has(r Rule) (bool, error)
	// Add remembers r. Adding it again does nothing.
	Add(r Rule) error
}

// Gate stands before every tool call. All methods are safe for concurrent use.
type Gate struct {
	policy atomic.Pointer[Policy]
	rules  Rules

	mu      sync.Mutex
	next    int
	waiting map[string]*question         // by question id
	session map[string]map[Rule]struct{} // what a person allowed for one session
}

// question is an ApprovalAsked that nobody has answered yet.
type question struct {
	asked  event.ApprovalAsked
	header string // session
	answer chan event.Decision
}

// New returns a gate. Rules may be nil: then "always" is not offered.
func New(p Policy, rules Rules) *Gate {
	g := &Gate{rules: rules, waiting: map[string]*question{}, session: map[string]map[Rule]struct{}{}}
	g.SetPolicy(p)
	return g
}

// SetPolicy changes how the gate behaves from the next call on. Questions that wait keep their deadline.
func (g *Gate) SetPolicy(p Policy) {
	if p.Mode == "" {
		p.Mode = ModeManual
	}
	if p.Timeout <= 0 {
		p.Timeout = DefaultTimeout
	}
	g.policy.Store(&p)
}

// Policy returns how the gate behaves now.
func (g *Gate) Policy() Policy { return *g.policy.Load() }

// Check decides about one call and waits for a person when it must ask. Cancelling ctx settles the question as denied.
// The error is for a broken rules file only; the call was then asked about as if it had no rules.
func (g *Gate) Check(ctx context.Context, r Request) (Verdict, error) {
	if r.ReadOnly {
		return Verdict{Allowed: true, Decision: event.DecisionOnce, By: "read-only"}, nil
	}
	p, c := g.Policy(), callOf(r.Call.Args)
	if v, sure := p.unasked(r, c); sure {
		if !v.Allowed {
			tellRefusal(r, v)
		}
		return v, nil
	}
	rule := ruleOf(r)
	known, err := g.known(r.Session, rule)
	switch {
	case known:
		return Verdict{Allowed: true, Decision: event.DecisionAlways, By: "rule"}, err
	case p.Unattended:
		v := refusal("policy", "Refused: this needs a person's approval and nobody is there to give it. "+
			"Do not try it in another form; finish what can be done without it and say what was left out.")
		v.Asked = true
		tellRefusal(r, v)
		return v, err
	}
	v := g.ask(ctx, r, rule, p.Timeout)
	if v.Allowed {
		err = errors.Join(err, g.remember(r.Session, rule, v.Decision))
	}
	return v, err
}

// tellRefusal says without a question before it that a call was refused, so that scripts can tell that from an answer.
func tellRefusal(r Request, v Verdict) {
	r.Publish(event.ApprovalSettled{CallID: r.Call.ID, Decision: v.Decision, By: v.By})
}

// unasked decides what needs neither a person nor a memory: what never runs first, then what the settings let run.
func (p Policy) unasked(r Request, c call) (v Verdict, sure bool) {
	for _, cmd := range []string{c.command, c.input} {
		if why := Floor(cmd); why != "" {
			return refusal("floor", "Refused: "+why+". This never runs here, whatever the settings say. Do not look for another way to do it."), true
		}
		if pattern := p.denied(cmd); pattern != "" {
			return refusal("settings", "Refused: the person's settings forbid it (approvals.deny: "+pattern+"). Do not look for another way to do it."), true
		}
	}
	allow := Verdict{Allowed: true, Decision: event.DecisionOnce, By: "policy"}
	switch {
	case typed(r.Prompt, c):
		allow.By = "user"
		return allow, true
	case p.Mode == ModeOff, p.allowed(c):
		return allow, true
	default:
		return v, false
	}
}

// Answer settles a question. It fails when the question is not open (any more).
func (g *Gate) Answer(id string, d event.Decision) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.waiting[id]
	if q == nil {
		return fmt.Errorf("approval %s is not open any more: it was answered, it timed out, or its turn was stopped", id)
	}
	if !offers(q.asked.Choices, d) {
		return fmt.Errorf("approval %s cannot be answered with %q: choose one of %v", id, d, q.asked.Choices)
	}
	delete(g.waiting, id)
	q.answer <- d // has room for the one answer
	return nil
}

// Pending returns the open questions of a session, oldest first; "" returns all.
func (g *Gate) Pending(session string) []event.ApprovalAsked {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []event.ApprovalAsked
	for i := range g.next {
		if q := g.waiting[questionID(i+1)]; q != nil && (session == "" || q.header == session) {
			out = append(out, q.asked)
		}
	}
	return out
}

// Forget drops what was allowed for one session.
func (g *Gate) Forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.session, session)
}

func refusal(by, text string) Verdict {
	return Verdict{Decision: event.DecisionDeny, By: by, Text: text}
}

func offers(choices []event.Decision, d event.Decision) bool {
	for _, c := range choices {
		if c == d {
			return true
		}
	}
	return false
}

func questionID(n int) string { return fmt.Sprintf("a%d", n) }

// known reports whether the action was allowed before, in this session or for good.
func (g *Gate) known(session string, rule Rule) (bool, error) {
	if rule.Subject == "" {
		return false, nil
	}
	g.mu.Lock()
	_, ok := g.session[session][rule]
	g.mu.Unlock()
	if ok || g.rules == nil {
		return ok, nil
	}
	return g.rules.Has(rule)
}

func (g *Gate) remember(session string, rule Rule, d event.Decision) error {
	if rule.Subject == "" || d == event.DecisionOnce {
		return nil
	}
	g.mu.Lock()
	if g.session[session] == nil {
		g.session[session] = map[Rule]struct{}{}
	}
	g.session[session][rule] = struct{}{}
	g.mu.Unlock()
	if d != event.DecisionAlways || g.rules == nil {
		return nil
	}
	return g.rules.Add(rule)
}
