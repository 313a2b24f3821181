package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/crash"
)

const (
	maxPages  = 100
	maxTools  = 2000
	listPause = time.Second // between two looks at a list that changes
	steady    = time.Minute // a connection that lasted as long was no failure
)

// server is one server and the goroutine that keeps it connected.
type server struct {
	m    *Manager
	log  *serverLog
	kick chan struct{} // something is to be looked at: settings, a restart

	mu        sync.Mutex
	set       Settings
	all       []string // names of all servers
	state     State
	since     time.Time
	next      time.Time
	err       string
	gen       int
	again     bool            // end the connection and begin anew
	running   bool            // its goroutine
	skilled   map[string]bool // sessions of which a skill named it
	stop      context.CancelFunc
	conn      *connection
	ready     chan struct{} // closed when it was ready or failed once since it was wanted
	isReady   bool          // ready is closed
	tools     []*remote     // as they were listed last
	offered   []definition
	prompts   []*sdk.Prompt
	resources []*sdk.Resource
	hidden    int
	calls     int
	progress  map[string]func(*sdk.ProgressNotificationParams)
	active    []*calling
	about     string          // what it says of itself, as far as the agent is told of it
	told      map[string]bool // sessions that were told of it
	sampled   []time.Time     // when it asked the model within the last minute
	changes   chan struct{}   // its list changed
}

func newServer(m *Manager, set Settings) *server {
	s := &server{
		m: m, set: set, kick: make(chan struct{}, 1), changes: make(chan struct{}, 1), ready: make(chan struct{}),
		log: newLog(LogFile(m.o.Home, set.Name)), progress: map[string]func(*sdk.ProgressNotificationParams){},
		all: []string{set.Name},
	}
	s.restState()
	return s
}

// restState is the state of a server that does not run.
func (s *server) restState() {
	s.since, s.err = time.Now(), s.set.Problem
	switch {
	case s.set.Off():
		s.state, s.err = StateOff, ""
	case s.set.Problem != "":
		s.state = StateFailed
	default:
		s.state = StateIdle
	}
	if s.state != StateIdle {
		s.releaseWaiters()
	} else if s.isReady {
		s.ready, s.isReady = make(chan struct{}), false
	}
}

// releaseWaiters lets go who waits for the server. The caller holds mu.
func (s *server) releaseWaiters() {
	if !s.isReady {
		s.isReady = true
		close(s.ready)
	}
}

func (s *server) settledSignal() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

func (s *server) currentSettings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// ensureRunning starts the goroutine, once.
func (s *server) ensureRunning() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running || s.set.Off() || s.set.Problem != "" || s.m.life.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(s.m.life)
	s.running, s.stop = true, stop
	s.m.work.Add(1)
	crash.Go("mcp "+s.set.Name, func() {
		defer s.m.work.Done()
		s.runLoop(ctx)
	})
}

// restartConnection has the connection begun anew, or the next try now.
func (s *server) restartConnection() {
	s.mu.Lock()
	running := s.running
	s.again = running
	s.mu.Unlock()
	if !running {
		s.ensureRunning()
		return
	}
	s.wakeLoop()
}

func (s *server) wakeLoop() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// changeSettings takes edited settings.
func (s *server) changeSettings(set Settings) {
	s.mu.Lock()
	old := s.set
	set.From = ""
	same := old
	same.From = ""
	if reflect.DeepEqual(same, set) {
		s.mu.Unlock()
		return
	}
	s.set = set
	running := s.running
	if set.Off() || set.Problem != "" {
		s.stopLoop()
		s.restState()
		s.mu.Unlock()
		s.registerTools()
		s.publishState()
		return
	}
	idle := !running && (s.state == StateOff || s.state == StateFailed)
	if idle {
		s.restState()
	}
	s.mu.Unlock()
	switch {
	case idle:
		s.ensureRunning()
	case running && !reflect.DeepEqual(old.connectionSettings(), set.connectionSettings()):
		s.restartConnection()
	case running:
		s.registerTools() // permissions
	}
}

