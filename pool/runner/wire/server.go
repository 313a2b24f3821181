package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"hermes/core/crash"
	"hermes/pool/runner"
)

// Place is what a Server says about itself (Info without PID and version), and how long it lives.
type Place struct {
	Info  Info
	Env   []string      // what every command's environment begins with; nil means that of this process
	Grace time.Duration // between the loss of a connection and the end of what it started; 0 means 10 s
}

// Server runs commands for Clients. What a connection started ends with it: at once when the Client
// said goodbye, else after the grace.
type Server struct {
	place Place
	idle  chan struct{} // closed when the last connection is gone, and the grace over

	mu       sync.Mutex
	open     int
	epoch    int // of connections: a timer that was set before the last one came does nothing
	stopping chan struct{}
	conns    map[*conn]struct{}
	all      sync.WaitGroup
}

const (
	minBeat     = 50 * time.Millisecond
	maxBeat     = 10 * time.Minute
	maxGrace    = time.Minute
	helloWait   = 30 * time.Second // for the first frame of a client
	maxCalls    = 4096             // of one connection
	lostHurry   = 500 * time.Millisecond
	goodbyeWait = 5 * time.Second // beyond the grace
)

// NewServer returns a Server without connections. The grace runs from now on.
func NewServer(p Place) *Server {
	if p.Grace <= 0 {
		p.Grace = 10 * time.Second
	}
	if p.Env == nil {
		p.Env = os.Environ()
	}
	p.Info.Version, p.Info.PID = Version, os.Getpid()
	s := &Server{place: p, idle: make(chan struct{}), stopping: make(chan struct{}), conns: map[*conn]struct{}{}}
	s.closeIfIdle(0)
	return s
}

// Idle is closed when nobody needs the Server any more: the last Client said goodbye, or was lost
// and no other came within the grace.
func (s *Server) Idle() <-chan struct{} { return s.idle }

// closeIfIdle closes idle after the grace unless a connection comes before.
func (s *Server) closeIfIdle(epoch int) {
	time.AfterFunc(s.place.Grace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open == 0 && s.epoch == epoch {
			s.startIdleTimer()
		}
	})
}

// startIdleTimer is called under the lock.
func (s *Server) startIdleTimer() {
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
}

// Serve serves one connection, and returns when all that it started has ended. It closes rw.
func (s *Server) Serve(rw io.ReadWriteCloser) {
	c := &conn{server: s, link: newLink(rw), tasks: map[uint32]*task{}}
	if !s.addConn(c) {
		c.link.endWith(ErrClosed)
		<-c.link.flushed
		return
	}
	defer s.all.Done()
	clean := c.serveFrames()
	s.removeConn(clean)
	c.endStarted(clean)
	<-c.link.flushed
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

func (s *Server) addConn(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopping:
		return false
	default:
	}
	s.open++
	s.epoch++
	s.conns[c] = struct{}{}
	s.all.Add(1)
	return true
}

func (s *Server) removeConn(clean bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open > 0 {
		return
	}
	if clean {
		s.startIdleTimer()
		return
	}
	s.closeIfIdle(s.epoch)
}

// Close ends all commands within grace and all connections, until ctx is done.
func (s *Server) Close(ctx context.Context, grace time.Duration) error {
	s.mu.Lock()
	select {
	case <-s.stopping:
	default:
		close(s.stopping)
	}
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		crash.Go("wire stop", func() { c.endCommands(ctx, grace) })
	}
	done := make(chan struct{})
	crash.Go("wire close", func() {
		s.all.Wait()
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("commands did not end in time: %w", ctx.Err())
	}
}

// conn is one connection of a Server.
type conn struct {
	server *Server
	link   *link

	mu    sync.Mutex
	run   *runner.Runner // nil before the client's hello
	grace time.Duration
	tasks map[uint32]*task
	bye   bool // the client said so; only for the reader
	ends  bool // nothing starts any more
	work  sync.WaitGroup
}

var errGoodbye = errors.New("the client said goodbye")

