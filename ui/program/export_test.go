package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An export says where it went, and can be taken back.
func TestAnExportSaysWhereItWentAndIsTakenBack(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.open()
	say(s, "$ echo exported words")
	s.WaitFor("✓ $ ")
	s.WaitFor("ready")
	say(s, "/export")
	s.WaitFor("written to ")
	files, err := filepath.Glob(filepath.Join(h.work, "*.md"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(text), "exported words") {
		t.Errorf("%s %v", text, err)
	}
	s.Type("\x1bu")
	s.Wait("no file any more", func(string) bool { _, err := os.Stat(files[0]); return os.IsNotExist(err) })
}
