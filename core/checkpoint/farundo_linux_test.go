package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hermes/core/files"
)

// TestUndoThatLeavesFilesIsInPart: a turn whose far files could not be put back is not undone;
// it is once their back end answers again.
func TestUndoThatLeavesFilesIsInPart(t *testing.T) {
	t.Parallel()
	down := false
	s := Open(Options{Dir: t.TempDir(), Far: func(string, string) (files.System, error) {
		if down {
			return nil, errors.New("the engine does not answer")
		}
		return files.Local{}, nil
	}})
	t.Cleanup(s.Close)
	dir := t.TempDir()
	near, far := filepath.Join(dir, "near"), filepath.Join(dir, "far")
	c := Change{Session: "s", Turn: "t", Tool: "write_file", Paths: []string{near, FarPath("box", far)}}
	if err := s.Before(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{near, far} {
		if err := os.WriteFile(name, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.After(c)
	turn, err := s.End(t.Context(), "s", "t")
	if err != nil {
		t.Fatal(err)
	}
	undo := func() *Record {
		t.Helper()
		p, err := s.Plan(t.Context(), Selection{Records: []string{turn.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Undo(t.Context(), p, false); err != nil {
			t.Fatal(err)
		}
		list, err := s.List("s")
		if err != nil {
			t.Fatal(err)
		}
		return list[0]
	}
	down = true
	if r := undo(); r.Undone != "" || r.Partly == "" {
		t.Errorf("with the engine down: undone %q, in part %q", r.Undone, r.Partly)
	}
	down = false
	if r := undo(); r.Undone == "" {
		t.Error("all is back and the turn does not count as undone")
	}
	if _, err := os.Stat(far); err == nil {
		t.Error("the far file is there")
	}
}
