package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
)

// process is one background process of a session.
type process struct {
	run Process

	mu   sync.Mutex
	info backend.Process
}

// maxEnded is how many ended processes a session keeps to be read.
const maxEnded = 64

// adoptProcess enters a process that was just started into its session.
func (p *Pool) adoptProcess(s *session, r backend.Request, name string, run Process, warnings []string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.serial++
	proc := &process{run: run, info: backend.Process{
		ID: fmt.Sprintf("p%d", s.serial), Session: r.Session, CallID: r.CallID, Backend: name,
		Command: shownCommand(r), Started: time.Now(), Running: true, PTY: r.PTY != nil, Warnings: warnings,
	}}
	s.procs = append(dropOldestEnded(s.procs), proc)
	return proc
}

// dropOldestEnded drops the oldest ended process when there are too many.
func dropOldestEnded(procs []*process) []*process {
	ended := func(q *process) bool { return !q.status().Running }
	n := 0
	for _, q := range procs {
		if ended(q) {
			n++
		}
	}
	if n < maxEnded {
		return procs
	}
	i := slices.IndexFunc(procs, ended)
	return slices.Delete(slices.Clone(procs), i, i+1)
}

// recordEnd records the end.
func (q *process) recordEnd() {
	code, _ := q.run.Exit()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.info.Running {
		q.info.Running, q.info.ExitCode, q.info.Ended = false, code, time.Now()
	}
}

// hasChannel says that whoever started the process holds its channel and looks after it: nobody
// else is told of it.
func (q *process) hasChannel() bool { return q.run.Channel() != nil }

// publishEnd tells everybody.
func (p *Pool) publishEnd(q *process) {
	if q.hasChannel() {
		return
	}
	i := q.status()
	p.bus.Publish(event.Header{Session: i.Session}, event.ProcessEnded{
		ID: i.ID, CallID: i.CallID, Backend: i.Backend, Command: i.Command, ExitCode: i.ExitCode, Took: i.Ended.Sub(i.Started),
	})
}

// forceEnd returns what ends a process because of why, and says so in its warnings.
func (q *process) forceEnd(why string) func() {
	return func() {
		q.mu.Lock()
		q.info.Warnings = append(slices.Clone(q.info.Warnings), why)
		q.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), killTime)
		defer cancel()
		_ = q.run.Kill(ctx) // what does not end by this ends with its back end
	}
}

// status returns the process as it is now.
func (q *process) status() backend.Process {
	if _, ended := q.run.Exit(); ended {
		q.recordEnd()
	}
	_, _, end := q.run.Output(-1, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.info.Total = end
	return q.info
}

func (p *Pool) findProcess(uid, id string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var procs []*process
	if s := p.sessions[uid]; s != nil {
		procs = s.procs
	}
	i := slices.IndexFunc(procs, func(q *process) bool { return q.info.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("no background process %q in this session (it has %d)", id, len(procs))
	}
	return procs[i], nil
}

// Processes lists the session's background processes, newest first. "" lists those of all sessions.
func (p *Pool) Processes(uid string) []backend.Process {
	p.mu.Lock()
	var procs []*process
	for name, s := range p.sessions {
		if uid == "" || uid == name {
			procs = append(procs, s.procs...)
		}
	}
	p.mu.Unlock()
	list := make([]backend.Process, 0, len(procs))
	for _, q := range procs {
		if !q.hasChannel() {
			list = append(list, q.status())
		}
	}
	slices.SortFunc(list, func(a, b backend.Process) int { return b.Started.Compare(a.Started) })
	return list
}

// Output returns up to limit bytes from offset of a process' output, where they begin and where the
// output ends.
func (p *Pool) Output(uid, id string, offset int64, limit int) (data []byte, start, end int64, err error) {
	q, err := p.findProcess(uid, id)
	if err != nil {
		return nil, 0, 0, err
	}
	data, start, end = q.run.Output(offset, limit)
	return data, start, end, nil
}

// Write sends data to a process' standard input; eof closes it afterwards.
func (p *Pool) Write(uid, id string, data []byte, eof bool) error {
	q, err := p.findProcess(uid, id)
	if err != nil {
		return err
	}
	return q.run.Write(data, eof)
}

// Resize changes the terminal of a process that has one.
func (p *Pool) Resize(uid, id string, s backend.Size) error {
	q, err := p.findProcess(uid, id)
	if err != nil {
		return err
	}
	return q.run.Resize(*terminalSize(s))
}

// Wait blocks until the process ends, ctx is done or d passed (0: no limit), and returns its state
// then.
func (p *Pool) Wait(ctx context.Context, uid, id string, d time.Duration) (backend.Process, error) {
	q, err := p.findProcess(uid, id)
	if err != nil {
		return backend.Process{}, err
	}
	var late <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-q.run.Done():
	case <-late:
	case <-ctx.Done():
		return q.status(), ctx.Err()
	}
	return q.status(), nil
}

// Kill ends a process and its whole tree.
func (p *Pool) Kill(ctx context.Context, uid, id string) (backend.Process, error) {
	q, err := p.findProcess(uid, id)
	if err != nil {
		return backend.Process{}, err
	}
	err = q.run.Kill(ctx)
	return q.status(), err
}

func killAll(ctx context.Context, procs []*process) error {
	results := make(chan error, len(procs))
	for _, q := range procs {
		crash.Go("pool kill", func() { results <- q.run.Kill(ctx) })
	}
	var errs []error
	for range procs {
		errs = append(errs, <-results)
	}
	return errors.Join(errs...)
}
