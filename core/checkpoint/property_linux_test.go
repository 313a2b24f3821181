package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/realpath"
	"hermes/core/testskip"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childMark {
		os.Exit(child(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// project is a git repository and a store outside of it.
type project struct {
	t     testing.TB
	dir   string
	store *Store
	turns int
}

func newProject(t testing.TB, o Options) *project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: filepath.Join(root, "work")}
	if o.Dir == "" {
		o.Dir = filepath.Join(root, "home", "checkpoints")
	}
	p.store = Open(o)
	t.Cleanup(p.store.Close)
	p.write("README", "hello\n")
	p.write(".gitignore", "ignored/\n*.log\n")
	p.write("ignored/cache", "c")
	return p
}

func (p *project) git() {
	p.t.Helper()
	if out, err := exec.Command("git", "init", "-q", p.dir).CombinedOutput(); err != nil {
		testskip.Missing(p.t, fmt.Sprintf("git is needed: %v %s", err, out))
	}
}

func (p *project) path(name string) string { return filepath.Join(p.dir, name) }

func (p *project) write(name, content string) {
	p.t.Helper()
	p.ok(os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	p.ok(os.WriteFile(p.path(name), []byte(content), 0o644))
}

func (p *project) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	p.ok(err)
	return string(data)
}

func (p *project) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// begin is the next turn.
func (p *project) begin() string {
	p.turns++
	return fmt.Sprintf("t%d", p.turns)
}

func (p *project) change(turn string, paths ...string) Change {
	c := Change{Session: "s", Turn: turn, Prompt: "do " + turn, Tool: "write_file"}
	for _, name := range paths {
		c.Paths = append(c.Paths, p.path(name))
	}
	return c
}

// file makes a change of named paths as a file tool does.
func (p *project) file(turn string, do func(), paths ...string) {
	p.t.Helper()
	c := p.change(turn, paths...)
	p.ok(p.store.Before(context.Background(), c))
	do()
	p.store.After(c)
}

// command makes any change as a command does.
func (p *project) command(turn string, do func()) {
	p.t.Helper()
	c := p.change(turn)
	c.Tool, c.Dir = "terminal", p.dir
	p.ok(p.store.Before(context.Background(), c))
	do()
}

func (p *project) end(turn string) *Record {
	p.t.Helper()
	r, err := p.store.End(context.Background(), "s", turn)
	p.ok(err)
	return r
}

func (p *project) plan(ids []string, files ...string) *Plan {
	p.t.Helper()
	plan, err := p.store.Plan(context.Background(), Selection{Records: ids, Files: files})
	p.ok(err)
	return plan
}

func (p *project) undo(ids []string, files ...string) *Record {
	p.t.Helper()
	r, err := p.store.Undo(context.Background(), p.plan(ids, files...), false)
	p.ok(err)
	return r
}

func (p *project) ids() []string {
	p.t.Helper()
	list, err := p.store.List("s")
	p.ok(err)
	var out []string
	for _, r := range list {
		out = append(out, r.ID)
	}
	return out
}

// picture is the tree as it is, byte for byte: kind, mode, content and targets of everything that
// is not ignored.
func (p *project) picture() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	p.ok(filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.dir, path)
		if rel == ".git" || rel == "ignored" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " " + target
		}
		out[rel] = what
		return nil
	}))
	return out
}

func (p *project) same(want, got map[string]string, when string) {
	p.t.Helper()
	for path, w := range want {
		if got[path] != w {
			p.t.Errorf("%s: %q is %q, not %q", when, path, got[path], w)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			p.t.Errorf("%s: %q should not be there", when, path)
		}
	}
	if p.t.Failed() {
		p.t.FailNow()
	}
}

// editor makes random changes.
type editor struct {
	p      *project
	random *rand.Rand
}

func (e *editor) name() string {
	names := []string{"a.txt", "b c.txt", "ü/ñandú.go", "deep/er/and/deeper.txt", "bin.dat", "中文/文件.md", "x", "-dash", "new\nline", "raw\xff\xfename", "dir/one", "dir/two", "dir/sub/three"}
	if e.random.IntN(3) == 0 {
		return fmt.Sprintf("gen/%d/f%d", e.random.IntN(5), e.random.IntN(20))
	}
	return names[e.random.IntN(len(names))]
}

func (e *editor) content() []byte {
	switch e.random.IntN(7) {
	case 0:
		return nil
	case 1:
		return []byte("one\r\ntwo\r\n" + strings.Repeat("x\r\n", e.random.IntN(50)))
	case 2:
		return []byte("\xef\xbb\xbfwith a mark\n")
	case 3:
		b := make([]byte, e.random.IntN(5000))
		for i := range b {
			b[i] = byte(e.random.Uint32())
		}
		return b
	case 4:
		return bytes.Repeat([]byte("large "), 100_000+e.random.IntN(100_000))
	}
	return fmt.Appendf(nil, "line %d\nno newline at the end", e.random.Uint64())
}

