package runner

import "sync"

// Intake keeps the output of a command that runs elsewhere exactly as Run and Start keep that of
// one that runs here: bounded, spilled to a file, shown to the Sink.
type Intake struct {
	mu     sync.Mutex
	keep   consumer
	feed   *feed
	sealed bool
}

// NewIntake is for a command of Run. Name is a part of the spill file's name, and must not be
// guessable.
func NewIntake(s Spec, name string) *Intake {
	if s.MaxOutput <= 0 {
		s.MaxOutput = defaultMaxOutput
	}
	c := newCapture(s.MaxOutput)
	c.spill = newSpill(s.SpillDir, name)
	return &Intake{keep: c, feed: newFeed(s.Sink)}
}

// NewRing is for a command of Start.
func NewRing(s Spec) *Intake {
	if s.MaxOutput <= 0 {
		s.MaxOutput = defaultRing
	}
	return &Intake{keep: newRing(s.MaxOutput), feed: newFeed(s.Sink)}
}

// Put takes output. It never blocks for the Sink, and does not keep the slice.
func (i *Intake) Put(s Stream, data []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.sealed {
		return
	}
	i.keep.keepBytes(data)
	if i.feed != nil {
		i.feed.queueData(s, data)
	}
}

// Close ends the intake, gives the Sink a moment for the rest, and enters into res what was kept.
// Nothing is delivered afterwards.
func (i *Intake) Close(res *Result) {
	i.mu.Lock()
	was := i.sealed
	i.sealed = true
	i.mu.Unlock()
	if was {
		return
	}
	if i.feed != nil {
		i.feed.close(sinkPatience)
	}
	if c, ok := i.keep.(*capture); ok {
		c.writeResult(res)
	}
}

// Read returns output of a ring, as Process.Output does.
func (i *Intake) Read(offset int64, limit int) (data []byte, start, end int64) {
	if r, ok := i.keep.(*ring); ok {
		return r.read(offset, limit)
	}
	return nil, 0, 0
}
