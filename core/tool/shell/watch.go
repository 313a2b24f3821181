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
	tell     func(text string)
	patterns []string
	now      func() time.Time

	mu      sync.Mutex
	id      string // empty until the process has one
	early   []string
	part    []byte
	last    time.Time
	strikes int
	atEnd   bool
}

// watch returns nil when nothing is to be told.
func (s *Shell) watch(session string, a terminalArgs) (*watcher, error) {
	if !a.Notify && len(a.Watch) == 0 {
		return nil, nil
	}
	if s.notify == nil {
		return nil, errors.New("notify_on_complete and watch_patterns do not work here: nobody can take a message later. Leave them out and use process wait")
	}
	tell := func(text string) { s.notify(session, text) }
	return &watcher{tell: tell, patterns: a.Watch, now: time.Now, atEnd: a.Notify}, nil
}

// see takes output as it comes.
func (w *watcher) see(data []byte) {
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
		w.line(readable(w.part[:nl]))
		w.part = w.part[nl+1:]
	}
	if len(w.part) > watchLine {
		w.part = append([]byte(nil), w.part[len(w.part)-watchLine:]...)
	}
}

func (w *watcher) line(s string) {
	for _, p := range w.patterns {
		if !strings.Contains(s, p) || w.strikes >= watchStrikes {
			continue
		}
		if now := w.now(); now.Sub(w.last) < watchEvery {
			if w.strikes++; w.strikes == watchStrikes {
				w.atEnd = true
				w.say(fmt.Sprintf("prints %q too often; you will hear of it again when it ends", p))
			}
		} else {
			w.last, w.strikes = now, 0
			w.say(fmt.Sprintf("printed %q: %s", p, firstLine(s)))
		}
		return
	}
}

// say waits for the name of the process: output may come before Start has returned.
func (w *watcher) say(text string) {
	if w.id == "" {
		w.early = append(w.early, text)
		return
	}
	w.tell(fmt.Sprintf("[Background process %s %s]", w.id, text))
}

// follow names the process and waits for its end. The goroutine ends with the process, which ends with its session.
func (s *Shell) follow(w *watcher, p backend.Process) {
	w.mu.Lock()
	w.id = p.ID
	early := w.early
	w.early = nil
	for _, text := range early {
		w.say(text)
	}
	w.mu.Unlock()
	crash.Go("background process "+p.ID, func() {
		q, err := s.pool.Wait(context.Background(), p.Session, p.ID, 0)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.atEnd && err == nil {
			w.say(fmt.Sprintf("%s: %s. Use process log to read its output", state(q), firstLine(p.Command)))
		}
	})
}
