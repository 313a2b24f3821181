package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/core/chat"
)

// mount mounts something at a new folder, or skips where the system does not let us
// (HERMES_TEST_REQUIRE=1: fails).
func mount(t *testing.T, dir, source, fsType string, flags uintptr, data string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	if err := unix.Mount(source, dir, fsType, flags, data); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatalf("mount %s: %v", fsType, err)
		}
		t.Skipf("cannot mount here (%v)", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
}

// A full disk loses nothing that was acknowledged, says what to do, and the store works at once
// when there is space again.
func TestDiskFull(t *testing.T) {
	for _, mb := range []int{2, 4, 8} {
		t.Run(fmt.Sprint(mb, " MB"), func(t *testing.T) { diskFull(t, mb) })
	}
}

func diskFull(t *testing.T, mb int) {
	dir := filepath.Join(t.TempDir(), "small")
	mount(t, dir, "tmpfs", "tmpfs", 0, fmt.Sprintf("size=%dm", mb))
	ballast := filepath.Join(dir, "ballast") // freed later
	must(t, os.WriteFile(ballast, make([]byte, mb<<19), 0o600))
	path := filepath.Join(dir, "w.db")
	s, err := Open(bg, path, Options{})
	must(t, err)
	create(t, s, "u")
	var acked []int64
	for {
		m := &chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: fmt.Sprint(len(acked), strings.Repeat(" filler", 500))}
		if _, err = s.Append(bg, "u", m, Derived{}); err != nil {
			break
		}
		acked = append(acked, m.ID)
	}
	if !strings.Contains(err.Error(), "free some disk space") {
		t.Errorf("the error does not help: %v", err)
	}
	var spilled *SpilledError
	if !errors.As(err, &spilled) {
		t.Fatalf("not kept aside: %v", err)
	}
	for _, id := range acked {
		if _, err := s.Message(bg, id); err != nil {
			t.Fatalf("acknowledged message %d: %v", id, err)
		}
	}
	must(t, os.Remove(ballast))
	m := &chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "space again"}
	_, err = s.Append(bg, "u", m, Derived{})
	must(t, err)
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	if len(got) != len(acked)+2 {
		t.Errorf("%d messages, want %d acknowledged + 1 spilled + 1", len(got), len(acked))
	}
	must(t, s.Close())
	if fileExists(path + ".spill.jsonl") {
		t.Error("the spill file was not taken away")
	}
	s, err = Open(bg, path, Options{})
	must(t, err)
	defer s.Close()
	checkClean(t, s)
}

// What was spilled and not replayed before the process ended goes in at the next open: once, even
// if that is killed between its commit and the removal of the file.
func TestSpillIsReplayedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	create(t, s, "u")
	must(t, s.Close())
	spill, err := openSpill(path)
	must(t, err)
	m := chat.Message{Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: "kept aside", Calls: []chat.ToolCall{{ID: "c", Args: []byte("{ not json")}}}
	packed := Pack(&m)
	must(t, spill.keepRecords([]record{{Session: &Session{UID: "v", Kind: "user"}}, {UID: "v", Append: &packed}}))
	must(t, spill.keepRecords([]record{{UID: "u", Append: &packed}}))
	lines, err := os.ReadFile(spill.path)
	must(t, err)
	must(t, os.WriteFile(spill.path, append(lines, `{"id":"torn","uid":"u","app`...), 0o600))
	for round, want := range []int{3, 3, 0} {
		s = openAt(t, path, Options{})
		if got := s.Report().Replayed; got != want {
			t.Errorf("round %d: replayed %d, want %d", round, got, want)
		}
		for _, uid := range []string{"u", "v"} {
			got, _, err := s.Messages(bg, uid, MessageQuery{Limit: All})
			must(t, err)
			if len(got) != 1 || got[0].Text != m.Text || string(got[0].Calls[0].Args) != "{ not json" {
				t.Errorf("round %d: session %s has %+v", round, uid, got)
			}
		}
		must(t, s.Close())
		if fileExists(spill.path) {
			t.Error("the file is still there")
		}
		if round == 0 {
			must(t, os.WriteFile(spill.path, lines, 0o600)) // as if the removal had never happened
		}
	}
}

func TestReadOnlyHome(t *testing.T) {
	base := t.TempDir()
	real := filepath.Join(base, "real")
	must(t, os.Mkdir(real, 0o700))
	writer := openAt(t, filepath.Join(real, "w.db"), Options{})
	create(t, writer, "u")
	say(t, writer, "u", "only in the log") // the writer stays open: this is in the -wal
	ro := filepath.Join(base, "ro")
	mount(t, ro, real, "", unix.MS_BIND, "")
	must(t, unix.Mount("", ro, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	s, err := Open(bg, filepath.Join(ro, "w.db"), Options{})
	must(t, err)
	r := s.Report()
	if !r.NotSaved || !strings.Contains(r.Banner, "read-only, not saved") || !strings.Contains(r.Banner, ro) {
		t.Errorf("report %+v", r)
	}
	if f := search(t, s, "log"); f.Total != 1 {
		t.Errorf("the log was ignored: %d", f.Total)
	}
	say(t, s, "u", "works, and is not saved")
	temp := filepath.Dir(s.Path())
	must(t, s.Close())
	if fileExists(temp) {
		t.Error("the copy was left behind")
	}
	x, err := writer.Session(bg, "u")
	must(t, err)
	if x.Messages != 1 {
		t.Errorf("the original has %d messages", x.Messages)
	}
}

func TestReadOnlyErrors(t *testing.T) {
	for err, want := range map[error]bool{syscall.EROFS: true, fs.ErrPermission: true, syscall.ENOSPC: false} {
		if isReadOnly(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

func TestFileSystemTypes(t *testing.T) {
	const mounts = `22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:40 / /home rw shared:1 - nfs4 host:/home rw
31 30 0:41 / /home/me/my\040work rw - ext4 /dev/vdb rw
32 22 0:42 / /mnt/share rw - 9p share rw
bad line
`
	for path, want := range map[string]string{
		"/etc/x": "ext4", "/home/me/w.db": "nfs4", "/home/me/my work/w.db": "ext4", "/mnt/share/w.db": "9p", "/mnt/shared": "ext4",
	} {
		if got := fsTypeOf(strings.NewReader(mounts), path); got != want {
			t.Errorf("%s is on %s, want %s", path, got, want)
		}
	}
	for kind, want := range map[string]bool{"ext4": false, "nfs4": true, "virtiofs": true, "fuse.sshfs": true, "fuseblk": false, "tmpfs": false} {
		if isNetwork(kind) != want {
			t.Errorf("%s: %v", kind, !want)
		}
	}
}
