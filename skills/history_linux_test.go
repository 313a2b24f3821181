package skills

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/core/testskip"
)

// summed is a SKILL.md that says how long it is, so that a torn one is seen.
func summed(i int) string {
	body := strings.Repeat(fmt.Sprintf("Line of %d.\n", i), i%97+1)
	return text("own", "Number "+strconv.Itoa(i)) + body + fmt.Sprintf("END %d\n", i%97+1)
}

func torn(t []byte) bool {
	i := bytes.LastIndex(t, []byte("END "))
	if i < 0 {
		return true
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(t[i+4:])))
	return err != nil || bytes.Count(t, []byte("Line of ")) != n
}

// TestHistoryWorker is the process that killWhileChanging kills.
func TestHistoryWorker(t *testing.T) {
	dir := os.Getenv("SKILLS_WORKER")
	if dir == "" {
		t.Skip("only for killWhileChanging")
	}
	e := Editor{Dir: dir}
	fmt.Println("ready")
	for i := rand.IntN(1000); ; i++ {
		changeSomehow(e, i)
	}
}

// changeSomehow makes one change; that another process was faster is no matter.
func changeSomehow(e Editor, i int) {
	c := load(Options{Home: e.Dir})
	r := Request{Op: Edit, Name: "own", Content: summed(i)}
	if i%4 == 1 {
		changeProcedureSomehow(e, c, i)
		return
	}
	switch {
	case c.Find("own") == nil:
		r.Op = Create
	case i%11 == 0:
		r = Request{Op: Delete, Name: "own"}
	case i%5 == 0:
		_, _, _ = e.Undo("own", Provenance{})
		return
	case i%7 == 0:
		_, _ = e.Rollback("own", rand.IntN(20), Provenance{})
		return
	case i%3 == 0:
		r = Request{Op: WriteFile, Name: "own", File: "references/a.md", Content: summed(i)}
	}
	if change, err := e.Plan(c, r); err == nil {
		_, _ = e.Apply(change)
	}
}

// changeProcedureSomehow does so to a procedure.
func changeProcedureSomehow(e Editor, c *Catalog, i int) {
	key := ProcedureKey("own")
	switch {
	case i%5 == 0:
		_, _, _ = e.Undo(key, Provenance{})
	case i%7 == 0 || len(c.Procedures) == 0:
		_, _ = e.Rollback(key, rand.IntN(20), Provenance{})
	default:
		if change, err := e.PlanProcedure(c.Procedures[0], Request{Op: Edit, Name: key, Content: summed(i)}); err == nil {
			_, _ = e.Apply(change)
		}
	}
}

// checkProcedure checks what stands in the file of the procedure and what is kept of it.
func checkProcedure(t *testing.T, e Editor, round int) {
	t.Helper()
	h, err := e.History(ProcedureKey("own"))
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	text, err := os.ReadFile(filepath.Join(e.Dir, "deploy.yaml"))
	n := h.lastVersion()
	if err != nil || torn(text) || n > 0 && !bytes.Equal(h.Text(n), text) {
		t.Fatalf("round %d: version %d is not what stands there: %s %v", round, n, text, err)
	}
	for i := range n {
		if torn(h.Text(i)) {
			t.Fatalf("round %d: version %d is torn", round, i)
		}
	}
	if n > 60 { // as in checkHistory
		if err := os.RemoveAll(filepath.Join(e.Dir, historyDir, h.Name)); err != nil {
			t.Fatal(err)
		}
	}
}

// Two processes change a skill and are killed at any moment, many times: no file is ever a part of
// one, every version can be read, and every step back works.
func TestKilledWhileChanging(t *testing.T) { killWhileChanging(t, 60) }

func TestKilledAThousandTimesWhileChanging(t *testing.T) {
	testskip.LongWithoutRace(t, "starts and kills a thousand programs")
	killWhileChanging(t, 1000)
}

