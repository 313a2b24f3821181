// Package core is the program without a screen: App builds the packages below it from settings and an injected pool, and
// is what the workbench, the command line and every other way in talk to.
//
// The contract: Open does the slow work (database, tools) and may be called while a first frame is already on the screen.
// Close ends turns, background processes and the store in that order, within its context. What an App publishes goes to
// the one Bus that it was given.
package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/audit"
	"hermes/core/backend"
	"hermes/core/checkpoint"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/execcode"
	"hermes/core/memory"
	"hermes/core/session"
	"hermes/core/skill"
	"hermes/core/store"
	"hermes/core/tool"
)

// Options say how to build an App. Bus, Config and Pool are required.
type Options struct {
	Bus    *event.Bus
	Config *config.Config
	// Reload lets the App follow edits of the settings; nil means that it does not.
	Reload *config.Options
	// Problems are what Load found; they are published as a ConfigReloaded once somebody can listen.
	Problems []config.Problem
	// Pool makes the back ends. It is called once.
	Pool func(bus *event.Bus, c *config.Config) (Pool, error)
	// Source is written on new sessions: "tui", "run".
	Source string
	// Cwd is the directory of new sessions.
	Cwd string
	// Model replaces the configured default, for one run.
	Model string
	// Toolsets replace the configured ones, for one run.
	Toolsets []string
	// Firm says that the model of the settings answers or none: see provider.Settings.
	Firm bool
	// Unattended says that nobody can answer: what would be asked is refused.
	Unattended bool
	// Yes runs everything that would be asked; the floor stays.
	Yes bool
	// YesLevel is what runs unasked, in place of the setting; nil leaves it.
	YesLevel *int
	// Changed is called after edited settings took effect. May be nil.
	Changed func(c *config.Config)
	Log     *slog.Logger
}

// Pool is a backend.Pool that ends.
type Pool interface {
	backend.Pool
	Close(ctx context.Context) error
}

// App is the running program.
type App struct {
	Bus      *event.Bus
	Sessions *session.Service
	Agent    *agent.Agent
	Gate     *approval.Gate
	Tools    *tool.Registry
	Pool     Pool
	Models   *Models
	Store    *store.Store
	// Checkpoints are the files as they were before the agent changed them.
	Checkpoints *checkpoint.Store
	// Memory is what the agent remembers across sessions.
	Memory *memory.Store
	// Skills are known ways to do things.
	Skills *skill.Library

	opts   Options
	config atomic.Pointer[config.Config]
	engine *execcode.Engine     // runs scripts
	forget func(session string) // what the tools know of a session
	open   sync.Map             // uids of sessions that this process has open
	log    *slog.Logger
	audit  *audit.Writer // nil when nothing is recorded

	watching watching // the memory files, while somebody looks

	stop     context.CancelFunc
	followed chan struct{} // closed when edits of the settings are not followed any more; nil when they never were

	moveSkills     atomic.Pointer[context.CancelFunc] // ends the watch of the folders of skills, which begins anew
	skillsFollowed chan struct{}                      // closed when changed skills are not followed any more; nil when they never were

	opening []event.Notice // what was said before opened
	opened  bool           // set once, at the end of Open
}

// Open builds the program. On error nothing stays open.
func Open(ctx context.Context, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{Bus: o.Bus, opts: o, log: o.Log}
	LearnSecrets(o.Config)
	o.Bus.Filter(cleanEvent)
	a.config.Store(o.Config)
	a.Memory = memory.New(o.Config.Paths().Home, a.memoryLimits)
	a.Skills = openSkills(o.Config.Paths(), a.Config)
	a.Models = newModels(modelSettings(o.Config, o.Model, o.Firm))
	a.Gate = approval.New(a.policy(), approval.NewFile(approvalsFile(o.Config.Paths())))
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	if err := a.build(ctx); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.announce()
	a.opened = true
	if o.Reload != nil {
		a.follow(life, *o.Reload)
	}
	a.followSkills(life)
	return a, nil
}

