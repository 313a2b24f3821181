package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/crash"
	"hermes/pool"
	"hermes/pool/runner/embedded"
	"hermes/pool/runner/wire"
)

// Name is the kind's name in the configuration.
const Name = "docker"

// Options of the kind. The zero value is right for a program that keeps nothing.
type Options struct {
	// Home is the data folder (HERMES_HOME). Locks are kept in a folder below it, and its own
	// number, which tells its containers from those of other data folders. "" is a folder of this
	// process alone: nothing that a crash leaves behind is found again then.
	Home string
	// Grace is how long a container lives on after the program that used it was killed; 0 means 10 s.
	Grace time.Duration
	// PullStall ends a pull that makes no progress for so long; 0 means 60 s.
	PullStall time.Duration
	// StopGrace is how long a container is asked to end before it is killed; 0 means 2 s.
	StopGrace time.Duration
	// Wire is how commands are run on the other side. Its hash is set by the kind.
	Wire wire.Options
	// Program returns the runner for an architecture; nil means the embedded ones.
	Program func(os, arch string) (Program, error)
	// Log is told what has no other way to a person; nil drops it.
	Log func(format string, args ...any)
}

// Program is the runner for one system.
type Program struct {
	SHA256 string // hexadecimal
	Data   func() []byte
}

func embeddedProgram(os, arch string) (Program, error) {
	b, err := embedded.For(os, arch)
	return Program{SHA256: b.SHA256, Data: b.Data}, err
}

// Kind makes back ends that are containers. An engine is spoken to when the first back end on it is
// started, and not before. All methods are safe for concurrent use.
type Kind struct {
	opt      Options
	instance string // of this process, in labels
	ctx      context.Context
	stop     context.CancelFunc
	work     sync.WaitGroup // sweeps in the background

	home   func() folder
	opened atomic.Bool // that home was asked for

	mu      sync.Mutex
	engines map[string]*engine // by configured address
}

// folder is where locks are, and whose they are.
type folder struct {
	dir, owner string
	home       string // the data folder, or dir
	temporary  bool
}

// New returns the kind; it does no work. Close it after the pool.
func New(o Options) *Kind {
	o = o.withDefaults()
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	k := &Kind{opt: o, instance: hex.EncodeToString(id), engines: map[string]*engine{}}
	k.home = sync.OnceValue(func() folder {
		k.opened.Store(true)
		return openFolder(o.Home)
	})
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	set(&o.Grace, 10*time.Second)
	set(&o.PullStall, time.Minute)
	set(&o.StopGrace, 2*time.Second)
	if o.Program == nil {
		o.Program = embeddedProgram
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return o
}

// openFolder finds the owner's number, or makes one.
func openFolder(home string) folder {
	if home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			abs = home
		}
		if owner, err := ownerIn(home); err == nil {
			return folder{dir: filepath.Join(home, "pool"), owner: owner, home: abs}
		}
	}
	dir, err := os.MkdirTemp("", "hermes-pool-")
	if err != nil {
		dir = filepath.Join(os.TempDir(), "hermes-pool-"+rand.Text())
	}
	return folder{dir: dir, owner: hashParts(rand.Text())[:16], home: dir, temporary: true}
}

func ownerFile(home string) string { return filepath.Join(home, "pool", "owner") }

// ownerIn is a hash of the number in a data folder. Of two processes that make one at the same
// time, one wins.
func ownerIn(home string) (string, error) {
	path := ownerFile(home)
	owner, err := readOwner(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeOwner(filepath.Dir(path), path); err != nil {
			return "", err
		}
		owner, err = readOwner(path)
	}
	return owner, err
}

func readOwner(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", errors.New("the owner's number is empty")
	}
	return hashParts(text)[:16], nil
}

func makeOwner(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".owner-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) { // whole, or not at all
		return err
	}
	return nil
}

func (k *Kind) homeDir() string   { return k.home().dir }
func (k *Kind) homeOwner() string { return k.home().owner }

// Describe says that every session has containers of its own.
func (k *Kind) Describe(s pool.Spec) pool.About {
	own := specOf(s)
	return pool.About{
		Traits: Declared().Traits, Where: own.Image, At: own.Engine, Mounts: own.Mounts,
		Network: cmp.Or(own.Network, "bridge"),
	}
}

// Open describes a back end; nothing is asked of an engine yet.
func (k *Kind) Open(session string, settings pool.Spec) (pool.Backend, error) {
	s := specOf(settings)
	if s.Image == "" {
		return nil, errors.New("it has no image: set image:, or terminal.docker_image for all")
	}
	e, err := k.engineAt(s.Engine)
	if err != nil {
		return nil, err
	}
	return &Backend{kind: k, engine: e, spec: s, session: session}, nil
}

// engineAt returns the one at a configured address. All back ends with this address share it.
func (k *Kind) engineAt(address string) (*engine, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.engines[address]; e != nil {
		return e, nil
	}
	at, err := findEndpoint(address)
	if err != nil {
		return nil, err
	}
	e := &engine{kind: k, at: at, turn: make(chan struct{}, 1)}
	k.engines[address] = e
	return e, nil
}

// runInBackground runs something that Close waits for.
func (k *Kind) runInBackground(name string, f func(ctx context.Context)) {
	k.work.Add(1)
	crash.Go(name, func() {
		defer k.work.Done()
		f(k.ctx)
	})
}

// Close ends what runs in the background and the connections to engines. Containers are the pool's
// to remove, before.
func (k *Kind) Close(ctx context.Context) error {
	k.stop()
	done := make(chan struct{})
	crash.Go("docker close", func() {
		k.work.Wait()
		close(done)
	})
	select {
	case <-done:
	case <-ctx.Done():
		return errors.New("closing the docker back ends: an engine does not answer")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	temporary := k.opened.Load() && k.home().temporary
	for _, e := range k.engines {
		if temporary && e.wasUsed() { // nobody will ever ask for them again
			errs = append(errs, e.sweepVolumes(ctx, false))
		}
		errs = append(errs, e.close())
	}
	if temporary {
		errs = append(errs, os.RemoveAll(k.homeDir()))
	}
	return errors.Join(errs...)
}

var (
	_ pool.Kind     = (*Kind)(nil)
	_ pool.Keeper   = (*Kind)(nil)
	_ pool.Examiner = (*Kind)(nil)
)
