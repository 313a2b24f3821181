package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

// holder is the other process of TestTwoProcessesInOneSession: it has a turn that runs until it is
// killed.
func holder(path string) int {
	st, err := store.Open(bg, path, store.Options{})
	if err == nil {
		_, err = New(st, event.NewBus()).Lease(bg, "shared")
	}
	if err == nil {
		_, err = st.Append(bg, "shared", &chat.Message{Role: chat.RoleAssistant, Status: chat.StatusPartial, Text: "I am still"}, store.Derived{})
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // for ever
	return 0
}

// elsewhere are the sessions of the list that another process works in.
func elsewhere(t *testing.T, s *Service) string {
	t.Helper()
	list, err := s.List(bg, Filter{})
	must(t, err)
	var uids []string
	for _, info := range list {
		if info.Elsewhere {
			uids = append(uids, info.UID)
		}
	}
	return strings.Join(uids, " ")
}

// What another process is just writing is not taken for the rest of a crash: who opens the session
// too is told, and nothing is changed. When that process dies, however it dies, the session is free
// and its rest is closed.
func TestTwoProcessesInOneSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	st, err := store.Open(bg, path, store.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	s := New(st, event.NewBus())
	create(t, s, NewSession{UID: "shared"})
	create(t, s, NewSession{UID: "other"})
	add(t, s, "shared", user("go"))

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_TEST_HOLDER="+path)
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other process says %q", line)
	}

	var used *store.InUseError
	_, openErr := s.Open(bg, "shared", "resume")
	_, leaseErr := s.Lease(bg, "shared")
	for what, err := range map[string]error{"open": openErr, "lease": leaseErr, "delete": s.Delete(bg, "shared")} {
		if !errors.As(err, &used) || used.PID != cmd.Process.Pid {
			t.Errorf("%s: %v, want that process %d has it", what, err, cmd.Process.Pid)
		}
	}
	if got := elsewhere(t, s); got != "shared" {
		t.Errorf("the list says that another hermes works in %q", got)
	}
	if h := history(t, s, "shared"); len(h) != 2 || h[1].Status != chat.StatusPartial {
		t.Errorf("the running answer was touched: %+v", h)
	}
	if _, err := s.Open(bg, "other", "resume"); err != nil {
		t.Errorf("another session: %v", err)
	}

	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if got := elsewhere(t, s); got != "" {
		t.Errorf("the list says that a process that is gone works in %q", got)
	}
	_, err = s.Open(bg, "shared", "resume")
	must(t, err)
	if h := history(t, s, "shared"); len(h) != 2 || h[1].Status != chat.StatusCancelled || h[1].Text != "I am still" {
		t.Errorf("after the kill: %+v", h)
	}
}

// Opening a session whose turn runs in this very process changes nothing either, and the turn keeps
// its lease.
func TestOpenBesideATurnOfOurOwn(t *testing.T) {
	s, _ := newService(t)
	uid := create(t, s, NewSession{}).UID
	release, err := s.Lease(bg, uid)
	must(t, err)
	add(t, s, uid, user("go"))
	add(t, s, uid, chat.Message{Role: chat.RoleAssistant, Status: chat.StatusPartial, Text: "half"})
	_, err = s.Open(bg, uid, "resume")
	must(t, err)
	if h := history(t, s, uid); h[1].Status != chat.StatusPartial {
		t.Errorf("our own answer was closed: %+v", h[1])
	}
	release()
	release()
	_, err = s.Open(bg, uid, "resume")
	must(t, err)
	if h := history(t, s, uid); h[1].Status != chat.StatusCancelled {
		t.Errorf("after the turn: %+v", h[1])
	}
}
