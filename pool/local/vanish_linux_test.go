package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	capi "github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"

	"hermes/core/backend"
	"hermes/core/confine"
	"hermes/core/testskip"
	"hermes/pool/docker/dockertest"
)

// beside does something over and over, several at a time, while commands run in a sandbox of
// bubblewrap, each of which must run once. It returns how often that was done.
func (c *cell) beside(commands, at int, do func() error) int64 {
	c.t.Helper()
	var stop atomic.Bool
	var times atomic.Int64
	done := make(chan error, at)
	for range at {
		go func() {
			var err error
			for err == nil && !stop.Load() {
				err = do()
				times.Add(1)
			}
			done <- err
		}()
	}
	for range commands {
		c.works("echo ran >>count; echo $((40+2))", "42")
	}
	stop.Store(true)
	for range at {
		if err := <-done; err != nil {
			c.t.Error(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(c.project, "count"))
	if n := strings.Count(string(data), "ran"); err != nil || n != commands {
		c.t.Errorf("%d of %d commands ran, %v", n, commands, err)
	}
	return times.Load()
}

// Containers that start and stop beside a command do not keep it from running; what their engine
// has mounted is not there for it.
func TestCommandsWhileContainersStop(t *testing.T) {
	testskip.Long(t, "real sandboxes")
	c := newCell(t, "project", confine.Bubblewrap)
	cli, image := dockertest.Engine(t), dockertest.Busybox(t)
	run := func(args ...string) (string, error) {
		ctx := context.Background()
		config := &capi.Config{Image: image, Cmd: args}
		made, err := cli.ContainerCreate(ctx, config, &capi.HostConfig{}, nil, nil, "")
		if err != nil {
			return "", err
		}
		return made.ID, cli.ContainerStart(ctx, made.ID, capi.StartOptions{})
	}
	remove := func(id string) error {
		return cli.ContainerRemove(context.Background(), id, capi.RemoveOptions{Force: true})
	}
	id, err := run("sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = remove(id) }()
	c.works("! grep -E ' /(var/lib|run)/docker/' /proc/self/mountinfo && echo none", "none")
	c.works("ls /var/lib /run /usr/bin >/dev/null && ls -ld /bin /etc/passwd && head -1 /etc/passwd", "root")
	n := c.beside(100, 3, func() error {
		id, err := run("true")
		return errors.Join(err, remove(id))
	})
	if n == 0 {
		t.Error("no container came and went")
	}
	c.refused("ls /var/lib/docker/overlay2")
	c.refused("echo x > /var/lib/new")
	c.refused("echo x > /new")
}

// A mount that goes away while the sandbox is made makes bubblewrap give up: nothing ran, so it is
// tried again, in the foreground and the background.
func TestCommandsWhileMountsVanish(t *testing.T) {
	testskip.Long(t, "real sandboxes")
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	c := newCell(t, "project", confine.Bubblewrap)
	mounted := func(name string) string {
		at := filepath.Join(c.outside, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		return at
	}
	for i := range 50 { // bubblewrap looks at them one by one, and so has more time to meet the end of another
		at := mounted("still" + strconv.Itoa(i))
		if err := unix.Mount("none", at, "tmpfs", 0, "size=4k"); err != nil {
			testskip.Missing(t, err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	}
	at := mounted("zz")
	cycle := func() error { // a folder that is removed takes its mounts with it, wherever they are
		err := unix.Mount("none", at, "tmpfs", 0, "size=4k")
		time.Sleep(3 * time.Millisecond)
		return errors.Join(err, unix.Unmount(at, unix.MNT_DETACH), os.Remove(at), os.Mkdir(at, 0o755))
	}
	c.beside(60, 1, cycle)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = cycle()
			}
		}
	}()
	for range 60 {
		r := backend.Request{Session: "s", Backend: "here", Command: "echo in the background"}
		p, err := c.pool.Start(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		p, err = c.pool.Wait(t.Context(), "s", p.ID, 0)
		data, _, _, _ := c.pool.Output("s", p.ID, 0, 0)
		if err != nil || p.ExitCode != 0 || string(data) != "in the background\n" {
			t.Errorf("exit code %d, %q, %v", p.ExitCode, data, err)
		}
	}
	close(stop)
	<-done
}
