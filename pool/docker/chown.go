package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	capi "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"golang.org/x/sys/unix"
)

// giveFolder gives an empty folder of root's in which sessions start to the user who runs the
// commands: the engine makes a WorkingDir that is missing as root.
func (a *attempt) giveFolder(ctx context.Context, id string) error {
	dir := a.plan.config.WorkingDir
	if a.spec.User == "" || dir == "/" || a.onMount(dir) {
		return nil
	}
	uid, gid, err := a.userID(ctx, id, a.spec.User)
	if err != nil || uid == 0 {
		return nil //nolint:nilerr // a user whom nobody knows is the start's error, and says more there
	}
	if empty, err := a.emptyOfRoot(ctx, id, dir); err != nil || !empty {
		return nil //nolint:nilerr // it stays as the image has it
	}
	if a.spec.ReadOnly {
		err = a.ownVolume(ctx, id, dir, uid, gid)
	} else {
		err = a.cli.CopyToContainer(ctx, id, path.Dir(dir), folderOf(path.Base(dir), uid, gid), capi.CopyToContainerOptions{})
	}
	if err != nil {
		return fmt.Errorf("%s stays root's: %w", dir, err)
	}
	return nil
}

// onMount says whether a folder is on something of the configuration, whose owner is not ours to
// change.
func (a *attempt) onMount(dir string) bool {
	for _, m := range a.plan.host.Mounts {
		if m.Source != "" && isWithin(dir, m.Target) {
			return true
		}
	}
	return isMounted(dir, nil, a.plan.host.Tmpfs)
}

// ownVolume does it for the volume of a container with a read-only root, into which nothing else
// can be written: through another container, which is never started.
func (a *attempt) ownVolume(ctx context.Context, id, dir string, uid, gid int) error {
	name := a.name() + "-own"
	l, err := takeLock(ctx, a.kind.changeLock(name), unix.LOCK_EX) // or a sweep would take it for left behind
	if err != nil {
		return err
	}
	defer l.erase()
	if err := a.engine.removeLeftover(ctx, name); err != nil {
		return err
	}
	got, err := a.cli.ContainerInspect(ctx, id)
	if err != nil {
		return err
	}
	for _, m := range got.Mounts {
		if m.Destination != dir || m.Type != mount.TypeVolume {
			continue
		}
		config := &capi.Config{Image: a.plan.config.Image, Entrypoint: []string{runnerFile}, Labels: a.kind.roleLabels(roleInstall)}
		host := &capi.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{Type: mount.TypeVolume, Source: m.Name, Target: "/volume"}}}
		made, err := a.cli.ContainerCreate(ctx, config, host, nil, nil, name)
		if err != nil {
			return err
		}
		defer func() {
			_ = a.cli.ContainerRemove(context.WithoutCancel(ctx), made.ID, capi.RemoveOptions{Force: true})
		}()
		return a.cli.CopyToContainer(ctx, made.ID, "/", folderOf("volume", uid, gid), capi.CopyToContainerOptions{})
	}
	return errors.New("there is no volume for it")
}

// folderOf is an archive of one folder.
func folderOf(name string, uid, gid int) io.Reader {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	_ = w.WriteHeader(&tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: uid, Gid: gid})
	_ = w.Close()
	return &buf
}

// emptyOfRoot says whether a folder belongs to root and has nothing in it.
func (a *attempt) emptyOfRoot(ctx context.Context, id, dir string) (bool, error) {
	data, _, err := a.cli.CopyFromContainer(ctx, id, dir)
	if err != nil {
		return false, err
	}
	defer data.Close()
	files := tar.NewReader(data)
	first, err := files.Next()
	if err != nil || first.Typeflag != tar.TypeDir || first.Uid != 0 {
		return false, err
	}
	_, err = files.Next()
	return errors.Is(err, io.EOF), nil
}

// userID finds the numbers of a user as the engine would: they are in the name, or in the image's
// files.
func (a *attempt) userID(ctx context.Context, id, user string) (uid, gid int, err error) {
	name, group, _ := strings.Cut(user, ":")
	passwd := a.readFile(ctx, id, "/etc/passwd")
	uid, gid, ok := lookupUser(passwd, name)
	if !ok {
		return 0, 0, fmt.Errorf("there is no user %q in the image", name)
	}
	if group == "" {
		return uid, gid, nil
	}
	if n, err := strconv.Atoi(group); err == nil {
		return uid, n, nil
	}
	gid, ok = lookupGroup(a.readFile(ctx, id, "/etc/group"), group)
	if !ok {
		return 0, 0, fmt.Errorf("there is no group %q in the image", group)
	}
	return uid, gid, nil
}

const maxPasswd = 1 << 20

// readFile returns a small file of a container; nothing when it cannot be had.
func (a *attempt) readFile(ctx context.Context, id, name string) []byte {
	data, _, err := a.cli.CopyFromContainer(ctx, id, name)
	if err != nil {
		return nil
	}
	defer data.Close()
	files := tar.NewReader(data)
	if _, err := files.Next(); err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(files, maxPasswd))
	if err != nil {
		return nil
	}
	return text
}

// lookupUser finds a name or number in a passwd file. A number need not be in it.
func lookupUser(passwd []byte, name string) (uid, gid int, ok bool) {
	number, err := strconv.Atoi(name)
	numeric := err == nil
	for line := range eachLine(passwd) {
		f := strings.Split(line, ":")
		if len(f) < 4 || (f[0] != name && (!numeric || f[2] != name)) {
			continue
		}
		u, err1 := strconv.Atoi(f[2])
		g, err2 := strconv.Atoi(f[3])
		if err1 == nil && err2 == nil {
			return u, g, true
		}
	}
	return number, 0, numeric
}

func lookupGroup(file []byte, name string) (gid int, ok bool) {
	for line := range eachLine(file) {
		f := strings.Split(line, ":")
		if len(f) >= 3 && f[0] == name {
			if g, err := strconv.Atoi(f[2]); err == nil {
				return g, true
			}
		}
	}
	return 0, false
}

func eachLine(text []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}
