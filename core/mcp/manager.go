package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/tool"
)

// OwnerPrefix begins the owner of every tool of a server: "mcp:github".
const OwnerPrefix = "mcp:"

// Options are what servers need of the program. Pool, Replace, Home and Cwd are required.
type Options struct {
	Pool    backend.Pool
	Replace func(owner string, tools []tool.Tool) error // the registry's
	Told    func(StateChanged)                          // may be nil
	Ask     func(ctx context.Context, q Question) (Answer, error)
	Sample  func(ctx context.Context, q Sample) (Sampled, error) // may be nil: no server asks the model
	Expand  func(path string) string                             // ~ and variables of a path on this machine; may be nil
	Cwd     func() string                                        // folder of programs that say none, on this machine
	Home    string                                               // data folder: pins, tokens, logs
	Version string                                               // of this program
	Allowed func(s Settings) error                               // asked before each start of a program; may be nil
	Log     *slog.Logger                                         // may be nil
	Retry   [2]time.Duration                                     // first wait after a failure and the longest; zero: 1 s, 5 min
}

// Manager holds the servers of a program. It is safe for concurrent use.
type Manager struct {
	o    Options
	pins *pins

	life context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	servers map[string]*server
}

// New returns a manager without servers; Apply gives it some.
func New(o Options) *Manager {
	if o.Told == nil {
		o.Told = func(StateChanged) {}
	}
	if o.Allowed == nil {
		o.Allowed = func(Settings) error { return nil }
	}
	if o.Expand == nil {
		o.Expand = filepath.Clean
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Retry[0] <= 0 {
		o.Retry = [2]time.Duration{time.Second, 5 * time.Minute}
	}
	m := &Manager{o: o, servers: map[string]*server{}, pins: &pins{path: filepath.Join(o.Home, "mcp_pins.json")}}
	m.life, m.stop = context.WithCancel(context.Background())
	return m
}

// Apply takes the servers of edited settings. Those that are the same go on undisturbed, a change
// of permissions counts at once, and any other one restarts its server.
func (m *Manager) Apply(all map[string]Settings) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life.Err() != nil {
		return
	}
	for name, s := range m.servers {
		if _, stays := all[name]; !stays {
			delete(m.servers, name)
			s.removeServer()
		}
	}
	renamed := !slices.Equal(slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(m.servers)))
	for name, set := range all {
		s := m.servers[name]
		if s == nil {
			m.servers[name] = newServer(m, set)
			continue
		}
		s.changeSettings(set)
	}
	if renamed {
		for _, s := range m.servers {
			s.takeNames(slices.Sorted(maps.Keys(m.servers)))
		}
	}
}

// Want starts servers that nobody wanted before; no names means all that do not wait for a skill.
// It does not wait.
func (m *Manager) Want(names ...string) {
	for _, s := range m.serversNamed(names) {
		if len(names) > 0 || !s.forSkills() {
			s.ensureRunning()
		}
	}
}

// serversNamed returns the servers with these names, all when there are none, by name.
func (m *Manager) serversNamed(names []string) []*server {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(names) == 0 {
		names = slices.Collect(maps.Keys(m.servers))
	}
	slices.Sort(names)
	var out []*server
	for _, name := range names {
		if s := m.servers[name]; s != nil {
			out = append(out, s)
		}
	}
	return out
}

// Await starts servers and waits until each is ready or has failed once, or ctx is done. No names
// means all.
func (m *Manager) Await(ctx context.Context, names ...string) {
	list := m.serversNamed(names)
	for _, s := range list {
		s.ensureRunning()
	}
	for _, s := range list {
		select {
		case <-s.settledSignal():
		case <-ctx.Done():
			return
		}
	}
}

// Names lists the servers that are not switched off, by name, without those that are not for a
// session: see Barred.
func (m *Manager) Names(session string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for name, s := range m.servers {
		if !s.currentSettings().Off() && !s.isBarred(session) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// List returns all servers as they are now, by name.
func (m *Manager) List() []Status {
	out := []Status{}
	for _, s := range m.serversNamed(nil) {
		out = append(out, s.statusNow())
	}
	return out
}

// findServer returns a server, or an error that names those that there are.
func (m *Manager) findServer(name string) (*server, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.servers[name]; s != nil {
		return s, nil
	}
	if len(m.servers) == 0 {
		return nil, fmt.Errorf("there is no server %q: none is set up", name)
	}
	return nil, fmt.Errorf("there is no server %q; there are: %s", name, joinNames(slices.Sorted(maps.Keys(m.servers))))
}

// Status returns a server as it is now.
func (m *Manager) Status(name string) (Status, error) {
	s, err := m.findServer(name)
	if err != nil {
		return Status{}, err
	}
	return s.statusNow(), nil
}

// Restart ends a server's connection, if it has one, and begins a new one at once.
func (m *Manager) Restart(name string) error {
	s, err := m.findServer(name)
	if err != nil {
		return err
	}
	if s.currentSettings().Off() {
		return fmt.Errorf("%s is switched off: set mcp_servers.%s.enabled to yes first", name, name)
	}
	s.restartConnection()
	return nil
}

// Log returns the newest lines that a server said beside the protocol, and ours about it.
func (m *Manager) Log(name string) ([]string, error) {
	s, err := m.findServer(name)
	if err != nil {
		return nil, err
	}
	return s.log.allLines(), nil
}

// LogFile is where the log of a server is kept.
func LogFile(home, name string) string {
	form, exact := legalName(name)
	if !exact {
		form += "_" + shortHash(name)
	}
	return filepath.Join(home, "logs", "mcp", form+".log")
}

// Review is one definition that waits for the eyes of the person.
type Review struct {
	Tool  string `json:"tool"`
	State Pin    `json:"state"`
	Why   string `json:"why,omitempty"` // what gives orders in it
	Diff  string `json:"diff"`          // unified, from what was seen to what it is now
	Hash  string `json:"hash"`
}

// Reviews lists what a server's tools are blocked for.
func (m *Manager) Reviews(name string) ([]Review, error) {
	s, err := m.findServer(name)
	if err != nil {
		return nil, err
	}
	return s.openReviews(), nil
}

// Accept pins the definitions that the person was shown; one that changed again meanwhile stays
// blocked. What was decided about the old ones counts no more.
func (m *Manager) Accept(name string, seen []Review) error {
	s, err := m.findServer(name)
	if err != nil {
		return err
	}
	return s.acceptReviews(seen)
}

// Close ends all servers and their processes within ctx.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.stop()
	all := slices.Collect(maps.Values(m.servers))
	m.mu.Unlock()
	done := make(chan struct{})
	crash.Go("mcp close", func() {
		defer close(done)
		m.work.Wait()
		for _, s := range all {
			s.log.close()
		}
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("servers of tools were still being ended: %w", ctx.Err())
	}
}
