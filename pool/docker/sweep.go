package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"
	"golang.org/x/sys/unix"

	"hermes/core/backend"
	"hermes/pool"
)

// Leftovers lists the containers of this data folder, of all sessions, on every engine that this
// Kind knows and those of specs. With an error there are those of the engines that answered.
func (k *Kind) Leftovers(ctx context.Context, specs []pool.Spec) ([]backend.Leftover, error) {
	var all []backend.Leftover
	err := k.forEngines(specs, func(e *engine) error {
		list, err := e.listLeftovers(ctx, keepOf(specs))
		all = append(all, list...)
		return err
	})
	return all, err
}

// Prune removes the containers of this data folder that no process uses and that are not kept any
// more, or all that no process uses, running or not, and then the runners' volumes that no
// container has: the next use brings one anew. It returns the containers that it removed. Volumes
// for data folders of this machine that are gone go too. Containers without our labels, or with
// those of another data folder, are never looked at.
func (k *Kind) Prune(ctx context.Context, specs []pool.Spec, all bool) ([]backend.Leftover, error) {
	var removed []backend.Leftover
	err := k.forEngines(specs, func(e *engine) error {
		keep := keepOf(specs)
		if all {
			keep = 0
		}
		list, err := e.sweepUnused(ctx, keep)
		for _, g := range list {
			removed = append(removed, g.Leftover)
		}
		return errors.Join(err, e.sweepVolumes(ctx, false))
	})
	return removed, err
}

// keepOf is how long what nobody uses is kept: it is the same for all.
func keepOf(specs []pool.Spec) time.Duration {
	if len(specs) == 0 {
		return 0
	}
	return specs[0].Keep
}

// Sweep prunes in the background what earlier processes left behind, once for every engine, and is
// quiet about engines that do not answer. The program calls it at its start; an engine that is used
// later is swept then.
func (k *Kind) Sweep(specs []pool.Spec, tell func(text string)) {
	_ = k.forEngines(specs, func(e *engine) error {
		e.sweepOnce(keepOf(specs), tell)
		return nil
	})
}

// forEngines calls f for the engines of specs and those that are known.
func (k *Kind) forEngines(specs []pool.Spec, f func(*engine) error) error {
	var errs []error
	for _, s := range specs {
		if _, err := k.engineAt(specOf(s).Engine); err != nil {
			errs = append(errs, err)
		}
	}
	k.mu.Lock()
	var engines []*engine
	for _, e := range k.engines {
		// Two addresses may be one engine.
		if !slices.ContainsFunc(engines, func(o *engine) bool { return o.at == e.at }) {
			engines = append(engines, e)
		}
	}
	k.mu.Unlock()
	for _, e := range engines {
		errs = append(errs, f(e))
	}
	return errors.Join(errs...)
}

const sweepTime = time.Minute

func (e *engine) sweepOnce(keep time.Duration, tell func(text string)) {
	e.mu.Lock()
	done := e.swept
	e.swept = true
	e.mu.Unlock()
	if done || e.kind.ctx.Err() != nil {
		return
	}
	e.kind.runInBackground("docker sweep", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, sweepTime)
		defer cancel()
		gone, err := e.sweepUnused(ctx, keep)
		for _, g := range gone {
			e.kind.opt.Log("removed %s, which an earlier hermes left behind (%s)", g.Name, g.why)
			if tell != nil && keep > 0 {
				tell(fmt.Sprintf("container %s of session %s was removed with its files: %s", g.Backend, g.Session, g.why))
			}
		}
		if err != nil && ctx.Err() == nil {
			e.mu.Lock()
			e.swept = false // the next one who uses the engine tries again
			e.mu.Unlock()
			e.kind.opt.Log("looking for what an earlier hermes left behind: %v", err)
		}
	})
}

// labelFilter are the labels of what is ours.
func (k *Kind) labelFilter(more ...string) filters.Args {
	f := filters.NewArgs(filters.Arg("label", labelApp+"="+appName), filters.Arg("label", labelOwner+"="+k.homeOwner()))
	for _, label := range more {
		f.Add("label", label)
	}
	return f
}

// ownContainers are those of this data folder; with sizes the engine measures each, which can take
// a while.
func (e *engine) ownContainers(ctx context.Context, sizes bool) ([]capi.Summary, error) {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return nil, err
	}
	list, err := cli.ContainerList(ctx, capi.ListOptions{All: true, Size: sizes, Filters: e.kind.labelFilter()})
	if err != nil {
		return nil, e.explainError(err)
	}
	// An engine that does not know the filter would show everybody's.
	return slices.DeleteFunc(list, func(c capi.Summary) bool { return !e.kind.isOurs(c.Labels) }), nil
}

