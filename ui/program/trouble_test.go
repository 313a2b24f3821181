package program

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/uitest"
)

func TestAFailedTurnSaysSoAndTheNextOneWorks(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t,
		modeltest.Turn{Status: 401},
		modeltest.Turn{Text: "Half an answer.", Fault: modeltest.FaultErrorEvent, After: 1, Message: "This is not allowed here.", Code: "content_filter"},
		modeltest.Turn{Text: "All is well."},
	)
	s := h.open()
	say(s, "first")
	s.WaitFor("Incorrect API key")
	s.WaitFor("/connect chooses a server")
	s.WaitFor("ready")
	say(s, "second")
	s.WaitFor("All is well.")
	s.WaitFor("ready")
}

func TestEscStopsTheWaitForAnotherTry(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Status: 429, RetryAfter: "50"}, modeltest.Turn{Text: "After all."})
	s := h.open()
	say(s, "first")
	s.WaitFor("retrying test-model in 49 s") // it counts
	s.Type(esc)
	s.WaitFor("ready")
	say(s, "second")
	s.WaitFor("After all.")
}

// A wait for the model ends with any key, which does what it does besides.
func TestAnyKeyEndsTheWaitForAnotherTry(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Status: 429, RetryAfter: "50"}, modeltest.Turn{Text: "After all."})
	s := h.open()
	say(s, "first")
	s.WaitFor("retrying test-model in 48 s") // who types goes on typing: a key counts after a rest
	s.Type("x")
	s.WaitFor("After all.")
	s.WaitFor("❯ x")
}

func TestWhatWasQueuedIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	h, server := homeWith(t, modeltest.Turn{Text: "Words that never end.", After: 1, Hold: make(chan struct{})})
	h.configure(serverSettings(server) + "display:\n  busy_input_mode: queue\n")
	s := h.open()
	say(s, "start")
	s.WaitFor("Words")
	say(s, "do not forget this")
	s.WaitFor("1 queued")
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	s = h.screen(160, 44, ui.Options{}, "last")
	s.WaitFor("1 held: do not forget this")
	s.WaitFor("Words")
	s.WaitFor("ready")
}

func TestNothingRunsOnAfterTheEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server, err := modeltest.Start(modeltest.Script{Turns: []modeltest.Turn{
		{Calls: []modeltest.Call{{Name: "read_file", Args: `{"path": "nothing.txt"}`}}}, {Text: "Nothing there."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	h := newHome(t, serverSettings(server))
	s := h.open()
	say(s, "look")
	s.WaitFor("Nothing there.")
	s.WaitFor("ready")
	leave(t, s)
}

func TestEscAndLeavingEndWhatRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t, "")
	s := h.open()
	first := started(t, s, h, "one")
	s.Type(esc)
	eventually(t, "the end of the command after esc", func() bool { return gone(first) })
	s.WaitFor("ready")
	second := started(t, s, h, "two")
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	eventually(t, "the end of the command after the end", func() bool { return gone(second) })
}

// started runs a command with a child of its own and returns the child's process.
func started(t *testing.T, s *uitest.Screen, h *home, name string) (process int) {
	t.Helper()
	say(s, "$ sh -c 'echo $$ > "+name+"; exec sleep 300' | cat")
	eventually(t, "a running command", func() bool {
		text, err := os.ReadFile(filepath.Join(h.work, name))
		if err == nil {
			process, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil
	})
	s.WaitFor("esc stop") // the screen knows of it as well
	return process
}

// gone reports whether a process has ended. In a container without an init nobody may fetch its
// exit code.
func gone(process int) bool {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
		return true
	}
	return errors.Is(syscall.Kill(process, 0), syscall.ESRCH)
}