func killWhileChanging(t *testing.T, kills int) {
	t.Helper()
	dir := write(t, map[string]string{"own/SKILL.md": summed(1), "own/references/a.md": summed(2), "deploy.yaml": summed(3)})
	e := Editor{Dir: dir}
	for round := range kills / 2 {
		var workers []*exec.Cmd
		for range 2 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestHistoryWorker$")
			cmd.Env = append(os.Environ(), "SKILLS_WORKER="+dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			workers = append(workers, cmd)
		}
		end := time.Now().Add(time.Duration(rand.IntN(int(20 * time.Millisecond))))
		for time.Now().Before(end) { // they work meanwhile
			for _, s := range load(Options{Home: dir}).Skills {
				if raw, err := s.Raw(); err == nil && torn(raw) {
					t.Fatalf("round %d: torn while they work: %s", round, raw)
				}
			}
		}
		for _, cmd := range workers {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		checkHistory(t, e, round)
		checkProcedure(t, e, round)
	}
}

func checkHistory(t *testing.T, e Editor, round int) {
	t.Helper()
	if err := e.Recover(); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	h, err := e.History("own")
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	if len(h.Versions) == 0 {
		return
	}
	checkFiles(t, e, h, h.lastVersion(), round)
	for _, v := range h.Versions[max(len(h.Versions)-20, 0):] {
		if text := h.Text(v.Number); text != nil && (torn(text) || HashOf(text) != v.Hash) {
			t.Fatalf("round %d: version %d is not whole: %s", round, v.Number, text)
		}
	}
	if h.At() > 0 {
		v, _, err := e.Undo("own", Provenance{})
		if err != nil {
			t.Fatalf("round %d: no undo: %v", round, err)
		}
		if h, err = e.History("own"); err != nil {
			t.Fatal(err)
		}
		checkFiles(t, e, h, v.To, round)
	}
	if len(h.Versions) > 60 { // the test would be quadratic
		if err := os.RemoveAll(filepath.Join(e.Dir, historyDir, "own")); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFiles compares what lies there with a version.
func checkFiles(t *testing.T, e Editor, h History, n, round int) {
	t.Helper()
	files, there := h.Files(n)
	for rel, want := range files {
		got, err := os.ReadFile(filepath.Join(e.Dir, "own", rel))
		if err != nil {
			got = nil
		}
		if !there {
			want = nil
		}
		if !sameFile(got, want) {
			t.Fatalf("round %d: %s at version %d of %d is %.60q, want %.60q, in\n%s", round, rel, n, h.lastVersion(), got,
				want, describeVersions(h))
		}
	}
}

// On a full disk a change is refused, and what was there stays, whole.
func TestFullDiskChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skipf("no mounts here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	e := Editor{Dir: dir}
	if c, err := e.Plan(load(Options{Home: dir}), Request{Op: Create, Name: "own", Content: summed(1)}); err != nil {
		t.Fatal(err)
	} else if _, err := e.Apply(c); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i := 0; i < 400 && failed < 50; i++ {
		h, err := e.History("own")
		if err != nil {
			t.Fatal(err)
		}
		was := tree(t, dir)
		c, err := e.Plan(load(Options{Home: dir}), Request{Op: Edit, Name: "own", Content: summed(i + 2)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Apply(c); err == nil {
			continue
		}
		failed++
		after, err := e.History("own")
		if tree(t, dir) != was || err != nil || len(after.Versions) != len(h.Versions) {
			t.Fatalf("a refused change left something: %v", err)
		}
	}
	if failed == 0 {
		t.Fatal("the disk never was full")
	}
	left := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), ".new-") || d.Name() == filepath.Base(pendingFile) {
			left++
		}
		return err
	})
	if err != nil || left > 0 {
		t.Errorf("%d files of refused changes are left: %v", left, err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Undo("own", Provenance{}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// describeVersions lists what each version did, a line each.
func describeVersions(h History) string {
	var b strings.Builder
	for _, v := range h.Versions {
		fmt.Fprintf(&b, "%d %s to %d, gone %v, from %q, to %q:", v.Number, v.Op, v.To, v.Gone, v.Restore, v.Archive)
		for _, p := range v.Parts() {
			fmt.Fprintf(&b, " %s %d -> %d bytes;", p.Rel, len(p.Before), len(p.After))
		}
		b.WriteString("\n")
	}
	return b.String()
}