// free makes room for a file: what is in the way as a file above it, or as a folder at it, makes
// the change pass by.
func (e *editor) free(name string) bool {
	if info, err := os.Lstat(e.p.path(name)); err == nil && info.IsDir() {
		return false
	}
	return os.MkdirAll(filepath.Dir(e.p.path(name)), 0o755) == nil
}

var fileModes = []fs.FileMode{0o644, 0o755, 0o600, 0o400, 0o444, 0o640, 0o000, 0o755 | fs.ModeSetuid}

// op is one change of name; to is a second name for moves.
func (e *editor) op(name, to string) {
	path := e.p.path(name)
	info, err := os.Lstat(path)
	switch n := e.random.IntN(10); {
	case n == 0 && err == nil && !info.IsDir():
		e.p.ok(os.Remove(path))
	case n == 1 && err == nil && info.Mode().IsRegular():
		e.p.ok(os.Chmod(path, fileModes[e.random.IntN(len(fileModes))]))
	case n == 2 && e.free(name):
		_ = os.Remove(path)
		e.p.ok(os.Symlink([]string{"a.txt", "../outside", "/etc/passwd", "dangling\xff"}[e.random.IntN(4)], path))
	case n == 3 && err == nil && !info.IsDir() && to != "" && e.free(to) && !realpath.Within(to, name) && !realpath.Within(name, to):
		e.p.ok(os.Rename(path, e.p.path(to)))
	case e.free(name):
		if err == nil && !info.Mode().IsRegular() {
			e.p.ok(os.Remove(path))
		} else if err == nil {
			e.p.ok(os.Chmod(path, 0o644))
		}
		e.p.ok(os.WriteFile(path, e.content(), 0o644))
	}
}

// anything is what commands do beyond single files.
func (e *editor) anything() {
	for range 1 + e.random.IntN(4) {
		switch e.random.IntN(8) {
		case 0:
			e.p.ok(os.RemoveAll(e.p.path([]string{"gen", "dir", "deep", "ü"}[e.random.IntN(4)])))
		case 1:
			_ = os.MkdirAll(e.p.path(fmt.Sprintf("empty%d/in", e.random.IntN(3))), 0o750)
		case 2:
			_ = os.RemoveAll(e.p.path(fmt.Sprintf("empty%d", e.random.IntN(3))))
		case 3:
			_ = os.Rename(e.p.path("dir"), e.p.path(fmt.Sprintf("moved%d", e.random.IntN(3))))
		case 4:
			if info, err := os.Lstat(e.p.path("gen")); err == nil && info.IsDir() {
				e.p.ok(os.Chmod(e.p.path("gen"), []fs.FileMode{0o755, 0o700, 0o775}[e.random.IntN(3)]))
			}
		case 5: // a file becomes a folder, or the other way round
			_ = os.RemoveAll(e.p.path("x"))
			if e.random.IntN(2) == 0 {
				e.p.write("x/inside", "i")
			} else {
				e.p.write("x", "file")
			}
		case 6:
			e.p.write("ignored/cache", fmt.Sprint(e.random.Uint64()))
			e.p.write("some.log", fmt.Sprint(e.random.Uint64()))
		default:
			e.op(e.name(), e.name())
		}
	}
}

// After 200 random turns every point that is gone back to is the tree that was, byte for byte, and
// the undo of that the tree of today.
func TestRollbackRestoresByteExactTrees(t *testing.T) {
	testskip.LongWithoutRace(t, "200 random turns, twice")
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := newProject(t, Options{Snapshots: 10_000, TotalSize: 4 << 30})
			p.git()
			random := rand.New(rand.NewPCG(seed, 7))
			e := &editor{p, random}
			pictures := map[string]map[string]string{} // before each record
			var ids []string
			for range 200 {
				before := p.picture()
				delete(before, "some.log")
				turn := p.begin()
				for range 1 + random.IntN(4) {
					if random.IntN(2) == 0 {
						a, b := e.name(), e.name()
						p.file(turn, func() { e.op(a, b) }, a, b)
					} else {
						p.command(turn, e.anything)
					}
				}
				if r := p.end(turn); r != nil {
					pictures[r.ID] = before
					ids = append(ids, r.ID)
				}
			}
			latest := p.picture()
			delete(latest, "some.log")
			for _, n := range []int{len(ids) - 1, len(ids) - 2, len(ids) * 3 / 4, len(ids) / 2, len(ids) / 5, 1, 0} {
				u := p.undo(ids[n:])
				got := p.picture()
				delete(got, "some.log")
				p.same(pictures[ids[n]], got, fmt.Sprintf("before turn %d of %d", n, len(ids)))
				p.undo([]string{u.ID})
				got = p.picture()
				delete(got, "some.log")
				p.same(latest, got, "after the undo was undone")
			}
			// one turn at a time, too
			for _, id := range slices.Backward(ids[len(ids)-20:]) {
				plan := p.plan([]string{id})
				if _, err := p.store.Undo(context.Background(), plan, false); err != nil && !errors.Is(err, ErrNothing) {
					t.Fatal(err)
				}
				got := p.picture()
				delete(got, "some.log")
				p.same(pictures[id], got, "turn by turn")
			}
			if left, _ := filepath.Glob(filepath.Join(p.dir, ".hermes-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
