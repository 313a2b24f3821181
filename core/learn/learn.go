// Package learn is the way from experience to skills: it listens to what happens, keeps what turns
// came to, asks a model beside the conversation for a change of a skill when there is reason for
// one, keeps that as a proposal, and takes skills back that did worse.
//
// The contract:
//
//   - It is a subscriber of the bus like every other one: no turn ever waits for it, and its model
//     is interrupted when a person or a program asks for something.
//   - What a turn came to is read off exit codes and what the person did. What a model says of its
//     own work is no signal, and what is unknown never counts as good.
//   - The model has no tools. It answers with changes of lines that it names; whatever loses a line
//     that it did not name is refused.
//   - Nothing that comes of a turn that had read strangers' words is written before a person says
//     so, in every mode.
//   - No secret is in what is kept or sent: all of it goes through core/secret.
//   - Every change is a version of its skill (package skills): it can be taken back.
//
// All methods of Learner are safe for concurrent use.
package learn

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/skill"
)

// Mode says what may happen unasked.
type Mode string

// Modes.
const (
	Off     Mode = "off"     // nothing is kept, nobody is asked
	Propose Mode = "propose" // what is learned waits for the person's yes
	Auto    Mode = "auto"    // what is clean is written at once, and taken back when it does worse
)

// Settings bound what is learned.
type Settings struct {
	Mode     Mode
	Calls    int           // tool calls that make a turn worth keeping without another reason
	Alike    int           // turns alike that make a new skill
	Every    time.Duration // at most one review in it
	Open     int           // proposals that may wait
	PerDay   int           // reviews
	Cost     float64       // US dollars a day; 0: no limit
	Share    float64       // of what is spent in a day, 0 to 1; 0: no limit
	Stale    time.Duration // unused for so long: said to be stale
	Archived time.Duration // unused for so long: moved away
	Pinned   []string      // skills that are left alone
}

// Options say what a Learner works with. Dir, Library, Settings are required.
type Options struct {
	Dir      string // of its file
	Library  *skill.Library
	Settings func() Settings
	// Ask has a model without tools answer; nil: nobody can be asked.
	Ask func(ctx context.Context, session, system, text string) (string, error)
	// Wait says that no review begins by itself: the program ends with its work.
	Wait bool
	// Spent is what models cost today; nil: nobody counts that.
	Spent func(ctx context.Context) (Spent, error)
	// Try runs a check of a skill and returns its exit code; the error says why it was not run. nil:
	// none is.
	Try     func(ctx context.Context, t Trial) (code int, err error)
	Publish func(event.Header, event.Event) // nil: nobody is told
	Log     *slog.Logger
	Now     func() time.Time // nil: the clock
}

// Learner learns from what happens.
type Learner struct {
	o    Options
	file store

	mu     sync.Mutex // guards what follows
	turns  map[string]*turn
	idle   []Experience       // the last turns that did nothing worth keeping: the person may mark one
	cancel context.CancelFunc // ends the review that goes on; nil: none does
	over   []string           // ids of the last turns that were taken in
	told   chan struct{}      // closed when there is one more, or some were lost
	lost   bool               // events were lost: a turn that is not known may never be taken in
	open   int                // proposals that waited when the file was as it was at asof
	asof   fs.FileInfo
	work   sync.WaitGroup
}

// New makes a learner; it reads and writes nothing yet.
func New(o Options) *Learner {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Publish == nil {
		o.Publish = func(event.Header, event.Event) {}
	}
	return &Learner{o: o, file: store{dir: o.Dir}, turns: map[string]*turn{}, told: make(chan struct{})}
}

// Waiting is how many proposals wait for a word. It reads the file only when that has changed.
func (l *Learner) Waiting() int {
	info, err := os.Stat(l.file.path())
	if err != nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asof != nil && os.SameFile(l.asof, info) && l.asof.ModTime().Equal(info.ModTime()) {
		return l.open
	}
	if st, err := l.file.readState(); err == nil {
		l.open, l.asof = st.countOpen(), info
	}
	return l.open
}

