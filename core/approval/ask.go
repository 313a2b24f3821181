package approval

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/core/approval/command"
	"hermes/core/event"
)

// askPerson publishes the question, waits for the answer, the deadline or the end of ctx, and
// publishes how it was settled.
func (g *Gate) askPerson(ctx context.Context, r Request, o offer, timeout time.Duration) Verdict {
	q := g.openQuestion(r, o, timeout)
	r.Publish(q.asked)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	got, by := answer{decision: event.DecisionDeny}, event.ByUser
	select {
	case got = <-q.answer:
	case <-timer.C:
		by = event.ByTimeout
	case <-ctx.Done():
		by = event.ByInterrupt
	}
	if by != event.ByUser && !g.withdrawQuestion(q.asked.ID) {
		got, by = <-q.answer, event.ByUser // the answer won the race and is already sent
	}
	if ctx.Err() != nil { // an answer that came with the interrupt must not start anything
		got, by = answer{decision: event.DecisionDeny}, event.ByInterrupt
	}
	d := got.decision
	r.Publish(event.ApprovalSettled{
		ID: q.asked.ID, CallID: r.Call.ID, Decision: d, By: by, Level: q.asked.Level, Reason: q.asked.Reason, Scope: o.scopeWords(d),
	})
	v := verdictOf(d, by)
	v.Command = got.command
	return v
}

func verdictOf(d event.Decision, by event.Decider) Verdict {
	v := Verdict{Allowed: d != event.DecisionDeny, Asked: true, Decision: d, By: by}
	switch {
	case v.Allowed:
	case by == event.ByTimeout:
		v.Text = "Not run: nobody answered the request for approval in time. Do not ask for the same thing again; " +
			"go on without it or say what you need."
	case by == event.ByInterrupt:
		v.Text = "Not run: the turn was interrupted while this waited for approval."
	default:
		v.Text = "Denied by the person. Do not try the same thing again, in this or another form; " +
			"go on without it, or ask what they want instead."
	}
	return v
}

func (g *Gate) openQuestion(r Request, o offer, timeout time.Duration) *question {
	a := o.analysis
	asked := event.ApprovalAsked{
		Call: r.Call, Title: titleOf(r), Detail: r.Detail, Scope: o.scopeWords(event.DecisionSession), Diff: r.Diff, Backend: r.Backend,
		Effects: effectLines(a), Deadline: g.now().Add(timeout), Choices: o.decisionChoices(g.rules != nil), Reason: a.Reason, Level: int(a.Level),
	}
	if r.Edits {
		asked.Choices = append(asked.Choices, event.DecisionEdited)
	}
	asked.Withheld = o.withheldChoices(g.rules != nil, r.Edits)
	if o.prefix != "" {
		asked.Prefix = o.prefix
	}
	asked.Span, asked.Spans = dangerousSpans(r, a)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	asked.ID = questionID(g.next)
	q := &question{asked: asked, header: r.Session, answer: make(chan answer, 1)}
	g.waiting[asked.ID] = q
	return q
}

// withdrawQuestion closes a question without an answer; false means that the answer came first.
func (g *Gate) withdrawQuestion(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, open := g.waiting[id]
	delete(g.waiting, id)
	return open
}

func titleOf(r Request) string {
	files := absolutePaths(r.Dir, r.Intent.Paths)
	where := r.Backend
	if r.Title != "" {
		return r.Title
	}
	switch {
	case where != "" && r.Local && r.Sandbox != "" && r.Sandbox != "off":
		where += " (this machine, " + r.Sandbox + " sandbox)"
	case where != "" && r.Local:
		where += " (this machine, no sandbox)"
	case where != "" && r.Sandboxed:
		where += " (a container without folders of this machine)"
	}
	switch cmd := r.shellCommand(); {
	case cmd != "" && r.Backend != "":
		return "Run this in " + where + "?"
	case cmd != "":
		return "Run this?"
	case r.Diff != "" && len(files) == 1:
		return "Change " + files[0] + "?"
	case r.Diff != "":
		return "Change these files?"
	case r.Owner != "":
		return "Use " + r.Call.Name + " of " + r.Owner + "?"
	default:
		return "Use " + r.Call.Name + "?"
	}
}

// maxShown bounds how many effects a question lists.
const maxShown = 12

// effectLines says what a call would do, worst first. What runs unasked anyway is left out beside
// something worse.
func effectLines(a Analysis) []string {
	var out []string
	for _, e := range a.Effects {
		if len(out) == maxShown {
			return append(out, "and more")
		}
		if e.Level <= command.LevelStandard && a.Level > command.LevelStandard && e.Class != command.Write && e.Class != command.Delete {
			continue
		}
		out = append(out, e.Reason+countHeld(e.Folder))
	}
	return out
}

// Counting the files of a folder ends at this many, or after this long.
const (
	maxCounted = 20_000
	countTime  = 200 * time.Millisecond
)

// countHeld says how many files a folder holds that would be deleted: ": 1204 files".
func countHeld(folder string) string {
	if folder == "" {
		return ""
	}
	n, end, over := 0, time.Now().Add(countTime), false
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not counted
		case n >= maxCounted || n%64 == 0 && time.Now().After(end):
			over = true
			return fs.SkipAll
		case !d.IsDir():
			n++
		}
		return nil
	})
	switch {
	case err != nil || n == 0 && !over:
		return ""
	case over:
		return fmt.Sprintf(": more than %d files", n)
	case n == 1:
		return ": 1 file"
	default:
		return fmt.Sprintf(": %d files", n)
	}
}

// dangerousSpans are the dangerous parts of a command inside of Detail: the one that decided, then
// all of them.
func dangerousSpans(r Request, a Analysis) (worst [2]int, all [][2]int) {
	cmd := r.shellCommand()
	at := strings.Index(r.Detail, cmd)
	if cmd == "" || at < 0 {
		return worst, nil
	}
	for _, e := range a.Effects {
		if e.Level <= command.LevelStandard && a.Level > command.LevelStandard || e.Span[1] <= e.Span[0] {
			continue
		}
		s := [2]int{at + e.Span[0], at + e.Span[1]}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if a.Span[1] > a.Span[0] && a.Span[1] <= len(cmd) {
		worst = [2]int{at + a.Span[0], at + a.Span[1]}
	}
	return worst, all
}
