package runner

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
)

// consumer keeps output. It is called under a lock, and must not keep the slice.
type consumer interface {
	keepBytes(data []byte)
	text() string // what is kept
}

// output is what one call prints, until it is sealed.
type output struct {
	run  *Runner
	keep consumer
	feed *feed // nil without a Sink
	tap  Tap   // gets it instead of keep and feed

	mu     sync.Mutex
	sealed bool
	left   int           // pumps that have not seen the end
	eof    chan struct{} // closed when left is 0
	pumps  []*pump
}

// pump reads one pipe to its end, beyond the end of the call if need be.
type pump struct {
	file   *os.File
	stream Stream
	taken  atomic.Int64
}

// sinkPatience is how long a call waits for its Sink to get the rest.
const sinkPatience = 500 * time.Millisecond

const chunkSize = 64 << 10

var chunks = sync.Pool{New: func() any { b := make([]byte, chunkSize); return &b }}

// startPump starts a pump for f, which it owns from now on.
func (o *output) startPump(f *os.File, s Stream) {
	p := &pump{file: f, stream: s}
	o.pumps = append(o.pumps, p)
	o.run.trackFile(f)
	crash.Go("runner output", func() { o.drainPump(p) })
}

func (o *output) drainPump(p *pump) {
	defer o.run.untrackFile(p.file)
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	for {
		n, err := p.file.Read(*buf)
		if n > 0 {
			o.takeBytes(p.stream, (*buf)[:n])
			p.taken.Add(int64(n))
		}
		if err != nil { // io.EOF, EIO from a terminal whose last user is gone, or closed by Close
			o.pumpEnded()
			return
		}
	}
}

func (o *output) takeBytes(s Stream, data []byte) {
	o.mu.Lock()
	if o.tap != nil && !o.sealed {
		o.mu.Unlock() // it may block
		o.tap(s, data)
		return
	}
	defer o.mu.Unlock()
	if o.sealed {
		o.run.late.Add(int64(len(data)))
		return
	}
	o.keep.keepBytes(data)
	if o.feed != nil {
		o.feed.queueData(s, data)
	}
}

// textSoFar is what is kept of it so far.
func (o *output) textSoFar() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keep.text()
}

func (o *output) pumpEnded() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left--; o.left == 0 {
		close(o.eof)
	}
}

// settleAfterExit is called when the shell has exited: it takes what is still in the pipes, and
// then seals. A child in the background may hold them open for ever, so it does not wait for their
// end longer than grace; but what was printed before the exit is never lost, however busy the
// machine is. A Tap that blocks is waited for: whoever gave it unblocks it.
func (o *output) settleAfterExit(grace time.Duration) {
	if !closesWithin(0, o.eof) {
		goals := o.waitingGoals()
		for i := 0; (i < 20 || o.tap != nil) && !closesWithin(grace, o.eof) && !o.reachedGoals(goals); i++ {
			grace = 50 * time.Millisecond
		}
	}
	o.mu.Lock()
	o.sealed = true
	o.mu.Unlock()
	if o.feed != nil {
		o.feed.close(sinkPatience)
	}
}

// waitingGoals returns for each pump how many bytes it will have taken when it has read what is in
// its pipe now.
func (o *output) waitingGoals() []int64 {
	goals := make([]int64, len(o.pumps))
	for i, p := range o.pumps {
		goals[i] = p.taken.Load() + pendingBytes(p.file)
	}
	return goals
}

func (o *output) reachedGoals(goals []int64) bool {
	for i, p := range o.pumps {
		if p.taken.Load() < goals[i] {
			return false
		}
	}
	return true
}

// pendingBytes returns how many bytes wait in f.
func pendingBytes(f *os.File) int64 {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	var n int
	if conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), bytesWaiting) }) != nil || err != nil {
		return 0
	}
	return int64(n)
}

func (r *Runner) trackFile(f *os.File) {
	r.drains.Add(1)
	r.mu.Lock()
	r.open[f] = struct{}{}
	r.mu.Unlock()
}

func (r *Runner) untrackFile(f *os.File) {
	r.mu.Lock()
	delete(r.open, f)
	r.mu.Unlock()
	_ = f.Close()
	r.drains.Done()
}
