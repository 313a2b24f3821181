package docker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"hermes/core/event"
	"hermes/pool"
)

// attempt is one way up.
type attempt struct {
	*Backend
	cli    *client.Client
	report pool.Report
	plan   *plan
	binary Program
}

// bringUp finds or makes the container and connects to it. The change lock is held: what happens to
// the container meanwhile is not our doing, and is answered by looking again.
func (b *Backend) bringUp(ctx context.Context, r pool.Report) (*connection, error) {
	cli, err := b.engine.connectClient(ctx)
	if err != nil {
		return nil, err
	}
	a := &attempt{Backend: b, cli: cli, report: r}
	var last error
	for range 4 {
		conn, err := a.tryOnce(ctx)
		if err == nil {
			return conn, nil
		}
		last = err
		var again *lookAgain
		if !errors.As(err, &again) || ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, last
}

// lookAgain is an error of something that changed under our hands.
type lookAgain struct{ err error }

func (l *lookAgain) Error() string { return l.err.Error() }
func (l *lookAgain) Unwrap() error { return l.err }

func (a *attempt) tryOnce(ctx context.Context) (*connection, error) {
	found, err := a.cli.ContainerInspect(ctx, a.name())
	switch {
	case errdefs.IsNotFound(err):
		return a.makeContainer(ctx, "")
	case err != nil:
		return nil, err
	case !a.identity().hasLabels(found.Config.Labels):
		return nil, fmt.Errorf("a container named %s exists that is not this session's: remove or rename it", a.name())
	}
	if err := a.preparePlan(ctx, &found); err != nil {
		return nil, err
	}
	changed := a.plan.changedParts(found.Config.Labels)
	if len(changed) == 0 && !found.State.Dead {
		return a.connectExisting(ctx, found)
	}
	if !a.use.isAlone() {
		return nil, fmt.Errorf("container %s has other settings (%s) and another hermes uses it: close that one, or undo the change", a.name(), strings.Join(changed, ", "))
	}
	if err := a.destroyContainer(ctx); err != nil {
		return nil, err
	}
	if found.State.Dead {
		a.kind.markGone(a.name(), "it was dead")
		return a.makeContainer(ctx, "the container was dead")
	}
	a.kind.removeMark(a.name())
	a.addWarning("the container was made anew because its settings changed (%s): files that were in it only are gone", strings.Join(changed, ", "))
	return a.makeContainer(ctx, "settings changed: "+strings.Join(changed, ", "))
}

// preparePlan works out what the container is to be. For one that exists already nothing is pulled:
// its image may have lost its tag or be gone meanwhile, and what was made of it is woken all the
// same.
func (a *attempt) preparePlan(ctx context.Context, made *capi.InspectResponse) error {
	img, err := a.engine.ensureImage(ctx, a.spec, a.report, made != nil)
	if made != nil && errdefs.IsNotFound(err) {
		img, err = a.engine.imageOf(ctx, *made)
	}
	if err != nil {
		return err
	}
	if a.binary, err = a.engine.programFor(img); err != nil {
		return err
	}
	f := facts{image: img, volume: a.kind.volumeName(a.binary), grace: a.kind.opt.Grace.String(), socket: a.socketName(), rules: a.mountRules()}
	if a.spec.Memory == 0 {
		info, err := a.engine.machineFacts(ctx)
		if err != nil {
			return err
		}
		f.machineMemory = info.MemTotal
	}
	a.plan, err = newPlan(a.spec, f)
	return err
}

// socketName is the name under which the runner serves a second process of ours.
func (b *Backend) socketName() string {
	i := b.identity()
	return hashParts("socket", i.owner, i.session, i.backend)[:32]
}

func (b *Backend) mountRules() mountRules {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return mountRules{home: home, agent: b.kind.opt.Home, local: b.engine.at.isLocal()}
}

// makeContainer makes a container and starts it.
func (a *attempt) makeContainer(ctx context.Context, cause string) (*connection, error) {
	if err := a.preparePlan(ctx, nil); err != nil {
		return nil, err
	}
	a.report.Step(event.BackendCreating, cause)
	if err := a.engine.installRunner(ctx, a.plan.config.Image, a.binary, false); err != nil {
		return nil, err
	}
	labels := a.kind.roleLabels(roleBackend)
	labels[labelSession], labels[labelBackend] = safeLabel(a.session), safeLabel(a.spec.Name)
	for name, sum := range a.plan.hashedParts(hardening) {
		labels[labelPart+name] = sum
	}
	a.plan.config.Labels = labels
	// Not to be cancelled: the engine would make it all the same, and nobody would know of it.
	made, err := a.cli.ContainerCreate(context.WithoutCancel(ctx), a.plan.config, a.plan.host, a.plan.networks, nil, a.name())
	if err == nil && ctx.Err() != nil {
		return nil, ctx.Err() // whoever cancelled it removes it
	}
	switch {
	case errdefs.IsConflict(err): // the name is the lock: somebody else was first
		return nil, &lookAgain{err}
	case errdefs.IsNotFound(err) && strings.Contains(err.Error(), "image"):
		return nil, &lookAgain{err}
	case err != nil:
		return nil, a.createFailure(err)
	}
	for _, w := range made.Warnings {
		a.addWarning("the engine says: %s", w)
	}
	if err := a.giveFolder(ctx, made.ID); err != nil {
		a.addWarning("%v", err)
	}
	a.sayAnew()
	return a.startContainer(ctx, made.ID)
}

// createFailure says what of the configuration the engine does not like.
func (a *attempt) createFailure(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "bind source path does not exist"):
		return fmt.Errorf("extra_mounts: a path does not exist on the engine's machine: %w", err)
	case strings.Contains(text, "could not select device driver"):
		return fmt.Errorf("gpus: the engine has no GPUs to give (is the NVIDIA container toolkit installed?): %w", err)
	}
	return err
}

