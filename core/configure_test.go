package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
)

// works is a model that changes a file, then does what goes further.
func works(t *testing.T) *modeltest.Server {
	return modeltest.New(t,
		modeltest.Turn{Calls: []modeltest.Call{{ID: "small", Name: "terminal", Args: `{"command":"mkdir new"}`}}},
		modeltest.Turn{Calls: []modeltest.Call{{ID: "far", Name: "terminal", Args: `{"command":"git push --force"}`}}},
		modeltest.Turn{Text: "Done."},
	)
}

func TestTwoSessionsOfOneProcessWorkByTheirOwnConfig(t *testing.T) {
	one, two := works(t), works(t)
	p := newPlace(t)
	p.write(fmt.Sprintf("providers:\n  one: {base_url: %s}\n  two: {base_url: %s}\napprovals:\n  level: 2\n", one.URL, two.URL))
	x := p.open(nil)
	defer x.close()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	// The first has the settings and a person; the second may only read, has two sets of tools, and
	// nobody is there.
	must(x.OpenWith("b", session.Config{Source: "cron", Unattended: true}))
	must(x.Ensure(ctx, "a"))
	level := 0
	_, err := x.Configure(ctx, "b", func(c *session.Config) { c.Policy.Level, c.Toolsets = &level, []string{"terminal"} })
	must(err)
	must(x.SetModel(ctx, "a", "one/first"))
	must(x.SetModel(ctx, "b", "two/second"))
	for _, uid := range []string{"a", "b"} {
		must(x.Submit(ctx, uid, agent.Input{From: chat.Person(), Text: "go"}))
	}
	asked := wait[event.ApprovalAsked](x, nil)
	must(x.Answer(asked.ID, event.DecisionOnce))
	must(x.Wait(ctx, "a"))
	must(x.Wait(ctx, "b"))
	x.seen = append(x.seen, x.box.Drain()...)

	settled, questions := map[string][]event.Decider{}, 0
	for _, e := range x.seen {
		switch ev := e.Event.(type) {
		case event.ApprovalAsked:
			if questions++; e.Session != "a" {
				t.Errorf("session %s was asked: %+v", e.Session, ev)
			}
		case event.ApprovalSettled:
			settled[e.Session] = append(settled[e.Session], ev.By)
		}
	}
	if questions != 1 || !slices.Equal(settled["a"], []event.Decider{event.ByUser}) ||
		!slices.Equal(settled["b"], []event.Decider{event.ByPolicy, event.ByPolicy}) {
		t.Errorf("%d questions, settled %v", questions, settled)
	}
	ran := []string{}
	for _, r := range x.pool.got {
		ran = append(ran, r.Session+": "+r.Command)
	}
	if !slices.Equal(ran, []string{"a: mkdir new", "a: git push --force"}) {
		t.Errorf("ran %q", ran)
	}
	a, b := one.Requests()[0], two.Requests()[0]
	if a.Model != "first" || b.Model != "second" || slices.Equal(a.Tools, b.Tools) || slices.Contains(b.Tools, "read_file") || !slices.Contains(a.Tools, "read_file") {
		t.Errorf("a has %s %q, b has %s %q", a.Model, a.Tools, b.Model, b.Tools)
	}
	if info, err := x.Sessions.Get(ctx, "b"); err != nil || info.Source != "cron" {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestTheConfigOfASessionIsKept(t *testing.T) {
	p := newPlace(t)
	ctx := context.Background()
	flagged := 2
	x := p.open(func(o *Options) {
		o.Session.Policy = session.Policy{Mode: "off", Level: &flagged}
		o.Session.Unattended = true
	})
	level := 0
	if _, err := x.Configure(ctx, "s", func(c *session.Config) { c.Toolsets = []string{"terminl"} }); err == nil || !strings.Contains(err.Error(), "terminl") {
		t.Errorf("%v", err)
	}
	c, err := x.Configure(ctx, "s", func(c *session.Config) { c.Policy.Level = &level })
	if err != nil || c.Policy.LevelName() != "read" || c.Policy.Mode != "" || !c.Unattended {
		t.Errorf("%+v, %v: the newest word counts over the flags of the process", c, err)
	}
	if got := x.policyFor("other", x.Gate.Policy()); got.Mode != "off" || got.Level != 2 || !got.Unattended {
		t.Errorf("another session has %+v", got)
	}
	if _, err := x.Configure(ctx, "t", func(*session.Config) {}); err != nil {
		t.Fatal(err)
	}
	branch, err := x.Sessions.Fork(ctx, "s", 0)
	if err != nil {
		t.Fatal(err)
	}
	x.close()

	y := p.open(nil)
	defer y.close()
	if _, err := y.Resume(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if e := wait[event.SessionConfigured](y, nil); e.Level != "read" {
		t.Errorf("%+v", e)
	}
	for uid, want := range map[string]string{"s": "read", branch.UID: "read", "t": ""} {
		c, err := y.SessionConfig(ctx, uid)
		if err != nil || c.Policy.LevelName() != want || c.Policy.Mode != "" || c.Unattended {
			t.Errorf("%s: %+v, %v: flags of one run must not last", uid, c, err)
		}
	}
	if _, err := y.Configure(ctx, "s", func(c *session.Config) { c.Policy.Level = nil }); err != nil {
		t.Fatal(err)
	}
	if got := y.policyFor("s", y.Gate.Policy()); got.Level != y.Gate.Policy().Level {
		t.Errorf("taken back, and still %+v", got)
	}
}

func TestAConfigThatCannotBeReadAsks(t *testing.T) {
	x := newPlace(t).open(nil)
	defer x.close()
	ctx := t.Context()
	if err := x.Ensure(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if err := x.Sessions.SetMeta(ctx, "s", "config", "{"); err != nil {
		t.Fatal(err)
	}
	base := x.Gate.Policy()
	base.Mode, base.Level, base.Allow = "off", 3, []string{"make"}
	if got := x.policyFor("s", base); got.Mode != "manual" || got.Level != 0 || len(got.Allow) > 0 {
		t.Errorf("%+v", got)
	}
}
