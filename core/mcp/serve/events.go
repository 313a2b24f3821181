package serve

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/chat"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/session"
)

const (
	keptEvents           = 1000
	maxEvents            = 200
	longestWaitForEvents = 5 * time.Minute
	lookPause            = time.Second // between two looks for what other processes wrote, while a client waits
	lookedAt             = 50          // conversations that changed since the server began
)

// happened is one event as clients see it.
type happened struct {
	Cursor     int64     `json:"cursor"`
	Type       string    `json:"type"`
	SessionKey string    `json:"session_key,omitempty"`
	At         string    `json:"at"`
	Message    *message  `json:"message,omitempty"`
	Reason     string    `json:"reason,omitempty" jsonschema:"why a turn ended: done, interrupted, error, budget"`
	Error      string    `json:"error,omitempty"`
	Approval   *approval `json:"approval,omitempty"`
	ApprovalID string    `json:"approval_id,omitempty"`
	Decision   string    `json:"decision,omitempty"`
}

// feed is the newest events. What this process does it hears from the bus; what others write it
// finds in the store, when somebody asks.
type feed struct {
	app   client.Client
	began time.Time

	looking sync.Mutex // one look at a time

	mu   sync.Mutex
	ring []happened
	last int64
	news chan struct{} // closed when something is added
	seen map[string]int
	open []approval // that wait for an answer, the oldest first
}

func newFeed(app client.Client) *feed {
	return &feed{app: app, began: time.Now(), news: make(chan struct{}), seen: map[string]int{}}
}

// followEvents takes what the program tells until ctx ends.
func (f *feed) followEvents(ctx context.Context) {
	box := f.app.Events().Subscribe(event.Limits{})
	defer box.Close()
	for {
		list, err := box.Next(ctx)
		if err != nil || list == nil {
			return
		}
		for _, e := range list {
			f.takeEvent(e)
		}
	}
}

func (f *feed) takeEvent(e event.Envelope) {
	switch x := e.Event.(type) {
	case event.MessageAdded:
		f.addMessage(e.Session, x.Message)
	case event.MessageSealed:
		f.addMessage(e.Session, x.Message)
	case event.TurnStarted:
		f.keepEvent(happened{Type: "turn_started", SessionKey: e.Session})
	case event.TurnEnded:
		f.keepEvent(happened{Type: "turn_ended", SessionKey: e.Session, Reason: string(x.Reason), Error: x.Err})
	case event.ApprovalAsked:
		a := approvalOf(e, x)
		f.mu.Lock()
		f.open = append(f.open, a)
		f.mu.Unlock()
		f.keepEvent(happened{Type: "approval_requested", SessionKey: e.Session, Approval: &a})
	case event.ApprovalSettled:
		f.mu.Lock()
		f.open = slices.DeleteFunc(f.open, func(a approval) bool { return a.ID == x.ID })
		f.mu.Unlock()
		f.keepEvent(happened{Type: "approval_resolved", SessionKey: e.Session, ApprovalID: x.ID, Decision: string(x.Decision), Reason: string(x.By)})
	case event.QuestionAsked:
		// One that is closed meanwhile needs no answer.
		_ = f.app.AnswerQuestion(x.ID, "Nobody is here to answer: choose what is safest and say what you assumed.")
	}
}

func (f *feed) keepEvent(e happened) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addLocked(e)
}

func (f *feed) addLocked(e happened) {
	f.last++
	e.Cursor = f.last
	if e.At == "" {
		e.At = formatTime(time.Now())
	}
	if len(f.ring) == keptEvents {
		f.ring = slices.Delete(f.ring, 0, 1)
	}
	f.ring = append(f.ring, e)
	close(f.news)
	f.news = make(chan struct{})
}

