package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Options change how a Runner ends commands. The zero value is right for most.
type Options struct {
	Grace time.Duration // between TERM and KILL; 0 means 2 s
	Drain time.Duration // how long a call waits for pipes that its shell left open; 0 means 150 ms

	// NoKeeper leaves the keeper (lease.go) out, where somebody else ends what outlives this
	// process.
	NoKeeper bool
}

// Runner runs commands. All methods are safe for concurrent use.
type Runner struct {
	opt   Options
	tag   string // prefix of every HERMES_CALL value, not guessable
	calls atomic.Uint64
	late  atomic.Int64
	hurry atomic.Int64 // when not 0, the most that Options.Grace may be
	forks spawner
	cells cells
	lease lease

	mu     sync.Mutex
	closed bool
	ctx    context.Context // of every call; cancelled by Close
	stop   context.CancelFunc
	busy   sync.WaitGroup        // calls and background processes
	open   map[*os.File]struct{} // read ends that are being drained
	drains sync.WaitGroup        // goroutines that read them
}

// New returns a Runner. Close it.
func New(o Options) *Runner {
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	if o.Drain <= 0 {
		o.Drain = 150 * time.Millisecond
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	r := &Runner{opt: o, tag: hex.EncodeToString(id), open: map[*os.File]struct{}{}}
	r.lease.tag, r.lease.off = r.tag, o.NoKeeper
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Run runs a command to its end. Cancelling ctx ends its whole tree and returns the partial result.
func (r *Runner) Run(ctx context.Context, s Spec) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("the command was not started: %w", err)
	}
	if s.MaxOutput <= 0 {
		s.MaxOutput = defaultMaxOutput
	}
	for try := 1; ; try++ {
		res, notMade, err := r.runOnce(ctx, s)
		if err != nil || notMade == "" {
			return res, err
		}
		if try == sandboxTries || ctx.Err() != nil {
			return Result{}, noSandbox(s.Confine.Mode, errors.New(notMade))
		}
	}
}

// runOnce also says why there was no sandbox, if nothing ran for that.
func (r *Runner) runOnce(ctx context.Context, s Spec) (res Result, notMade string, err error) {
	keep := newCapture(s.MaxOutput)
	j, err := r.startJob(s, keep)
	if err != nil {
		return Result{}, "", err
	}
	defer r.busy.Done()
	e, err := j.finishCommand(ctx, s.Timeout)
	if err != nil {
		_, _ = keep.spill.close(nil) // the error says more than what is in it
		return Result{}, "", err
	}
	res = j.makeResult(e)
	keep.writeResult(&res)
	return res, j.notMade, nil
}

// ShortenGrace shortens Options.Grace for all that is ended from now on: the machine may not wait.
func (r *Runner) ShortenGrace(grace time.Duration) { r.hurry.Store(int64(max(grace, 1))) }

func (r *Runner) killGrace() time.Duration {
	if hurry := time.Duration(r.hurry.Load()); hurry > 0 {
		return min(hurry, r.opt.Grace)
	}
	return r.opt.Grace
}

// LateBytes returns how many bytes arrived after the call that they belonged to and were dropped.
func (r *Runner) LateBytes() int64 { return r.late.Load() }

// Close ends everything that still runs and waits for it until ctx is done. Nothing can be started
// afterwards. Daemons that commands left behind on purpose live on; they lose their standard
// output.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	err := awaitGroup(ctx, &r.busy, "commands did not end")
	r.mu.Lock()
	for f := range r.open {
		_ = f.Close()
	}
	r.mu.Unlock()
	r.forks.close()
	r.cells.closeAll()
	r.lease.releaseKeeper()
	if err != nil {
		return err
	}
	return awaitGroup(ctx, &r.drains, "output pipes did not close")
}

// admitCommand admits one more command.
func (r *Runner) admitCommand() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.busy.Add(1)
	return nil
}

// nextCall numbers a call. All tags are equally long: none begins with another.
func (r *Runner) nextCall() (call uint64, tag string) {
	call = r.calls.Add(1)
	return call, fmt.Sprintf("%s-%010d", r.tag, call)
}
