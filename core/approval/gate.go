// Package approval decides what may run unasked, what must be asked, and what never runs.
//
// The contract:
//
//   - A session has a level (see package command). What a call does is read from the call itself;
//     it runs unasked when no effect is above the level. What is above asks, unless this action was
//     allowed before or asking is switched off.
//
//   - What is remembered is the action itself: the command as the shell reads it, with its other
//     arguments, its folder and its back end, or the exact path of a file tool; or, when the person
//     chose that, the first words of a command, which are shown. Never a description. Never for
//     unknown code, privilege or what comes back by itself. All but what counts for one session
//     expires.
//
//   - In mode smart a model may allow what can be undone. What it is shown is data; whatever it
//     says but one word asks.
//
//   - A command that the person typed as one ("$ ls", a fenced shell block) is the person's own and
//     runs, where they said and with nothing added to it.
//
//   - Silence is a no: a question denies itself at its deadline, and an interrupt settles it as
//     denied.
//
//   - A small floor never runs, whatever a person or a rule says. Neither does what
//     Policy.Deny forbids.
//
//   - Every question is published as ApprovalAsked and closed by exactly one ApprovalSettled. What
//     is refused without asking has an ApprovalSettled without a question.
//
//   - What a call means is what its tool says (package intent): no argument is read here. One that
//     says nothing is asked about at every level. What is remembered of a foreign tool holds for
//     its owner, its name and its definition.
//
// It knows no tool by name and no screen: whoever answers calls Answer with the question's id.
package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/approval/command"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/secret"
)

// Mode says when a Gate asks.
type Mode string

// Modes. The floor and Policy.Deny hold in all.
const (
	ModeManual Mode = "manual" // a person is asked about what is above the level
	ModeSmart  Mode = "smart"  // a model decides about what can be undone, a person about the rest
	ModeOff    Mode = "off"    // never ask
	ModePlan   Mode = "plan"   // only what reads runs, the rest is refused unasked: a person wants a plan first
)

// DefaultTimeout is how long a question waits before it denies itself.
const DefaultTimeout = 5 * time.Minute

// Request is one tool call that wants to run.
type Request struct {
	Session string
	Turn    string
	Call    chat.ToolCall // for who is asked. Its arguments are read by its tool only: see Intent
	// Owner and Definition are of the tool: who brought it, "" for ours, and a hash of what it says
	// of itself.
	Owner, Definition string
	// Intent is what the call means. One that says nothing is asked about at every level.
	Intent  intent.Intent
	Dir     string // where relative paths begin: the session's folder, or where its commands run now
	Detail  string // the command or a summary, plain text
	Diff    string // unified diff, for file changes
	Backend string // where it would run; "" for tools that run in the agent
	Prompt  string // what the person wrote in this turn: a command that stands there as one is theirs
	Project string // root of what the person works on; "" means Dir
	// Local says that paths are those of this machine, Sandboxed that nothing of the machine can be
	// reached from where it runs.
	Local, Sandboxed bool
	// Sandbox is that of commands on this machine: "project", "strict"; "" or "off" is none. It
	// makes no rule looser.
	Sandbox string
	// Foreign is as in command.Context.
	Foreign func() string
	Title   string // the question; "" is made of what the call does
	// Edits says that a person can put a command of their own in place of the call's, Typed that
	// they did: it runs like what they type, without another question.
	Edits, Typed bool
	// Publish emits an event under the call's header. Never nil.
	Publish func(e event.Event)
}

// Verdict is the outcome of Check.
type Verdict struct {
	Allowed  bool
	Asked    bool // a person (or the deadline) was asked, or would have been
	Decision event.Decision
	Command  string // what the person wrote in place of the call's command; "" when they did not
	By       event.Decider
	Text     string // for the model, when it is not allowed
	Rule     string // id of the remembered decision, when By is ByRule
	Analysis Analysis
}

// Rules keeps what was allowed for more than one session.
type Rules interface {
	// Entries returns what is remembered, by this process or another, oldest first.
	Entries() ([]Entry, error)
	// Add remembers e. What says the same is replaced.
	Add(e Entry) error
	// Revoke forgets the entries with these ids, or all, and says how many there were.
	Revoke(all bool, ids ...string) (int, error)
}

// Record is one decision, for who keeps an audit log.
type Record struct {
	At      time.Time
	Request Request
	Verdict Verdict
}

// Gate stands before every tool call. All methods are safe for concurrent use.
type Gate struct {
	policy atomic.Pointer[Policy]
	rules  Rules

	mu         sync.Mutex
	next       int
	waiting    map[string]*question // by question id
	session    map[string][]Entry   // what a person allowed for one session
	input      map[process][]*piece // what running programs were sent
	told       func(Record)
	perSession func(session string, p Policy) Policy
	now        func() time.Time
}

