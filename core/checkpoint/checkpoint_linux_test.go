package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"hermes/core/testskip"
)

func TestOneFileOfATurn(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	p.write("a", "a1\n")
	p.write("b", "b1\n")
	turn := p.begin()
	p.file(turn, func() { p.write("a", "a2\n"); p.write("b", "b2\n"); p.write("new/deep/c", "c\n") }, "a", "b", "new/deep/c")
	p.file(turn, func() { p.write("a", "a3\n") }, "a")
	r := p.end(turn)
	if len(r.Files) != 5 { // with two folders
		t.Fatalf("%+v", r.Files)
	}
	for _, d := range p.store.Diff(r) {
		if d.Path == Path(p.path("a")) && (!strings.Contains(d.Unified, "-a1\n+a3\n") || d.Added != 1) {
			t.Errorf("%+v", d)
		}
	}
	p.undo([]string{r.ID}, p.path("a"))
	if p.read("a") != "a1\n" || p.read("b") != "b2\n" {
		t.Error(p.read("a"), p.read("b"))
	}
	p.undo([]string{r.ID}, p.path("new"))
	if _, err := os.Lstat(p.path("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folders stayed:", err)
	}
	p.undo([]string{r.ID})
	if p.read("b") != "b1\n" {
		t.Error(p.read("b"))
	}
	if _, err := p.store.Undo(context.Background(), p.plan([]string{r.ID}), false); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

// TestWhatATurnMadeAndRemovedIsNoChange: also when its command was recorded before the file was.
func TestWhatATurnMadeAndRemovedIsNoChange(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	p.git()
	p.write("kept", "1\n")
	turn := p.begin()
	p.command(turn, func() {})
	p.file(turn, func() { p.write("kept", "2\n"); p.write("notes/todo", "text\n") }, "kept", "notes/todo")
	p.command(turn, func() { p.ok(os.RemoveAll(p.path("notes"))) })
	r := p.end(turn)
	if len(r.Files) != 1 || r.Files[0].Path != Path(p.path("kept")) {
		t.Errorf("%+v", r.Files)
	}
	p.undo([]string{r.ID})
	if p.read("kept") != "1\n" {
		t.Error(p.read("kept"))
	}
}

func TestConflictsAreRefused(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	p.write("a", "1")
	p.write("b", "1")
	one := p.begin()
	p.file(one, func() { p.write("a", "2"); p.write("b", "2") }, "a", "b")
	first := p.end(one)
	two := p.begin()
	p.file(two, func() { p.write("a", "3") }, "a")
	second := p.end(two)
	p.write("b", "by hand")
	plan := p.plan([]string{first.ID})
	_, err := p.store.Undo(context.Background(), plan, false)
	if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "turn 2") || !strings.Contains(err.Error(), "not by the agent") || p.read("a") != "3" {
		t.Fatal(err)
	}
	r, err := p.store.Undo(context.Background(), plan, true)
	if err != nil || p.read("a") != "1" || p.read("b") != "1" {
		t.Fatal(err, p.read("a"), p.read("b"))
	}
	p.undo([]string{r.ID}) // force loses nothing
	if p.read("a") != "3" || p.read("b") != "by hand" {
		t.Error(p.read("a"), p.read("b"))
	}
	p.write("b", "2")
	p.undo([]string{first.ID, second.ID})
	if p.read("a") != "1" || p.read("b") != "1" {
		t.Error(p.read("a"), p.read("b"))
	}
	list, err := p.store.List("s")
	p.ok(err)
	if list[0].Undone == "" || list[1].Undone == "" || list[1].Number != 2 {
		t.Errorf("%+v", list)
	}
	// what changes between the plan and the undo is seen too
	turn := p.begin()
	p.file(turn, func() { p.write("a", "9") }, "a")
	plan = p.plan([]string{p.end(turn).ID})
	p.write("a", "meanwhile")
	if _, err := p.store.Undo(context.Background(), plan, false); !errors.Is(err, ErrConflict) || p.read("a") != "meanwhile" {
		t.Error(err)
	}
}

func TestWhatIsIgnoredIsNeverTouched(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	p.git()
	p.write(".env", "SECRET=1")
	p.write(".gitignore", "ignored/\n.env\n")
	turn := p.begin()
	p.command(turn, func() {
		p.write(".gitignore", "README\n") // .env and ignored/ are visible now, README is not
		p.write("ignored/cache", "new")
		p.write("README", "changed")
	})
	r := p.end(turn)
	p.undo([]string{r.ID})
	if p.read(".env") != "SECRET=1" || p.read("ignored/cache") != "new" || p.read("README") != "hello\n" || p.read(".gitignore") != "ignored/\n.env\n" {
		t.Error(p.picture())
	}
}

