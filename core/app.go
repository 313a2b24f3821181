// Package core is the program without a screen: App builds the packages below it from settings and
// an injected pool, and is what the workbench, the command line and every other way in talk to.
//
// The contract: Open does the slow work (database, tools) and may be called while a first frame is
// already on the screen. What has a life of its own is a part (part.go): parts start in the order
// of a list and close in the reverse one, within a context: turns, then background processes, then
// the store. What an App publishes goes to the one Bus that it was given.
package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/checkpoint"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/learn"
	"hermes/core/mcp"
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
	// Session is how sessions work that were not opened with a config of their own: what this way in
	// was told. Its Source is written on new sessions.
	Session session.Config
	// Cwd is the directory of new sessions.
	Cwd string
	// Model replaces the configured default, for one run.
	Model string
	// Brief says that the program ends with its work: nothing is begun that outlasts a turn.
	Brief bool
	// NoSubstitute says that the model of the settings answers or none: see provider.Settings.
	NoSubstitute bool
	// Version is what servers are told that this program is.
	Version string
	// Changed is called after edited settings took effect. May be nil.
	Changed func(c *config.Config)
	Log     *slog.Logger
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
	// Hooks are programs that take part in what the agent does.
	HookSet *hook.Set
	// Learn makes skills of experience.
	Learn *learn.Learner
	// MCP are the servers that bring tools.
	MCP *mcp.Manager

	opts Options
	// openedWith has the session.Config of sessions that were opened with one, by uid.
	openedWith  sync.Map
	configuring sync.Mutex // orders Configure
	sampling    sync.Map   // [session, server]: the person lets it ask the model
	reminded    sync.Map   // uids of sessions whose skills named their servers
	log         *slog.Logger
	config      atomic.Pointer[config.Config]
	parts       []part // that were started
	memories    memoryPart
	longTerm    longTermPart
	user        userPart
	titles      titlesPart
	plugins     pluginsPart
	provider    memoryProvider
	answers     answers
	passing     passing
	open        sync.Map       // uids of sessions that this process has open
	opening     []event.Notice // what was said before opened
	opened      bool           // set once, when every part is there but those that follow something
}

// Open builds the program. On error nothing stays open.
func Open(ctx context.Context, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{Bus: o.Bus, opts: o, log: o.Log, HookSet: &hook.Set{}}
	LearnSecrets(o.Config)
	o.Bus.Filter(cleanEvent)
	a.config.Store(o.Config)
	a.memories.a, a.longTerm.a, a.user.a, a.titles.a, a.plugins.a, a.provider.a = a, a, a, a, a, a
	if err := a.startParts(ctx); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	return a, nil
}

// Config returns the settings in effect.
func (a *App) Config() *config.Config { return a.config.Load() }

// openedPart tells what was found while opening.
type openedPart struct {
	quiet
	a *App
}

func (p *openedPart) Start(context.Context) error {
	a, r := p.a, p.a.Store.Report()
	if r.Banner != "" {
		a.publishNotice(event.Warn, r.Banner, "")
	}
	for _, n := range r.Notes {
		a.publishNotice(event.Warn, n, "")
	}
	a.tellWrongNames()
	for _, b := range a.Pool.List("") {
		a.Bus.Publish(event.Header{}, event.BackendChanged{Name: b.Name, Kind: b.Kind, Image: b.Image, From: b.State, To: b.State, Cause: b.Cause})
	}
	if len(a.opts.Problems) > 0 {
		a.Bus.Publish(event.Header{}, event.ConfigReloaded{Problems: problemLines(a.opts.Problems)})
	}
	a.opened = true
	return nil
}

// tellWrongNames tells of toolsets and providers of the settings that there are not: the agent
// would lack tools, or ask another server, and nobody would know why.
func (a *App) tellWrongNames() {
	c := a.Config()
	if len(a.opts.Session.Toolsets) == 0 { // else those of the settings do not count
		if err := a.Tools.Unknown(c.Toolsets); err != nil {
			a.publishNotice(event.Warn, c.Origin("toolsets")+": "+err.Error(), "the agent has no tool of that name")
		}
	}
	wrong := CheckProviders(c)
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		a.publishNotice(event.Warn, fmt.Sprintf("%s: %s: %v", c.Origin(key), key, wrong[key]), "its model is looked for elsewhere")
	}
}

// OpeningNotices are what was said while the App was being opened, for those who could not listen
// yet.
func (a *App) OpeningNotices() []event.Notice { return a.opening }

func (a *App) publishNotice(l event.Level, text, hint string) {
	if !a.opened {
		a.opening = append(a.opening, event.Notice{Level: l, Text: text, Hint: hint})
	}
	a.Bus.Publish(event.Header{}, event.Notice{Level: l, Text: text, Hint: hint})
}

// problemLines are problems as lines, what refuses something first.
func problemLines(problems []config.Problem) []string {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return cmp.Compare(min(len(b.Until), 1), min(len(a.Until), 1)) })
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.String()
	}
	return out
}
