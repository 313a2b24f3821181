package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	capi "github.com/docker/docker/api/types/container"

	"hermes/core/backend"
	"hermes/pool"
)

// What was made in a container is kept when the program ends: a session that can be resumed has not
// ended. At most so much of it.
const (
	keptMost  = 10
	keptBytes = 20 << 30
)

// resting is a container that no process may use.
type resting struct {
	backend.Leftover
	role    string
	running bool
	since   time.Time // when it stopped; zero when it never ran
	size    int64     // of what was written in it; 0 when nobody measured
	why     string    // why it is to be removed; "" keeps it
}

func (e *engine) restingOf(ctx context.Context, c capi.Summary) resting {
	r := resting{Leftover: e.leftoverOf(c), role: c.Labels[labelRole], size: c.SizeRw}
	r.running = c.State == "running" || c.State == "paused" || c.State == "restarting"
	cli, err := e.connectClient(ctx)
	if err != nil {
		return r
	}
	if got, err := cli.ContainerInspect(ctx, c.ID); err == nil && got.State != nil {
		r.since, _ = time.Parse(time.RFC3339Nano, got.State.FinishedAt)
		if r.since.Year() < 1970 { // the engine's zero
			r.since = time.Time{}
		}
	}
	return r
}

// removalReason is why one that nobody uses goes by itself, "" when it is kept.
func (e *engine) removalReason(r resting, keep time.Duration, now time.Time) string {
	switch {
	case keep <= 0:
		return "nobody uses it"
	case r.role != roleBackend:
		return "it is not needed any more"
	case r.State == "dead" || r.State == "removing":
		return "it was dead"
	case !r.running && r.since.IsZero():
		return "nothing ever ran in it"
	case !r.running && now.Sub(r.since) > keep:
		return fmt.Sprintf("nobody used it for longer than terminal.keep (%v)", keep)
	}
	return ""
}

// sweepList is what a sweep has to do with: what is to be removed, and what runs and is to be
// stopped.
func (e *engine) sweepList(ctx context.Context, found []capi.Summary, keep time.Duration) []resting {
	var out, kept []resting
	for _, c := range found {
		r := resting{Leftover: e.leftoverOf(c), role: c.Labels[labelRole]}
		if e.kind.isInUse(r.Name) {
			continue
		}
		if keep > 0 {
			r = e.restingOf(ctx, c)
		}
		if r.why = e.removalReason(r, keep, time.Now()); r.why == "" {
			kept = append(kept, r)
		} else {
			out = append(out, r)
		}
	}
	return append(out, overflowing(kept, keptMost, keptBytes)...)
}

// overflowing says of those that may be kept which are too many or too large, the oldest first, and
// which run still.
func overflowing(kept []resting, most int, size int64) []resting {
	slices.SortStableFunc(kept, func(a, b resting) int { // newest first: what runs has not ended
		switch {
		case a.running != b.running && a.running:
			return -1
		case a.running != b.running:
			return 1
		}
		return b.since.Compare(a.since)
	})
	var out []resting
	var sum int64
	for i, r := range kept {
		sum += r.size
		switch {
		case i >= most:
			r.why = fmt.Sprintf("at most %d containers are kept, and it was the oldest", most)
		case sum > size && i > 0:
			r.why = fmt.Sprintf("at most %s of containers are kept, and it was the oldest", humanBytes(size))
		case !r.running:
			continue
		}
		out = append(out, r)
	}
	return out
}

// stopContainer ends what runs in a container that is kept.
func (e *engine) stopContainer(ctx context.Context, id string) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	grace := 1
	return ignoreGone(cli.ContainerStop(ctx, id, capi.StopOptions{Timeout: &grace}))
}

// Forget removes the containers of a session that ended. An engine on which nothing was made for it
// is not asked.
func (k *Kind) Forget(ctx context.Context, session string, specs []pool.Spec) error {
	var errs []error
	for _, s := range specs {
		id := identity{owner: k.homeOwner(), session: session, backend: s.Name}
		if _, made := k.readMark(id.containerName()); !made {
			continue
		}
		opened, err := k.Open(session, s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		b := opened.(*Backend)
		if err := b.engine.awaitEngine(ctx); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, b.Remove(ctx))
	}
	return errors.Join(errs...)
}

// A mark is a file that says that a container was made for its session, and in it why it is gone,
// once it is.
func (k *Kind) markFile(name string) string { return filepath.Join(k.homeDir(), name+".made") }

func (k *Kind) readMark(name string) (why string, made bool) {
	data, err := os.ReadFile(k.markFile(name))
	return strings.TrimSpace(string(data)), err == nil
}

// markGone keeps why a container is gone, for its session.
func (k *Kind) markGone(name, why string) {
	if _, made := k.readMark(name); made {
		k.writeMark(name, why)
	}
}

func (k *Kind) writeMark(name, why string) {
	if err := os.WriteFile(k.markFile(name), []byte(why), 0o600); err != nil {
		k.opt.Log("%v", err) // then nobody is told that it was made anew
	}
}

func (k *Kind) removeMark(name string) {
	if err := os.Remove(k.markFile(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.opt.Log("%v", err)
	}
}

// sayAnew says that what an earlier process made is gone, and that there is a container from now
// on.
func (a *attempt) sayAnew() {
	if why, made := a.kind.readMark(a.name()); made && !a.seen {
		if why == "" {
			why = "somebody removed it"
		}
		a.addWarning("backend '%s' was made anew (%s): files that were not in a mount are gone", a.spec.Name, why)
	}
	a.kind.writeMark(a.name(), "")
}