// connectExisting connects to a container that exists.
func (a *attempt) connectExisting(ctx context.Context, found capi.InspectResponse) (*connection, error) {
	if found.State.Paused {
		a.report.Step(event.BackendStarting, "it was paused")
		if err := a.cli.ContainerUnpause(ctx, found.ID); err != nil && !errdefs.IsConflict(err) {
			return nil, err
		}
		found.State.Running = true
	}
	if !found.State.Running {
		return a.startContainer(ctx, found.ID)
	}
	a.report.Step(event.BackendStarting, "joining the container, which runs already")
	conn, err := a.joinRunner(ctx, found.ID)
	if err == nil {
		return conn, nil
	}
	if !a.use.isAlone() {
		return nil, fmt.Errorf("container %s, which another hermes uses, does not answer: %w", a.name(), err)
	}
	// Its runner is gone or going: what is in the files stays.
	if err := a.cli.ContainerStop(ctx, found.ID, capi.StopOptions{Timeout: a.stopSeconds()}); err != nil && !errdefs.IsNotFound(err) {
		return nil, err
	}
	return a.startContainer(ctx, found.ID)
}

// startContainer attaches to a container that does not run, so that nothing is missed, and starts
// it.
func (a *attempt) startContainer(ctx context.Context, id string) (*connection, error) {
	a.report.Step(event.BackendStarting, "")
	conn, err := a.attachAndStart(ctx, id)
	if err == nil {
		return conn, nil
	}
	if errdefs.IsNotFound(err) && strings.Contains(err.Error(), "No such container") {
		return nil, &lookAgain{err}
	}
	if ctx.Err() != nil || client.IsErrConnectionFailed(err) {
		return nil, err
	}
	// Once more with the runner looked at: its volume may have been pruned, or a new one may be empty.
	if fixErr := a.engine.installRunner(ctx, a.plan.config.Image, a.binary, true); fixErr != nil {
		return nil, errors.Join(err, fixErr)
	}
	if conn, again := a.attachAndStart(ctx, id); again == nil {
		return conn, nil
	}
	return nil, a.startFailure(err)
}

// startFailure makes what the engine says when a container does not start one for people.
func (a *attempt) startFailure(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "exec format error"):
		return fmt.Errorf("image %s is for another architecture than the engine's machine: %w", a.spec.Image, err)
	case strings.Contains(text, "no new privileges") || strings.Contains(text, "operation not permitted"):
		return fmt.Errorf("the engine does not let a hardened container start (Docker from snap is known for it): %w", err)
	case strings.Contains(text, "unable to find user"):
		return fmt.Errorf("user %q is not in image %s: %w", a.spec.User, a.spec.Image, err)
	case strings.Contains(text, "network") && strings.Contains(text, "not found"):
		return fmt.Errorf("network %q does not exist on the engine: %w", a.spec.Network, err)
	}
	return fmt.Errorf("the container did not start: %w", err)
}

