package plugin

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hermes/core/quarantine"
)

// fetched is a plugin from elsewhere that holds the memory provider's role.
func fetched(t *testing.T, l *Library, text string) (Report, *quarantine.Fetched, quarantine.Request) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "src")
	write(t, filepath.Join(from, ManifestFile), "api: 1\nname: notes\nversion: 1.0.0\ndescription: x\ncommand: [sh, run.sh]\nmemory: {recall: recall}\n")
	write(t, filepath.Join(from, "run.sh"), text)
	req := quarantine.Request{Source: from}
	got, err := l.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	r := Lint(got.Dir)
	if len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	return r, got, req
}

func installed(t *testing.T, l *Library, text string) {
	t.Helper()
	r, got, req := fetched(t, l, text)
	if err := l.Install(r, got, req, true); err != nil {
		t.Fatal(err)
	}
	if err := got.Close(); err != nil {
		t.Fatal(err)
	}
}

var errStop = errors.New("the machine stopped")

// An update that fails at any step leaves the plugin as it was, and one that ends there, as by a
// crash, leaves the old one or the new one: never none.
func TestAnUpdateNeverLosesThePlugin(t *testing.T) {
	for _, crash := range []bool{false, true} {
		for _, at := range []string{"keep", "place", "record", "enable", "forget"} {
			home := t.TempDir()
			installed(t, NewLibrary(home), "old")
			l := NewLibrary(home)
			reached := false
			l.before = func(step string) error {
				if step != at {
					return nil
				}
				if reached = true; crash {
					panic(errStop)
				}
				return errStop
			}
			r, got, req := fetched(t, l, "new")
			func() {
				defer func() { _ = recover() }()
				if err := l.Install(r, got, req, true); !errors.Is(err, errStop) {
					t.Errorf("%s: %v", at, err)
				}
			}()
			if err := got.Close(); err != nil || !reached {
				t.Fatalf("%s: %v %v", at, err, reached)
			}
			l = NewLibrary(home)
			list, err := l.List("")
			if err != nil || len(list) != 1 || list[0].State == Broken {
				t.Fatalf("%s: %+v %v", at, list, err)
			}
			text, _ := os.ReadFile(filepath.Join(l.Folder(), "notes", "run.sh"))
			written, _ := quarantine.List(l.LockPath())
			if want := at == "forget" || crash && (at == "record" || at == "enable"); want != (string(text) == "new") {
				t.Errorf("%s, crash %v: %q", at, crash, text)
			}
			if !crash && (list[0].State != Enabled || written["notes"].Hash != list[0].Hash) {
				t.Errorf("%s: %+v, written down as %s", at, list[0], written["notes"].Hash)
			}
			if left, _ := os.ReadDir(filepath.Join(l.Folder(), hubFolder, "replaced")); len(left) > 0 {
				t.Errorf("%s: left %v", at, left)
			}
			installed(t, l, "newer") // it goes on
			one(t, l, "", Enabled)
		}
	}
}

func TestAnUpdateThatCannotBeWrittenDownIsTakenBack(t *testing.T) {
	l := NewLibrary(t.TempDir())
	installed(t, l, "old")
	r, got, req := fetched(t, l, "new")
	write(t, l.LockPath(), "{")
	if err := l.Install(r, got, req, true); err == nil {
		t.Error("it went on")
	}
	if text, err := os.ReadFile(filepath.Join(l.Folder(), "notes", "run.sh")); err != nil || string(text) != "old" {
		t.Errorf("%q %v", text, err)
	}
	one(t, l, "", Enabled)
}

// Where the data folder is a link, or a plugin of a project is one, a plugin is still itself: it
// does not stand in the way of its own update, and what was said about it holds.
func TestPluginsBehindLinks(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(t.TempDir(), home); err != nil {
		t.Fatal(err)
	}
	installed(t, NewLibrary(home), "old")
	installed(t, NewLibrary(home), "new")
	one(t, NewLibrary(home), "", Enabled)

	l, project := NewLibrary(t.TempDir()), t.TempDir()
	r, _, _ := fetched(t, l, "text")
	if err := os.MkdirAll(filepath.Join(project, projectFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(r.Folder, filepath.Join(project, projectFolder, "notes")); err != nil {
		t.Fatal(err)
	}
	if err := l.Answer(one(t, l, project, New), true); err != nil {
		t.Fatal(err)
	}
	one(t, l, project, Enabled)
}