// connectionSettings are the settings that a connection depends on.
func (s Settings) connectionSettings() Settings {
	s.Permissions, s.Tools, s.Trust, s.Timeout, s.From = s.zero().Permissions, s.zero().Tools, false, 0, ""
	s.Start = ""
	return s
}

func (Settings) zero() Settings { return Settings{} }

// stopLoop ends the goroutine. The caller holds mu.
func (s *server) stopLoop() {
	if s.running {
		s.running = false
		s.stop()
	}
}

// removeServer ends a server that is not set up any more.
func (s *server) removeServer() {
	s.mu.Lock()
	s.stopLoop()
	s.state, s.tools = StateOff, nil
	s.releaseWaiters()
	s.mu.Unlock()
	if err := s.m.o.Replace(OwnerPrefix+s.set.Name, nil); err != nil {
		s.m.o.Log.Warn("tools of a server stay", "server", s.set.Name, "err", err)
	}
	s.publishState()
}

// takeNames takes the names of all servers, which the names of tools depend on.
func (s *server) takeNames(all []string) {
	s.mu.Lock()
	same := slices.Equal(s.all, all)
	s.all = all
	has := len(s.offered) > 0
	s.mu.Unlock()
	if !same && has {
		s.registerTools()
	}
}

// runLoop keeps the server connected until ctx ends.
func (s *server) runLoop(ctx context.Context) {
	wait, failed := s.m.o.Retry[0], 0
	for ctx.Err() == nil {
		s.enterState(StateStarting, nil, time.Time{})
		began := time.Now()
		err := s.runOnce(ctx)
		if ctx.Err() != nil {
			break
		}
		if s.wantsAgain() {
			wait, failed = s.m.o.Retry[0], 0
			continue
		}
		if time.Since(began) > steady {
			wait, failed = s.m.o.Retry[0], 0
		}
		if failed++; failed == s.currentSettings().Tries && stateOf(err) == StateRetrying {
			err = stopFor(fmt.Errorf("it was stopped after %d failures in a row; the last one: %w", failed, err))
		}
		var at time.Time
		state := stateOf(err)
		if state == StateRetrying {
			at = time.Now().Add(wait)
		}
		s.log.addNote(string(state) + ": " + err.Error())
		s.enterState(state, err, at)
		if !s.pauseUntil(ctx, at) {
			wait, failed = s.m.o.Retry[0], 0
			continue
		}
		wait = min(wait*2, s.m.o.Retry[1])
	}
	s.endLoop()
}

// pauseUntil waits for the time of the next try, zero: for somebody. It is false when somebody
// came.
func (s *server) pauseUntil(ctx context.Context, at time.Time) bool {
	var due <-chan time.Time
	if !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-due:
		return true
	case <-s.kick:
		s.wantsAgain()
		return false
	}
	return true
}

func (s *server) wantsAgain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := s.again
	s.again = false
	return again
}

// endLoop says the end of the goroutine: with the program's, nobody is to wait for the server any
// more. Who stopped it otherwise has said what becomes of it, and a newer goroutine may have begun.
func (s *server) endLoop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m.life.Err() != nil {
		s.releaseWaiters()
	}
}

// runOnce runs one connection, from its beginning to its end. It never returns nil.
func (s *server) runOnce(ctx context.Context) error {
	set := s.currentSettings()
	c, err := s.connectInTime(ctx, set)
	if err != nil {
		return err
	}
	defer c.end()
	if err := s.readTools(ctx, c); err != nil {
		return c.cause(err)
	}
	s.mu.Lock()
	s.gen++
	s.conn = c
	s.mu.Unlock()
	s.takeIntroduction(c)
	defer func() {
		s.mu.Lock()
		if s.conn == c {
			s.conn = nil
		}
		s.mu.Unlock()
	}()
	s.registerTools()
	s.enterState(StateReady, nil, time.Time{})
	s.lookAround(ctx, c)
	return s.followConnection(ctx, c)
}

