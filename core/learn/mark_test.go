package learn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/skills"
)

// named is a turn by its id.
func named(ref string) Turn { return Turn{Ref: ref} }

// A person's mark decides what a turn came to, is counted for its skill, wants a review, and is
// taken back with all of that.
func TestAMarkDecidesAndIsTakenBack(t *testing.T) {
	t.Parallel()
	d, _ := baked(t, Auto)
	raw, err := d.ownText("bake").read()
	if err != nil {
		t.Fatal(err)
	}
	hash := skills.HashOf(raw)
	d.turn(10, "bake bread, make test has to pass", "make test", 0, event.TurnEnded{})
	if err := d.file.editState(func(st *state) error {
		x := st.findTurn(named("t10"))
		x.Skills = []Loaded{{Name: "bake", Hash: hash, By: "model"}}
		st.countOutcome("bake", hash, Good, 1)
		st.Due = nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	counts := func() Uses {
		out, err := d.Outcomes("bake")
		if err != nil {
			t.Fatal(err)
		}
		return out[hash]
	}
	m, err := d.Mark(named("t10"), Bad, "it burned the crust")
	if err != nil || m.Was != nil || m.Of.Outcome != Bad || counts() != (Uses{Bad: 1}) {
		t.Fatalf("%+v %v %+v", m, err, counts())
	}
	if m, err = d.Mark(named("t10"), Good, ""); err != nil || m.Was.Says != Bad || m.Of.Outcome != Good || counts() != (Uses{Good: 1}) {
		t.Fatalf("%+v %v %+v", m, err, counts())
	}
	if m, err = d.SetMark(named("t10"), m.Was); err != nil || m.Of.Outcome != Bad || counts() != (Uses{Bad: 1}) {
		t.Fatalf("taken back: %+v %v %+v", m, err, counts())
	}
	st, err := d.file.readState()
	if err != nil || len(st.Due) != 1 || st.Due[0].Skill != "bake" {
		t.Fatalf("%+v %v", st.Due, err)
	}
	d.says = func(text string) (string, error) {
		if !strings.Contains(text, "it burned the crust") {
			t.Errorf("the model is not told why:\n%s", text)
		}
		return `{"do": "nothing"}`, nil
	}
	lines := ""
	for _, l := range TraceLines(m.Of, nil) {
		lines += l.What + " " + l.Text + "\n"
	}
	if !strings.Contains(lines, "signal bad: the person marked it bad: it burned the crust") {
		t.Error(lines)
	}
	if m, err = d.Mark(named("t10"), "", ""); err != nil || m.Now != nil || m.Of.Outcome != Good || m.Of.Later != "" || counts() != (Uses{Good: 1}) {
		t.Fatalf("%+v %v %+v", m, err, counts())
	}
	if st, err = d.file.readState(); err != nil || len(st.Due) != 0 {
		t.Errorf("what was marked by mistake is still looked at: %+v %v", st.Due, err)
	}
	if _, err := d.Mark(named("t99"), Good, ""); err == nil {
		t.Error("a turn that is not kept was marked")
	}
}

// due is the reviews that wait.
func (d *desk) due() []Due {
	d.t.Helper()
	st, err := d.file.readState()
	if err != nil {
		d.t.Fatal(err)
	}
	return st.Due
}

// A mark that is taken back takes back the new skill that it gave reason for.
func TestAMarkTakenBackWantsNoNewSkill(t *testing.T) {
	t.Parallel()
	s := settings(Propose)
	s.Alike = 1
	d := newDesk(t, s)
	d.turn(1, "bake bread quickly", "ls", 0, event.TurnEnded{})
	for _, says := range []Outcome{Good, ""} {
		if _, err := d.Mark(named("t1"), says, ""); err != nil {
			t.Fatal(err)
		}
		if list := d.due(); (len(list) == 1) != (says == Good) {
			t.Errorf("marked %q: %+v", says, list)
		}
	}
	d.turn(2, "paint walls yellow", "make test", 0, event.TurnEnded{})
	for _, says := range []Outcome{Good, ""} {
		if _, err := d.Mark(named("t2"), says, ""); err != nil || len(d.due()) != 1 {
			t.Errorf("marked %q, what came out good anyway is not looked at: %v", says, err)
		}
	}
}

// A turn that was looked at is looked at again for a new mark, not when one is taken back or put
// back.
func TestATurnIsReviewedAgainForANewMarkOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d, _ := baked(t, Auto)
	d.says = func(string) (string, error) { return `{"do": "nothing"}`, nil }
	d.turn(10, "bake bread, make test has to pass", "make test", 1, event.TurnEnded{})
	if err := d.file.editState(func(st *state) error {
		st.findTurn(named("t10")).Skills = []Loaded{{Name: "bake", Hash: "h", By: "model"}}
		st.Due = nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	wants := func(what string, n int, m Marked, err error) {
		t.Helper()
		if list := d.due(); err != nil || m.Of.Outcome != Bad || len(list) != n {
			t.Fatalf("%s: %+v %+v %v", what, list, m, err)
		}
	}
	m, err := d.Mark(named("t10"), Bad, "it burned")
	wants("marked", 1, m, err)
	if _, err := d.ReviewNext(ctx, true); err == nil || len(d.asked) != 2 {
		t.Fatal(err, len(d.asked))
	}
	m, err = d.SetMark(named("t10"), nil)
	wants("taken back after its review", 0, m, err)
	m, err = d.SetMark(named("t10"), m.Was)
	wants("put back", 0, m, err)
	m, err = d.Mark(named("t10"), Bad, "it is salty")
	wants("marked anew", 1, m, err)
	m, err = d.ToggleMark(named("t10"), Bad, "")
	wants("taken back before its review", 0, m, err)
}

// What the person said next outlives a mark that is put on the turn and taken back.
func TestAMarkKeepsTheCorrection(t *testing.T) {
	t.Parallel()
	d := newDesk(t, settings(Propose))
	d.turn(1, "make it work", "make test", 0, event.TurnEnded{})
	d.turn(2, "No, that is wrong: use the other one", "ls", 0, event.TurnEnded{})
	was := d.first().Later
	if !strings.Contains(was, "use the other one") {
		t.Fatal(was)
	}
	for _, says := range []Outcome{Bad, ""} {
		if m, err := d.Mark(named("t1"), says, "it burned"); err != nil || m.Of.Later != was {
			t.Errorf("marked %q: %+v %v", says, m.Of.Later, err)
		}
	}
}

func (d *desk) first() Experience {
	d.t.Helper()
	st, err := d.file.readState()
	if err != nil || len(st.Experiences) == 0 {
		d.t.Fatal("nothing is kept", err)
	}
	return st.Experiences[0]
}

// What a model says of its work is no mark, and a mark by a message finds the message's turn, also
// one that called no tool.
func TestAMarkFindsItsTurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, settings(Propose))
	d.o.Wait = true // no review looks at the clock of the desk while it is set
	say := func(n int64, id string) {
		h := event.Header{Session: "s", Turn: id, At: d.now}
		d.now = d.now.Add(time.Second)
		for _, e := range []event.Event{
			said(n, chat.RoleUser, "what is it?"), event.TurnStarted{Model: "m"}, sealed(n+1, "I did this very well. good good good"), event.TurnEnded{Reason: event.TurnDone},
		} {
			d.takeEvent(context.Background(), event.Envelope{Header: h, Event: e})
		}
	}
	say(11, "a")
	say(21, "b")
	if list, err := d.Experiences(); err != nil || len(list) != 0 {
		t.Fatalf("%+v %v", list, err)
	}
	for id, message := range map[string]int64{"a": 12, "b": 21} {
		m, err := d.Mark(Turn{Session: "s", Message: message}, Bad, "")
		if err != nil || m.Of.Turn != id || m.Of.Outcome != Bad {
			t.Errorf("message %d: %+v %v", message, m, err)
		}
	}
	if _, err := d.Mark(Turn{Session: "s", Message: 15}, Bad, ""); err == nil {
		t.Error("a message of no turn was marked")
	}
	if _, err := d.Mark(Turn{Session: "other", Message: 12}, Bad, ""); err == nil {
		t.Error("a message of another session was marked")
	}
	if list, err := d.Experiences(); err != nil || len(list) != 2 {
		t.Errorf("%+v %v", list, err)
	}
}

func said(id int64, role chat.Role, text string) event.MessageAdded {
	return event.MessageAdded{Message: chat.Message{ID: id, Role: role, Text: text, From: chat.Person()}}
}

func sealed(id int64, text string) event.MessageSealed {
	return event.MessageSealed{Message: chat.Message{ID: id, Role: chat.RoleAssistant, Text: text}}
}

// Reviews cost no more than their share of the day: the first may, the next one waits for the rest
// to catch up. That is told once a day, and shown.
func TestReviewsCostAShareOfTheDay(t *testing.T) {
	t.Parallel()
	s := settings(Propose)
	s.Alike, s.Share, s.Every = 1, 0.05, 0
	d := newDesk(t, s)
	spent := Spent{}
	d.o.Spent = func(context.Context) (Spent, error) { return spent, nil }
	ctx := context.Background()
	next := func(n int, task string) {
		d.turn(n, task+", make test has to pass", "make test", 0, event.TurnEnded{})
		if _, err := d.ReviewNext(ctx, false); err != nil {
			t.Fatal(err)
		}
	}
	next(1, "bake bread quickly")
	if len(d.asked) != 1 {
		t.Fatal("the first review of a day does not begin")
	}
	spent = Spent{Reviews: 20_000, All: 100_000}
	next(2, "paint walls yellow")
	next(3, "count sheep tonight")
	st, err := d.Status(ctx)
	if err != nil || len(d.asked) != 1 || !strings.Contains(st.Ceiling, "20 % of what was spent today") || *st.Cost != 0.02 {
		t.Errorf("%d reviews, %+v %v", len(d.asked), st, err)
	}
	if words := strings.Join(st.Words(), "\n"); !strings.Contains(words, "a ceiling is reached: ") || !strings.Contains(words, "5 % of all ($0.1000)") {
		t.Error(words)
	}
	told := 0
	for _, e := range d.heard.Drain() {
		if r, ok := e.Event.(event.LearnReviewed); ok && r.Ceiling {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the ceiling was told %d times", told)
	}
	spent.All = 400_000
	next(4, "water plants daily")
	if st, err = d.Status(ctx); err != nil || len(d.asked) != 2 || st.Ceiling != "" {
		t.Errorf("%d reviews, %+v %v", len(d.asked), st, err)
	}
}

// While nobody knows what was spent, no review begins where its cost is bounded.
func TestAnUnknownCostIsACeiling(t *testing.T) {
	t.Parallel()
	s := settings(Propose)
	s.Alike, s.Cost = 1, 0.5
	d := newDesk(t, s)
	d.o.Spent = func(context.Context) (Spent, error) { return Spent{}, errors.New("the store is locked") }
	d.turn(1, "bake bread quickly, make test has to pass", "make test", 0, event.TurnEnded{})
	ctx := context.Background()
	if _, err := d.ReviewNext(ctx, true); err == nil || len(d.asked) != 0 || !strings.Contains(err.Error(), "not known") {
		t.Errorf("%d reviews, %v", len(d.asked), err)
	}
	if st, err := d.Status(ctx); err != nil || st.Cost != nil || !strings.Contains(st.Ceiling, "the store is locked") {
		t.Errorf("%+v %v", st, err)
	}
	d.set.Cost = 0
	if _, err := d.ReviewNext(ctx, true); len(d.asked) != 1 {
		t.Errorf("without a bound nobody is asked: %v", err)
	}
}
