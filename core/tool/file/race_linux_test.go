package file

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/core/testskip"
	"hermes/core/tool"
)

// swapped is a project with a folder that a second party swaps for a link to a place off limits,
// over and over.
type swapped struct {
	f      *fixture
	victim string // in ~/.ssh
	stop   atomic.Bool
	done   sync.WaitGroup
	rounds atomic.Int64
}

func newSwapped(t *testing.T) *swapped {
	s := &swapped{f: newFixture(t, "off")}
	s.victim = filepath.Join(s.f.home, ".ssh", "id_rsa")
	if err := os.WriteFile(s.victim, []byte("SECRET KEY"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.f.put("d/id_rsa", "harmless\n")
	dir, other := filepath.Join(s.f.dir, "d"), filepath.Join(s.f.dir, "swap")
	if err := os.Symlink(filepath.Join(s.f.home, ".ssh"), other); err != nil {
		t.Fatal(err)
	}
	s.done.Go(func() {
		for !s.stop.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
			s.rounds.Add(1)
		}
	})
	return s
}

func (s *swapped) end(t *testing.T) {
	s.stop.Store(true)
	s.done.Wait()
	if data, err := os.ReadFile(s.victim); err != nil || string(data) != "SECRET KEY" {
		t.Errorf("the key was changed: %q %v", data, err)
	}
	entries, err := os.ReadDir(filepath.Dir(s.victim))
	if err != nil || len(entries) != 1 {
		t.Errorf("files appeared beside the key: %v %v", entries, err)
	}
	t.Logf("%d swaps", s.rounds.Load())
}

// A folder that becomes a link during the call is no way out, for writing and for reading.
func TestSwapDuringTheCall(t *testing.T) {
	testskip.Long(t, "races for seconds")
	t.Parallel()
	s := newSwapped(t)
	defer s.end(t)
	ok, refused := 0, 0
	for i := range 3000 {
		name := "d/id_rsa"
		if i%3 == 0 {
			name = fmt.Sprintf("d/new/%d", i)
		}
		r := s.f.run("write_file", args{"path": name, "content": fmt.Sprintf("round %d\n", i)})
		if r.IsError {
			refused++
		} else {
			ok++
		}
		if r := s.f.run("read_file", args{"path": "d/id_rsa"}); strings.Contains(r.Text, "SECRET") {
			t.Fatal("the key was read:", r.Text)
		}
		if i%10 == 0 {
			if r := s.f.run("search_files", args{"pattern": "SECRET", "path": "d"}); strings.Contains(r.Text, "KEY") {
				t.Fatal("the key was found:", r.Text)
			}
			s.f.run("patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Delete File: d/id_rsa\n*** End Patch"})
		}
	}
	t.Logf("%d writes, %d refused", ok, refused)
	if ok == 0 || refused == 0 {
		t.Errorf("%d writes went well and %d were refused: the race was not run", ok, refused)
	}
}

func TestSafeRoot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	w := New(Options{Home: filepath.Join(f.home, ".hermes"), UserHome: f.home, Ripgrep: "off", SafeRoot: filepath.Join(f.dir, "in") + ":~/also"})
	var err error
	if f.reg, err = tool.NewRegistry(Read(w), Write(w), Patch(w)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(f.dir, "up")); err != nil {
		t.Fatal(err)
	}
	f.want(f.run("write_file", args{"path": "in/a", "content": "x"}), false)
	f.want(f.run("write_file", args{"path": "~/also/b", "content": "x"}), false)
	if err := os.Symlink("../up", filepath.Join(f.dir, "in/out")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "in/../a", "in2/a", "~/a", "in/out/a", "~/also/../.hermes/x"} {
		f.want(f.run("write_file", args{"path": path, "content": "x"}), true, "may not be written")
	}
	f.want(f.run("read_file", args{"path": "in/a"}), false, "1|x")
}

