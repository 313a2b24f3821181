package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/backend"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

func (c *command) poolUp(f *poolFlags) *cobra.Command {
	once := false
	cmd := &cobra.Command{
		Use: "up <name>...", Short: "Start back ends and keep them up until ctrl+c", Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.completeBackends,
		Long: `Start back ends and keep them up until ctrl+c.

Meanwhile other commands of the same session ("pool exec", "pool shell", a workbench) use the same containers. At the end the
containers are stopped, unless somebody else uses them still, and kept as terminal.keep says. With --once they are only tried: started, told
of, stopped.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error { return w.bringUp(ctx, args, once) })
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "do not wait: see whether they start")
	return cmd
}

func (w *poolWork) bringUp(ctx context.Context, names []string, once bool) error {
	stop := w.showProgressUntil()
	err := w.forEach(names, func(name string) error {
		began := time.Now()
		if err := w.pool.Up(ctx, w.session, name); err != nil {
			return err
		}
		return w.reportDone(name, "is up", began)
	})
	stop()
	if err != nil || once {
		return err
	}
	for _, name := range names {
		defer w.pool.Keep(w.session, name)() // others use them; here they would seem idle
	}
	w.c.Note("ctrl+c ends it; meanwhile: hermes pool exec %s%s -- ...", w.sessionFlag(), names[0])
	stop = w.showProgressUntil()
	defer stop()
	<-ctx.Done()
	w.c.Note("stopping %s", text.Count(len(names), "back end", "back ends"))
	return nil
}

func (w *poolWork) sessionFlag() string {
	if w.session == CommandLine {
		return ""
	}
	return "--session " + w.session + " "
}

type forceFlag struct{ force bool }

func (f *forceFlag) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.force, "force", false, "end what runs in it")
}

func (c *command) poolStop(f *poolFlags) *cobra.Command {
	var force forceFlag
	cmd := &cobra.Command{
		Use: "stop <name>...", Short: "Stop back ends", Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.completeBackends,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error {
				return w.ownAndRun(ctx, args, "is stopped", false, func(name string) error { return w.pool.Stop(ctx, w.session, name, force.force) })
			})
		},
	}
	force.addTo(cmd)
	return cmd
}

func (c *command) poolRestart(f *poolFlags) *cobra.Command {
	var force forceFlag
	cmd := &cobra.Command{
		Use: "restart <name>...", Short: "Stop back ends, start them again and see that they work", Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.completeBackends,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error {
				defer w.showProgressUntil()()
				return w.ownAndRun(ctx, args, "was restarted", true, func(name string) error { return w.pool.Restart(ctx, w.session, name, force.force) })
			})
		},
	}
	force.addTo(cmd)
	return cmd
}

func (c *command) poolRemove(f *poolFlags) *cobra.Command {
	var force forceFlag
	cmd := &cobra.Command{
		Use: "rm <name>...", Aliases: []string{"remove"}, Short: "Remove back ends with their files", Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.completeBackends,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error {
				return w.ownAndRun(ctx, args, "is removed", false, func(name string) error { return w.pool.Remove(ctx, w.session, name, force.force) })
			})
		},
	}
	force.addTo(cmd)
	return cmd
}

// ownAndRun works on back ends that no other hermes uses: it would lose them in the midst of its
// work, and has the verbs itself. What a crash left over is taken up first, so that there is
// something to stop or to remove; what is not there is left alone unless absent is set.
func (w *poolWork) ownAndRun(ctx context.Context, names []string, done string, absent bool, f func(name string) error) error {
	found, err := w.sessionContainers(ctx)
	if err != nil {
		return err
	}
	return w.forEach(names, func(name string) error {
		began := time.Now()
		l, there := found[name]
		if !there && !absent {
			return w.reportDone(name, "was not up in this session", began)
		}
		if there && l.Live {
			return base.Failed(base.ExitFailed, "%s is in use by a running hermes (container %s): do it there, or end that one", name, l.Name)
		}
		if there {
			if err := w.pool.Up(ctx, w.session, name); err != nil {
				return err
			}
		}
		if err := f(name); err != nil {
			return err
		}
		return w.reportDone(name, done, began)
	})
}

func (c *command) poolPull(f *poolFlags) *cobra.Command {
	return &cobra.Command{
		Use: "pull <name>...", Short: "Fetch the images of back ends", Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.completeBackends,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error {
				defer w.showProgressUntil()()
				return w.forEach(args, func(name string) error {
					s, err := w.statusOf(name)
					if err != nil {
						return err
					}
					if !s.Traits.Image {
						return base.UsageError("%s is of kind %s: it has no image to fetch", name, s.Kind)
					}
					began := time.Now()
					if err := w.pool.Pull(ctx, w.session, name); err != nil {
						return err
					}
					return w.reportDone(name, "has its image", began)
				})
			})
		},
	}
}

// showProgressUntil shows on stderr how far pulls and starts are, until stop is called: a bar on a
// terminal, lines elsewhere.
func (w *poolWork) showProgressUntil() (stop func()) {
	box := w.app.Events().Subscribe(event.Limits{})
	show := &advance{w: w, bars: base.IsTerminal(w.c.Streams.Err)}
	done := make(chan struct{})
	crash.Go("pool progress", func() {
		defer close(done)
		for range box.Ready() {
			for _, e := range box.Drain() {
				show.showEvent(e)
			}
		}
	})
	return func() {
		box.Close()
		<-done
		show.clearBar()
	}
}

func (c *command) poolPrune(f *poolFlags) *cobra.Command {
	var yes, all bool
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove the containers that no hermes uses", Args: cobra.NoArgs,
		Long: `Remove the containers that no hermes uses and that no session comes back for: those past terminal.keep. With --all the kept ones of
sessions that can be resumed go too, with their files. Containers of others are never touched. It shows them and asks first.
Copies of our own program that no container has go too, also those for data folders of this machine that are gone.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withPool(cmd, f, func(ctx context.Context, w *poolWork) error { return w.pruneLeftovers(ctx, all, yes) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the kept ones of sessions that can be resumed too")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (w *poolWork) pruneLeftovers(ctx context.Context, all, yes bool) error {
	found, err := w.pool.Leftovers(ctx)
	dead, kept := []backend.Leftover{}, 0
	for _, l := range found {
		switch {
		case l.Live:
		case l.Kept && !all:
			kept++
		default:
			dead = append(dead, l)
		}
	}
	if len(dead) > 0 && !yes {
		if w.asJSON {
			return base.UsageError("prune --json asks nobody: give --yes, or look with `hermes pool prune`")
		}
		w.printLeftovers(dead)
		if !w.c.Agrees("Remove " + text.Count(len(dead), "container", "containers") + " with their files?") {
			return base.Failed(base.ExitRefused, "nothing was removed")
		}
	}
	gone := []backend.Leftover{}
	if err == nil || len(dead) > 0 { // where nothing could be listed, something would go that nobody was shown
		var pruned []backend.Leftover
		pruned, err = w.pool.Prune(ctx, all) // it meets the same errors
		gone = append(gone, pruned...)
	}
	if w.asJSON {
		return errors.Join(base.WriteJSON(w.c.Streams.Out, gone, true), err)
	}
	for _, l := range gone {
		fmt.Fprintf(w.c.Streams.Out, "removed %s\n", base.OneLine(l.Name))
	}
	switch {
	case err == nil && kept > 0:
		w.c.Note("%s kept for sessions that can be resumed: --all removes them too", text.Count(kept, "container is", "containers are"))
	case err == nil && len(gone) == 0:
		w.c.Note("nothing is left over")
	}
	return err
}

func (w *poolWork) printLeftovers(list []backend.Leftover) {
	t := base.Table{Head: []string{"CONTAINER", "SESSION", "BACK END", "IMAGE", "STATE", "SINCE"}}
	for _, l := range list {
		t.Row(l.Name, l.Session, l.Backend, l.Image, l.State, base.DateTime(l.Created))
	}
	_ = t.Write(w.c.Streams.Err) // a question, not a result
}
