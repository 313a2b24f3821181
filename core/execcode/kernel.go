package execcode

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/event"
)

// kernelKey is what must be the same for two scripts to share their variables.
type kernelKey struct {
	session, backend, dir string
	mode                  Mode
	env                   string // what was passed beside the clean environment
}

// kernel is an interpreter that stays.
type kernel struct {
	key  kernelKey
	p    process
	line *line
	mark string
	out  atomic.Pointer[collector]

	turn chan struct{} // holds one token: whoever has it runs a script
	used time.Time     // by kernels.mu: when the last script ended
	idle *time.Timer   // by kernels.mu
	busy bool          // by kernels.mu
	runs int           // by turn
}

// kernels are the interpreters that stay, of all sessions.
type kernels struct {
	mu     sync.Mutex
	all    map[kernelKey]*kernel
	making map[kernelKey]chan struct{}
	closed bool
}

// runKernel runs a script in the kernel of its session, which is made at the first one.
func (e *Engine) runKernel(ctx context.Context, s Script) Result {
	key := kernelKey{session: s.Session, backend: s.Backend, dir: s.Dir, mode: s.Mode, env: strings.Join(environOf(s.Env), "\x00")}
	if s.Reset {
		e.kernels.dropMatching(func(k kernelKey) bool { return k == key })
	}
	k, err := e.takeKernel(ctx, key, s)
	if err != nil {
		return e.failureResult(ctx, err)
	}
	col := newCollector(s.Limits, s.Output, k.mark)
	k.out.Store(col)
	r := run{e: e, s: s, p: k.p, line: k.line, out: col, init: isInit(k.p), mark: k.mark, kernel: true, again: k.runs > 0}
	res := r.driveScript(ctx)
	k.out.Store(nil)
	res.Kernel = "kept"
	if k.runs++; k.runs == 1 {
		res.Kernel = "new"
	}
	if !r.alive {
		e.kernels.dropMatching(func(x kernelKey) bool { return x == key })
		res.Kernel = "lost"
		res.Warnings = append(res.Warnings, "the session's Python ended: its variables are gone, the next call starts a new one")
	}
	e.kernels.giveBack(k, s.Limits.Idle)
	return res
}

// takeKernel returns the kernel for key, for this script alone.
func (e *Engine) takeKernel(ctx context.Context, key kernelKey, s Script) (*kernel, error) {
	for {
		k, wait, err := e.kernels.takeFree(key, s.Limits.Kernels)
		switch {
		case err != nil:
			return nil, err
		case k != nil && wait == nil:
			return k, nil
		case wait != nil:
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		k, err = e.newKernel(ctx, key, s)
		if e.kernels.finishMaking(key, k) {
			return k, err
		}
		if k != nil {
			k.killInterpreter()
		}
		if err == nil {
			err = errClosed
		}
		return nil, err
	}
}

var errClosed = fmt.Errorf("the program is ending")

func (e *Engine) newKernel(ctx context.Context, key kernelKey, s Script) (*kernel, error) {
	k := &kernel{key: key, mark: "\x00" + rand.Text() + "\n", busy: true}
	p, err := e.startInterpreter(ctx, s, func(st event.Stream, data []byte) {
		if c := k.out.Load(); c != nil {
			c.write(st, data)
		}
	})
	if err != nil {
		return nil, err
	}
	k.p, k.line, k.turn = p, newLine(p.channel()), make(chan struct{})
	return k, nil
}

// takeFree returns a kernel that is free and now taken; or a channel to wait for one that is not;
// or neither: the caller makes one.
func (k *kernels) takeFree(key kernelKey, most int) (*kernel, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, nil, errClosed
	}
	if making := k.making[key]; making != nil {
		return nil, making, nil
	}
	if have := k.all[key]; have != nil {
		if have.busy {
			return nil, have.turn, nil
		}
		have.busy = true
		if have.idle != nil {
			have.idle.Stop()
		}
		return have, nil, nil
	}
	if len(k.all)+len(k.making) >= most {
		if err := k.makeRoom(most); err != nil {
			return nil, nil, err
		}
	}
	if k.making == nil {
		k.making = map[kernelKey]chan struct{}{}
	}
	k.making[key] = make(chan struct{})
	return nil, nil, nil
}

// makeRoom ends the kernel that was not used for the longest time. The caller holds mu.
func (k *kernels) makeRoom(most int) error {
	var oldest *kernel
	for _, x := range k.all {
		if !x.busy && (oldest == nil || x.used.Before(oldest.used)) {
			oldest = x
		}
	}
	if oldest == nil {
		return fmt.Errorf("all %d kernels are busy: run this without session, or wait", most)
	}
	k.removeLocked(oldest)
	return nil
}

// finishMaking ends the making of a kernel; x is nil when it failed. It reports whether x is kept.
func (k *kernels) finishMaking(key kernelKey, x *kernel) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.making[key])
	delete(k.making, key)
	if x != nil && !k.closed {
		k.all[key] = x
	}
	return x == nil || !k.closed
}

// giveBack frees a kernel for the next script, or for its idle time.
func (k *kernels) giveBack(x *kernel, idle time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x.busy, x.used = false, time.Now()
	close(x.turn)
	x.turn = make(chan struct{})
	if k.all[x.key] != x {
		return
	}
	if k.closed {
		k.removeLocked(x)
		return
	}
	x.idle = time.AfterFunc(idle, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.all[x.key] == x && !x.busy && time.Since(x.used) >= idle {
			k.removeLocked(x)
		}
	})
}

// removeLocked ends a kernel. The caller holds mu.
func (k *kernels) removeLocked(x *kernel) {
	delete(k.all, x.key)
	if x.idle != nil {
		x.idle.Stop()
	}
	x.killInterpreter()
}

// killInterpreter kills the interpreter; it returns when that is done, or after some seconds.
func (x *kernel) killInterpreter() {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	x.p.kill(ctx)
	x.p.release()
}

// dropMatching ends the kernels that match.
func (k *kernels) dropMatching(match func(kernelKey) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, x := range k.all {
		if match(key) {
			k.removeLocked(x)
		}
	}
}

func (k *kernels) dropSession(session string) {
	k.dropMatching(func(key kernelKey) bool { return key.session == session })
}

func (k *kernels) closeAll() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.dropMatching(func(kernelKey) bool { return true })
}
