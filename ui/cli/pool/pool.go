// Package pool is the command `hermes pool`: back ends, and commands in them.
package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/backend"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/ui/cli/base"
	"hermes/ui/progress"
)

// CommandLine is the session that `hermes pool` works in when none is named: one for each data
// folder, so that several commands meet in the same containers.
const CommandLine = "cli"

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes pool`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	f := &poolFlags{}
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "See and use the back ends: start, stop, pull, run and look into them",
		Long: `See and use the back ends: start, stop, pull, run and look into them.

A back end belongs to a session: the same name in two sessions is two containers. Without --session these commands share one session
of their own. A container runs as long as a hermes uses it, and is kept for its session after that (terminal.keep): the next use finds
its files. The workbench and a "pool up" in another terminal that use the same session's back end meet in the same container.`,
		Example: `  hermes pool list
  hermes pool up analytics            # keeps it until ctrl+c; from another terminal:
  hermes pool exec analytics -- python -V
  hermes pool shell analytics --session last`,
		Args: cobra.ArbitraryArgs, RunE: base.Subcommands,
	}
	cmd.PersistentFlags().StringVar(&f.session, "session", "", "use the back ends of this `session`: its id, the start of it, its title, or last")
	cmd.PersistentFlags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		c.poolList(f), c.poolStats(f), c.poolUp(f), c.poolStop(f), c.poolRestart(f), c.poolRemove(f), c.poolPull(f),
		c.poolExec(f), c.poolShell(f), c.poolEvents(f), c.poolPrune(f),
	)
	return cmd
}

type poolFlags struct {
	session string
	asJSON  bool
}

// poolWork is one command on the back ends of a session.
type poolWork struct {
	c       *command
	app     client.Client
	pool    backend.Pool
	session string
	asJSON  bool
	cwd     string
}

// withPool opens the program for work on back ends. ctrl+c cancels the work, and a second one ends
// the program.
func (c *command) withPool(cmd *cobra.Command, f *poolFlags, work func(context.Context, *poolWork) error) error {
	start, err := c.LoadHere()
	if err != nil {
		return err
	}
	start.KeepLeftovers = cmd.Name() == "list" || cmd.Name() == "prune"
	return c.WithClient(cmd.Context(), start, func(ctx context.Context, app client.Client) error {
		if app.Backends() == nil {
			return base.Failed(base.ExitFailed, "this program was built without back ends")
		}
		w := &poolWork{c: c, app: app, pool: app.Backends(), session: CommandLine, asJSON: f.asJSON, cwd: start.Cwd}
		if f.session != "" {
			info, err := app.History().Resolve(ctx, f.session)
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			w.session = info.UID
		}
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		return work(ctx, w)
	})
}

// statusOf is the back end of a name that a person gave. A wrong one is a mistake: the default does
// not stand in for it here.
func (w *poolWork) statusOf(name string) (backend.Status, error) {
	list := w.pool.List(w.session)
	i := slices.IndexFunc(list, func(s backend.Status) bool { return s.Name == name })
	if i >= 0 {
		return list[i], nil
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return backend.Status{}, base.UsageError("there is no back end %q; there are: %s", name, strings.Join(names, ", "))
}

// forEach checks all names before it does anything, then works on one after the other.
func (w *poolWork) forEach(names []string, f func(name string) error) error {
	for _, name := range names {
		if _, err := w.statusOf(name); err != nil {
			return err
		}
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, f(name))
	}
	return errors.Join(errs...)
}

// reportDone tells of something done, as text or JSON.
func (w *poolWork) reportDone(name, what string, began time.Time) error {
	if w.asJSON {
		return base.WriteJSON(w.c.Streams.Out, map[string]any{"name": name, "done": what, "seconds": time.Since(began).Seconds()}, false)
	}
	_, err := fmt.Fprintf(w.c.Streams.Out, "%s %s\n", base.OneLine(name), what)
	return err
}