// The repository is only read: no setting of it runs a program, and nothing in it changes.
func TestTheRepositoryIsNotTouched(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	p.git()
	trap := filepath.Join(filepath.Dir(p.dir), "trapped")
	script := p.path(".git/trap")
	p.ok(os.WriteFile(script, []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o755))
	for _, kv := range [][2]string{{"core.fsmonitor", script}, {"core.hooksPath", p.path(".git")}, {"filter.x.clean", script}, {"filter.x.process", script}, {"core.worktree", "/etc"}} {
		if out, err := exec.Command("git", "--git-dir", p.path(".git"), "config", kv[0], kv[1]).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	p.write(".gitattributes", "* filter=x text=auto\n")
	p.write("crlf", "a\r\n")
	state := func() string {
		out := ""
		p.ok(filepath.WalkDir(p.path(".git"), func(path string, d fs.DirEntry, err error) error {
			info, _ := d.Info()
			if !d.IsDir() {
				out += fmt.Sprintln(path, info.ModTime(), info.Size())
			}
			return err
		}))
		return out
	}
	before := state()
	turn := p.begin()
	p.command(turn, func() { p.write("crlf", "b\n") })
	r := p.end(turn)
	p.undo([]string{r.ID})
	if p.read("crlf") != "a\r\n" {
		t.Errorf("%q", p.read("crlf"))
	}
	if _, err := os.Lstat(trap); err == nil {
		t.Error("a program of the repository ran")
	}
	if state() != before {
		t.Error("the repository was changed")
	}
}

func TestBoundsAreSaid(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{TreeFiles: 10, FileSize: 1000})
	p.git()
	p.write("large", strings.Repeat("x", 2000))
	turn := p.begin()
	err := p.store.Before(context.Background(), p.change(turn, "large", "README"))
	var skip *SkippedError
	if !errors.As(err, &skip) || !strings.Contains(err.Error(), "large is not kept") {
		t.Fatal(err)
	}
	p.write("large", "small now")
	p.write("README", "new")
	r := p.end(turn)
	plan := p.plan([]string{r.ID})
	u, err := p.store.Undo(context.Background(), plan, false)
	if err != nil || p.read("README") != "hello\n" || p.read("large") != "small now" || len(u.Notes) == 0 || !strings.Contains(u.Notes[0], "large was left") {
		t.Fatalf("%v %+v", err, u)
	}
	for i := range 20 {
		p.write(fmt.Sprintf("many/%d", i), "x")
	}
	turn = p.begin()
	c := p.change(turn)
	c.Dir = p.dir
	if err := p.store.Before(context.Background(), c); !errors.As(err, &skip) || !strings.Contains(err.Error(), "more than 10 files") {
		t.Fatal(err)
	}
	if err := p.store.Before(context.Background(), c); err != nil {
		t.Errorf("said twice: %v", err)
	}
}

func TestSweepKeepsWhatIsNeededAndFits(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{Snapshots: 5, TotalSize: 300 << 10})
	noise := func() string {
		b := make([]byte, 50<<10)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		return string(b)
	}
	p.write("a", noise())
	for range 12 {
		turn := p.begin()
		p.file(turn, func() { p.write("a", noise()) }, "a")
		p.end(turn)
	}
	running := p.begin()
	was := p.read("a")
	p.file(running, func() { p.write("a", "x") }, "a")
	done, err := p.store.Sweep()
	p.ok(err)
	if done.Size > 300<<10 {
		t.Errorf("%+v", done)
	}
	ids := p.ids()
	if len(ids) > 5 || len(ids) < 3 {
		t.Errorf("%d records are left", len(ids))
	}
	r := p.end(running)
	p.undo([]string{r.ID})
	if p.read("a") != was {
		t.Error("a sweep took what a running turn needs")
	}
	for _, id := range p.ids() {
		if r, _ := p.store.loadRecord(id); r != nil {
			for _, f := range r.Files {
				if _, err := p.store.blobs.readBlob(f.Before.Hash); err != nil {
					t.Errorf("%s: %v", f.Path, err)
				}
			}
		}
	}
	p.ok(p.store.Forget("s"))
	done, err = p.store.Sweep()
	p.ok(err)
	if done.Size != 0 || len(p.ids()) != 0 {
		t.Errorf("%+v", done)
	}
	p.store.o.Age = time.Nanosecond
	turn := p.begin()
	p.file(turn, func() { p.write("a", "y") }, "a")
	p.end(turn)
	if _, err := p.store.Sweep(); err != nil || len(p.ids()) != 0 {
		t.Error("too old and still there:", err)
	}
}

