package approval

import (
	"context"
	"strings"
	"time"

	"hermes/core/event"
)

// ask publishes the question, waits for the answer, the deadline or the end of ctx, and publishes how it was settled.
func (g *Gate) ask(ctx context.Context, r Request, rule Rule, timeout time.Duration) Verdict {
	q := g.open(r, rule, timeout)
	r.Publish(q.asked)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	d, by := event.DecisionDeny, "user"
	select {
	case d = <-q.answer:
	case <-timer.C:
		by = "timeout"
	case <-ctx.Done():
		by = "interrupt"
	}
	if by != "user" && !g.withdraw(q.asked.ID) {
		d, by = <-q.answer, "user" // the answer won the race and is already sent
	}
	if ctx.Err() != nil { // an answer that came with the interrupt must not start anything
		d, by = event.DecisionDeny, "interrupt"
	}
	r.Publish(event.ApprovalSettled{ID: q.asked.ID, CallID: r.Call.ID, Decision: d, By: by})
	return verdict(d, by)
}

func verdict(d event.Decision, by string) Verdict {
	v := Verdict{Allowed: d != event.DecisionDeny, Asked: true, Decision: d, By: by}
	switch {
	case v.Allowed:
	case by == "timeout":
		v.Text = "Not run: nobody answered the request for approval in time. Do not ask for the same thing again; " +
			"go on without it or say what you need."
	case by == "interrupt":
		v.Text = "Not run: the turn was interrupted while this waited for approval."
	default:
		v.Text = "Denied by the person. Do not try the same thing again, in this or another form; " +
			"go on without it, or ask what they want instead."
	}
	return v
}

func (g *Gate) open(r Request, rule Rule, timeout time.Duration) *question {
	choices := []event.Decision{event.DecisionDeny, event.DecisionOnce}
	if rule.Subject != "" {
		choices = append(choices, event.DecisionSession)
		if g.rules != nil && lasts(r) {
			choices = append(choices, event.DecisionAlways)
		}
	}
	asked := event.ApprovalAsked{
		Call: r.Call, Title: title(r), Detail: r.Detail, Scope: scope(rule), Diff: r.Diff, Backend: r.Backend,
		Effects: effects(r), Span: span(r), Deadline: time.Now().Add(timeout), Choices: choices,
		Reason: "only reading runs without asking",
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	asked.ID = questionID(g.next)
	q := &question{asked: asked, header: r.Session, answer: make(chan event.Decision, 1)}
	g.waiting[asked.ID] = q
	return q
}

// withdraw closes a question without an answer; false means that the answer came first.
func (g *Gate) withdraw(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, open := g.waiting[id]
	delete(g.waiting, id)
	return open
}

func title(r Request) string {
	files := absolute(r.Dir, r.Paths)
	switch cmd := callOf(r.Call.Args).command; {
	case cmd != "" && r.Backend != "":
		return "Run this in " + r.Backend + "?"
	case cmd != "":
		return "Run this?"
	case r.Diff != "" && len(files) == 1:
		return "Change " + files[0] + "?"
	case r.Diff != "":
		return "Change these files?"
	default:
		return "Use " + r.Call.Name + "?"
	}
}

// effects says what is known for sure about a call. The analysis of what a command deletes is not done here.
func effects(r Request) []string {
	if callOf(r.Call.Args).command != "" {
		return nil
	}
	var out []string
	root := absolute("", []string{r.Dir})[0]
	for _, p := range absolute(r.Dir, r.Paths) {
		if r.Dir != "" && p != root && !strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/") {
			out = append(out, "touches "+p+" (outside "+r.Dir+")")
			continue
		}
		out = append(out, "touches "+p)
	}
	return out
}

// span marks the command inside Detail when Detail holds more than the command.
func span(r Request) [2]int {
	cmd := callOf(r.Call.Args).command
	if cmd == "" || cmd == r.Detail {
		return [2]int{}
	}
	if i := strings.Index(r.Detail, cmd); i >= 0 {
		return [2]int{i, i + len(cmd)}
	}
	return [2]int{}
}
