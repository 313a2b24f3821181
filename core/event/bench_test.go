package event

import (
	"context"
	"sync"
	"testing"
)

// BenchmarkPublish measures one 20-byte text delta to 8 subscribers: all of them reading, or one of
// them stalled. The stalled one must cost the publisher nothing extra and must stay within its
// limits.
func BenchmarkPublish(b *testing.B) {
	for _, tt := range []struct {
		name    string
		stalled int
	}{{"8 reading", 0}, {"7 reading 1 stalled", 1}} {
		b.Run(tt.name, func(b *testing.B) {
			bus := NewBus()
			var wg sync.WaitGroup
			boxes := make([]*Mailbox, 8)
			for i := range boxes {
				boxes[i] = bus.Subscribe(Limits{})
				if i >= tt.stalled {
					wg.Go(func() { readAll(boxes[i]) })
				}
			}
			b.ReportAllocs()
			offset := 0
			for b.Loop() {
				bus.Publish(Header{Session: "s", Turn: "t"}, TextDelta{MessageID: 1, Offset: offset, Text: "twenty bytes of text"})
				offset += 20
			}
			b.StopTimer()
			for _, m := range boxes {
				m.Close()
			}
			wg.Wait()
		})
	}
}

func readAll(m *Mailbox) {
	for {
		if out, err := m.Next(context.Background()); out == nil || err != nil {
			return
		}
	}
}

// BenchmarkPublishStats measures a latest-wins delta, the commonest event of an idle screen with
// running back ends.
func BenchmarkPublishStats(b *testing.B) {
	bus := NewBus()
	bus.Subscribe(Limits{})
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(Header{}, BackendStats{Name: "here", CPUPercent: 1})
	}
}