type placeView struct {
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`
	Image     string             `json:"image,omitempty"` // or host
	State     event.BackendState `json:"state"`
	Cause     string             `json:"cause,omitempty"`
	Default   bool               `json:"default"`
	Refs      int                `json:"refs"`
	IdleTTL   float64            `json:"idle_ttl_seconds,omitempty"`
	traits    event.Traits
	Container string `json:"container,omitempty"`
	Live      bool   `json:"live,omitempty"` // another hermes uses the container
}

func (c *command) poolList(f *poolFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the back ends and the containers of a session", Args: cobra.NoArgs,
		Long: `List the back ends and the containers of a session.

A container in use is one that a running hermes has: a workbench, or "pool up". One that is kept is
there for its session to come back, one that is left over goes with "pool prune".`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withPool(cmd, f, func(ctx context.Context,
				w *poolWork,
			) error {
				return w.listBackends(ctx)
			})
		},
	}
}

func (w *poolWork) listBackends(ctx context.Context) error {
	found, err := w.sessionContainers(ctx)
	if err != nil {
		w.c.Note("hermes: %v", err)
	}
	views := []placeView{}
	for _, s := range w.pool.List(w.session) {
		v := placeView{
			Name: s.Name, Kind: s.Kind, Image: s.Image, State: s.State, Cause: s.Cause, Default: s.Default, Refs: s.Refs, IdleTTL: max(0, s.IdleTTL.Seconds()),
			traits: s.Traits,
		}
		if l, ok := found[s.Name]; ok {
			v.Container, v.Live = l.Name, l.Live
			v.State = engineState(l)
		}
		views = append(views, v)
	}
	if w.asJSON {
		return base.WriteJSON(w.c.Streams.Out, views, true)
	}
	t := base.Table{Head: []string{"NAME", "KIND", "IMAGE OR HOST", "STATE", "IDLE STOP", ""}}
	for _, v := range views {
		name, note := v.Name, v.Cause
		if v.Default {
			name += " (default)"
		}
		switch {
		case v.Live:
			note = "in use by a running hermes"
		case v.Container != "" && found[v.Name].Kept:
			note = "kept: its session finds it again"
		case v.Container != "":
			note = "left over: `hermes pool prune` removes it"
		}
		idle := "-"
		if v.IdleTTL > 0 && v.traits.Stoppable {
			idle = progress.Duration(time.Duration(v.IdleTTL * float64(time.Second)))
		}
		t.Row(name, v.Kind, cmp.Or(v.Image, "-"), string(v.State), idle, note)
	}
	return t.Write(w.c.Streams.Out)
}

// sessionContainers are those of the session, by back end.
func (w *poolWork) sessionContainers(ctx context.Context) (map[string]backend.Leftover, error) {
	out := map[string]backend.Leftover{}
	list, err := w.pool.Leftovers(ctx)
	for _, l := range list {
		if l.Session == w.session {
			out[l.Backend] = l
		}
	}
	return out, err
}

// engineState is what the engine says of a container, in the words of the pool.
func engineState(l backend.Leftover) event.BackendState {
	switch l.State {
	case "running":
		return event.BackendReady
	case "created", "exited":
		return event.BackendStopped
	default:
		return event.BackendState(l.State)
	}
}

func (c *command) poolStats(f *poolFlags) *cobra.Command {
	return &cobra.Command{
		Use: "stats [name...]", Short: "Measure what the running containers of a session use", ValidArgsFunction: c.completeBackends,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPool(cmd, f, func(ctx context.Context,
				w *poolWork,
			) error {
				return w.printStats(ctx, args)
			})
		},
	}
}

// printStats joins what runs already; nothing is started to be measured.
func (w *poolWork) printStats(ctx context.Context, names []string) error {
	found, err := w.sessionContainers(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		for name, l := range found {
			if l.State == "running" && l.Live {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	all := []event.BackendStats{}
	err = w.forEach(names, func(name string) error {
		if l, ok := found[name]; !ok || l.State != "running" {
			return base.Failed(base.ExitFailed, "%s is not running in this session: there is nothing to measure", name)
		}
		if err := w.pool.Up(ctx, w.session, name); err != nil {
			return err
		}
		s, err := w.pool.Sample(ctx, w.session, name)
		if err == nil {
			all = append(all, s)
		}
		return err
	})
	if err != nil {
		return err
	}
	if w.asJSON {
		return base.WriteJSON(w.c.Streams.Out, all, true)
	}
	if len(all) == 0 {
		w.c.Note("no container of this session is running")
		return nil
	}
	t := base.Table{Head: []string{"NAME", "CPU", "MEMORY", "LIMIT", "PROCESSES"}}
	for _, s := range all {
		limit := "-"
		if s.MemoryLimit > 0 {
			limit = base.ByteSize(s.MemoryLimit)
		}
		t.Row(s.Name, fmt.Sprintf("%.1f%%", s.CPUPercent), base.ByteSize(s.MemoryBytes), limit, fmt.Sprint(s.Pids))
	}
	return t.Write(w.c.Streams.Out)
}

// completeBackends completes names from the settings; nothing is opened for it.
func (c *command) completeBackends(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	start, err := c.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out := []string{"default"}
	for name := range start.Config.Terminal.Backends {
		out = append(out, name)
	}
	slices.Sort(out)
	out = slices.DeleteFunc(slices.Compact(out), func(name string) bool { return slices.Contains(args, name) })
	return out, cobra.ShellCompDirectiveNoFileComp
}
