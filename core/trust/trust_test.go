package trust

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "trust.json")
	b := New(path)
	is := func(hash string, want State) {
		t.Helper()
		if got, err := b.State("/proj", hash); got != want || err != nil {
			t.Errorf("%s is %q, want %q (%v)", hash, got, want, err)
		}
	}
	is("a", Unasked)
	if err := b.Answer("/proj", "a", true); err != nil {
		t.Fatal(err)
	}
	is("a", Trusted)
	is("b", Outdated)
	if err := b.Answer("/proj", "b", false); err != nil {
		t.Fatal(err)
	}
	is("b", Refused)
	is("a", Outdated)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := b.State("/proj", "b"); got != Unasked || err == nil {
		t.Errorf("a broken file says %q, %v", got, err)
	}
}
