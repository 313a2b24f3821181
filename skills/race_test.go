package skills

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Changes from several processes that were planned on the same text: one is made, the others are
// told, and nothing else is left behind.
func TestOneOfManyChangesCounts(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine.")})
		e := Editor{Dir: dir}
		c := load(Options{Home: dir})
		var all sync.WaitGroup
		results := make([]error, 6)
		planned := make([]*Change, len(results))
		for i := range planned {
			var err error
			if planned[i], err = e.Plan(c, Request{Op: Edit, Name: "own", Content: text("own", fmt.Sprint("Number ", i, "."))}); err != nil {
				t.Fatal(err)
			}
		}
		for i, change := range planned {
			all.Go(func() {
				_, results[i] = Editor{Dir: dir}.Apply(change)
			})
		}
		all.Wait()
		made := -1
		for i, err := range results {
			switch {
			case err == nil && made >= 0:
				t.Fatalf("round %d: %d and %d were both made", round, made, i)
			case err == nil:
				made = i
			case !errors.Is(err, ErrStale):
				t.Fatalf("round %d: %v", round, err)
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, "own/SKILL.md"))
		if err != nil || made < 0 || !strings.Contains(string(data), fmt.Sprint("Number ", made, ".")) {
			t.Fatalf("round %d: %d was made, but there stands %s %v", round, made, data, err)
		}
		if _, _, err := e.Undo("own", Provenance{}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if _, _, err := e.Undo("own", Provenance{}); err == nil {
			t.Fatalf("round %d: a change that was not made can be taken back", round)
		}
	}
}

// A change that fails while it is written leaves nothing that stands in the way of taking back the
// one before.
func TestFailedChangeIsNotKept(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine.")})
	e := Editor{Dir: dir}
	apply := func(r Request) error {
		t.Helper()
		change, err := e.Plan(load(Options{Home: dir}), r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Apply(change)
		return err
	}
	if err := apply(Request{Op: Edit, Name: "own", Content: text("own", "Better.")}); err != nil {
		t.Fatal(err)
	}
	refs := filepath.Join(dir, "own/references")
	if err := errors.Join(os.Mkdir(refs, 0o700), os.Symlink("nowhere", filepath.Join(refs, "a.md"))); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Apply(&Change{Request: Request{Op: WriteFile, Name: "own"}, Dir: filepath.Join(dir, "own"), Rel: "references/a.md", After: []byte("a")}); err == nil {
		t.Fatal("a file was written through a link")
	}
	if _, what, err := e.Undo("own", Provenance{}); err != nil || !strings.HasPrefix(what, "edit") {
		t.Errorf("%q %v", what, err)
	}
}

// Where nothing may be written the error names what, and says what to look at.
func TestReadOnlyFolderIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine.")})
	e := Editor{Dir: dir}
	change, err := e.Plan(load(Options{Home: dir}), Request{Op: Edit, Name: "own", Content: text("own", "Better.")})
	if err = errors.Join(err, os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if _, err := e.Apply(change); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, ".history")+" may not be written") {
		t.Error(err)
	}
}
