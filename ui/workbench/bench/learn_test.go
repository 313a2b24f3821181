package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/learn"
	"hermes/core/provider/modeltest"
	"hermes/core/session"
	"hermes/core/skill"
)

// BenchmarkLearning is the 99th percentile of a turn with one call while every turn is kept and
// looked at, against turns of which nothing is learned. They take turns.
func BenchmarkLearning(b *testing.B) {
	with, without := newTalker(b), newTalker(b)
	looked, good := with.learns(b)
	const blocks, each, first = 20, 22, 2 // the first ones of a block may run beside what the other left
	const turns = blocks * (each - first)
	var mine, floor []time.Duration
	for block := range blocks {
		for i := range each {
			if d := without.turn(b, block); i >= first {
				floor = append(floor, d)
			}
		}
		for i := range each {
			if d := with.turn(b, block); i >= first {
				mine = append(mine, d)
			}
			_, _ = good(with.uid) // of the first turn nothing may be kept yet
		}
	}
	if n := looked(); n < turns/10 {
		b.Fatalf("only %d looks at %d turns", n, turns)
	}
	slices.Sort(mine)
	slices.Sort(floor)
	at := turns * 99 / 100
	g := gate{what: "a turn while others are learned from, p99", floor: "learning off"}
	g.times(b, mine[at], floor[at])
	b.Logf("p50 %s and %s", short(mine[turns/2]), short(floor[turns/2]))
}

// talker is a session that asks for the same again and again.
type talker struct {
	talk
	uid string
}

func newTalker(b *testing.B) talker {
	t := newTalk(b, modeltest.Script{Loop: true, Turns: []modeltest.Turn{
		{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "/no/such/file"}`}}}, {Text: "Done."},
	}, Keep: 1})
	s, err := t.sessions.Create(context.Background(), session.NewSession{Source: "bench"})
	must(b, err)
	return talker{t, s.UID}
}

func (t talker) turn(b *testing.B, i int) time.Duration {
	ctx := context.Background()
	began := time.Now()
	must(b, t.agent.Submit(ctx, t.uid, agent.Input{From: chat.Person(), Text: fmt.Sprint("turn ", i, " has to pass")}))
	must(b, t.agent.Wait(ctx, t.uid))
	return time.Since(began)
}

// learns begins to learn from the turns, and tells how often a model was asked. A turn that is
// marked good gives reason to ask.
func (t talker) learns(b *testing.B) (looked func() int, good func(uid string) (learn.Marked, error)) {
	home := b.TempDir()
	asked := make(chan int, 1)
	asked <- 0
	l := learn.New(learn.Options{
		Dir: filepath.Join(home, "learning"), Library: skill.New(skill.Options{Home: filepath.Join(home, "skills"), System: "linux"}),
		Settings: func() learn.Settings {
			return learn.Settings{Mode: learn.Auto, Calls: 1, Alike: 1, Open: 1e6, PerDay: 1e6}
		},
		Ask: func(context.Context, string, string, string) (string, error) {
			asked <- 1 + <-asked
			return `{"do": "nothing"}`, nil
		},
		Publish: func(h event.Header, e event.Event) { t.bus.Publish(h, e) },
	})
	ctx, stop := context.WithCancel(context.Background())
	box, done := t.bus.Subscribe(event.Limits{}), make(chan struct{})
	go func() {
		defer close(done)
		l.Follow(ctx, box)
	}()
	b.Cleanup(func() {
		stop()
		<-done
	})
	return func() int {
		n := <-asked
		asked <- n
		return n
	}, func(uid string) (learn.Marked, error) { return l.Mark(learn.Turn{Ref: uid}, learn.Good, "") }
}