func (e *engine) listLeftovers(ctx context.Context, keep time.Duration) ([]backend.Leftover, error) {
	found, err := e.ownContainers(ctx, false)
	if err != nil {
		return nil, err
	}
	var list []backend.Leftover
	for _, c := range found {
		if c.Labels[labelRole] != roleBackend {
			continue
		}
		l := e.leftoverOf(c)
		l.Live = e.kind.isInUse(l.Name)
		l.Kept = !l.Live && keep > 0 && e.removalReason(e.restingOf(ctx, c), keep, time.Now()) == ""
		list = append(list, l)
	}
	return list, nil
}

func (e *engine) leftoverOf(c capi.Summary) backend.Leftover {
	l := backend.Leftover{
		Engine: e.at.host, ID: c.ID, Image: c.Image, State: c.State,
		Session: c.Labels[labelSession], Backend: c.Labels[labelBackend],
	}
	if len(c.Names) > 0 {
		l.Name = strings.TrimPrefix(c.Names[0], "/")
	}
	if sec, err := strconv.ParseInt(c.Labels[labelCreated], 10, 64); err == nil {
		l.Created = time.Unix(sec, 0)
	}
	return l
}

// isInUse says whether a process uses a name, or is about to. One that only removes what was left
// behind does not.
func (k *Kind) isInUse(name string) bool {
	if change, err := tryLock(k.changeLock(name), unix.LOCK_EX); err == nil {
		defer change.unlock()
	}
	return !k.nobodyUses(name)
}

// removal is a container that was removed, and why.
type removal struct {
	backend.Leftover
	why string
}

// sweepUnused removes what nobody uses and is not kept any more, and stops what runs still and is
// kept. What a process is starting or using right now holds a lock.
func (e *engine) sweepUnused(ctx context.Context, keep time.Duration) ([]removal, error) {
	found, err := e.ownContainers(ctx, keep > 0)
	if err != nil {
		return nil, err
	}
	var gone []removal
	var errs []error
	for _, r := range e.sweepList(ctx, found, keep) {
		removed, err := e.sweepOne(ctx, r)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Name, err))
		} else if removed && r.role == roleBackend {
			gone = append(gone, removal{r.Leftover, r.why})
		}
	}
	errs = append(errs, e.sweepVolumes(ctx, true))
	return gone, errors.Join(errs...)
}

// sweepOne removes a container that nobody uses, or stops it when nothing says that it is to go.
func (e *engine) sweepOne(ctx context.Context, r resting) (removed bool, err error) {
	if r.Name == "" {
		return false, nil
	}
	change, err := tryLock(e.kind.changeLock(r.Name), unix.LOCK_EX)
	if errors.Is(err, errHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !e.kind.nobodyUses(r.Name) {
		change.unlock()
		return false, nil
	}
	if r.why == "" {
		defer change.unlock()
		return false, e.stopContainer(ctx, r.ID)
	}
	if err := e.removeContainer(ctx, r.ID); err != nil {
		change.unlock()
		return false, err
	}
	e.kind.markGone(r.Name, r.why)
	if use, err := tryLock(e.kind.useLock(r.Name), unix.LOCK_EX); err == nil {
		use.erase()
	}
	change.erase()
	return true, nil
}

// sweepVolumes removes the volumes of runners, those of other builds only if current is kept, and
// those for data folders that are gone. One that a container still has stays.
func (e *engine) sweepVolumes(ctx context.Context, keepCurrent bool) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	list, err := cli.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(
		filters.Arg("label", labelApp+"="+appName), filters.Arg("label", labelRole+"="+roleRunner))})
	if err != nil {
		return e.explainError(err)
	}
	keep := map[string]bool{}
	for _, arch := range []string{"amd64", "arm64"} {
		if b, err := e.kind.opt.Program("linux", arch); err == nil && keepCurrent {
			keep[e.kind.volumeName(b)] = true
		}
	}
	for _, v := range list.Volumes {
		l := v.Labels
		if keep[v.Name] || l[labelApp] != appName || l[labelRole] != roleRunner || !e.kind.isOurs(l) && !isHomeless(l) {
			continue
		}
		e.mu.Lock()
		delete(e.installed, v.Name)
		e.mu.Unlock()
		if err := ignoreGone(cli.VolumeRemove(ctx, v.Name, false)); err != nil {
			return err
		}
	}
	return nil
}
