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
)

// Leftover is something of ours on an engine.
type Leftover struct {
	Engine  string // its address
	ID      string
	Name    string
	Image   string
	Session string // as in labels: cleaned
	Backend string
	State   string // the engine's word: running, exited, created, paused
	Created time.Time
	Live    bool // a process of this data folder uses it now
}

// List returns the containers of this data folder, of all sessions, on every engine that this Kind knows and those at addresses ("" is that of
// the environment). With an error there are those of the engines that answered.
func (k *Kind) List(ctx context.Context, addresses ...string) ([]Leftover, error) {
	var all []Leftover
	err := k.each(addresses, func(e *engine) error {
		list, err := e.list(ctx)
		all = append(all, list...)
		return err
	})
	return all, err
}

// Prune removes the containers of this data folder that no process uses, running or not, and then the runners' volumes that no container
// has: the next use brings one anew. It returns the containers that it removed.
// Containers without our labels, or with those of another data folder, are never looked at.
func (k *Kind) Prune(ctx context.Context, addresses ...string) ([]Leftover, error) {
	var all []Leftover
	err := k.each(addresses, func(e *engine) error {
		list, err := e.sweep(ctx)
		all = append(all, list...)
		return errors.Join(err, e.sweepVolumes(ctx, false))
	})
	return all, err
}

// Sweep prunes in the background what an earlier process left behind, once for every engine, and is quiet about engines that do not answer. The
// program calls it at its start; an engine that is used later is swept then.
func (k *Kind) Sweep(addresses ...string) {
	_ = k.each(addresses, func(e *engine) error {
		e.sweepOnce()
		return nil
	})
}

// each calls f for the engines at addresses and those that are known.
func (k *Kind) each(addresses []string, f func(*engine) error) error {
	var errs []error
	for _, address := range addresses {
		if _, err := k.engine(address); err != nil {
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

func (e *engine) sweepOnce() {
	e.mu.Lock()
	done := e.swept
	e.swept = true
	e.mu.Unlock()
	if done || e.kind.ctx.Err() != nil {
		return
	}
	e.kind.background("docker sweep", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, sweepTime)
		defer cancel()
		gone, err := e.sweep(ctx)
		for _, c := range gone {
			e.kind.opt.Log("removed %s, which an earlier hermes left behind", c.Name)
		}
		if err != nil && ctx.Err() == nil {
			e.mu.Lock()
			e.swept = false // the next one who uses the engine tries again
			e.mu.Unlock()
			e.kind.opt.Log("looking for what an earlier hermes left behind: %v", err)
		}
	})
}

// match are the labels of what is ours.
func (k *Kind) match(more ...string) filters.Args {
	f := filters.NewArgs(filters.Arg("label", labelApp+"="+appName), filters.Arg("label", labelOwner+"="+k.owner()))
	for _, label := range more {
		f.Add("label", label)
	}
	return f
}

func (e *engine) containers(ctx context.Context) ([]capi.Summary, error) {
	cli, err := e.client(ctx)
	if err != nil {
		return nil, err
	}
	list, err := cli.ContainerList(ctx, capi.ListOptions{All: true, Filters: e.kind.match()})
	if err != nil {
		return nil, e.explain(err)
	}
	// An engine that does not know the filter would show everybody's.
	return slices.DeleteFunc(list, func(c capi.Summary) bool { return !e.kind.ours(c.Labels) }), nil
}

func (e *engine) list(ctx context.Context) ([]Leftover, error) {
	found, err := e.containers(ctx)
	var list []Leftover
	for _, c := range found {
		if c.Labels[labelRole] != roleBackend {
			continue
		}
		l := e.leftover(c)
		l.Live = e.kind.live(l.Name)
		list = append(list, l)
	}
	return list, err
}

func (e *engine) leftover(c capi.Summary) Leftover {
	l := Leftover{
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

// live says whether a process uses a name, or is about to. One that only removes what was left behind does not.
func (k *Kind) live(name string) bool {
	if change, err := tryLock(k.changeLock(name), unix.LOCK_EX); err == nil {
		defer change.free()
	}
	return !k.nobodyUses(name)
}

// sweep removes what nobody uses. What a process is starting or using right now holds a lock.
func (e *engine) sweep(ctx context.Context) ([]Leftover, error) {
	found, err := e.containers(ctx)
	if err != nil {
		return nil, err
	}
	var gone []Leftover
	var errs []error
	for _, c := range found {
		l := e.leftover(c)
		removed, err := e.sweepOne(ctx, l)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.Name, err))
		} else if removed && c.Labels[labelRole] == roleBackend {
			gone = append(gone, l)
		}
	}
	errs = append(errs, e.sweepVolumes(ctx, true))
	return gone, errors.Join(errs...)
}

func (e *engine) sweepOne(ctx context.Context, l Leftover) (removed bool, err error) {
	if l.Name == "" {
		return false, nil
	}
	change, err := tryLock(e.kind.changeLock(l.Name), unix.LOCK_EX)
	if errors.Is(err, errHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !e.kind.nobodyUses(l.Name) {
		change.free()
		return false, nil
	}
	if err := e.removeContainer(ctx, l.ID); err != nil {
		change.free()
		return false, err
	}
	if use, err := tryLock(e.kind.useLock(l.Name), unix.LOCK_EX); err == nil {
		use.erase()
	}
	change.erase()
	return true, nil
}

// sweepVolumes removes the volumes of runners, those of other builds only if current is kept. One that a container still has stays.
func (e *engine) sweepVolumes(ctx context.Context, keepCurrent bool) error {
	cli, err := e.client(ctx)
	if err != nil {
		return err
	}
	list, err := cli.VolumeList(ctx, volume.ListOptions{Filters: e.kind.match(labelRole + "=" + roleRunner)})
	if err != nil {
		return e.explain(err)
	}
	keep := map[string]bool{}
	for _, arch := range []string{"amd64", "arm64"} {
		if b, err := e.kind.opt.Program("linux", arch); err == nil && keepCurrent {
			keep[e.kind.volume(b)] = true
		}
	}
	for _, v := range list.Volumes {
		if keep[v.Name] || !e.kind.ours(v.Labels) {
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
