package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hermes/core/provider/modeltest"
)

// heldCommands makes two pipes in the folder and returns calls that each read one, to its end.
func heldCommands(t *testing.T, h *home) (calls []modeltest.Call, pipes []string) {
	t.Helper()
	for _, name := range []string{"first", "second"} {
		p := filepath.Join(h.work, name)
		if err := unix.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, modeltest.Call{Name: "terminal", Args: `{"command":"echo ` + name + ` began; cat ` + name + `"}`})
		pipes = append(pipes, p)
	}
	return calls, pipes
}

// feed lets a command end. Opening a pipe for writing waits until somebody reads it: until the
// command runs.
func feed(t *testing.T, pipe, line string) {
	t.Helper()
	if err := os.WriteFile(pipe, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Two commands of one answer take as long as the longer one: the second one ends before the first.
func TestTwoCommandsOfOneAnswerRunAtOnce(t *testing.T) {
	h, _ := homeWith(t)
	calls, pipes := heldCommands(t, h)
	m := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Calls: calls}, {Text: "Both are done."}}})
	h.configure(serverSettings(m))
	done := make(chan result, 1)
	go func() { done <- h.run("run", "go") }()
	feed(t, pipes[1], "two is over")
	feed(t, pipes[0], "one is over")
	if r := <-done; r.code != 0 || !strings.Contains(r.out, "Both are done.") {
		t.Fatalf("code %d: %s%s", r.code, r.out, r.err)
	}
	got := heard(m)
	if len(got) != 2 || got[0] != "first began\none is over" || got[1] != "second began\ntwo is over" {
		t.Errorf("the model is told %q", got)
	}
}

// While they run the screen shows both, each with its newest line.
func TestCallsThatRunAtOnceAreShownSideBySide(t *testing.T) {
	h, _ := homeWith(t)
	calls, pipes := heldCommands(t, h)
	m := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Calls: calls}, {Text: "Both are done."}}})
	h.configure(serverSettings(m))
	s := h.open()
	say(s, "go")
	s.Wait("both at work", func(p string) bool {
		return strings.Contains(p, "first began") && strings.Contains(p, "second began")
	})
	feed(t, pipes[1], "two is over")
	s.Wait("the second one's end", func(p string) bool {
		return strings.Contains(p, "two is over") && strings.Contains(p, "✓ terminal  echo second") && strings.Contains(p, "▶ terminal  echo first")
	})
	feed(t, pipes[0], "one is over")
	s.WaitFor("Both are done.")
	leave(t, s)
}
