package skills

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hermes/core/testwait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is every file below the skills of a folder.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != dir && strings.HasPrefix(d.Name(), ".") && d.IsDir() {
			return filepath.SkipDir
		}
		if !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			data, err := os.ReadFile(p)
			b.WriteString(p + "=" + string(data) + "\n")
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryChangeCanBeUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine."), "own/references/a.md": "a"})
		e := Editor{Dir: dir}
		var before []string
		changes := rapid.IntRange(1, 8).Draw(r, "changes")
		for range changes {
			q := Request{
				Op:   rapid.SampledFrom([]Op{Create, Edit, Patch, WriteFile, RemoveFile, Delete}).Draw(r, "op"),
				Name: "own", File: rapid.SampledFrom([]string{"", "references/a.md", "scripts/b.sh"}).Draw(r, "file"),
				Old: "a", New: rapid.SampledFrom([]string{"b", "aa", ""}).Draw(r, "new"), All: rapid.Bool().Draw(r, "all"),
			}
			switch q.Op {
			case Create, Edit:
				q.File, q.Content = "", text("own", rapid.SampledFrom([]string{"One.", "Two."}).Draw(r, "about"))
			case WriteFile:
				q.Content = rapid.SampledFrom([]string{"x", "y"}).Draw(r, "content")
			case Patch, RemoveFile, Delete, Undo, Rollback, Outside:
			}
			c, err := e.Plan(load(Options{Home: dir}), q)
			if err != nil {
				continue
			}
			was := tree(t, dir)
			if _, err := e.Apply(c); err != nil {
				r.Fatalf("%+v: %v", q, err)
			}
			if tree(t, dir) == was {
				r.Fatalf("%+v changes nothing", q)
			}
			before = append(before, was)
		}
		for len(before) > 0 {
			if _, _, err := e.Undo("own", Provenance{}); err != nil {
				r.Fatal(err)
			}
			if got := tree(t, dir); got != before[len(before)-1] {
				r.Fatalf("after the undo:\n%s\nbefore:\n%s", got, before[len(before)-1])
			}
			before = before[:len(before)-1]
		}
	})
}