func TestTheStoreIsPrivateAndDamageIsFound(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	p.git()
	turn := p.begin()
	p.command(turn, func() { p.write("README", "new") })
	r := p.end(turn)
	var blob string
	p.ok(filepath.WalkDir(p.store.o.Dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
	blob = p.store.blobs.blobPath(r.Files[0].Before.Hash)
	p.ok(os.WriteFile(blob, []byte("garbage"), 0o600))
	if _, err := p.store.Undo(context.Background(), p.plan([]string{r.ID}), false); err == nil || !strings.Contains(err.Error(), "damaged") || p.read("README") != "new" {
		t.Error(err, p.read("README"))
	}
	p.ok(os.WriteFile(p.store.recordPathOf(r.ID), []byte("{"), 0o600))
	if list, err := p.store.List(""); err != nil {
		t.Error(list, err)
	}
}

// A folder that is swapped for a link while an undo runs leads nowhere.
func TestSwapDuringAnUndo(t *testing.T) {
	testskip.Long(t, "races for seconds")
	t.Parallel()
	p := newProject(t, Options{Snapshots: 10_000})
	outside := filepath.Join(filepath.Dir(p.dir), "outside")
	p.ok(os.MkdirAll(outside, 0o755))
	p.ok(os.WriteFile(filepath.Join(outside, "f"), []byte("mine"), 0o644))
	p.write("d/f", "old")
	p.ok(os.Symlink(outside, p.path("swap")))
	turn := p.begin()
	p.file(turn, func() { p.write("d/f", "new"); p.write("d/g", "new") }, "d/f", "d/g")
	id := p.end(turn).ID
	var stop atomic.Bool
	var swapper sync.WaitGroup
	swapper.Go(func() {
		random := rand.New(rand.NewPCG(5, 6))
		for !stop.Load() {
			time.Sleep(time.Duration(random.IntN(200)) * time.Microsecond) // without a rest nothing else gets into the folder, and no undo far
			if err := unix.Renameat2(unix.AT_FDCWD, p.path("d"), unix.AT_FDCWD, p.path("swap"), unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	})
	redo := id
	worked := 0
	for tries := 0; tries < 1000 && worked < 60; tries++ { // each that works adds a record, which every later plan reads
		plan, err := p.store.Plan(context.Background(), Selection{Records: []string{redo}})
		if err != nil {
			continue
		}
		if r, err := p.store.Undo(context.Background(), plan, true); err == nil {
			worked++
			redo = r.ID
		}
	}
	stop.Store(true)
	swapper.Wait()
	list, err := os.ReadDir(outside)
	p.ok(err)
	data, err := os.ReadFile(filepath.Join(outside, "f"))
	if err != nil || string(data) != "mine" || len(list) != 1 {
		t.Errorf("the undo went outside: %q %v %v", data, list, err)
	}
	if worked == 0 {
		t.Error("no undo worked: this proved nothing")
	}
}

func TestPathsThatAreNoText(t *testing.T) {
	t.Parallel()
	for _, s := range []Path{"/a", "/\xff\xfe", "/ü", ""} {
		data, err := s.MarshalJSON()
		var back Path
		if err != nil || back.UnmarshalJSON(data) != nil || back != s {
			t.Errorf("%q %s %q %v", s, data, back, err)
		}
	}
}

// A data folder inside of a project is no part of it.
func TestTheStoreInsideOfTheProject(t *testing.T) {
	t.Parallel()
	p := newProject(t, Options{})
	home := p.path("home")
	p.store = Open(Options{Dir: filepath.Join(home, "checkpoints", "workbench"), DataDir: home})
	t.Cleanup(p.store.Close)
	p.git()
	p.write("home/config.yaml", "mine")
	for range 3 {
		turn := p.begin()
		p.command(turn, func() { p.write("README", turn); p.write("home/config.yaml", turn) })
		if r := p.end(turn); len(r.Files) != 1 {
			t.Errorf("%+v", r.Files)
		}
	}
	p.store.o.Except = []string{home} // a repository around the home of the person is none of ours
	turn := p.begin()
	p.command(turn, func() { p.write("README", "x") })
	if r := p.end(turn); r != nil {
		t.Errorf("%+v", r)
	}
}
