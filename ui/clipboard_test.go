package ui

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/testskip"
)

// Inside tmux, where no desktop is, what is copied lies in the buffer of tmux: a sequence of a
// program it takes only if it is told to.
func TestACopyInsideTmuxReachesItsBuffer(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		testskip.Missing(t, "tmux")
	}
	socket := filepath.Join(t.TempDir(), "tmux")
	tmux := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v %s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-s", "copy", "cat")
	t.Cleanup(func() { tmux("kill-server") })
	t.Setenv("TMUX", socket+",1,0")
	o := Options{
		Getenv:  func(name string) string { return map[string]string{"TMUX": socket}[name] },
		Command: exec.CommandContext,
	}
	done := o.nativeCopy("the answer", "一 line\nand another", true)
	if done.level != event.Info || !strings.HasPrefix(done.text, "copied the answer") {
		t.Errorf("%+v", done)
	}
	if got := tmux("show-buffer"); got != "一 line\nand another" {
		t.Errorf("the buffer has %q", got)
	}
}
