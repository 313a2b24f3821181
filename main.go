// Command hermes is a full-screen terminal workbench for an AI agent. This file is wiring: it hands the command line the
// program, the program its back ends, and the screen both.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hermes/core"
	"hermes/core/childenv"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/logs"
	"hermes/core/store"
	"hermes/core/tool/web/pdf"
	"hermes/pool"
	"hermes/pool/docker"
	"hermes/pool/local"
	"hermes/pool/ssh"
	"hermes/ui/cli"
	"hermes/ui/workbench"
)

// version is set by the Makefile.
var version string

func main() {
	if pdf.Child() { // this process was started to read one PDF document
		return
	}
	os.Exit(run())
}

func run() int {
	defer crash.Guard("main")
	defer lateCollection()()
	childenv.Conceal()
	return cli.Process(context.Background(), program())
}

// program is everything the command line can start. Tests boot the same one.
func program() cli.Program {
	return cli.Program{
		Version: version, Open: open, Workbench: runWorkbench, SQLite: store.SQLiteVersion, KeyProblems: workbench.KeyProblems, Engine: examine,
	}
}

// examine looks at a container engine for `hermes doctor`.
func examine(ctx context.Context, address string, images []string) cli.Engine {
	k := docker.New(docker.Options{})
	f, err := k.Examine(ctx, address, images...)
	about := fmt.Sprintf("version %s, storage %s, cgroup %s", f.Version, f.Storage, f.Cgroup)
	return cli.Engine{Address: f.Address, About: about, Missing: f.Missing, Err: errors.Join(err, k.Close(ctx))}
}

// open builds the program without a screen.
func open(ctx context.Context, s cli.Start) (*cli.App, error) {
	o, closeLog := options(s)
	app, err := core.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	here, _ := app.Pool.(places)
	return &cli.App{
		Pool: here, Leftovers: leftovers{here.containers, poolConfig(s.Config).Engines(docker.Name)}, Bus: app.Bus, Sessions: app.Sessions, Agent: app.Agent, Models: app.Models,
		Backend: func(session, name string) error { return app.SelectBackend(ctx, session, name) },
		Skill:   app.Skill,
		Notices: app.OpeningNotices(),
		Close: func(ctx context.Context) error {
			defer closeLog()
			return app.Close(ctx)
		},
	}, nil
}

// runWorkbench opens the full-screen program.
func runWorkbench(ctx context.Context, s cli.Start, w cli.Workbench) error {
	return runScreen(ctx, s, workbench.Options{Session: w.Session})
}

// runScreen is runWorkbench for any terminal: tests bring their own.
func runScreen(ctx context.Context, s cli.Start, w workbench.Options) error {
	o, closeLog := options(s)
	defer closeLog()
	o.Reload = &s.Options
	w.Core = o
	return workbench.Run(ctx, w)
}

func options(s cli.Start) (core.Options, func()) {
	paths := s.Config.Paths()
	crash.SetDir(paths.CrashDir)
	crash.SetClean(logs.Redact)
	core.LearnSecrets(s.Config)
	log, _, file := logs.Open(paths.LogFile, s.Config.Logging.Level)
	return core.Options{
		Bus: event.NewBus(), Config: s.Config, Problems: s.Problems, Pool: newPool(!s.KeepLeftovers), Source: s.Source, Cwd: s.Cwd,
		Model: s.Model, Firm: s.Firm, Toolsets: s.Toolsets, Unattended: s.Unattended, Yes: s.Yes, YesLevel: s.YesLevel, Log: log,
	}, func() { file.Close() }
}

