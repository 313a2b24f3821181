package execcode

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/socketpair"
)

const (
	// drainTime is how long output is waited for after the end of a script: what still holds a pipe
	// open then is none of it.
	drainTime = 300 * time.Millisecond
	pieces    = 32 << 10
)

// launch is what a local interpreter is started with.
type launch struct {
	argv   []string
	env    []string
	dir    string
	temp   *tempDir
	policy policy
	rules  *ruleCache
	iso    Isolation
	limits Limits
	sink   sink
}

// local is an interpreter on this machine.
type local struct {
	cmd   *exec.Cmd
	ch    *os.File
	iso   Isolation
	tag   string
	temp  *tempDir
	pipes []*os.File
	ended chan struct{}
	code  int
	over  atomic.Bool // set before the process is reaped: its number may be another's then
	tell  sink
}

// startLocal starts an interpreter that waits for its job. Nothing of the script has run when it
// returns, so the limits are set in time.
func startLocal(l launch) (*local, error) {
	p := &local{iso: l.iso, temp: l.temp, tag: l.temp.name(), ended: make(chan struct{}), tell: l.sink}
	ours, theirs, err := socketpair.Make()
	if err != nil {
		return nil, fmt.Errorf("no channel for the script: %w", err)
	}
	defer theirs.Close()
	p.ch = ours
	files, err := p.prepareCommand(l, theirs)
	if err == nil {
		err = p.startCommand(l)
	}
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		_ = ours.Close()
		for _, f := range p.pipes {
			_ = f.Close()
		}
		return nil, err
	}
	go0 := make(chan struct{}, 2)
	for i, s := range []event.Stream{event.Stdout, event.Stderr} {
		crash.Go("script output", func() {
			p.readStream(s, p.pipes[i])
			go0 <- struct{}{}
		})
	}
	crash.Go("script wait", func() { p.awaitExit(go0) })
	return p, nil
}

// prepareCommand prepares the command and returns the files that are only the child's.
func (p *local) prepareCommand(l launch, channel *os.File) (theirs []*os.File, err error) {
	p.cmd = exec.Command(l.argv[0], l.argv[1:]...)
	p.cmd.Env, p.cmd.Dir = slices.Concat(l.env, []string{tagName + "=" + p.tag}), l.dir
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	theirs = append(theirs, null)
	p.cmd.Stdin, p.cmd.ExtraFiles = null, []*os.File{channel}
	for _, to := range []*io.Writer{&p.cmd.Stdout, &p.cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		theirs, p.pipes = append(theirs, w), append(p.pipes, r)
		*to = w
	}
	return theirs, nil
}

// startCommand starts the command kept in, then sets what can only be set from outside.
func (p *local) startCommand(l launch) error {
	if err := startRestricted(p.cmd, l, p.ended); err != nil {
		return fmt.Errorf("%s could not be started: %w", l.argv[0], err)
	}
	if err := limitChild(p.cmd.Process.Pid, l); err != nil {
		_ = p.cmd.Process.Kill()
		_, _ = p.cmd.Process.Wait()
		close(p.ended)
		return err
	}
	return nil
}

func (p *local) readStream(s event.Stream, from *os.File) {
	buf := make([]byte, pieces)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.tell(s, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (p *local) awaitExit(drained <-chan struct{}) {
	state, err := p.cmd.Process.Wait()
	p.over.Store(true)
	p.code = 1
	if err == nil {
		p.code = exitCode(state)
	}
	endLeftovers(p.cmd.Process.Pid, p.tag, p.iso)
	for _, f := range p.pipes {
		_ = f.SetReadDeadline(time.Now().Add(drainTime))
	}
	for range p.pipes {
		<-drained
	}
	for _, f := range p.pipes {
		_ = f.Close()
	}
	close(p.ended)
}

func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

func (p *local) channel() io.ReadWriteCloser { return p.ch }
func (p *local) done() <-chan struct{}       { return p.ended }
func (p *local) status() int                 { return p.code }
func (p *local) isolation() string           { return p.iso.String() }

// signalScript reaches the script and what it started and did not hide.
func (p *local) signalScript(s unix.Signal) {
	if !p.over.Load() {
		_ = unix.Kill(-p.cmd.Process.Pid, s)
	}
}

func (p *local) interrupt() { p.signalScript(unix.SIGINT) }

func (p *local) terminate() {
	p.signalScript(unix.SIGTERM)
	p.signalScript(unix.SIGCONT) // a script that stopped itself hears it too
}

func (p *local) kill(ctx context.Context) {
	p.signalScript(unix.SIGKILL)
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
}

func (p *local) release() {
	_ = p.ch.Close()
	p.temp.remove()
}

// tagName is the variable by which what a script started is found again where there is no process
// namespace.
const tagName = "HERMES_SCRIPT"
