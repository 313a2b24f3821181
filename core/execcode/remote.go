package execcode

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/crash"
)

// remote is an interpreter in a back end of the pool. It gets the same channel, carried there by
// the pool; the back end is what keeps it in.
type remote struct {
	pool    backend.Pool
	session string
	id      string
	name    string
	ch      io.ReadWriteCloser
	ended   chan struct{}
	code    int
	stop    context.CancelFunc
	killed  sync.Once
}

func (e *Engine) startRemote(ctx context.Context, s Script, out sink) (process, error) {
	argv := python{path: "python3"}.argv()
	proc, err := e.o.Pool.Start(ctx, backend.Request{
		Session: s.Session, CallID: s.CallID, Backend: s.Backend, Argv: argv, Shown: "execute_code", Home: s.Dir, Channel: true, Sink: out, Env: s.Env,
	})
	if err != nil {
		return nil, fmt.Errorf("python3 could not be started in back end %s: %w", s.Backend, err)
	}
	ch, err := e.o.Pool.Channel(s.Session, proc.ID)
	if err != nil {
		_, _ = e.o.Pool.Kill(context.WithoutCancel(ctx), s.Session, proc.ID)
		return nil, fmt.Errorf("no channel to the script in back end %s: %w", proc.Backend, err)
	}
	_, _ = ch.Write(loaderBlock('s', []byte(bootstrap))) // if that fails it has ended, and its exit code and words say more
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &remote{pool: e.o.Pool, session: s.Session, id: proc.ID, name: proc.Backend, ch: ch, ended: make(chan struct{}), stop: stop}
	crash.Go("script wait", func() { p.awaitExit(life) })
	return p, nil
}

func (p *remote) awaitExit(ctx context.Context) {
	defer close(p.ended)
	state, err := p.pool.Wait(ctx, p.session, p.id, 0)
	p.code = state.ExitCode
	if err != nil || state.Running {
		p.code = 1
	}
}

func (p *remote) channel() io.ReadWriteCloser { return p.ch }
func (p *remote) done() <-chan struct{}       { return p.ended }
func (p *remote) status() int                 { return p.code }
func (p *remote) isolation() string           { return "backend " + p.name }
func (p *remote) interrupt()                  { p.terminate() }

// terminate asks the pool, which sends SIGTERM first and SIGKILL after a grace.
func (p *remote) terminate() {
	p.killed.Do(func() {
		crash.Go("script stop", func() {
			ctx, cancel := context.WithTimeout(context.Background(), killTime)
			defer cancel()
			_, _ = p.pool.Kill(ctx, p.session, p.id)
		})
	})
}

func (p *remote) kill(ctx context.Context) {
	p.terminate()
	select {
	case <-p.ended:
	case <-ctx.Done():
	case <-time.After(killTime):
	}
}

func (p *remote) release() {
	_ = p.ch.Close()
	select {
	case <-p.ended:
	default:
		p.terminate()
	}
	p.stop()
}
