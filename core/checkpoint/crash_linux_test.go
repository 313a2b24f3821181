package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes/core/atomicfile"
	"hermes/core/testskip"
)

const childMark = "checkpoint-child"

// child is what the tests kill: it changes files, or undoes turns, until it ends or is ended.
func child(args []string) int {
	what, store, dir := args[0], args[1], args[2]
	s := Open(Options{Dir: store, Snapshots: 10_000})
	defer s.Close()
	say := func(err error) {
		if err != nil && !errors.Is(err, ErrNothing) {
			fmt.Println("error:", err)
		}
	}
	fmt.Println("ready")
	switch what {
	case "change":
		for turn := 0; ; turn++ {
			c := Change{Session: "s", Turn: fmt.Sprintf("%d-%d", os.Getpid(), turn), Dir: dir, Tool: "terminal"}
			say(s.Before(context.Background(), c))
			for i := range 20 {
				say(os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), fmt.Appendf(nil, "%d %d %d", os.Getpid(), turn, i), 0o644))
			}
			_, err := s.End(context.Background(), c.Session, c.Turn)
			say(err)
		}
	case "undo":
		p, err := s.Plan(context.Background(), Selection{Records: strings.Split(args[3], ",")})
		say(err)
		if err == nil {
			_, err = s.Undo(context.Background(), p, false)
			say(err)
		}
	}
	fmt.Println("done")
	return 0
}

// start runs a child; lines are what it says after "ready".
func start(t *testing.T, args ...string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0], append([]string{childMark}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines = bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the child says %q", lines.Text())
	}
	return cmd, lines
}

// A process killed while it records leaves a store in which every record can be read, and undone to
// what was before it.
func TestKilledWhileRecording(t *testing.T) {
	testskip.Long(t, "kills many processes")
	t.Parallel()
	p := newProject(t, Options{Snapshots: 10_000})
	p.git()
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 25 {
		before := p.picture()
		cmd, _ := start(t, "change", p.store.o.Dir, p.dir)
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond) // any moment will do
		p.ok(cmd.Process.Kill())
		_ = cmd.Wait()
		prefix := fmt.Sprintf("%d-", cmd.Process.Pid)
		list, err := p.store.List("s")
		p.ok(err)
		var ids []string
		for _, r := range list {
			if strings.HasPrefix(r.Turn, prefix) {
				ids = append(ids, r.ID)
			}
		}
		if len(ids) == 0 {
			continue
		}
		plan := p.plan(ids)
		if _, err := p.store.Undo(context.Background(), plan, false); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		p.same(before, p.picture(), fmt.Sprintf("round %d, %d turns", round, len(ids)))
	}
	if _, err := p.store.Sweep(); err != nil {
		t.Fatal(err)
	}
}

// A process killed while it puts files back: the same undo again brings all of them back, and it
// can be undone.
func TestKilledWhileUndoing(t *testing.T) {
	testskip.Long(t, "kills many processes")
	t.Parallel()
	p := newProject(t, Options{})
	p.git()
	const files = 60 // an undo of them takes longer than the last of the moments below, on any disk that a file is synced to
	for i := range files {
		p.write(fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprintf("old %d\n", i))
	}
	old := p.picture()
	turn := p.begin()
	p.command(turn, func() {
		for i := range files {
			if i%3 == 0 {
				p.ok(os.Remove(p.path(fmt.Sprintf("d%d/f%d", i%7, i))))
			} else {
				p.write(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat("new\n", i))
			}
			p.write(fmt.Sprintf("new%d/f", i), "n")
		}
	})
	id := p.end(turn).ID
	changed := p.picture()
	killed := 0
	for round := range 12 {
		cmd, lines := start(t, "undo", p.store.o.Dir, p.dir, id)
		time.Sleep(time.Duration(5+round*15) * time.Millisecond)
		_ = cmd.Process.Kill()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "error") {
				t.Error(lines.Text())
			}
		}
		if cmd.Wait() != nil {
			killed++
		}
		if _, err := p.store.Undo(context.Background(), p.plan([]string{id}), false); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		p.same(old, p.picture(), "after the second try")
		var undos []string
		list, err := p.store.List("s")
		p.ok(err)
		for _, r := range list {
			if r.Kind == Undo {
				undos = append(undos, r.ID)
			}
		}
		// back to the changed files: of the undos since, those of earlier rounds cancel out
		if _, err := p.store.Undo(context.Background(), p.plan(undos), true); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		p.same(changed, p.picture(), "after the undo was undone")
		if left, _ := filepath.Glob(filepath.Join(p.dir, "*", tempFile+"*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	if killed < 2 {
		t.Errorf("killed %d of 12 before their end: this proved little", killed)
	}
}

// Two processes record at the same time; both can be undone, and what one of them sweeps the other
// does not miss.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	var all sync.WaitGroup
	a, b := newProject(t, Options{Dir: store, Snapshots: 10_000}), newProject(t, Options{Dir: store, Snapshots: 10_000})
	b.git()
	cmd, lines := start(t, "change", store, b.dir)
	all.Go(func() {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "error") {
				t.Error(lines.Text())
			}
		}
	})
	for i := range 30 {
		turn := a.begin()
		a.file(turn, func() { a.write("a", fmt.Sprint(i)) }, "a")
		if a.end(turn) == nil {
			t.Fatal("no record")
		}
		if _, err := a.store.Sweep(); err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			t.Fatal(err)
		}
	}
	_ = cmd.Process.Kill()
	all.Wait()
	_ = cmd.Wait()
	list, err := a.store.List("s")
	a.ok(err)
	for _, r := range list {
		plan := a.plan([]string{r.ID})
		for _, st := range plan.Steps {
			if st.To.Kind == Regular {
				if _, err := a.store.blobs.readBlob(st.To.Hash); err != nil {
					t.Errorf("%s of %s: %v", st.Path, r.ID, err)
				}
			}
		}
	}
	if len(list) < 31 {
		t.Errorf("%d records", len(list))
	}
}

// A full disk is told before the change, costs nothing that was kept, and passes.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		testskip.Missing(t, "a small disk needs root:", err)
	}
	defer func() {
		if err := unix.Unmount(small, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	p := newProject(t, Options{Dir: filepath.Join(small, "store")})
	p.write("a", "first")
	turn := p.begin()
	p.file(turn, func() { p.write("a", "second") }, "a")
	first := p.end(turn)
	noise := make([]byte, 2<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	p.write("big", string(noise))
	turn = p.begin()
	err := p.store.Before(context.Background(), p.change(turn, "big"))
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("%v", err)
	}
	_, _ = p.store.End(context.Background(), "s", turn)
	p.undo([]string{first.ID})
	if p.read("a") != "first" {
		t.Error(p.read("a"))
	}
	if temps, _ := filepath.Glob(filepath.Join(small, "store", "*", atomicfile.TempPrefix+"*")); len(temps) > 0 {
		t.Errorf("left: %v", temps)
	}
	turn = p.begin()
	p.file(turn, func() { p.write("c", "fits") }, "c")
	if p.end(turn) == nil {
		t.Error("no record after the full disk")
	}
}
