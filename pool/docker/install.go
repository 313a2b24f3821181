package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/containerd/errdefs"
	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"golang.org/x/sys/unix"
)

// How the runner gets in. A volume per engine, data folder and build of the runner is filled once,
// through a container that is never started, read back and compared, and mounted read-only into
// every container. Compared with copying it into each container that saves the time and the disk of
// a copy each, and it is the only way that works with a read-only root. Nothing of the host is
// mounted, so the engine may be on another machine.

// programFor is the runner for an image's architecture.
func (e *engine) programFor(img image.InspectResponse) (Program, error) {
	if img.Os != "" && img.Os != "linux" {
		return Program{}, fmt.Errorf("the image is for %s; containers of hermes are for linux", img.Os)
	}
	b, err := e.kind.opt.Program("linux", img.Architecture)
	if err != nil {
		return b, fmt.Errorf("the image is for %s: %w", img.Architecture, err)
	}
	return b, nil
}

func (k *Kind) volumeName(b Program) string {
	return appName + "-runner-" + hashParts(k.homeOwner(), b.SHA256)[:12]
}

// installRunner sees to it that the runner's volume is there and whole. It looks once in the life
// of the process, and again when told so.
func (e *engine) installRunner(ctx context.Context, img string, b Program, again bool) error {
	name := e.kind.volumeName(b)
	e.mu.Lock()
	whole := e.installed[name] == b.SHA256
	e.mu.Unlock()
	if whole && !again {
		return nil
	}
	l, err := takeLock(ctx, e.kind.changeLock(name), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer l.unlock()
	if err := e.fillVolume(ctx, name, img, b); err != nil {
		return fmt.Errorf("bringing the runner into the engine: %w", e.explainError(err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.installed == nil {
		e.installed = map[string]string{}
	}
	e.installed[name] = b.SHA256
	return nil
}

// fillVolume compares what the volume holds with the runner, and copies it when it is not the same.
func (e *engine) fillVolume(ctx context.Context, name, img string, b Program) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	if _, err := cli.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: e.kind.volumeLabels()}); err != nil {
		return err
	}
	id, err := e.makeHelper(ctx, name, img)
	if err != nil {
		return err
	}
	defer func() { // also when ctx is done: it must not stay
		_ = cli.ContainerRemove(context.WithoutCancel(ctx), id, capi.RemoveOptions{Force: true, RemoveVolumes: true})
	}()
	if sum, err := e.runnerHash(ctx, id); err == nil && sum == b.SHA256 {
		return nil
	}
	if err := cli.CopyToContainer(ctx, id, runnerDir, bytes.NewReader(runnerArchive(b)), capi.CopyToContainerOptions{}); err != nil {
		return err
	}
	sum, err := e.runnerHash(ctx, id)
	if err == nil && sum != b.SHA256 {
		err = fmt.Errorf("what was written to the volume %s is not what is read back", name)
	}
	return err
}

// makeHelper makes the container through which the volume is filled. It is never started.
func (e *engine) makeHelper(ctx context.Context, name, img string) (id string, err error) {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return "", err
	}
	config := &capi.Config{Image: img, Entrypoint: []string{runnerFile}, Labels: e.kind.roleLabels(roleInstall)}
	host := &capi.HostConfig{NetworkMode: "none", LogConfig: capi.LogConfig{Type: "none"}, Mounts: []mount.Mount{{
		Type: mount.TypeVolume, Source: name, Target: runnerDir, VolumeOptions: &mount.VolumeOptions{NoCopy: true},
	}}}
	for range 2 {
		made, err := cli.ContainerCreate(ctx, config, host, nil, nil, name)
		if err == nil {
			return made.ID, nil
		}
		if !errdefs.IsConflict(err) {
			return "", err
		}
		// Left behind by a process that was killed: we hold the lock.
		if err := e.removeLeftover(ctx, name); err != nil {
			return "", err
		}
	}
	return "", errors.New("the name " + name + " is taken")
}

func (e *engine) removeLeftover(ctx context.Context, name string) error {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return err
	}
	c, err := cli.ContainerInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !e.kind.isOurs(c.Config.Labels) {
		return fmt.Errorf("the container %s has a name that hermes uses, but is not its own: remove or rename it", name)
	}
	return ignoreGone(cli.ContainerRemove(ctx, c.ID, capi.RemoveOptions{Force: true, RemoveVolumes: true}))
}

// ignoreGone takes a thing that is not there, or is being removed, for removed.
func ignoreGone(err error) error {
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}

// runnerArchive is the runner as the tar that the engine wants.
func runnerArchive(b Program) []byte {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	data := b.Data()
	_ = w.WriteHeader(&tar.Header{Name: "runner", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))})
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return buf.Bytes()
}

// runnerHash reads the runner back and returns its hash.
func (e *engine) runnerHash(ctx context.Context, id string) (string, error) {
	cli, err := e.connectClient(ctx)
	if err != nil {
		return "", err
	}
	data, _, err := cli.CopyFromContainer(ctx, id, runnerFile)
	if err != nil {
		return "", err
	}
	defer data.Close()
	files := tar.NewReader(data)
	head, err := files.Next()
	if err != nil {
		return "", err
	}
	if head.Typeflag != tar.TypeReg || head.Mode&0o111 == 0 {
		return "", errors.New("the runner in the volume is not a program")
	}
	h := sha256.New()
	if _, err := io.Copy(h, files); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
