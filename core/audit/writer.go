package audit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"hermes/core/crash"
	"hermes/core/event"
)

// Writer appends what a bus publishes.
type Writer struct {
	dir  string
	box  *event.Mailbox
	bus  *event.Bus
	log  *slog.Logger
	done chan struct{}

	waiting []Entry // not written yet, because the disk refused
	lost    int     // given up of them
	told    bool

	mu      sync.Mutex
	decided []Entry // of calls that nobody was asked about, not taken yet
}

// maxWaiting is how many entries are kept for a disk that refuses.
const maxWaiting = 10_000

// Open starts to record. Close ends it.
func Open(dir string, bus *event.Bus, log *slog.Logger) *Writer {
	w := &Writer{dir: dir, box: bus.Subscribe(event.Limits{}), bus: bus, log: log, done: make(chan struct{})}
	crash.Go("audit", w.run)
	return w
}

// Record writes what happened in a program that has no bus: a person's command. Events that are no
// act are left out.
func Record(dir string, events ...event.Event) error {
	now := time.Now()
	var list []Entry
	for _, ev := range events {
		if e, ok := entryOf(event.Envelope{Header: event.Header{At: now}, Event: ev}); ok {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := appendTo(monthFile(dir, now), list); err != nil {
		return fmt.Errorf("the audit log cannot be written: %w", err)
	}
	return nil
}

// Close writes what was published before it, within ctx.
func (w *Writer) Close(ctx context.Context) error {
	w.box.Close()
	select {
	case <-w.done:
	case <-ctx.Done():
		return fmt.Errorf("audit log: %w", ctx.Err())
	}
	if n := len(w.waiting); n > 0 {
		return fmt.Errorf("audit log: %d entries could not be written to %s", n, w.dir)
	}
	return nil
}

func (w *Writer) run() {
	defer close(w.done)
	for {
		batch, err := w.box.Next(context.Background())
		if batch == nil || err != nil {
			w.write(nil)
			return
		}
		w.write(batch)
	}
}

func (w *Writer) write(batch []event.Envelope) {
	from := len(w.waiting)
	w.waiting = append(w.waiting, w.takeUnasked()...)
	for _, env := range batch {
		if e, ok := entryOf(env); ok {
			w.waiting = append(w.waiting, e)
		}
	}
	slices.SortStableFunc(w.waiting[from:], func(a, b Entry) int { return a.At.Compare(b.At) })
	for len(w.waiting) > 0 {
		n := w.countSameMonth()
		if err := appendTo(monthFile(w.dir, w.waiting[0].At), w.waiting[:n]); err != nil {
			w.keepFailed(err)
			return
		}
		w.waiting = w.waiting[n:]
	}
	w.told = false
}

// countSameMonth counts the entries that belong to the first one's file.
func (w *Writer) countSameMonth() int {
	file := monthFile(w.dir, w.waiting[0].At)
	for i, e := range w.waiting {
		if monthFile(w.dir, e.At) != file {
			return i
		}
	}
	return len(w.waiting)
}

// keepFailed keeps what is not written for the next time, and says so once.
func (w *Writer) keepFailed(err error) {
	if over := len(w.waiting) - maxWaiting; over > 0 {
		w.lost += over
		w.waiting = append([]Entry{{At: time.Now().UTC(), What: Gap, Lost: w.lost, User: owner()}}, w.waiting[over+1:]...)
	}
	if w.told {
		return
	}
	w.told = true
	w.log.Error("audit log", "dir", w.dir, "err", err)
	w.bus.Publish(event.Header{}, event.Notice{
		Level: event.Warn, Text: "the audit log cannot be written: " + err.Error(), Hint: "what happens meanwhile is kept and written once " + w.dir + " can be written again",
	})
}