func (a *App) build(ctx context.Context) error {
	paths := a.opts.Config.Paths()
	if err := paths.Ensure(); err != nil {
		a.notice(event.Warn, err.Error(), "what belongs there cannot be kept; HERMES_HOME or --home choose another folder")
	}
	if a.opts.Config.Security.AuditLog {
		a.audit = audit.Open(paths.AuditDir, a.Bus, a.log)
		a.Gate.Told(a.audit.Decided)
	}
	var err error
	if a.Store, err = store.Open(ctx, paths.DB, store.Options{Progress: a.rebuildProgress}); err != nil {
		return err
	}
	a.Sessions = session.New(a.Store, a.Bus)
	if a.Pool, err = a.opts.Pool(a.Bus, a.opts.Config); err != nil {
		return fmt.Errorf("back ends: %w", err)
	}
	if a.Tools, err = a.tools(); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	// Only what was asked for now: the settings may hold names that the Python program knows.
	if err := a.Tools.Unknown(a.opts.Toolsets); err != nil {
		return err
	}
	var keep func(session, name string) func()
	if m, ok := a.Pool.(backend.Manager); ok {
		keep = m.Keep
	}
	a.Agent = agent.New(agent.Deps{
		Bus: a.Bus, Sessions: a.Sessions, Models: a.Models, Tools: a.Tools, Gate: a.Gate,
		Prompt: a.prompt, Settings: a.agentSettings, Backend: a.backendOf, Keep: keep, Log: a.log,
		Checkpoints: a.newCheckpoints(), Autorun: a.newAutorun(),
	})
	return nil
}

// Close ends everything. Errors say what may be left behind.
func (a *App) Close(ctx context.Context) error {
	a.stop()
	a.watching.close()
	var errs []error
	if a.followed != nil {
		select {
		case <-a.followed:
		case <-ctx.Done():
			errs = append(errs, errors.New("edited settings were still being applied"))
		}
	}
	if a.skillsFollowed != nil {
		select {
		case <-a.skillsFollowed:
		case <-ctx.Done():
			errs = append(errs, errors.New("skills were still being read"))
		}
	}
	if a.Agent != nil {
		errs = append(errs, a.Agent.Close(ctx))
	}
	if a.engine != nil {
		a.engine.Close()
	}
	if a.Checkpoints != nil {
		a.Checkpoints.Close()
	}
	if a.Pool != nil {
		errs = append(errs, a.Pool.Close(ctx))
	}
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	if a.audit != nil {
		errs = append(errs, a.audit.Close(ctx))
	}
	a.Models.close()
	return errors.Join(errs...)
}

// Config returns the settings in effect.
func (a *App) Config() *config.Config { return a.config.Load() }

// announce tells what was found while opening.
func (a *App) announce() {
	r := a.Store.Report()
	if r.Banner != "" {
		a.notice(event.Warn, r.Banner, "")
	}
	for _, n := range r.Notes {
		a.notice(event.Warn, n, "")
	}
	for _, b := range a.Pool.List("") {
		a.Bus.Publish(event.Header{}, event.BackendChanged{Name: b.Name, Kind: b.Kind, Image: b.Image, From: b.State, To: b.State, Cause: b.Cause})
	}
	if len(a.opts.Problems) > 0 {
		a.Bus.Publish(event.Header{}, event.ConfigReloaded{Problems: texts(a.opts.Problems)})
	}
}

func (a *App) rebuildProgress(done, total int64) {
	a.Bus.Publish(event.Header{}, event.Progress{ID: "index", Label: "search index", Done: done, Total: total, Unit: "messages"})
}

// OpeningNotices are what was said while the App was being opened, for those who could not listen yet.
func (a *App) OpeningNotices() []event.Notice { return a.opening }

func (a *App) notice(l event.Level, text, hint string) {
	if !a.opened {
		a.opening = append(a.opening, event.Notice{Level: l, Text: text, Hint: hint})
	}
	a.Bus.Publish(event.Header{}, event.Notice{Level: l, Text: text, Hint: hint})
}

func texts(problems []config.Problem) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.String()
	}
	return out
}
