package dockertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"golang.org/x/sys/unix"

	"hermes/core/testwait"
)

// Daemon is a second engine that a test may kill. It lives in a network namespace of its own,
// because it would take away the first one's bridge otherwise, and shares the system's containerd
// under another namespace.
type Daemon struct {
	Host string // unix://...

	t    testing.TB
	args []string
	cmd  *exec.Cmd
	said lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()[max(0, b.buf.Len()-3000):]
}

// StartDaemon starts a second engine, whose containers survive its end.
func StartDaemon(t testing.TB) *Daemon {
	t.Helper()
	Engine(t)
	if os.Geteuid() != 0 {
		Missing(t, "a second engine needs root")
	}
	for _, name := range []string{"dockerd", "unshare"} {
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, "a second engine: %v", err)
		}
	}
	containerd := findContainerd()
	if containerd == "" {
		Missing(t, "a second engine needs the socket of a containerd")
	}
	dir, err := os.MkdirTemp("", "hd") // short: the path of a socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{t: t, Host: "unix://" + filepath.Join(dir, "s")}
	namespace := fmt.Sprintf("hermes-test-%d", os.Getpid())
	d.args = []string{
		"-n", "sh", "-c", `ip link set lo up; exec dockerd "$@"`, "dockerd",
		"-H", d.Host, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"),
		"--bridge", "none", "--iptables=false", "--live-restore", "--config-file", filepath.Join(dir, "none.json"),
		"--containerd", containerd, "--containerd-namespace", namespace, "--containerd-plugins-namespace", namespace + "-plugins",
	}
	if err := os.WriteFile(filepath.Join(dir, "none.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Stop(unix.SIGTERM)
		unmountBelow(dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	d.Start()
	return d
}

// findContainerd is the socket of the one that runs: as a service of its own, or as the engine's
// child.
func findContainerd() string {
	for _, path := range []string{"/run/containerd/containerd.sock", "/run/docker/containerd/containerd.sock"} {
		if conn, err := net.Dial("unix", path); err == nil {
			_ = conn.Close()
			return path
		}
	}
	return ""
}

// Start starts it, or starts it again, and returns when it answers.
func (d *Daemon) Start() {
	d.t.Helper()
	d.cmd = exec.Command("unshare", d.args...)
	d.cmd.Stdout, d.cmd.Stderr = &d.said, &d.said
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	cli, err := client.NewClientWithOpts(client.WithHost(d.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = cli.Close() }()
	for deadline := time.Now().Add(testwait.Hang); ; time.Sleep(50 * time.Millisecond) {
		if _, err = cli.ServerVersion(context.Background()); err == nil {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("the second engine does not answer: %v\n%s", err, d.said.String())
		}
	}
}

// Stop ends it with a signal. Its containers go on.
func (d *Daemon) Stop(s unix.Signal) {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(s)
	_ = d.cmd.Wait()
	d.cmd = nil
}

// unmountBelow takes away what the engine mounted below its folder.
func unmountBelow(dir string) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return
	}
	lines := bytes.Split(text, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if f := bytes.Fields(lines[i]); len(f) > 4 && bytes.HasPrefix(f[4], []byte(dir+"/")) {
			_ = exec.Command("umount", "--lazy", string(f[4])).Run()
		}
	}
}

// Busybox brings the image of that name to this engine.
func (d *Daemon) Busybox() string {
	d.t.Helper()
	ref := Busybox(d.t)
	save := exec.Command("sh", "-c", `docker save "$1" | docker -H "$2" load`, "sh", ref, d.Host)
	if out, err := save.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	return ref
}