func TestChangesAreRefused(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"own/SKILL.md": text("own", "Mine."), "broken/SKILL.md": "no head", "own/references/a.md": "a a"})
	out := write(t, map[string]string{"x": "x"})
	if err := os.Symlink(out, filepath.Join(dir, "own/references/out")); err != nil {
		t.Fatal(err)
	}
	e, c := Editor{Dir: dir}, Load(context.Background(), Options{Home: dir})
	apply := func(c *Change) error {
		_, err := e.Apply(c)
		return err
	}
	for why, q := range map[string]Request{
		"is there already|already":    {Op: Create, Name: "own", Content: text("own", "x")},
		"1025 characters":             {Op: Edit, Name: "own", Content: text("own", strings.Repeat("x", 1025))},
		"two":                         {Op: Patch, Name: "own", File: "references/a.md", Old: "a", New: "b"},
		"front matter says other":     {Op: Edit, Name: "own", Content: text("other", "x")},
		"there is no front matter":    {Op: Edit, Name: "own", Content: "text"},
		"write_file is for":           {Op: WriteFile, Name: "own", File: "SKILL.md", Content: "x"},
		"cannot be removed":           {Op: RemoveFile, Name: "own", File: "SKILL.md"},
		"no file references/none.md":  {Op: RemoveFile, Name: "own", File: "references/none.md"},
		"the same already":            {Op: WriteFile, Name: "own", File: "references/a.md", Content: "a a"},
		"at most 1048576":             {Op: WriteFile, Name: "own", File: "references/a.md", Content: strings.Repeat("x", MaxFile+1)},
		"old_string is empty":         {Op: Patch, Name: "own", New: "b"},
		"does not stand":              {Op: Patch, Name: "own", Old: "zzz", New: "b"},
		"link":                        {Op: WriteFile, Name: "own", File: "references/out/x", Content: "y"},
		"built-in skill":              {Op: Edit, Name: "review-change", Content: text("review-change", "x")},
		"there is no skill nobody":    {Op: Delete, Name: "nobody"},
		"command of the program":      {Op: Create, Name: "help", Content: text("help", "x")},
		"there is no action \"move\"": {Op: "move", Name: "own"},
	} {
		_, err := e.Plan(c, q)
		if why == "two" {
			why = "2 times"
		}
		if err == nil || !strings.Contains(err.Error(), strings.Split(why, "|")[0]) && !strings.Contains(err.Error(), why[strings.Index(why, "|")+1:]) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	// A broken one may be mended.
	change, err := e.Plan(c, Request{Op: Edit, Name: "broken", Content: text("broken", "Mended.")})
	if err != nil || apply(change) != nil || load(Options{Home: dir}).Find("broken") == nil {
		t.Errorf("not mended: %v", err)
	}
	// What somebody changed between plan and change is not lost.
	change, err = e.Plan(c, Request{Op: Patch, Name: "own", Old: "Do it.", New: "Do that."})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(change.Path(), []byte(text("own", "Of somebody else.")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := apply(change); !errors.Is(err, ErrStale) {
		t.Errorf("a change of somebody else is lost: %v", err)
	}
}

// A file of a skill that was deleted meanwhile is not written: it would lie there alone, and no
// step back would find it.
func TestNoFileIsWrittenForASkillThatWent(t *testing.T) {
	dir := write(t, map[string]string{"own/SKILL.md": text("own", "Does it.")})
	e := Editor{Dir: dir}
	catalog := load(Options{Home: dir})
	file, err := e.Plan(catalog, Request{Op: WriteFile, Name: "own", File: "references/a.md", Content: "a"})
	if err != nil {
		t.Fatal(err)
	}
	deletion, err := e.Plan(catalog, Request{Op: Delete, Name: "own"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Apply(deletion); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Apply(file); !errors.Is(err, ErrStale) {
		t.Errorf("the file of a skill that went: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "own")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder without a skill: %v", err)
	}
}

func TestUsageKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{".usage.json": `{"old": {"use_count": 3, "created_by": "agent", "pinned": true, "own": {"x": 1}}}`})
	u := NewUsage(dir)
	var all sync.WaitGroup
	for range 20 { // several processes are several Usages
		all.Go(func() {
			if err := errors.Join(NewUsage(dir).Used("old"), u.Viewed("new")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := u.Created("mine", "agent"); err != nil {
		t.Fatal(err)
	}
	got := u.All()
	if got["old"].Uses != 23 || got["old"].CreatedBy != "agent" || got["new"].Views != 20 || got["mine"].CreatedBy != "agent" || got["old"].LastUsed.IsZero() {
		t.Errorf("%+v", got)
	}
	data, err := os.ReadFile(filepath.Join(dir, ".usage.json"))
	var doc map[string]map[string]any
	if err = errors.Join(err, json.Unmarshal(data, &doc)); err != nil || doc["old"]["own"] == nil || doc["old"]["pinned"] != true {
		t.Errorf("%s %v", data, err)
	}
	for _, key := range []string{"created_by", "use_count", "view_count", "last_used_at", "last_viewed_at", "patch_count", "last_patched_at", "created_at", "state", "pinned", "archived_at"} {
		if _, ok := doc["new"][key]; !ok {
			t.Errorf("%s is missing", key)
		}
	}
}

func TestWatchTellsOfChanges(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"home/a/SKILL.md": text("a", "One."), "later/README": ""})
	home, later := filepath.Join(dir, "home"), filepath.Join(dir, "later/.agents/skills")
	ctx, stop := context.WithCancel(context.Background())
	changed, ended := make(chan struct{}, 100), make(chan error)
	go func() { ended <- Watch(ctx, []string{home, later}, func() { changed <- struct{}{} }) }()
	wait := func(what string, do func() error) {
		t.Helper()
		deadline := time.After(testwait.Hang)
		for {
			if err := do(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changed:
				for { // what is still on its way belongs to the same change
					select {
					case <-changed:
						continue
					case <-time.After(2 * settle):
						return
					}
				}
			case <-time.After(4 * settle): // the watcher may not have begun yet
			case <-deadline:
				t.Fatalf("nobody tells of %s", what)
			}
		}
	}
	put := func(name, content string) func() error {
		return func() error {
			full := filepath.Join(dir, name)
			return errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(content), 0o600))
		}
	}
	wait("an edit", put("home/a/SKILL.md", text("a", "Two.")))
	wait("a new skill", put("home/deep/b/SKILL.md", text("b", "New.")))
	wait("an edit of the new skill", put("home/deep/b/SKILL.md", text("b", "Newer.")))
	wait("a place that came later", put("later/.agents/skills/c/SKILL.md", text("c", "Late.")))
	wait("an edit there", put("later/.agents/skills/c/SKILL.md", text("c", "Later.")))
	// What we write ourselves is none.
	if err := NewUsage(home).Used("a"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
		t.Error("a count is taken for a change")
	case <-time.After(4 * settle):
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