// addMessage adds a message once: it may come from the bus and from the store.
func (f *feed) addMessage(key string, m chat.Message) {
	if m.Status == chat.StatusPartial {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Seq <= f.seen[key] {
		return
	}
	f.seen[key] = m.Seq
	if !isShown(m, false) {
		return
	}
	one := messageOf(m, usualText)
	f.addLocked(happened{Type: "message", SessionKey: key, At: one.Timestamp, Message: &one})
}

// lookForOthers finds what other processes wrote since the server began.
func (f *feed) lookForOthers(ctx context.Context) error {
	f.looking.Lock()
	defer f.looking.Unlock()
	changed, err := f.app.History().List(ctx, session.Filter{Since: f.began, Limit: lookedAt})
	for _, i := range slices.Backward(changed) {
		if err != nil {
			return err
		}
		err = f.lookAt(ctx, i)
	}
	return err
}

func (f *feed) lookAt(ctx context.Context, i event.SessionInfo) error {
	f.mu.Lock()
	after := f.seen[i.UID]
	f.mu.Unlock()
	if i.Messages > 0 && after > 0 && i.Messages <= after {
		return nil
	}
	page := session.Page{AfterSeq: after, Limit: maxMessages}
	found, _, err := f.app.History().Messages(ctx, i.UID, page)
	for _, m := range found {
		if m.Status == chat.StatusPartial {
			break // it is being written
		}
		if m.At.Before(f.began) {
			f.mu.Lock()
			f.seen[i.UID] = max(f.seen[i.UID], m.Seq)
			f.mu.Unlock()
			continue
		}
		f.addMessage(i.UID, m)
	}
	return err
}

type pollIn struct {
	AfterCursor int64  `json:"after_cursor,omitempty" jsonschema:"the next_cursor of the call before; 0 for all that are kept"`
	SessionKey  string `json:"session_key,omitempty" jsonschema:"only this conversation"`
	Limit       int    `json:"limit,omitempty" jsonschema:"1 to 200; 20 unless given"`
}

type waitIn struct {
	pollIn
	TimeoutMS int `json:"timeout_ms,omitempty" jsonschema:"up to 300000; 30000 unless given"`
}

type pollOut struct {
	Events     []happened `json:"events"`
	NextCursor int64      `json:"next_cursor"`
	Missed     bool       `json:"missed,omitempty" jsonschema:"events after the cursor are no longer kept"`
}

// eventsAfter are the events after a cursor. One of an earlier life of the server begins anew.
func (f *feed) eventsAfter(in pollIn) (out pollOut, news <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := max(in.AfterCursor, 0)
	out = pollOut{Events: []happened{}, NextCursor: after}
	if after > f.last {
		after, out.Missed = 0, true
	}
	if len(f.ring) > 0 && f.ring[0].Cursor > after+1 {
		out.Missed = true
	}
	limit := clampTo(in.Limit, 20, maxEvents)
	for _, e := range f.ring {
		if e.Cursor <= after {
			continue
		}
		if len(out.Events) == limit {
			return out, f.news
		}
		out.NextCursor = e.Cursor
		if in.SessionKey == "" || e.SessionKey == in.SessionKey {
			out.Events = append(out.Events, e)
		}
	}
	out.NextCursor = f.last
	return out, f.news
}

func (s *Server) poll(ctx context.Context, _ *sdk.CallToolRequest, in pollIn) (pollOut, error) {
	if err := s.feed.lookForOthers(ctx); err != nil {
		return pollOut{Events: []happened{}}, err
	}
	out, _ := s.feed.eventsAfter(in)
	return out, nil
}

func (s *Server) wait(ctx context.Context, _ *sdk.CallToolRequest, in waitIn) (pollOut, error) {
	limit := time.Duration(clampTo(in.TimeoutMS, 30_000, int(longestWaitForEvents/time.Millisecond))) * time.Millisecond
	over := time.NewTimer(limit)
	defer over.Stop()
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		if err := s.feed.lookForOthers(ctx); err != nil {
			return pollOut{Events: []happened{}}, err
		}
		out, news := s.feed.eventsAfter(in.pollIn)
		if len(out.Events) > 0 {
			return out, nil
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return out, ctx.Err()
			case <-over.C:
				return out, nil
			case <-tick.C:
				waiting = false
			case <-news:
				if out, news = s.feed.eventsAfter(in.pollIn); len(out.Events) > 0 {
					return out, nil
				}
			}
		}
	}
}
