// Package kinds lists the kinds of back ends of this program, and makes a pool of them and the
// settings. It is the only place that names them all.
package kinds

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hermes/core/backend"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/pool"
	"hermes/pool/docker"
	"hermes/pool/local"
	"hermes/pool/ssh"
)

// One line a kind. The first is what back ends are that show none.
func init() {
	Register(local.Declared(), func(string) pool.Kind { return local.New() })
	Register(docker.Declared(), func(home string) pool.Kind { return docker.New(docker.Options{Home: home}) })
	Register(ssh.Declared(), func(string) pool.Kind { return ssh.New(ssh.Options{}) })
}

// maker is a kind, and what makes it for a data folder. Making one does no work.
type maker struct {
	config.Kind
	new func(home string) pool.Kind
}

var (
	mu     sync.Mutex
	makers []maker
)

// Register adds a kind to settings that are loaded and pools that are opened from now on. It
// returns what takes the kind away again.
func Register(k config.Kind, newKind func(home string) pool.Kind) (forget func()) {
	mu.Lock()
	defer mu.Unlock()
	makers = append(slices.Clip(makers), maker{k, newKind})
	unknown := config.Register(k)
	return func() {
		unknown()
		mu.Lock()
		defer mu.Unlock()
		makers = slices.DeleteFunc(slices.Clone(makers), func(m maker) bool { return m.Name == k.Name })
	}
}

// makeKinds makes every kind for a data folder.
func makeKinds(home string) map[string]pool.Kind {
	mu.Lock()
	defer mu.Unlock()
	made := map[string]pool.Kind{}
	for _, m := range makers {
		made[m.Name] = m.new(home)
	}
	return made
}

// Pool is a pool with the kinds below it.
type Pool struct {
	*pool.Pool
	kinds map[string]pool.Kind
}

// Open makes the back ends that the settings name; none is started. What earlier processes left
// behind is removed meanwhile, if sweep is set.
func Open(bus *event.Bus, c *config.Config, sweep bool) (*Pool, error) {
	made := makeKinds(c.Paths().Home)
	p, err := pool.New(poolConfig(c), made, bus)
	if err != nil {
		return nil, errors.Join(err, closeKinds(context.Background(), made))
	}
	if sweep {
		p.Sweep()
	}
	return &Pool{p, made}, nil
}

// Reconfigure takes edited settings.
func (p *Pool) Reconfigure(c *config.Config) error { return p.Configure(poolConfig(c)) }

// Close ends the pool, then the kinds below it. A place that hangs has most of the time and not all
// of it:
// others want to end in order.
func (p *Pool) Close(ctx context.Context) error {
	most := ctx
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		most, cancel = context.WithTimeout(ctx, time.Until(end)*4/5)
		defer cancel()
	}
	err := p.Pool.Close(most)
	most, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return errors.Join(err, closeKinds(most, p.kinds))
}

func closeKinds(ctx context.Context, made map[string]pool.Kind) error {
	var errs []error
	for _, k := range made {
		if c, ok := k.(interface{ Close(context.Context) error }); ok {
			errs = append(errs, c.Close(ctx))
		}
	}
	return errors.Join(errs...)
}

// Examine looks at where the back ends of the settings are, for `hermes doctor`. It starts and
// changes nothing.
func Examine(ctx context.Context, c *config.Config) (found []backend.Finding) {
	made, conf := makeKinds(c.Paths().Home), poolConfig(c)
	defer func() { _ = closeKinds(ctx, made) }() // nothing was started
	for _, k := range config.Kinds() {
		if x, ok := made[k.Name].(pool.Examiner); ok {
			found = append(found, x.Examine(ctx, conf.Of(k.Name), conf.Default)...)
		}
	}
	return found
}

// poolConfig is what the settings say about back ends, in the pool's words.
func poolConfig(c *config.Config) pool.Config {
	t := c.Terminal
	def, places := c.Places()
	pc := pool.Config{
		Default: def, Backends: map[string]pool.Spec{}, IdleTTL: t.IdleTTL,
		MaxPerSession: t.MaxBackendsPerSession, Keep: t.Keep, Fallback: pool.Fallback(t.Fallback),
	}
	if pc.IdleTTL == 0 {
		pc.IdleTTL = -1 // the settings say 0 for never
	}
	for name, p := range places {
		pc.Backends[name] = pool.Spec{
			Name: name, Kind: p.Kind, Workdir: p.Workdir, Shell: p.Shell, Env: p.Env, User: p.User,
			IdleTTL: p.IdleTTL, Timeout: p.Timeout, Options: p.Options, Invalid: p.Problem,
		}
	}
	return pc
}
