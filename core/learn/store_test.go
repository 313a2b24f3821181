package learn

import (
	"os"
	"strings"
	"testing"
)

// A damaged file is named, and stays as it is until somebody looks at it.
func TestADamagedFileIsNamedAndKept(t *testing.T) {
	s := store{t.TempDir()}
	const damaged = `{"experiences": [` + "\n"
	if err := os.WriteFile(s.path(), []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.readState()
	if err == nil || !strings.Contains(err.Error(), s.path()) || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("readState: %v, want the file's name and what to do", err)
	}
	if err := s.editState(func(*state) error { return nil }); err == nil {
		t.Error("editState wrote over a damaged file")
	}
	if got, _ := os.ReadFile(s.path()); string(got) != damaged {
		t.Errorf("the file holds %q now", got)
	}
}