// newPool makes the back ends that the settings name. What earlier processes left behind on the engines is removed meanwhile, if sweep is set.
func newPool(sweep bool) func(bus *event.Bus, c *config.Config) (core.Pool, error) {
	return func(bus *event.Bus, c *config.Config) (core.Pool, error) {
		pc := poolConfig(c)
		here, containers := local.New(), docker.New(docker.Options{Home: c.Paths().Home})
		kinds := map[string]pool.Kind{local.Name: here, docker.Name: containers, ssh.Name: ssh.New(ssh.Options{})}
		p, err := pool.New(pc, kinds, bus)
		if err != nil {
			return nil, errors.Join(err, here.Close(context.Background()), containers.Close(context.Background()))
		}
		if engines := pc.Engines(docker.Name); sweep && len(engines) > 0 {
			crash.Go("pool sweep", func() { containers.Sweep(engines...) })
		}
		return places{p, here, containers}, nil
	}
}

// places is the pool with the kinds that it does not own.
type places struct {
	*pool.Pool
	here       *local.Kind
	containers *docker.Kind
}

// Reconfigure takes edited settings.
func (p places) Reconfigure(c *config.Config) error { return p.Configure(poolConfig(c)) }

// Close ends the pool, then the kinds below it. A place that hangs has most of the time and not all of it: others want to end in order.
func (p places) Close(ctx context.Context) error {
	most := ctx
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		most, cancel = context.WithTimeout(ctx, time.Until(end)*4/5)
		defer cancel()
	}
	err := p.Pool.Close(most)
	most, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return errors.Join(err, p.here.Close(most), p.containers.Close(most))
}

// leftovers are the containers of this data folder on the engines that the settings name.
type leftovers struct {
	kind    *docker.Kind
	engines []string
}

// List implements cli.Leftovers.
func (l leftovers) List(ctx context.Context) ([]cli.Leftover, error) {
	return containers(l.kind.List(ctx, l.engines...))
}

// Prune implements cli.Leftovers.
func (l leftovers) Prune(ctx context.Context) ([]cli.Leftover, error) {
	return containers(l.kind.Prune(ctx, l.engines...))
}

func containers(list []docker.Leftover, err error) ([]cli.Leftover, error) {
	out := make([]cli.Leftover, len(list))
	for i, l := range list {
		out[i] = cli.Leftover(l)
	}
	return out, err
}

// poolConfig is what the settings say about back ends, in the pool's words.
func poolConfig(c *config.Config) pool.Config {
	t := c.Terminal
	def, places := c.Places()
	pc := pool.Config{
		Default: def, Backends: map[string]pool.Spec{}, IdleTTL: t.IdleTTL, MaxPerSession: t.MaxBackendsPerSession,
		Fallback: pool.Fallback(t.Fallback), EnvPassthrough: t.EnvPassthrough, Scrub: c.SecretNames(), Sandbox: t.Sandbox, SandboxEngine: t.SandboxEngine, Hide: homes(c.Paths()),
	}
	if pc.IdleTTL == 0 {
		pc.IdleTTL = -1 // the settings say 0 for never
	}
	for name, p := range places {
		pc.Backends[name] = poolSpec(p)
	}
	return pc
}

// homes are our own folders, of all profiles.
func homes(p config.Paths) []string {
	if p.Profile == "" {
		return []string{p.Home}
	}
	return []string{p.Home, filepath.Dir(filepath.Dir(p.Home))}
}

func poolSpec(p config.Place) pool.Spec {
	s := pool.Spec{
		Kind: p.Kind, Workdir: p.Workdir, Shell: p.Shell, Env: p.Env, User: p.User, IdleTTL: p.IdleTTL, Timeout: p.Timeout,
		Image: p.Image, Engine: p.Engine, Network: p.Network, Memory: int64(p.Memory), CPUs: p.CPUs, Pids: int64(p.Pids), Shm: int64(p.Shm),
		GPUs: p.GPUs, Tmpfs: p.Scratch, ReadOnly: p.ReadOnly, Pull: pool.Pull(p.Pull),
		Host: p.Host, Port: p.Port, KeyFile: p.KeyFile, AllowedCommands: p.AllowedCommands, DeniedCommands: p.DeniedCommands,
		Invalid: p.Problem,
	}
	for _, m := range p.Mounts {
		s.Mounts = append(s.Mounts, pool.Mount(m))
	}
	return s
}
