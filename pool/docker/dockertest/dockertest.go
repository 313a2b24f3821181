// Package dockertest gives tests a real Docker engine, images that need no network, and a runner.
// Nothing of it outlives the tests: Main removes what was made.
package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"hermes/core/testwait"
)

// Missing ends a test that needs something which is not there: it is skipped, or fails where
// everything must be there.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

var open = sync.OnceValues(func() (*client.Client, error) {
	cli, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	_, err = cli.ServerVersion(ctx)
	return cli, err
})

// Engine returns the engine of the environment. It is shared by all tests of the process.
func Engine(t testing.TB) *client.Client {
	t.Helper()
	cli, err := open()
	if err != nil {
		Missing(t, "no Docker engine: %v", err)
	}
	return cli
}

// Main runs a package's tests and removes the images that they used. It returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	cli, err := open()
	if err != nil {
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	mu.Lock()
	defer mu.Unlock()
	for _, ref := range made {
		if _, err := cli.ImageRemove(ctx, ref, image.RemoveOptions{Force: true, PruneChildren: true}); err != nil && !errdefs.IsNotFound(err) {
			fmt.Fprintf(os.Stderr, "image %s was not removed: %v\n", ref, err)
			code = max(code, 1)
		}
	}
	_ = cli.Close()
	return code
}

var (
	mu   sync.Mutex
	made []string
)

// Import makes an image of an archive, with changes as in a Dockerfile, and returns its name.
func Import(t testing.TB, name string, rootfs []byte, changes ...string) string {
	t.Helper()
	cli := Engine(t)
	ref := fmt.Sprintf("hermes-test/%s:%d", name, os.Getpid())
	answer, err := cli.ImageImport(t.Context(), image.ImportSource{Source: bytes.NewReader(rootfs), SourceName: "-"}, ref, image.ImportOptions{Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	var said bytes.Buffer
	if _, err := said.ReadFrom(answer); err != nil || strings.Contains(said.String(), "errorDetail") {
		t.Fatalf("import of %s: %v %s", ref, err, said.String())
	}
	mu.Lock()
	defer mu.Unlock()
	made = append(made, ref)
	return ref
}

var busybox struct {
	once sync.Once
	ref  string
}

// Busybox is an image with a shell and the usual small programs, and a user called worker (1000).
func Busybox(t testing.TB) string {
	t.Helper()
	Engine(t)
	path, err := exec.LookPath("busybox")
	if err != nil {
		Missing(t, "no static busybox: %v", err)
	}
	busybox.once.Do(func() { busybox.ref = Import(t, "busybox", busyboxRoot(t, path), `ENV PATH=/bin FROM_IMAGE=yes`) })
	if busybox.ref == "" {
		t.Fatal("the busybox image could not be made")
	}
	return busybox.ref
}

// OwnBusybox is such an image for one test, which may remove it. Its name in it makes it another
// image.
func OwnBusybox(t testing.TB, name string) string {
	t.Helper()
	Engine(t)
	path, err := exec.LookPath("busybox")
	if err != nil {
		Missing(t, "no static busybox: %v", err)
	}
	return Import(t, name, busyboxRoot(t, path), `ENV PATH=/bin OWN=`+name)
}

func busyboxRoot(t testing.TB, path string) []byte {
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	applets, err := exec.Command(path, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	a := NewArchive()
	for _, dir := range []string{"bin", "etc", "usr", "root", "proc", "sys", "dev"} {
		a.Dir(dir, 0o755)
	}
	a.Dir("tmp", 0o1777)
	a.File("bin/busybox", program, 0o755)
	for applet := range strings.FieldsSeq(string(applets)) {
		if applet != "busybox" {
			a.Link("bin/"+applet, "busybox")
		}
	}
	a.File("etc/passwd", []byte("root:x:0:0:root:/root:/bin/sh\nworker:x:1000:1000::/tmp:/bin/sh\n"), 0o644)
	a.File("etc/group", []byte("root:x:0:\nworker:x:1000:\n"), 0o644)
	return a.Bytes()
}

// Archive is a tar under construction.
type Archive struct {
	buf bytes.Buffer
	w   *tar.Writer
}

// NewArchive returns an empty one.
func NewArchive() *Archive {
	a := &Archive{}
	a.w = tar.NewWriter(&a.buf)
	return a
}

func (a *Archive) addEntry(h *tar.Header, data []byte) {
	_ = a.w.WriteHeader(h)
	_, _ = a.w.Write(data) // into memory
}

// Dir adds a folder.
func (a *Archive) Dir(name string, mode int64) {
	a.addEntry(&tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: mode}, nil)
}

// File adds a file.
func (a *Archive) File(name string, data []byte, mode int64) {
	a.addEntry(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(data))}, data)
}

// Link adds a symbolic link.
func (a *Archive) Link(name, to string) {
	a.addEntry(&tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to, Mode: 0o777}, nil)
}

// Bytes ends the archive and returns it.
func (a *Archive) Bytes() []byte {
	_ = a.w.Close()
	return a.buf.Bytes()
}

// program is the runner for this machine, built by the first test that wants it.
var program = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "hermes-runner-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "runner")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "hermes/pool/runner/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the runner: %w: %s", err, out)
	}
	return os.ReadFile(path)
})

// Program is the runner for this machine, as the sources are now, and its SHA-256.
func Program(system, arch string) (sum string, data []byte, err error) {
	if system != "linux" || arch != runtime.GOARCH {
		return "", nil, fmt.Errorf("there is no runner for %s/%s", system, arch)
	}
	if data, err = program(); err != nil {
		return "", nil, err
	}
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:]), data, nil
}

// RemoveVolumes removes the volumes that carry a label, with patience for containers that are just
// going.
func RemoveVolumes(t testing.TB, label string) {
	t.Helper()
	cli := Engine(t)
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	list, err := cli.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		t.Error(err)
		return
	}
	for _, v := range list.Volumes {
		for err = cli.VolumeRemove(ctx, v.Name, true); err != nil && ctx.Err() == nil; err = cli.VolumeRemove(ctx, v.Name, true) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("volume %s: %v", v.Name, err)
		}
	}
}
