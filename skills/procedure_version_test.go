package skills

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// procedureFile finds a procedure's file in a home.
func procedureFile(t *testing.T, dir, name string) ProcedureFile {
	t.Helper()
	for _, f := range load(Options{Home: dir}).Procedures {
		if filepath.Base(f.Path) == name {
			return f
		}
	}
	t.Fatal("there is no file ", name)
	return ProcedureFile{}
}

// set makes a procedure's file say something, as a version.
func set(t *testing.T, e Editor, file, key, text string) Version {
	t.Helper()
	c, err := e.PlanProcedure(procedureFile(t, e.Dir, file), Request{Op: Edit, Name: key, Content: text})
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func stands(t *testing.T, dir, file, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, file))
	if want == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("%s says %q, want %q %v", file, got, want, err)
	}
}

// The versions of a procedure are those of its file alone: beside a skill of its name, moved,
// removed and changed by hand.
func TestVersionsOfAProcedure(t *testing.T) {
	t.Parallel()
	key := ProcedureKey("own")
	dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine."), "own/procedure.yaml": "zero\n", "own/references/a.md": "a\n"})
	e := Editor{Dir: dir}
	if v := set(t, e, "procedure.yaml", key, "one\n"); v.Number != 1 || v.Hash != HashOf([]byte("one\n")) || v.Main != "procedure.yaml" {
		t.Errorf("%+v", v)
	}
	set(t, e, "procedure.yaml", key, "two\n")
	c, err := e.Plan(load(Options{Home: dir}), Request{Op: Edit, Name: "own", Content: text("own", "Better.")})
	if err == nil {
		_, err = e.Apply(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.History(key)
	if err != nil || len(h.Versions) != 2 || string(h.Text(0)) != "zero\n" || string(h.Text(2)) != "two\n" || h.Find(HashOf([]byte("one\n"))) != 1 {
		t.Fatalf("%+v %v", h, err)
	}
	if s, err := e.History("own"); err != nil || len(s.Versions) != 1 {
		t.Errorf("the skill has %d versions %v", len(s.Versions), err)
	}
	if _, err := e.Rollback(key, 0, Provenance{By: "user"}); err != nil {
		t.Fatal(err)
	}
	stands(t, dir, "own/procedure.yaml", "zero\n")
	stands(t, dir, "own/SKILL.md", text("own", "Better."))
	if _, what, err := e.Undo(key, Provenance{}); err != nil || what != "rollback of own/procedure.yaml" {
		t.Error(what, err)
	}
	stands(t, dir, "own/procedure.yaml", "two\n")

	// Removed by hand: that is a change like every other one, and the folder is left alone.
	if err := os.Remove(filepath.Join(dir, "own/procedure.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, what, err := e.Undo(key, Provenance{}); err != nil || !strings.HasPrefix(what, "outside") {
		t.Error(what, err)
	}
	stands(t, dir, "own/procedure.yaml", "two\n")
	if err := os.RemoveAll(filepath.Join(dir, "own")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Rollback(key, 1, Provenance{}); err != nil {
		t.Fatal(err)
	}
	stands(t, dir, "own/procedure.yaml", "one\n")

	// There is no going back to when it was gone, as with skills; what lies beside it stays.
	if err := os.WriteFile(filepath.Join(dir, "own/other.yaml"), []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err = e.History(key); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Rollback(key, h.lastVersion()-1, Provenance{}); err == nil || !strings.Contains(err.Error(), "was not there") {
		t.Error(err)
	}
	stands(t, dir, "own/procedure.yaml", "one\n")
	stands(t, dir, "own/other.yaml", "other\n")

	// Moved by hand: its versions go with it, and nothing comes back where it was.
	if err := os.Rename(filepath.Join(dir, "own/procedure.yaml"), filepath.Join(dir, "deploy.yaml")); err != nil {
		t.Fatal(err)
	}
	set(t, e, "deploy.yaml", key, "three\n")
	if _, err := e.Rollback(key, 2, Provenance{}); err != nil {
		t.Fatal(err)
	}
	stands(t, dir, "deploy.yaml", "two\n")
	stands(t, dir, "own/procedure.yaml", "")
}

// What is not the person's, what nobody can do to a procedure, and a link are refused.
func TestProceduresThatAreNotChanged(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"own.yaml": "zero\n"})
	f := procedureFile(t, dir, "own.yaml")
	e, key := Editor{Dir: dir}, ProcedureKey("own")
	for _, op := range []Op{Create, Patch, WriteFile, RemoveFile} {
		if _, err := e.PlanProcedure(f, Request{Op: op, Name: key, Content: "x"}); err == nil {
			t.Errorf("%s is planned", op)
		}
	}
	if _, err := e.PlanProcedure(f, Request{Op: Edit, Name: key, Content: "zero\n"}); !errors.Is(err, ErrSame) {
		t.Error(err)
	}
	for _, s := range []Source{External, Project, Builtin} {
		other := f
		other.Source = s
		if _, err := e.PlanProcedure(other, Request{Op: Edit, Name: key, Content: "x"}); err == nil {
			t.Errorf("one of %s is changed", s)
		}
	}
	c, err := e.PlanProcedure(f, Request{Op: Edit, Name: key, Content: "x\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), f.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Apply(c); err == nil {
		t.Error("it is written through a link")
	}
	for _, key := range []string{"procedure:", "procedure:../own", "procedure:a/b", "procedure:procedure:own", "other:own"} {
		if _, err := e.History(key); err == nil {
			t.Errorf("%s has versions", key)
		}
	}
}

// A procedure that is made here and removed again leaves no trace but its versions, which bring it
// back; whatever lies beside it is not touched.
func TestAProcedureIsMadeAndRemoved(t *testing.T) {
	t.Parallel()
	for _, category := range []string{"", "devops"} {
		dir := write(t, map[string]string{"devops/other.yaml": "other\n", "other.yaml": "other\n"})
		e, key, file := Editor{Dir: dir}, ProcedureKey("own"), filepath.Join(category, "own.yaml")
		create := func(text string) error {
			c, err := e.PlanNewProcedure(Request{Op: Create, Name: key, Category: category, Content: text})
			if err == nil {
				_, err = e.Apply(c)
			}
			return err
		}
		remove := func() {
			t.Helper()
			c, err := e.PlanProcedure(procedureFile(t, dir, "own.yaml"), Request{Op: Delete, Name: key})
			if err == nil {
				_, err = e.Apply(c)
			}
			if err != nil {
				t.Fatal(err)
			}
			stands(t, dir, file, "")
		}
		undo := func(want string) {
			t.Helper()
			if _, _, err := e.Undo(key, Provenance{}); err != nil {
				t.Fatal(err)
			}
			stands(t, dir, file, want)
		}
		if err := create("one\n"); err != nil {
			t.Fatal(err)
		}
		if err := create("two\n"); err == nil {
			t.Error("one was written over")
		}
		set(t, e, "own.yaml", key, "two\n")
		remove()
		undo("two\n")
		undo("one\n")
		undo("")
		if err := create("three\n"); err != nil {
			t.Fatal(err)
		}
		remove()
		if v, err := e.Rollback(key, 2, Provenance{}); err != nil || v.Hash != HashOf([]byte("two\n")) {
			t.Error(v, err)
		}
		stands(t, dir, file, "two\n")
		stands(t, dir, "devops/other.yaml", "other\n")
		stands(t, dir, "other.yaml", "other\n")
	}
}

// Of changes of a procedure from several processes one is made.
func TestOneOfManyChangesOfAProcedureCounts(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		dir := write(t, map[string]string{"own.yaml": "zero\n"})
		e, f := Editor{Dir: dir}, procedureFile(t, dir, "own.yaml")
		results := make([]error, 6)
		planned := make([]*Change, len(results))
		for i := range planned {
			var err error
			if planned[i], err = e.PlanProcedure(f, Request{Op: Edit, Name: ProcedureKey("own"), Content: fmt.Sprintf("number %d\n", i)}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for i, c := range planned {
			all.Go(func() {
				_, results[i] = Editor{Dir: dir}.Apply(c)
			})
		}
		all.Wait()
		made := ""
		for i, err := range results {
			switch {
			case err == nil && made != "":
				t.Fatalf("round %d: two were made", round)
			case err == nil:
				made = fmt.Sprintf("number %d\n", i)
			case !errors.Is(err, ErrStale):
				t.Fatal(err)
			}
		}
		stands(t, dir, "own.yaml", made)
	}
}

// A procedure that was moved since its last version goes back where it lies by now.
func TestAMovedProcedureGoesBackWhereItLies(t *testing.T) {
	t.Parallel()
	key := ProcedureKey("own")
	for _, edited := range []bool{false, true} {
		dir := write(t, map[string]string{"own.yaml": "zero\n", "devops/readme.md": "x\n"})
		e := Editor{Dir: dir}
		set(t, e, "own.yaml", key, "one\n")
		moved := filepath.Join(dir, "devops", "procedure.yaml")
		if err := os.Rename(filepath.Join(dir, "own.yaml"), moved); err != nil {
			t.Fatal(err)
		}
		if edited {
			if err := os.WriteFile(moved, []byte("by hand\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e = e.WithFile(moved)
		if v, err := e.Rollback(key, 0, Provenance{}); err != nil || v.Hash != HashOf([]byte("zero\n")) {
			t.Errorf("%+v %v", v, err)
		}
		stands(t, dir, "devops/procedure.yaml", "zero\n")
		stands(t, dir, "own.yaml", "")
		if _, _, err := e.Undo(key, Provenance{}); err != nil {
			t.Error(err)
		}
		want := "one\n"
		if edited {
			want = "by hand\n"
		}
		stands(t, dir, "devops/procedure.yaml", want)
	}
}

// A procedure that was moved and then changed goes back to what it was, also where another one took
// its place.
func TestAChangeOfAMovedProcedureIsTakenBack(t *testing.T) {
	t.Parallel()
	key := ProcedureKey("own")
	for _, other := range []string{"", "other\n"} {
		for _, edited := range []string{"", "by hand\n"} {
			dir := write(t, map[string]string{"own.yaml": "zero\n", "devops/readme.md": "x\n"})
			e := Editor{Dir: dir}
			set(t, e, "own.yaml", key, "one\n")
			moved := filepath.Join(dir, "devops", "procedure.yaml")
			if err := os.Rename(filepath.Join(dir, "own.yaml"), moved); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{filepath.Join(dir, "own.yaml"): other, moved: edited} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			set(t, e, "procedure.yaml", key, "two\n")
			if _, _, err := e.WithFile(moved).Undo(key, Provenance{}); err != nil {
				t.Error(err)
			}
			stands(t, dir, "devops/procedure.yaml", cmp.Or(edited, "one\n"))
			stands(t, dir, "own.yaml", other)
		}
	}
}

// A removed skill does not come back without its files because a procedure has its folder by now.
func TestASkillComesBackWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine."), "own/scripts/a.sh": "echo\n", "own/procedure.yaml": "zero\n"})
	e, key := Editor{Dir: dir}, ProcedureKey("own")
	set(t, e, "procedure.yaml", key, "one\n")
	c, err := e.Plan(load(Options{Home: dir}), Request{Op: Delete, Name: "own"})
	if err == nil {
		_, err = e.Apply(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Undo(key, Provenance{}); err != nil { // that it went is the last change
		t.Fatal(err)
	}
	stands(t, dir, "own/procedure.yaml", "one\n")
	if _, _, err := e.Undo("own", Provenance{}); err == nil || !strings.Contains(err.Error(), "move it away") || !strings.Contains(err.Error(), archiveDir) {
		t.Error(err)
	}
	stands(t, dir, "own/SKILL.md", "")
	if err := os.Rename(filepath.Join(dir, "own"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Undo("own", Provenance{}); err != nil {
		t.Fatal(err)
	}
	stands(t, dir, "own/SKILL.md", text("own", "Mine."))
	stands(t, dir, "own/scripts/a.sh", "echo\n")
}
