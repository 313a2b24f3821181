// Command hermes is a full-screen terminal workbench for an AI agent. This file is wiring: it hands the command line the
// program, the program its back ends, and the screen both.
package main

import (
	"context"
	"errors"
	"os"

	"hermes/core"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/logs"
	"hermes/core/store"
	"hermes/pool"
	"hermes/pool/local"
	"hermes/ui/cli"
	"hermes/ui/workbench"
)

// version is set by the Makefile.
var version string

func main() { os.Exit(run()) }

func run() int {
	defer crash.Guard("main")
	return cli.Process(context.Background(), program())
}

// program is everything the command line can start. Tests boot the same one.
func program() cli.Program {
	return cli.Program{Version: version, Open: open, Workbench: runWorkbench, SQLite: store.SQLiteVersion, KeyProblems: workbench.KeyProblems}
}

// open builds the program without a screen.
func open(ctx context.Context, s cli.Start) (*cli.App, error) {
	o, closeLog := options(s)
	app, err := core.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &cli.App{
		Bus: app.Bus, Sessions: app.Sessions, Agent: app.Agent, Models: app.Models,
		Backend: func(session, name string) error { return app.SelectBackend(ctx, session, name) },
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
	logs.AddSecrets(s.Config.Secrets()...)
	log, _, file := logs.Open(paths.LogFile, s.Config.Logging.Level)
	return core.Options{
		Bus: event.NewBus(), Config: s.Config, Problems: s.Problems, Pool: newPool, Source: s.Source, Cwd: s.Cwd,
		Model: s.Model, Toolsets: s.Toolsets, Unattended: s.Unattended, Yes: s.Yes, Log: log,
	}, func() { file.Close() }
}

// newPool makes the back ends that the settings name. A kind that this version does not have stays visible, and failed.
func newPool(bus *event.Bus, c *config.Config) (core.Pool, error) {
	t := c.Terminal
	pc := pool.Config{IdleTTL: t.IdleTTL, Backends: map[string]pool.Spec{}, EnvPassthrough: t.EnvPassthrough, Scrub: c.SecretNames()}
	switch _, named := t.Backends[t.Backend]; {
	case named:
		pc.Default = t.Backend
	default:
		pc.Kind = t.Backend
	}
	for name, b := range t.Backends {
		pc.Backends[name] = pool.Spec{
			Kind: backendKind(b), Image: firstOf(b.Image, b.Host), Workdir: b.Workdir, Shell: firstOf(b.Shell, t.Shell), Env: b.Env, IdleTTL: b.IdleTTL,
		}
	}
	here := local.New()
	p, err := pool.New(pc, map[string]pool.Kind{"local": here}, bus)
	if err != nil {
		return nil, errors.Join(err, here.Close(context.Background()))
	}
	return places{p, here}, nil
}

// places is the pool with the kinds that it does not own.
type places struct {
	*pool.Pool
	here *local.Kind
}

// Close ends the pool, then the kinds below it.
func (p places) Close(ctx context.Context) error {
	return errors.Join(p.Pool.Close(ctx), p.here.Close(ctx))
}

// backendKind is the kind that a back end says or shows: an image is a container, a host is ssh.
func backendKind(b config.Backend) string {
	switch {
	case b.Kind != "":
		return b.Kind
	case b.Image != "":
		return "docker"
	case b.Host != "":
		return "ssh"
	default:
		return ""
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