// question is an ApprovalAsked that nobody has answered yet.
type question struct {
	asked  event.ApprovalAsked
	header string // session
	answer chan answer
}

// answer is what a person decided, and the command that they wrote instead.
type answer struct {
	decision event.Decision
	command  string
}

// New returns a gate. Rules may be nil: then "always" is not offered.
func New(p Policy, rules Rules) *Gate {
	g := &Gate{rules: rules, waiting: map[string]*question{}, session: map[string][]Entry{}, now: time.Now}
	g.SetPolicy(p)
	return g
}

// SetPolicy changes how the gate behaves from the next call on. Questions that wait keep their
// deadline.
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

// PerSession has f say what holds for a session in place of the policy of all. Set it before the
// first Check.
func (g *Gate) PerSession(f func(session string, p Policy) Policy) { g.perSession = f }

// policyOf is what holds for the calls of a session. All reading of a policy for a call goes
// through it.
func (g *Gate) policyOf(session string) Policy {
	p := g.Policy()
	if g.perSession != nil {
		p = g.perSession(session, p)
	}
	if p.Mode == ModePlan {
		p.Level, p.Allow = LevelRead, nil
	}
	return p
}

// OnRecord calls f for every decision about a call that is not read-only, from the goroutine of the
// call, before it runs. Set it before the first Check.
func (g *Gate) OnRecord(f func(Record)) { g.told = f }

// Check decides about one call and waits for a person when it must ask. Cancelling ctx settles the
// question as denied. The error is for a broken rules file only; the call was then asked about as
// if it had no rules.
func (g *Gate) Check(ctx context.Context, r Request) (Verdict, error) {
	if r.Intent.Reads {
		return Verdict{Allowed: true, Decision: event.DecisionOnce, By: event.ByReadOnly}, nil
	}
	v, err := g.checkCall(ctx, r)
	if g.told != nil {
		g.told(Record{At: g.now(), Request: r, Verdict: v})
	}
	return v, err
}

func (g *Gate) checkCall(ctx context.Context, r Request) (v Verdict, err error) {
	p, before := g.policyOf(r.Session), ""
	if in := r.Intent.Stdin; in != nil && in.Process != "" {
		var unsent func()
		before, unsent = g.noteInput(process{r.Session, in.Process}, in.Text)
		defer func() {
			if !v.Allowed {
				unsent()
			}
		}()
	}
	a := p.analyseCall(r, before)
	if v, sure := p.decideUnasked(r, before, a); sure {
		v.Analysis = a
		if !v.Allowed {
			tellRefusal(r, v)
		}
		return v, nil
	}
	if p.Mode == ModePlan {
		v := refuseBy(event.ByPolicy, planned)
		v.Analysis = a
		tellRefusal(r, v)
		return v, nil
	}
	o := offerOf(r, a)
	id, err := g.knownRule(r, o)
	switch {
	case id != "":
		return Verdict{Allowed: true, Decision: event.DecisionAlways, By: event.ByRule, Rule: id, Analysis: a}, err
	case p.Mode == ModeSmart && r.Intent.Consent != intent.Confirm && p.modelAllows(ctx, r, a):
		return Verdict{Allowed: true, Decision: event.DecisionOnce, By: event.BySmart, Analysis: a}, err
	case p.Unattended:
		v := refuseBy(event.ByPolicy, "Refused: this needs a person's approval and nobody is there to give it ("+a.Reason+"). "+
			"Do not try it in another form; finish what can be done without it and say what was left out.")
		v.Asked, v.Analysis = true, a
		tellRefusal(r, v)
		return v, err
	}
	v = g.askPerson(ctx, r, o, p.Timeout)
	v.Analysis = a
	if v.Allowed {
		err = errors.Join(err, g.rememberDecision(r, o, v.Decision, p.Remember))
	}
	return v, err
}

// planned is what a model reads of a call that is refused while only plans are wanted.
const planned = "Refused: the person wants a plan first, and lets nothing be changed in this session. " +
	"Do not try it in another form: look at what you need to, then say what you would do, step by step."

// tellRefusal says without a question before it that a call was refused, so that scripts can tell
// that from an answer.
func tellRefusal(r Request, v Verdict) {
	r.Publish(event.ApprovalSettled{CallID: r.Call.ID, Decision: v.Decision, By: v.By, Level: int(v.Analysis.Level), Reason: v.Analysis.Reason})
}

