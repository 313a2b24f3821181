package event

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// A script is what one publisher does for one session: facts, and deltas whose offsets follow each
// other.
type step struct {
	fact   string
	text   string
	stream int // which of the session's streams the text belongs to
}

func drawScript(t *rapid.T, label string) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
			return step{fact: rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "fact")}
		}
		return step{stream: rapid.IntRange(0, 3).Draw(t, "stream"), text: rapid.StringN(0, 6, -1).Draw(t, "text")}
	}), 0, 40).Draw(t, label)
}

// run publishes a script. Streams 0 and 1 are text and reasoning, the others are tool output.
func run(b *Bus, session string, script []step) {
	offsets := [4]int{}
	for i, s := range script {
		h := Header{Session: session}
		at := offsets[s.stream]
		switch {
		case s.fact != "":
			b.Publish(h, notice(fmt.Sprintf("%d:%s", i, s.fact)))
			continue
		case s.stream == 0:
			b.Publish(h, TextDelta{MessageID: 1, Offset: at, Text: s.text})
		case s.stream == 1:
			b.Publish(h, ReasoningDelta{MessageID: 1, Offset: at, Text: s.text})
		default:
			b.Publish(h, ToolOutput{CallID: fmt.Sprint(s.stream), Stream: Stdout, Offset: int64(at), Data: []byte(s.text)})
		}
		offsets[s.stream] += len(s.text)
	}
}

// view is what a subscriber knows of a session: the facts in order, and before each of them the
// text of every stream.
type view struct {
	marks []string
	text  [4]string
}

func (v *view) fact(text string) {
	v.marks = append(v.marks, fmt.Sprintf("%s after %q", text, v.text))
}

func expected(script []step) *view {
	v := &view{}
	for i, s := range script {
		if s.fact != "" {
			v.fact(fmt.Sprintf("%d:%s", i, s.fact))
		} else {
			v.text[s.stream] += s.text
		}
	}
	return v
}

// apply reads one envelope as a pane would, and complains of gaps.
func (v *view) apply(e Event) error {
	add := func(stream, offset int, text string) error {
		if offset != len(v.text[stream]) {
			return fmt.Errorf("stream %d has %d bytes, a delta begins at %d", stream, len(v.text[stream]), offset)
		}
		v.text[stream] += text
		return nil
	}
	switch e := e.(type) {
	case Notice:
		v.fact(e.Text)
	case TextDelta:
		return add(0, e.Offset, e.Text)
	case ReasoningDelta:
		return add(1, e.Offset, e.Text)
	case ToolOutput:
		return add(int(e.CallID[0]-'0'), int(e.Offset), string(e.Data))
	}
	return nil
}

// reader drains a mailbox until it is closed, in its own rhythm.
type reader struct {
	views map[string]*view
	err   error
}

func (r *reader) take(batch []Envelope, last *uint64) {
	for _, env := range batch {
		if env.Seq <= *last {
			r.err = fmt.Errorf("event %d came after event %d", env.Seq, *last)
		}
		*last = env.Seq
		v := r.views[env.Session]
		if v == nil {
			v = &view{}
			r.views[env.Session] = v
		}
		if err := v.apply(env.Event); err != nil && r.err == nil {
			r.err = err
		}
	}
}

func (r *reader) read(m *Mailbox, lazy int) {
	var last uint64
	for n := 0; ; n++ {
		if lazy > 0 && n%lazy == 0 {
			<-m.Ready() // takes the token and does not drain: Next must still find what waits
		}
		batch, err := m.Next(context.Background())
		if err != nil || batch == nil {
			return
		}
		r.take(batch, &last)
	}
}

func (r *reader) check(t *rapid.T, who string, scripts map[string][]step) {
	if r.err != nil {
		t.Fatalf("%s: %v", who, r.err)
	}
	for session, script := range scripts {
		want, got := expected(script), r.views[session]
		if got == nil {
			got = &view{}
		}
		if !slices.Equal(got.marks, want.marks) || got.text != want.text {
			t.Fatalf("%s, session %s:\n got %s %q\nwant %s %q", who, session, strings.Join(got.marks, "; "), got.text, strings.Join(want.marks, "; "), want.text)
		}
	}
}

func TestAnyInterleavingKeepsFactsOrderAndText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scripts := map[string][]step{}
		for i := range rapid.IntRange(1, 4).Draw(t, "publishers") {
			scripts[fmt.Sprintf("s%d", i)] = drawScript(t, "script")
		}
		b := NewBus()
		var pub, sub sync.WaitGroup
		stalled := b.Subscribe(Limits{})
		boxes, readers := make([]*Mailbox, 3), make([]*reader, 3)
		for i := range boxes {
			boxes[i], readers[i] = b.Subscribe(Limits{}), &reader{views: map[string]*view{}}
			sub.Go(func() { readers[i].read(boxes[i], i) })
		}
		for session, script := range scripts {
			pub.Go(func() { run(b, session, script) })
		}
		pub.Wait()
		for _, m := range append(boxes, stalled) {
			m.Close()
		}
		sub.Wait()
		for i, r := range readers {
			r.check(t, fmt.Sprintf("reader %d", i), scripts)
		}
		late := &reader{views: map[string]*view{}}
		late.take(stalled.Drain(), new(uint64))
		late.check(t, "the reader that drains once at the end", scripts)
	})
}

func TestSingleThreadedInterleavingsMergeWithinFacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := drawScript(t, "script")
		b := NewBus()
		m := b.Subscribe(Limits{})
		run(b, "s", script)
		facts, keys := 0, map[string]bool{}
		for _, env := range m.Drain() {
			if _, ok := env.Event.(Notice); ok {
				facts++
				clear(keys)
				continue
			}
			k := env.Event.(Delta).key().String()
			if keys[k] {
				t.Fatalf("%s waits twice between two facts: deltas that follow each other must merge", k)
			}
			keys[k] = true
		}
		want := 0
		for _, s := range script {
			if s.fact != "" {
				want++
			}
		}
		if facts != want {
			t.Fatalf("%d facts of %d", facts, want)
		}
	})
}
