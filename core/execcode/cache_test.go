package execcode

import (
	"os"
	"path/filepath"
	"testing"
)

// What was found out is there at the next start, and a file that says nothing sensible is no
// trouble.
func TestTheCache(t *testing.T) {
	base := newEngine(t)
	file := filepath.Join(t.TempDir(), "cache", "scripts.json")
	first := New(Options{Env: base.o.Env, Cache: file})
	want, err := first.Probe(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	saved := readCache(file)
	if len(saved.Pythons) == 0 || len(saved.Levels) != 1 {
		t.Fatalf("%d interpreters, %d levels", len(saved.Pythons), len(saved.Levels))
	}
	second := New(Options{Env: base.o.Env, Cache: file})
	if got, err := second.Probe(t.Context(), ""); err != nil || got != want {
		t.Errorf("%+v, was %+v: %v", got, want, err)
	}
	if len(second.pythons.seen) != len(saved.Pythons) {
		t.Error("it was looked at again")
	}
	if res := second.Run(t.Context(), script(t, "print(1)")); res.Output != "1\n" {
		t.Errorf("%+v", res)
	}
	if err := os.WriteFile(file, []byte("{nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	third := New(Options{Env: base.o.Env, Cache: file})
	if got, err := third.Probe(t.Context(), ""); err != nil || got != want {
		t.Errorf("%+v: %v", got, err)
	}
}

// A level that was kept is forgotten when a start under it fails; one that was tried just now, or
// was given, is not.
func TestAKeptLevelIsTriedAgain(t *testing.T) {
	base := newEngine(t)
	file := filepath.Join(t.TempDir(), "scripts.json")
	tried := New(Options{Env: base.o.Env, Cache: file})
	if _, err := tried.Probe(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if tried.levels.forgetStale(file) {
		t.Error("what was tried just now is forgotten")
	}
	kept := New(Options{Env: base.o.Env, Cache: file})
	if _, err := kept.Probe(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if !kept.levels.forgetStale(file) || len(readCache(file).Levels) != 0 || kept.levels.known != nil {
		t.Error("what was kept is not forgotten")
	}
	if res := kept.Run(t.Context(), script(t, "print(1)")); res.Output != "1\n" || len(readCache(file).Levels) != 1 {
		t.Errorf("%+v", res)
	}
	if given := New(Options{Env: base.o.Env, Isolation: &Isolation{}}); given.levels.forgetStale("") {
		t.Error("what was given is forgotten")
	}
}
