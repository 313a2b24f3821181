// Package program puts hermes together: it hands the command line the program, the program its back
// ends, and the screen both. Its tests boot the whole of it, with a scripted model.
package program

import (
	"context"

	"hermes/core"
	"hermes/core/childenv"
	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/logs"
	"hermes/core/store"
	"hermes/core/tool/web/pdf"
	"hermes/pool/kinds"
	"hermes/pool/runner"
	"hermes/ui/cli"
	"hermes/ui/text"
	"hermes/ui/workbench"
)

// Main runs the program that os.Args ask for and returns its exit code.
func Main(version string) int {
	if pdf.Child() { // this process was started to read one PDF document
		return 0
	}
	defer crash.Guard("main")
	defer delayCollection()()
	childenv.Conceal()
	return cli.Process(context.Background(), commands(version))
}

// driven reports whether a program that some Hermes started runs this one. The tests, which may run
// in a call of another Hermes, say where that one ends.
var driven = runner.Inside

// commands is everything the command line can start. Tests boot the same one.
func commands(version string) cli.Program {
	return cli.Program{
		Version: version, Open: open, Workbench: runWorkbench, SQLite: store.SQLiteVersion,
		Database: store.Examine, KeyProblems: workbench.KeyProblems, Examine: kinds.Examine,
		Driven: driven, Kinds: core.Kinds(),
	}
}

// open builds the program without a screen.
func open(ctx context.Context, s cli.Start) (client.Client, error) {
	o, closeLog := options(s)
	o.Brief = true
	app, err := core.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return opened{app, closeLog}, nil
}

// opened is the program with its log.
type opened struct {
	*core.App
	closeLog func()
}

// Close ends the program, then its log.
func (o opened) Close(ctx context.Context) error {
	defer o.closeLog()
	return o.App.Close(ctx)
}

// runWorkbench opens the full-screen program.
func runWorkbench(ctx context.Context, s cli.Start, w cli.Workbench) error {
	return runScreen(ctx, s, workbench.Options{Session: w.Session, Prompt: w.Prompt, CommandLine: w.Commands})
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
	crash.SetClean(func(said string) string { return text.Sanitize(logs.Redact(said)) })
	core.LearnSecrets(s.Config)
	log, _, file := logs.Open(paths.LogFile, s.Config.Logging.Level)
	return core.Options{
		Bus: event.NewBus(), Config: s.Config, Problems: s.Problems, Pool: newPool(!s.KeepLeftovers), Session: s.Session, Cwd: s.Cwd,
		Model: s.Model, NoSubstitute: s.NoSubstitute, Log: log, Version: s.Version,
	}, func() { file.Close() }
}

// newPool makes the back ends that the settings name.
func newPool(sweep bool) func(bus *event.Bus, c *config.Config) (core.Pool, error) {
	return func(bus *event.Bus, c *config.Config) (core.Pool, error) {
		p, err := kinds.Open(bus, c, sweep)
		if err != nil {
			return nil, err // a nil *Pool in the interface would not be nil
		}
		return p, nil
	}
}