// decideUnasked decides what needs neither a person nor a memory: what never runs first, then what
// the settings let run.
func (p Policy) decideUnasked(r Request, before string, a Analysis) (v Verdict, sure bool) {
	if a.Verdict == command.Refuse {
		return refuseBy(event.ByFloor, "Refused: "+a.Reason+". This never runs here, whatever the settings say. Do not look for another way to do it."), true
	}
	for _, cmd := range r.shellTexts(before) {
		if pattern := p.denyingPattern(cmd, a.Runs); pattern != "" {
			return refuseBy(event.BySettings, "Refused: the person's settings forbid it (approvals.deny: "+pattern+"). Do not look for another way to do it."), true
		}
	}
	allow := Verdict{Allowed: true, Decision: event.DecisionOnce, By: event.ByPolicy}
	switch {
	case r.Intent.Consent == intent.Confirm:
		return v, false
	case r.Intent.Consent == intent.Allowed:
		allow.By = event.BySettings
	case r.Typed || wasTyped(r.Prompt, r.Intent):
		allow.By = event.ByUser
	case p.Mode == ModeOff:
	case p.allowsByName(r.Intent):
		allow.By = event.BySettings
	case a.Verdict == command.Allow:
		allow.By = event.ByLevel
	default:
		return v, false
	}
	return allow, true
}

// Answer settles a question. It fails when the question is not open (any more).
func (g *Gate) Answer(id string, d event.Decision) error {
	if d == event.DecisionEdited {
		return fmt.Errorf("approval %s cannot be answered with %q without a command", id, d)
	}
	return g.settleQuestion(id, answer{decision: d})
}

// AnswerEdited settles a question about a command: another one runs in its place, as that call. The
// floor and what the settings forbid hold for it all the same.
func (g *Gate) AnswerEdited(id, command string) error {
	if strings.TrimSpace(command) == "" {
		return fmt.Errorf("approval %s: write the command that is to run", id)
	}
	return g.settleQuestion(id, answer{event.DecisionEdited, command})
}

func (g *Gate) settleQuestion(id string, a answer) error {
	d := a.decision
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.waiting[id]
	if q == nil {
		return fmt.Errorf("approval %s is not open any more: it was answered, it timed out, or its turn was stopped", id)
	}
	if !slices.Contains(q.asked.Choices, d) {
		return fmt.Errorf("approval %s cannot be answered with %q: choose one of %v", id, d, q.asked.Choices)
	}
	delete(g.waiting, id)
	q.answer <- a // has room for the one answer
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
	for p := range g.input {
		if p.session == session {
			delete(g.input, p)
		}
	}
}

// Remembered returns what is allowed without asking: for one session first, then for more than
// that.
func (g *Gate) Remembered(session string) ([]Entry, error) {
	g.mu.Lock()
	out := slices.Clone(g.session[session])
	g.mu.Unlock()
	if g.rules == nil {
		return out, nil
	}
	kept, err := g.rules.Entries()
	return append(out, kept...), err
}

// Revoke forgets a remembered decision, of the session or for good. It fails when there is none of
// this id.
func (g *Gate) Revoke(session, id string) error {
	g.mu.Lock()
	before := len(g.session[session])
	g.session[session] = slices.DeleteFunc(g.session[session], func(e Entry) bool { return e.ID == id })
	gone := before - len(g.session[session])
	g.mu.Unlock()
	if g.rules != nil {
		n, err := g.rules.Revoke(false, id)
		if err != nil && gone == 0 {
			return err
		}
		gone += n
	}
	if gone == 0 {
		return fmt.Errorf("no remembered approval has the id %s", id)
	}
	return nil
}

func refuseBy(by event.Decider, text string) Verdict {
	return Verdict{Decision: event.DecisionDeny, By: by, Text: text}
}

func questionID(n int) string { return fmt.Sprintf("a%d", n) }

// knownRule returns the id of what allowed this action before, in this session or for longer; ""
// when nothing did.
func (g *Gate) knownRule(r Request, o offer) (string, error) {
	if o.rule.Subject == "" {
		return "", nil
	}
	entries, err := g.Remembered(r.Session)
	now := g.now()
	for _, e := range entries {
		if !e.Expired(now) && e.coversCall(r, o) {
			return e.ID, nil
		}
	}
	return "", err
}

func (g *Gate) rememberDecision(r Request, o offer, d event.Decision, lasting time.Duration) error {
	if o.rule.Subject == "" || d == event.DecisionOnce || d == event.DecisionEdited {
		return nil
	}
	e := o.entryFor(d, g.now(), lasting)
	// A command with a secret in it is remembered in memory only.
	if d.Span() == event.DecisionSession || g.rules == nil || secret.Redact(e.Subject) != e.Subject {
		g.mu.Lock()
		g.session[r.Session] = append(g.session[r.Session], e)
		g.mu.Unlock()
		return nil
	}
	return g.rules.Add(e)
}