func TestGitInternals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	for _, name := range []string{"bare.git/HEAD", "bare.git/objects/x", "bare.git/refs/x", "sub/.git/HEAD", "config/app.yaml"} {
		f.put(name, "x\n")
	}
	for _, path := range []string{
		".git/hooks/pre-commit", ".git/config", ".git", "sub/.git/HEAD", ".GIT/config", ".git/info/attributes", "bare.git/hooks/post-receive", "bare.git/config",
		"~/.bashrc", "~/.profile", "~/.config/fish/config.fish", "~/.config/systemd/user/x.service", "~/.config/autostart/x.desktop", "~/.gitconfig",
		"/var/spool/cron/root", "/etc/cron.d/x", "/etc/sudoers", "/usr/bin/ls", "/lib/x", "/dev/sda", "/run/containerd/containerd.sock",
		"~/.aws/config", "~/.kube/config", "~/.azure/x", "~/.config/gcloud/x", "~/.docker/config.json", "~/Library/LaunchAgents/x.plist",
	} {
		f.want(f.run("write_file", args{"path": path, "content": "x"}), true, "may not be written")
	}
	for _, path := range []string{".git/info/exclude", ".gitignore", ".github/workflows/x.yml", "config/new", "hooks/pre-commit", "bare.git/description.txt"} {
		f.want(f.run("write_file", args{"path": path, "content": "x"}), false)
	}
}

func TestReplaceKeepsAttributesAndSecrecy(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	path := f.put("a", "old\n")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	attr := unix.Setxattr(path, "user.tag", []byte("kept"), 0) == nil
	if err := os.Link(path, filepath.Join(f.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	f.want(f.run("write_file", args{"path": "a", "content": "new\n"}), false, "2 hard links")
	if f.get("hard") != "old\n" {
		t.Error("the other hard link was changed")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
	buf := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.tag", buf); attr && (err != nil || string(buf[:n]) != "kept") {
		t.Errorf("attribute %q %v", buf[:max(n, 0)], err)
	}
}

// A file that is a mount of its own cannot be replaced; it is written where it is.
func TestWriteIntoAMount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	src, at := f.put("src", "old and long\n"), f.put("at", "")
	if err := unix.Mount(src, at, "", unix.MS_BIND, ""); err != nil {
		testskip.Missing(t, "cannot mount here:", err)
	}
	defer func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	f.want(f.run("write_file", args{"path": "at", "content": "new\n"}), false)
	if f.get("src") != "new\n" {
		t.Errorf("%q", f.get("src"))
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".hermes-*")); len(left) > 0 {
		t.Error(left)
	}
}

// What a command did to a file that the session has read is told at the next write, even with its
// size and time as before.
func TestStaleAfterACommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "off")
	path := f.put("a", "one\n")
	f.run("read_file", args{"path": "a"})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	tmp := f.put("b", "two\n") // as sed -i and rsync -t do
	if err := os.Chtimes(tmp, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
	f.want(f.run("write_file", args{"path": "a", "content": "three\n"}), false, "changed on disk since you last saw it")
}

// No path that can be put together of these parts leads into the places that are off limits.
func TestNoPathLeadsIntoTheGuardedPlaces(t *testing.T) {
	testskip.Long(t, "races for seconds")
	t.Parallel()
	f := newFixture(t, "off")
	f.put("d/x", "x")
	for link, to := range map[string]string{"l": "../home", "d/l": "../../home/.ssh", "abs": filepath.Join(f.home, ".hermes"), "loop": "loop", "dangling": "../home/.ssh/new", "self": "."} {
		if err := os.Symlink(to, filepath.Join(f.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	parts := []string{"..", ".", "", "d", "l", "abs", "loop", "dangling", "self", "home", ".ssh", ".hermes", "~", "x", "new", "id_rsa", ".SSH"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var path []string
		up := 0
		for range 1 + random.IntN(6) {
			part := parts[random.IntN(len(parts))]
			if part == ".." {
				if up++; up > 2 {
					continue // no further up than the fixture
				}
			}
			path = append(path, part)
		}
		name := strings.Join(path, "/")
		if strings.HasPrefix(name, "/") {
			name = "." + name
		}
		f.run("write_file", args{"path": name, "content": "ESCAPED"})
	}
	for _, dir := range []string{".ssh", ".hermes"} {
		if list, _ := os.ReadDir(filepath.Join(f.home, dir)); len(list) > 0 {
			t.Errorf("something was written into ~/%s: %v", dir, list)
		}
	}
}