// retry is how often a review is tried that had to wait.
const retry = time.Minute

// Follow learns from a mailbox until ctx ends. It closes the mailbox.
func (l *Learner) Follow(ctx context.Context, box *event.Mailbox) {
	defer l.work.Wait()
	defer box.Close()
	l.retireStale()
	for {
		wait, stop := context.WithTimeout(ctx, retry)
		events, err := box.Next(wait)
		stop()
		switch {
		case ctx.Err() != nil || events == nil && err == nil:
			for _, e := range append(events, box.Drain()...) { // the end of the last turn
				l.takeEvent(ctx, e)
			}
			return
		case errors.Is(err, context.DeadlineExceeded):
			l.beginReview(ctx)
		}
		for _, e := range events {
			l.takeEvent(ctx, e)
		}
	}
}

// takeEvent takes one event.
func (l *Learner) takeEvent(ctx context.Context, e event.Envelope) {
	if _, lost := e.Event.(event.Resync); lost {
		l.mu.Lock()
		clear(l.turns)
		l.lost = true
		l.wakeWaiters()
		l.mu.Unlock()
		return
	}
	if l.o.Settings().Mode == Off {
		return
	}
	if h, ok := e.Event.(event.HistoryChanged); ok && h.Why == event.HistoryUndone {
		l.blameLastTurn(e.Session, Signal{Says: Bad, Person: true, Why: "the person took the exchange back"})
	}
	done := l.collectEvent(e)
	if _, began := e.Event.(event.TurnStarted); began { // after collect: see rest
		l.interruptReview()
	}
	if done != nil {
		l.finishTurn(*done)
		l.noteTaken(done.Turn)
		l.beginReview(ctx)
	}
}

// noteTaken remembers that a turn was taken in.
func (l *Learner) noteTaken(turn string) {
	const most = 20
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = append(l.over, turn)
	l.over = l.over[max(len(l.over)-most, 0):]
	l.wakeWaiters()
}

// wakeWaiters has those look again who wait; mu is held.
func (l *Learner) wakeWaiters() {
	close(l.told)
	l.told = make(chan struct{})
}

// ErrLost says that what a turn came to is not known: more happened than could be listened to.
var ErrLost = errors.New("more happened at once than could be listened to, so that it is not known what the turn came to")

// Await waits until a turn that has ended is taken in. It fails with ErrLost where that will not
// be.
func (l *Learner) Await(ctx context.Context, turn string) error {
	for {
		l.mu.Lock()
		in, told, lost := slices.Contains(l.over, turn), l.told, l.lost && l.turns[turn] == nil
		l.mu.Unlock()
		switch {
		case in:
			return nil
		case lost:
			return ErrLost
		}
		select {
		case <-told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// interruptReview stops the review that goes on: it is done later.
func (l *Learner) interruptReview() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}

// waitWhileTurnsGoOn waits until no turn goes on, or ctx ends: what can be written later is not
// written beside one.
func (l *Learner) waitWhileTurnsGoOn(ctx context.Context) {
	for {
		l.mu.Lock()
		busy, told := len(l.turns) > 0, l.told
		l.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-told:
		case <-ctx.Done():
			return
		}
	}
}

// beginReview starts the next review beside everything else, unless one goes on.
func (l *Learner) beginReview(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil || l.cancel != nil || len(l.turns) > 0 || l.o.Ask == nil || l.o.Wait || l.o.Settings().Mode == Off {
		return
	}
	asking, stop := context.WithCancel(ctx)
	l.cancel = stop
	l.work.Add(1)
	crash.Go("learn", func() {
		defer l.work.Done()
		_, err := l.reviewNext(ctx, asking, false)
		again := asking.Err() != nil
		if err != nil && !again {
			l.o.Log.Warn("nothing was learned", "err", err)
		}
		stop()
		l.mu.Lock()
		l.cancel = nil
		l.mu.Unlock()
		if again { // interrupted by a turn, which is over by now
			l.beginReview(ctx)
		}
	})
}
