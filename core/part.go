package core

import (
	"context"
	"errors"

	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/tool"
)

// part is one system of an App with a life of its own. A new one is a file and a line in
// App.systems.
type part interface {
	// Start builds the part; those before it in the list are there. Close ends what was built, also
	// when Start fails.
	Start(ctx context.Context) error
	// Tools are what the part gives the agent. They are asked for once, when the agent starts.
	Tools() []tool.Tool
	// Changed takes edited settings; App.Config has them already.
	Changed(c config.Change)
	// Forget drops what the part knows of a session that was deleted.
	Forget(session string)
	// Close ends the part within ctx. An error says what may be left behind.
	Close(ctx context.Context) error
}

// quiet does nothing. Parts embed it and have the methods that they need.
type quiet struct{}

func (quiet) Start(context.Context) error { return nil }
func (quiet) Tools() []tool.Tool          { return nil }
func (quiet) Changed(config.Change)       {}
func (quiet) Forget(string)               {}
func (quiet) Close(context.Context) error { return nil }

// allParts are the parts in the order in which they start. They close in the reverse one.
func (a *App) allParts() []part {
	scripts, hooks := &scriptsPart{a: a}, &hooksPart{a: a}
	return []part{
		&modelsPart{a: a},
		&gatePart{a: a},
		&auditPart{a: a},
		&storePart{a: a},
		&poolPart{a: a},
		&checkpointsPart{a: a},
		scripts,
		&a.memories,
		&a.longTerm,
		&a.user,
		&skillsPart{a: a},
		hooks,
		&learnPart{a: a, scripts: scripts},
		&agentPart{a: a, scripts: scripts, hooks: hooks},
		&a.titles,
		&a.plugins,
		&serversPart{a: a},
		&a.provider,
		&openedPart{a: a},
		&skillsFollower{a: a},
		&settingsPart{a: a},
	}
}

// startParts starts the parts up to the first that cannot.
func (a *App) startParts(ctx context.Context) error {
	for _, p := range a.allParts() {
		a.parts = append(a.parts, p)
		if err := p.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close ends everything. Errors say what may be left behind.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	for i := len(a.parts) - 1; i >= 0; i-- {
		errs = append(errs, a.parts[i].Close(ctx))
	}
	return errors.Join(errs...)
}

// follower is a goroutine that follows something until it is ended.
type follower struct {
	stop context.CancelFunc // nil: it does not follow
	done chan struct{}
}

// startFollowing starts work, which stop ends.
func (f *follower) startFollowing(name string, stop context.CancelFunc, work func()) {
	f.stop, f.done = stop, make(chan struct{})
	crash.Go(name, func() {
		defer close(f.done)
		work()
	})
}

// stopFollowing stops the work and waits for it. late says what was still going on when ctx did not
// last.
func (f *follower) stopFollowing(ctx context.Context, late string) error {
	if f.stop == nil {
		return nil
	}
	f.stop()
	select {
	case <-f.done:
		f.stop = nil
		return nil
	case <-ctx.Done():
		return errors.New(late)
	}
}