// serveFrames returns when the connection is over, and whether the client wanted that.
func (c *conn) serveFrames() (clean bool) {
	c.link.queueBytes([]byte(preamble))
	c.link.queueFrame(kindHello, 0, c.server.place.Info.encode())
	err := c.readHello()
	for err == nil {
		var f frame
		if f, err = c.link.nextFrame(); err == nil {
			err = c.handleFrame(f)
		}
	}
	c.link.endWith(err)
	c.mu.Lock()
	tasks := c.tasks
	c.tasks = nil
	c.mu.Unlock()
	for _, t := range tasks {
		t.detachClient()
	}
	return c.bye
}

// readHello reads the client's wishes and makes the Runner.
func (c *conn) readHello() error {
	t := time.AfterFunc(helloWait, func() { c.link.endWith(errors.New("no greeting came")) })
	f, err := c.link.nextFrame()
	t.Stop()
	if err != nil {
		return err
	}
	w, err := decodeWishes(f.body)
	if f.kind != kindHello || f.call != 0 || err != nil {
		return errGarbled
	}
	if w.version != Version {
		return fmt.Errorf("the client speaks version %d of the protocol", w.version)
	}
	c.mu.Lock()
	c.grace = min(max(w.grace, time.Millisecond), maxGrace)
	c.run = runner.New(runner.Options{Grace: c.grace, Drain: min(w.drain, maxGrace), NoKeeper: true})
	c.mu.Unlock()
	crash.Go("wire beat", func() { c.link.keepAlive(min(max(w.beat, minBeat), maxBeat)) })
	return nil
}

// endStarted ends what the connection started.
func (c *conn) endStarted(clean bool) {
	if c.run == nil {
		return
	}
	if !clean {
		t := time.NewTimer(c.server.place.Grace)
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.server.stopping:
		}
		c.run.ShortenGrace(lostHurry)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.grace+goodbyeWait)
	defer cancel()
	_ = c.run.Close(ctx)
}

// endCommands ends the commands, says goodbye, and ends the connection.
func (c *conn) endCommands(ctx context.Context, grace time.Duration) {
	c.mu.Lock()
	run := c.run
	c.mu.Unlock()
	if run != nil {
		run.ShortenGrace(grace)
		c.awaitLastWords(ctx)
	}
	c.sendGoodbye("it was told to end", errors.New("it was told to end"))
}

// awaitLastWords ends the commands, and waits until the last word of each is queued.
func (c *conn) awaitLastWords(ctx context.Context) {
	c.mu.Lock()
	c.ends = true
	c.mu.Unlock()
	_ = c.run.Close(ctx)
	done := make(chan struct{})
	crash.Go("wire finish", func() {
		c.work.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-ctx.Done():
	case <-c.link.dead:
	}
}

// sendGoodbye sends what is queued, and says why nothing comes after it.
func (c *conn) sendGoodbye(reason string, cause error) {
	c.link.queueFrame(kindBye, 0, []byte(reason))
	c.link.flushAndEnd(time.Second, cause)
}

func (c *conn) handleFrame(f frame) error {
	switch {
	case f.kind == kindBeat:
		return nil
	case f.kind == kindBye && !c.bye:
		c.bye = true
		crash.Go("wire bye", func() {
			ctx, cancel := context.WithTimeout(context.Background(), c.grace+goodbyeWait)
			defer cancel()
			c.awaitLastWords(ctx)
			c.sendGoodbye("goodbye", errGoodbye)
		})
		return nil
	case f.call == 0:
		return errGarbled
	case f.kind == kindStart:
		return c.startTask(f)
	}
	c.mu.Lock()
	t := c.tasks[f.call]
	c.mu.Unlock()
	if t == nil {
		return nil // it has ended meanwhile
	}
	return t.handleFrame(f)
}

func (c *conn) startTask(f frame) error {
	o, err := decodeOrder(f.body)
	if err != nil {
		return err
	}
	t := newTask(c, f.call, o)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.tasks[f.call]; taken {
		return errGarbled
	}
	if c.ends {
		t.sendRefusal(runner.ErrClosed)
		return nil
	}
	if len(c.tasks) >= maxCalls {
		t.sendRefusal(fmt.Errorf("the command was not started: %d run already", maxCalls))
		return nil
	}
	c.tasks[f.call] = t
	c.work.Add(1)
	crash.Go("wire call", func() {
		defer c.work.Done()
		t.runCommand()
	})
	return nil
}

func (c *conn) removeTask(t *task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tasks, t.id)
}
