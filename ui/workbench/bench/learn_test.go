package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
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

// BenchmarkLearning is what a review adds to a turn: the slowest of 50 that begin while a model
// looks at the ones before, less the slowest of 50 of which nothing is learned. They take turns,
// and each begins a moment after the last one: nobody types quicker than that, and what is kept of
// a turn is written in it. Of the rounds the median counts.
func BenchmarkLearning(b *testing.B) {
	with, without := newTalker(b), newTalker(b)
	looks := with.learns(b)
	const rounds, turns, pause = 9, 50, 15 * time.Millisecond
	const allowed = time.Millisecond
	var added, all []time.Duration
	beside := 0
	for range rounds {
		var mine, floor []time.Duration
		with.begin(b)
		without.begin(b)
		for i := range turns {
			time.Sleep(pause)
			floor = append(floor, without.turn(b, i))
			time.Sleep(pause)
			if looks.atWork() {
				beside++
			}
			mine = append(mine, with.turn(b, i))
			_, _ = looks.mark(learn.Turn{Ref: with.uid}, learn.Good, "") // reason to look; of the first turn nothing may be kept yet
		}
		slowest := slices.Max(mine)
		added, all = append(added, slowest-slices.Max(floor)), append(all, slowest)
		b.Logf("median %s and %s, slowest %s and %s", short(median(mine)), short(median(floor)), short(slowest), short(slices.Max(floor)))
	}
	if beside < rounds*turns/2 {
		b.Fatalf("only %d of %d turns began while a model looked", beside, rounds*turns)
	}
	more := max(median(added), 0)
	gate{what: "a turn while others are learned from: slower by", floor: "may be added", budget: 1}.row(
		b, short(more), short(allowed), float64(more)/float64(allowed))
	gate{what: "the same, all of it", floor: "may be added"}.times(b, median(all), allowed)
}

// talker is a session that asks for the same again and again.
type talker struct {
	talk
	uid string
}

func newTalker(b *testing.B) *talker {
	t := newTalk(b, modeltest.Script{Loop: true, Turns: []modeltest.Turn{
		{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "/no/such/file"}`}}}, {Text: "Done."},
	}, Keep: 1})
	return &talker{talk: t}
}

// begin begins a new session: in a long one each turn takes longer.
func (t *talker) begin(b *testing.B) {
	s, err := t.sessions.Create(context.Background(), session.NewSession{Source: "bench"})
	must(b, err)
	t.uid = s.UID
}

func (t *talker) turn(b *testing.B, i int) time.Duration {
	ctx := context.Background()
	began := time.Now()
	must(b, t.agent.Submit(ctx, t.uid, agent.Input{From: chat.Person(), Text: fmt.Sprint("turn ", i, " has to pass")}))
	must(b, t.agent.Wait(ctx, t.uid))
	return time.Since(began)
}

// looks are the reviews of a talker.
type looks struct {
	atWork func() bool // a model is asked now
	mark   func(learn.Turn, learn.Outcome, string) (learn.Marked, error)
}

// learns begins to learn from the turns. A turn that is marked good gives reason to ask a model,
// which answers when it is interrupted only: by the next turn.
func (t *talker) learns(b *testing.B) looks {
	home := b.TempDir()
	var asked atomic.Int32
	l := learn.New(learn.Options{
		Dir: filepath.Join(home, "learning"), Library: skill.New(skill.Options{Home: filepath.Join(home, "skills"), System: "linux"}),
		Settings: func() learn.Settings {
			return learn.Settings{Mode: learn.Auto, Calls: 1, Alike: 1, Open: 1e6, PerDay: 1e6}
		},
		Ask: func(ctx context.Context, _, _, _ string) (string, error) {
			asked.Add(1)
			defer asked.Add(-1)
			<-ctx.Done()
			return "", ctx.Err()
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
	return looks{atWork: func() bool { return asked.Load() > 0 }, mark: l.Mark}
}