// followConnection waits for the end of a connection and looks at its lists when they change.
func (s *server) followConnection(ctx context.Context, c *connection) error {
	ended := make(chan error, 1)
	s.m.work.Add(1)
	crash.Go("mcp wait", func() {
		defer s.m.work.Done()
		ended <- c.session.Wait()
	})
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			if err == nil {
				err = sdk.ErrConnectionClosed
			}
			return c.whyEnded(err)
		case <-s.kick:
			s.mu.Lock()
			again := s.again
			s.mu.Unlock()
			if again {
				return errors.New("restarted")
			}
		case <-s.changes:
			if due == nil {
				due = time.After(listPause)
			}
		case <-due:
			due = nil
			if err := s.readTools(ctx, c); err != nil {
				s.log.addNote("its list could not be read again: " + err.Error())
				continue
			}
			s.registerTools()
			s.lookAround(ctx, c)
			s.publishState()
		}
	}
}

// readTools reads the tools that the server offers.
func (s *server) readTools(ctx context.Context, c *connection) error {
	ctx, cancel := context.WithTimeout(ctx, s.currentSettings().startLimit())
	defer cancel()
	var offered []definition
	if has := c.session.InitializeResult().Capabilities; has != nil && has.Tools != nil {
		var err error
		if offered, err = s.listTools(ctx, c); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered = offered
	return nil
}

func (s *server) listTools(ctx context.Context, c *connection) ([]definition, error) {
	var out []definition
	seen := map[string]bool{}
	named := map[string]bool{}
	cursor := ""
	for range maxPages {
		page, err := c.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t == nil || named[t.Name] || len(out) >= maxTools {
				continue
			}
			if !isReadable(t.Name) {
				s.log.addNote(fmt.Sprintf("a tool is left out, nobody could tell its name from others: %.80q", t.Name))
				continue
			}
			named[t.Name] = true
			out = append(out, definitionOf(t))
		}
		if cursor = page.NextCursor; cursor == "" {
			return out, nil
		}
		if seen[cursor] {
			s.log.addNote("its list of tools leads back to its beginning: what came up to there is used")
			return out, nil
		}
		seen[cursor] = true
	}
	s.log.addNote("its list of tools has more than 100 pages: the rest is left out")
	return out, nil
}

// listChanged is told by the server; it is looked at once a second at most.
func (s *server) listChanged() {
	select {
	case s.changes <- struct{}{}:
	default:
	}
}

// enterState makes a change of state.
func (s *server) enterState(state State, err error, next time.Time) {
	s.mu.Lock()
	if !s.running {
		s.mu.Unlock()
		return
	}
	s.state, s.since, s.next = state, time.Now(), next
	if err != nil {
		s.err = err.Error()
	} else if state == StateReady {
		s.err = ""
	}
	if state != StateStarting {
		s.releaseWaiters()
	}
	s.mu.Unlock()
	s.publishState()
}

func (s *server) publishState() {
	st := s.statusNow()
	s.m.o.Told(StateChanged{Name: st.Name, State: st.State, Tools: len(st.Tools), Changed: st.Changed, Error: st.LastError, Next: st.Next})
}

func (s *server) statusNow() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Name: s.set.Name, State: s.state, Where: s.set.Where(), From: s.set.From, Backend: s.set.Backend, Transport: "http",
		Tools: []Listed{}, Hidden: s.hidden, Calls: s.calls, Since: s.since, Next: s.next, LastError: s.err, Warning: s.set.Warning(), Generation: s.gen,
	}
	if s.set.usesStdio() {
		out.Transport = "stdio"
	} else if s.set.Transport == "sse" {
		out.Transport = "sse"
	}
	out.Prompts, out.Resources = len(s.prompts), len(s.resources)
	if s.conn != nil {
		out.Backend = s.conn.backend
		if res := s.conn.session.InitializeResult(); res != nil {
			out.Protocol, out.Instructions = res.ProtocolVersion, plainText(res.Instructions)
			if res.ServerInfo != nil {
				out.Server = strings.TrimSpace(plainText(res.ServerInfo.Name + " " + res.ServerInfo.Version))
			}
		}
	}
	for _, t := range s.tools {
		l := t.asListed()
		out.Tools = append(out.Tools, l)
		out.Tokens += l.Tokens
		if l.State != Pinned {
			out.Changed++
		}
	}
	return out
}