func (a *attempt) attachAndStart(ctx context.Context, id string) (*connection, error) {
	s, err := openStream(ctx, func() (types.HijackedResponse, error) {
		return a.cli.ContainerAttach(ctx, id, capi.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	})
	if err != nil {
		return nil, err
	}
	if err := a.cli.ContainerStart(ctx, id, capi.StartOptions{}); err != nil {
		_ = s.Close()
		return nil, err
	}
	return a.openConnection(ctx, id, s)
}

// joinRunner starts a second way to a runner that serves already.
func (a *attempt) joinRunner(ctx context.Context, id string) (*connection, error) {
	made, err := a.cli.ContainerExecCreate(ctx, id, capi.ExecOptions{
		Cmd: []string{runnerFile, "join", a.socketName()}, AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, err
	}
	s, err := openStream(ctx, func() (types.HijackedResponse, error) {
		return a.cli.ContainerExecAttach(ctx, made.ID, capi.ExecAttachOptions{})
	})
	if err != nil {
		return nil, err
	}
	return a.openConnection(ctx, id, s)
}

func (a *attempt) openConnection(ctx context.Context, id string, s *stream) (*connection, error) {
	o := a.kind.opt.Wire
	o.SHA256 = a.binary.SHA256
	conn := newConnection(a.engine, id)
	if err := conn.connectRunner(ctx, s, o); err != nil {
		_ = s.Close()
		return nil, err
	}
	if err := a.engine.listenFor(ctx, id, conn); err != nil {
		_ = conn.endCommands(ctx)
		return nil, err
	}
	return conn, nil
}

// stopSeconds is what the engine waits between asking and killing.
func (b *Backend) stopSeconds() *int {
	n := int(math.Ceil(b.kind.opt.StopGrace.Seconds()))
	return &n
}

// haltContainer ends the container; one that is not there, or not ours, is left alone.
func (b *Backend) haltContainer(ctx context.Context) error {
	cli, id, err := b.ownContainer(ctx)
	if err != nil || id == "" {
		return err
	}
	err = cli.ContainerStop(ctx, id, capi.StopOptions{Timeout: b.stopSeconds()})
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// ownContainer is the id of the container with our name and labels; "" when there is none.
func (b *Backend) ownContainer(ctx context.Context) (*client.Client, string, error) {
	cli, err := b.engine.connectClient(ctx)
	if err != nil {
		return nil, "", err
	}
	got, err := cli.ContainerInspect(ctx, b.name())
	switch {
	case errdefs.IsNotFound(err):
		return cli, "", nil
	case err != nil:
		return cli, "", err
	case !b.identity().hasLabels(got.Config.Labels):
		return cli, "", nil
	}
	return cli, got.ID, nil
}

// destroyContainer removes the container, and returns when it is gone.
func (b *Backend) destroyContainer(ctx context.Context) error {
	_, id, err := b.ownContainer(ctx)
	if err != nil || id == "" {
		return err
	}
	return b.engine.removeContainer(ctx, id)
}

// removeContainer removes a container with the volumes that are its own, and returns when it is
// gone.
func (e *engine) removeContainer(ctx context.Context, id string) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	for {
		err := cli.ContainerRemove(ctx, id, capi.RemoveOptions{Force: true, RemoveVolumes: true})
		if err := ignoreGone(err); err != nil { // a conflict is a removal that goes on
			return err
		}
		if _, err := cli.ContainerInspect(ctx, id); errdefs.IsNotFound(err) {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the container is not gone yet: %w", ctx.Err())
		}
	}
}

// reachPatience is how long an engine that answered before is waited for: it may be restarting.
const reachPatience = 10 * time.Second

// awaitEngine returns when the engine answers.
func (e *engine) awaitEngine(ctx context.Context) error {
	e.mu.Lock()
	before := e.reached
	e.mu.Unlock()
	deadline := time.Now().Add(reachPatience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := e.ping(ctx)
		if err == nil {
			e.mu.Lock()
			e.reached = true
			e.mu.Unlock()
			return nil
		}
		var unreachable *Unreachable
		if !before || !errors.As(err, &unreachable) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (e *engine) ping(ctx context.Context) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	_, err = e.waitForAnswer(ctx, cli)
	return err
}
