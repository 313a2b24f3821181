package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/crash"
)

const (
	watchEvery   = 15 * time.Second // at most one message of a process in this time
	watchStrikes = 3                // matches in a row that came too soon: then only the end is told
	watchLine    = 8 << 10          // bytes of an unfinished line that are kept
)

// watcher tells a session when a background process prints what it waits for, and when it ends.
type watcher struct {
	tell     func(process, text string)
	patterns []string
	now      func() time.Time

	mu      sync.Mutex
	out     chan string // what is to be told; the sink must not wait for whoever is told
	closed  bool
	part    []byte
	last    time.Time
	strikes int
	atEnd   bool
}

// newWatcher returns nil when nothing is to be told.
func (s *Shell) newWatcher(session string, a terminalArgs) (*watcher, error) {
	if !a.Notify && len(a.Watch) == 0 {
		return nil, nil
	}
	if s.notify == nil {
		return nil, errors.New("notify_on_complete and watch_patterns do not work here: nobody can take a message later. Leave them out and use process wait")
	}
	tell := func(process, text string) { s.notify(session, process, text) }
	return &watcher{tell: tell, patterns: a.Watch, now: time.Now, out: make(chan string, 16), atEnd: a.Notify}, nil
}

// takeOutput takes output as it comes.
func (w *watcher) takeOutput(data []byte) {
	if len(w.patterns) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part = append(w.part, data...)
	for {
		nl := bytes.IndexByte(w.part, '\n')
		if nl < 0 {
			break
		}
		w.matchLine(Readable(w.part[:nl]))
		w.part = w.part[nl+1:]
	}
	if len(w.part) > watchLine {
		w.part = append([]byte(nil), w.part[len(w.part)-watchLine:]...)
	}
}

func (w *watcher) matchLine(s string) {
	for _, p := range w.patterns {
		if !strings.Contains(s, p) || w.strikes >= watchStrikes {
			continue
		}
		if now := w.now(); now.Sub(w.last) < watchEvery {
			if w.strikes++; w.strikes == watchStrikes {
				w.atEnd = true
				w.queueMessage(fmt.Sprintf("prints %q too often; you will hear of it again when it ends", p))
			}
		} else {
			w.last, w.strikes = now, 0
			w.queueMessage(fmt.Sprintf("printed %q: %s", p, firstLine(s)))
		}
		return
	}
}

// queueMessage queues a message. The rate of watchEvery keeps the queue from filling up; if it
// does, the message is of no more use.
func (w *watcher) queueMessage(text string) {
	if w.closed {
		return
	}
	select {
	case w.out <- text:
	default:
	}
}

// followProcess tells what a process printed, and when it ended. Both goroutines end with the
// process, which ends with its session.
func (s *Shell) followProcess(w *watcher, p backend.Process) {
	crash.Go("tell of background process "+p.ID, func() {
		for text := range w.out {
			w.tell(p.ID, fmt.Sprintf("[Background process %s %s]", p.ID, text))
		}
	})
	crash.Go("wait for background process "+p.ID, func() {
		q, err := s.pool.Wait(context.Background(), p.Session, p.ID, 0)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.atEnd && err == nil {
			w.queueMessage(fmt.Sprintf("%s: %s. Use process log to read its output", describeState(q), firstLine(p.Command)))
		}
		w.closed = true
		close(w.out)
	})
}
