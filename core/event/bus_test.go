package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/chat"
)

func notice(text string) Notice { return Notice{Level: Info, Text: text} }

func drainOne[E Event](t *testing.T, m *Mailbox) E {
	t.Helper()
	out := m.Drain()
	if len(out) != 1 {
		t.Fatalf("drained %d envelopes, want 1: %+v", len(out), out)
	}
	e, ok := out[0].Event.(E)
	if !ok {
		t.Fatalf("drained a %s: %+v", Kind(out[0].Event), out[0])
	}
	return e
}

func TestPublishStampsOneSequence(t *testing.T) {
	b := NewBus()
	first, second := b.Subscribe(Limits{}), b.Subscribe(Limits{})
	at := time.Unix(7, 0)
	one := b.Publish(Header{Session: "a"}, notice("1"))
	two := b.Publish(Header{Session: "b", At: at}, notice("2"))
	if one.Seq != 1 || two.Seq != 2 || b.Seq() != 2 {
		t.Fatalf("sequence %d, %d, bus at %d", one.Seq, two.Seq, b.Seq())
	}
	if one.At.IsZero() || !two.At.Equal(at) {
		t.Fatalf("times %v, %v: the bus stamps only what has none", one.At, two.At)
	}
	want := []Envelope{one, two}
	for _, m := range []*Mailbox{first, second} {
		if got := m.Drain(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestGapAndRepeatStayVisible(t *testing.T) {
	b := NewBus()
	m := b.Subscribe(Limits{})
	for _, d := range []TextDelta{{MessageID: 1, Text: "abc"}, {MessageID: 1, Offset: 3, Text: "d"}, {MessageID: 1, Offset: 9, Text: "x"}, {MessageID: 1, Offset: 9, Text: "x"}} {
		b.Publish(Header{Session: "s"}, d)
	}
	var got []string
	for _, env := range m.Drain() {
		d := env.Event.(TextDelta)
		got = append(got, fmt.Sprintf("%d:%s", d.Offset, d.Text))
	}
	if want := "0:abcd 9:x 9:x"; strings.Join(got, " ") != want {
		t.Fatalf("got %v, want %s", got, want)
	}
}

func TestKeysDoNotCollide(t *testing.T) {
	b := NewBus()
	m := b.Subscribe(Limits{})
	b.Publish(Header{Session: "s"}, ToolOutput{CallID: "a/stdout", Stream: "x", Data: []byte("1")})
	b.Publish(Header{Session: "s"}, ToolOutput{CallID: "a", Stream: "stdout/x", Offset: 1, Data: []byte("2")})
	b.Publish(Header{Session: "t"}, ToolOutput{CallID: "a/stdout", Stream: "x", Offset: 1, Data: []byte("3")})
	if got := m.Drain(); len(got) != 3 {
		t.Fatalf("three different streams became %d entries: %+v", len(got), got)
	}
}

func TestLatestWinsKeepsItsPlaceAndTheNewestValue(t *testing.T) {
	b := NewBus()
	m := b.Subscribe(Limits{})
	b.Publish(Header{}, BackendStats{Name: "here", CPUPercent: 1})
	b.Publish(Header{}, BackendStats{Name: "there", CPUPercent: 2})
	b.Publish(Header{}, BackendStats{Name: "here", CPUPercent: 3})
	out := m.Drain()
	if len(out) != 2 || out[0].Seq != 1 || out[0].Event.(BackendStats).CPUPercent != 3 {
		t.Fatalf("got %+v", out)
	}
}

func TestPublisherMayReuseItsSlice(t *testing.T) {
	b := NewBus()
	m := b.Subscribe(Limits{})
	data := []byte("good")
	b.Publish(Header{}, ToolOutput{CallID: "c", Data: data})
	copy(data, "EVIL")
	if got := drainOne[ToolOutput](t, m); string(got.Data) != "good" {
		t.Fatalf("got %q", got.Data)
	}
}

func TestDrainedOutputIsNotTouchedAgain(t *testing.T) {
	b := NewBus()
	m := b.Subscribe(Limits{})
	b.Publish(Header{}, ToolOutput{CallID: "c", Data: []byte("one")})
	first := drainOne[ToolOutput](t, m)
	b.Publish(Header{}, ToolOutput{CallID: "c", Offset: 3, Data: []byte("two")})
	if second := drainOne[ToolOutput](t, m); string(first.Data) != "one" || second.Offset != 3 {
		t.Fatalf("got %q then %+v", first.Data, second)
	}
}

func TestOutputRingKeepsTheTailAndMovesTheOffset(t *testing.T) {
	const ring = 100
	for _, chunk := range []int{1, 7, 99, 100, 101, 5000} {
		b := NewBus()
		m := b.Subscribe(Limits{Output: ring})
		var all []byte
		for len(all) < 5000 {
			piece := []byte(strings.Repeat(fmt.Sprintf("%d,", len(all)), chunk))[:chunk]
			b.Publish(Header{Session: "s"}, ToolOutput{CallID: "c", Stream: Stdout, Offset: int64(len(all)), Data: piece})
			all = append(all, piece...)
		}
		got := drainOne[ToolOutput](t, m)
		if len(got.Data) > ring || len(got.Data) < ring/2 {
			t.Errorf("chunks of %d: %d bytes wait, the ring holds %d", chunk, len(got.Data), ring)
		}
		if want := string(all[got.Offset:]); string(got.Data) != want {
			t.Errorf("chunks of %d: bytes from %d are %q, want %q", chunk, got.Offset, got.Data, want)
		}
	}
}

func TestPastACapTheMailboxIsOneResync(t *testing.T) {
	big := strings.Repeat("x", 600)
	tests := []struct {
		name   string
		limits Limits
		send   func(i int) Event
	}{
		{"events", Limits{Events: 3}, func(i int) Event { return notice(fmt.Sprint(i)) }},
		{"text", Limits{Bytes: 1024}, func(i int) Event { return TextDelta{MessageID: 1, Offset: i * 600, Text: big} }},
		{"output of many calls", Limits{Bytes: 1024}, func(i int) Event { return ToolOutput{CallID: fmt.Sprint(i), Data: []byte(big)} }},
		{"facts that carry text", Limits{Bytes: 1024}, func(int) Event { return MessageAdded{Message: chat.Message{Text: big}} }},
		{"results", Limits{Bytes: 1024}, func(int) Event { return ToolEnded{Result: chat.ToolResult{Text: big}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBus()
			m := b.Subscribe(tt.limits)
			for i := range 10 {
				b.Publish(Header{Session: "s"}, tt.send(i))
			}
			out := m.Drain()
			if len(out) != 1 || out[0].Seq != 10 || out[0].Session != "" {
				t.Fatalf("got %+v, want one Resync at 10 that concerns everybody", out)
			}
			if r, ok := out[0].Event.(Resync); !ok || r.Dropped < 2 {
				t.Fatalf("got %+v", out[0])
			}
			b.Publish(Header{Session: "s"}, notice("after"))
			if got := drainOne[Notice](t, m); got.Text != "after" {
				t.Fatalf("after the resync: %+v", got)
			}
		})
	}
}

func TestNextWaitsAndStops(t *testing.T) {
	b := NewBus()
	m := b.Subscribe(Limits{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out, err := m.Next(ctx); out != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v, %v", out, err)
	}
	b.Publish(Header{}, notice("waits"))
	m.Close()
	m.Close()
	if out, err := m.Next(context.Background()); len(out) != 1 || err != nil {
		t.Fatalf("what waited at Close is lost: %v, %v", out, err)
	}
	b.Publish(Header{}, notice("too late"))
	if out, err := m.Next(context.Background()); out != nil || err != nil {
		t.Fatalf("closed and empty: %v, %v", out, err)
	}
}

func TestNextRacesWithCloseAndPublish(t *testing.T) {
	for range 200 {
		b := NewBus()
		m := b.Subscribe(Limits{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 20 {
				b.Publish(Header{Session: "s"}, notice(fmt.Sprint(i)))
			}
			m.Close()
		})
		got := 0
		for {
			out, err := m.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if out == nil {
				break
			}
			got += len(out)
		}
		wg.Wait()
		if got != 20 {
			t.Fatalf("%d of 20 facts arrived", got)
		}
	}
}

func TestJSONShape(t *testing.T) {
	env := Envelope{
		Header: Header{Seq: 3, At: time.Unix(0, 0).UTC(), Session: "s", Turn: "t"},
		Event:  ToolOutput{CallID: "c", Stream: Stderr, Offset: 2, Data: []byte{0xff, 'a'}},
	}
	got, err := json.Marshal(env)
	want := `{"seq":3,"at":"1970-01-01T00:00:00Z","session":"s","turn":"t","type":"ToolOutput",` +
		`"data":{"call_id":"c","stream":"stderr","offset":2,"data":"/2E="}}`
	if err != nil || string(got) != want {
		t.Fatalf("got  %s\nwant %s\n%v", got, want, err)
	}
	got, _ = json.Marshal(Envelope{Event: SessionDeleted{}})
	if want := `{"seq":0,"at":"0001-01-01T00:00:00Z","type":"SessionDeleted","data":{}}`; string(got) != want {
		t.Fatalf("got %s", got)
	}
}
