package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"hermes/core/crash"
	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// link is a runner that answers at the other end of a connection.
type link struct {
	conn   *connection
	stream *stream
	client *wire.Client
	gone   chan error // one cause when it is lost
	home   string     // the login's home directory, or where the login begins when that is missing
}

const (
	goodbye = 3 * time.Second // for the runner to end after its input did
	dirWait = 10 * time.Second
)

// startServer starts the runner as the one program of one session, without a terminal and without
// our agent.
func (c *connection) startServer(ctx context.Context, p place, t target, o Options) (*link, error) {
	st, err := c.openStream(ctx, fmt.Sprintf("exec %s serve -grace %v", p.runnerPath(), o.Grace))
	if err != nil {
		return nil, err
	}
	greet, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	client, err := wire.Connect(greet, st, wire.Options{Grace: o.KillGrace, Heartbeat: o.Heartbeat, SHA256: p.program.SHA256})
	if err != nil {
		if said := cleanOutput(st.stderr.lastBytes()); said != "" {
			err = fmt.Errorf("%w; the host said: %s", err, said)
		}
		return nil, fmt.Errorf("the runner does not answer: %w", err)
	}
	l := &link{conn: c, stream: st, client: client, gone: make(chan error, 1)}
	l.home = client.Info().Dir
	if home := client.Info().Home; home != l.home && l.isDir(greet, home) {
		l.home = home
	}
	crash.Go("ssh link", func() { l.watchLoss(t) })
	return l, nil
}

// watchLoss waits for the loss of the connection.
func (l *link) watchLoss(t target) {
	cause, lost := <-l.client.Gone()
	if !lost {
		return
	}
	if said := cleanOutput(l.stream.stderr.lastBytes()); said != "" {
		cause = fmt.Errorf("%w; the host said: %s", cause, said)
	}
	l.gone <- fmt.Errorf("the connection to %s was lost: %w", t, cause)
	l.conn.Close()
}

// close ends what runs there and the runner, waits for that, and disconnects.
func (l *link) close(ctx context.Context) error {
	err := l.client.Close(ctx)
	select {
	case <-l.stream.over:
	case <-ctx.Done():
	}
	l.conn.Close()
	return err
}

// isDir asks whether a directory is there.
func (l *link) isDir(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, dirWait)
	defer cancel()
	res, err := l.client.Run(ctx, runner.Spec{Argv: []string{"true"}, Dir: dir, Strict: true, Home: "/"})
	return err == nil && res.ExitCode == 0
}

// openSession opens one. A host that allows one at a time counts the last one for a moment longer
// than we do.
func (c *connection) openSession(ctx context.Context) (*gossh.Session, error) {
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		s, err := c.NewSession()
		if err == nil {
			return s, nil
		}
		var refused *gossh.OpenChannelError
		if !errors.As(err, &refused) || pause > time.Second || ctx.Err() != nil {
			return nil, fmt.Errorf("opening a session on the host: %w", heard{err})
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// stream is the standard input and output of a program on the host.
type stream struct {
	conn    *connection
	session *gossh.Session
	in      io.WriteCloser
	out     io.Reader
	stderr  tail
	exited  chan struct{} // closed when the program has ended, or nobody can say
	over    chan struct{} // closed when Close is done
	closing sync.Once
	writing sync.Mutex // the library's end of input is not safe beside its write
}

func (c *connection) openStream(ctx context.Context, command string) (*stream, error) {
	session, err := c.openSession(ctx)
	if err != nil {
		return nil, err
	}
	st := &stream{conn: c, session: session, exited: make(chan struct{}), over: make(chan struct{})}
	session.Stderr = &st.stderr
	if st.in, err = session.StdinPipe(); err == nil {
		st.out, err = session.StdoutPipe()
	}
	if err == nil {
		err = session.Start(command)
	}
	if err != nil {
		_ = session.Close()
		return nil, fmt.Errorf("starting the runner on the host: %w", err)
	}
	crash.Go("ssh session", func() {
		defer close(st.exited)
		_ = session.Wait() // how it ended is told by the protocol
	})
	return st, nil
}

func (s *stream) Read(p []byte) (int, error) { return s.out.Read(p) }

func (s *stream) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.in.Write(p)
}

// Close lets the program end by itself, for a moment, and then disconnects, which ends every read
// and write. It does not wait.
func (s *stream) Close() error {
	s.closing.Do(func() {
		crash.Go("ssh close", func() {
			defer close(s.over)
			late := time.AfterFunc(goodbye, s.conn.Close)
			defer late.Stop()
			s.writing.Lock() // a write that nobody takes ends with the connection, when it is late
			_ = s.in.Close()
			s.writing.Unlock()
			<-s.exited
			_ = s.session.Close()
			s.conn.Close()
		})
	})
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailSize = 1000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-tailSize):]...)
	t.data = t.data[max(0, len(t.data)-tailSize):]
	return len(p), nil
}

func (t *tail) lastBytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.data...)
}
