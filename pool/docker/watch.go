package docker

import (
	"context"
	"sync"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"hermes/core/crash"
)

// watcher listens to what an engine says about our containers, while one of them is up: one
// subscription for all, no polling.
type watcher struct {
	mu      sync.Mutex
	members map[string]*connection // by container
	stop    context.CancelFunc     // nil: it does not listen
	ready   chan struct{}          // closed when it does
	done    chan struct{}
}

// add listens for a container, from before this call returns.
func (e *engine) listenFor(ctx context.Context, id string, c *connection) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	select {
	case <-e.subscribe(ctx, cli, id, c):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// subscribe enters a container, and returns what is closed once the engine's messages come. The
// lock is not held while the engine is asked: it may never answer.
func (e *engine) subscribe(ctx context.Context, cli *client.Client, id string, c *connection) (ready <-chan struct{}) {
	w := &e.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.members == nil {
		w.members = map[string]*connection{}
	}
	w.members[id] = c
	if w.stop != nil {
		return w.ready
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the start that began it
	match := filters.NewArgs(filters.Arg("type", "container"), filters.Arg("label", labelApp+"="+appName), filters.Arg("label", labelOwner+"="+e.kind.homeOwner()))
	for _, action := range []events.Action{events.ActionPause, events.ActionOOM, events.ActionDie, events.ActionDestroy} {
		match.Add("event", string(action))
	}
	done, listens := make(chan struct{}), make(chan struct{})
	w.stop, w.done, w.ready = stop, done, listens
	crash.Go("docker events", func() {
		defer close(done)
		defer w.endSubscription(done)
		messages, failed := cli.Events(ctx, events.ListOptions{Filters: match}) // waits for the engine
		close(listens)
		for {
			select {
			case m := <-messages:
				w.passMessage(m)
			case err := <-failed: // the engine is gone, and with it the connections; or nobody listens any more
				if ctx.Err() == nil {
					e.kind.opt.Log("the events of the engine at %s ended: %v", e.at.host, err)
				}
				return
			}
		}
	})
	return listens
}

// endSubscription lets the next listener subscribe anew.
func (w *watcher) endSubscription(done chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == done && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// passMessage passes one message on.
func (w *watcher) passMessage(m events.Message) {
	w.mu.Lock()
	c := w.members[m.Actor.ID]
	w.mu.Unlock()
	if c == nil {
		return
	}
	switch m.Action {
	case events.ActionPause:
		c.loseContainer("paused behind our back")
	case events.ActionOOM:
		c.noteOutOfMemory()
	case events.ActionDie:
		c.noteEngineEvent(time.Now(), "stopped")
	case events.ActionDestroy:
		c.noteEngineEvent(time.Now(), "removed")
	default:
	}
}

// stopListening stops listening for a container; the last one ends the subscription.
func (w *watcher) stopListening(id string, c *connection) {
	w.mu.Lock()
	if w.members[id] == c {
		delete(w.members, id)
	}
	stop := context.CancelFunc(nil)
	if len(w.members) == 0 {
		stop, w.stop = w.stop, nil
	}
	done := w.done
	w.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	w.members = nil
	stop, done := w.stop, w.done
	w.stop = nil
	w.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}
