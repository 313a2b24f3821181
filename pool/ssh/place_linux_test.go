package ssh

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/core/testskip"
	"hermes/pool/ssh/sshdtest"
)

func TestNoexec(t *testing.T) {
	sparePlace(t)
	if os.Getuid() != 0 {
		testskip.Missing(t, "only root can mount")
	}
	cache := t.TempDir()
	if err := unix.Mount("tmpfs", cache, "tmpfs", unix.MS_NOEXEC, "size=16m"); err != nil {
		testskip.Missing(t, fmt.Sprintf("cannot mount: %v", err))
	}
	t.Cleanup(func() {
		if err := unix.Unmount(cache, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := sshdtest.Start(t, sshdtest.Env("XDG_CACHE_HOME", cache))
	start(t, open(t, options(t, s), spec(s)))
	if got := runners(t, filepath.Join(cache, "hermes")); len(got) != 0 {
		t.Errorf("%q lies where no program can start", got)
	}
}

// A cache that is full says so.
func TestAFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		testskip.Missing(t, "only root can mount")
	}
	cache := t.TempDir()
	if err := unix.Mount("tmpfs", cache, "tmpfs", 0, "size=256k"); err != nil {
		testskip.Missing(t, fmt.Sprintf("cannot mount: %v", err))
	}
	t.Cleanup(func() {
		if err := unix.Unmount(cache, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := sshdtest.Start(t, sshdtest.Env("XDG_CACHE_HOME", cache))
	err := refusal(t, open(t, options(t, s), spec(s)))
	if !strings.Contains(err.Error(), "No space left") {
		t.Errorf("%v", err)
	}
	if got := runners(t, filepath.Join(cache, "hermes")); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

// While one connection looks for the runner, another one starts it: looking must not open the file
// for writing, or the start may fail with "Text file busy".
func TestLookingDoesNotHinderAStart(t *testing.T) {
	sum, data := sshdtest.Program(t)
	cache := t.TempDir()
	file := filepath.Join(cache, "hermes", "runner-"+sum[:12])
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, file, string(data))
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(watch) }()
	if _, err := unix.InotifyAddWatch(watch, file, unix.IN_CLOSE_WRITE); err != nil {
		t.Fatal(err)
	}
	look := exec.Command("/bin/sh")
	look.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
	look.Stdin = strings.NewReader("mark=m\n" + sshdtest.Arch + "=" + sum + "\n" + probeScript)
	if out, err := look.CombinedOutput(); err != nil || !strings.Contains(string(out), "m have "+sum) {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := unix.Read(watch, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("the runner was open for writing: %v", err)
	}
}
