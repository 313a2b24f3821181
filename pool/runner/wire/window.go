package wire

import "sync"

// windowSize is how many bytes of one flow may be on their way.
const windowSize = 256 << 10

// window is the sender's side of a flow: how much it may still send.
type window struct {
	mu   sync.Mutex
	left int
	shut bool
	wake chan struct{} // nil while nobody waits
}

func newWindow() *window { return &window{left: windowSize} }

// takeCredit waits for room, and takes up to want bytes of it. It returns 0 when the window was
// shut or give closed first.
func (w *window) takeCredit(want int, give <-chan struct{}) int {
	for {
		w.mu.Lock()
		if w.shut {
			w.mu.Unlock()
			return 0
		}
		if n := min(want, w.left); n > 0 {
			w.left -= n
			w.mu.Unlock()
			return n
		}
		if w.wake == nil {
			w.wake = make(chan struct{})
		}
		wake := w.wake
		w.mu.Unlock()
		select {
		case <-wake:
		case <-give:
			return 0
		}
	}
}

// addCredit makes room. More than a window is nonsense, and not believed.
func (w *window) addCredit(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = min(w.left+n, windowSize)
	w.wakeWaiters()
}

// close lets nothing through any more.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shut = true
	w.wakeWaiters()
}

func (w *window) wakeWaiters() {
	if w.wake != nil {
		close(w.wake)
		w.wake = nil
	}
}

// meter is the receiver's side: how much was taken and not yet credited.
type meter struct{ taken int }

// creditDue returns the credit that is due: it is given in halves of a window, so that a credit is
// rare.
func (m *meter) creditDue(n int) int {
	m.taken += n
	if m.taken < windowSize/2 {
		return 0
	}
	due := m.taken
	m.taken = 0
	return due
}
