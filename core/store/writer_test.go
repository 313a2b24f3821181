package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/chat"
)

func TestOpenCloseLeavesPrivateFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?#%", "workbench.db")
	s := openAt(t, path, Options{})
	if !s.Report().Created {
		t.Error("not reported as new")
	}
	create(t, s, "u")
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(p), info.Mode())
		}
	}
	info, err := os.Stat(filepath.Dir(path))
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
	must(t, s.Close())
	must(t, s.Close())
	if fileExists(path + "-wal") {
		t.Error("the log was left behind")
	}
	if err := s.CreateSession(bg, Session{UID: "late"}); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	again := openAt(t, path, Options{})
	if r := again.Report(); r.Created || r.Unclean || len(r.Notes) > 0 {
		t.Errorf("second open: %+v", r)
	}
}

// Whatever the clock does, messages come back in the order in which they were added.
func TestOrderUnderClockJumps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	var clock atomic.Int64
	s := openAt(t, path, Options{Now: func() time.Time { return time.UnixMilli(clock.Load()) }})
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		uid := fmt.Sprint("u", n)
		create(t, s, uid)
		jumps := rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1000, 1_700_000_000_000, 1_700_000_000_000 - 86_400_000, 2_015_000_000_000}), 1, 12).Draw(rt, "clock")
		for i, at := range jumps {
			clock.Store(at + 1)
			say(t, s, uid, fmt.Sprint(i))
		}
		got, more, err := s.Messages(bg, uid, MessageQuery{Limit: All})
		must(t, err)
		if more || len(got) != len(jumps) {
			rt.Fatalf("%d messages, more=%v", len(got), more)
		}
		for i, m := range got {
			if m.Seq != i+1 || m.Text != fmt.Sprint(i) {
				rt.Fatalf("place %d: seq %d text %s", i, m.Seq, m.Text)
			}
		}
	})
	checkClean(t, s)
}

// Many writers share transactions, each is answered for its own work, and a bad one hurts nobody
// else.
func TestGroupCommit(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	const writers, each = 16, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if w%4 == 0 && i%10 == 0 {
					if _, err := s.Append(bg, "nobody", &chat.Message{Role: chat.RoleUser}, Derived{}); !errors.Is(err, ErrNotFound) {
						t.Errorf("append to nobody: %v", err)
					}
				}
				m := &chat.Message{Role: chat.RoleAssistant, Status: chat.StatusFinal, Text: fmt.Sprintf("w%d i%d", w, i)}
				if _, err := s.Append(bg, "u", m, Derived{}); err != nil {
					t.Error(err)
				}
				if m.ID == 0 || m.Seq == 0 {
					t.Error("acknowledged without a place")
				}
			}
		})
	}
	wg.Wait()
	x, err := s.Session(bg, "u")
	must(t, err)
	if x.Messages != writers*each {
		t.Errorf("%d messages, want %d", x.Messages, writers*each)
	}
	checkClean(t, s)
}

func TestReadersWhileWriting(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers * 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				got, _, err := s.Messages(bg, "u", MessageQuery{Limit: 10})
				if err != nil {
					t.Error(err)
					return
				}
				for i := 1; i < len(got); i++ {
					if got[i].Seq != got[i-1].Seq+1 {
						t.Errorf("a page with a hole: %d after %d", got[i].Seq, got[i-1].Seq)
					}
				}
				search(t, s, "harbour")
			}
		})
	}
	for i := range 100 {
		say(t, s, "u", fmt.Sprint("harbour ", i))
	}
	close(done)
	wg.Wait()
}

// childWriter is the other process of TestTwoProcesses: it appends and prints what was
// acknowledged.
func childWriter(path string) int {
	s, err := Open(bg, path, Options{})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	defer s.Close()
	for i := range 150 {
		m := &chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: fmt.Sprintf("child %d", i)}
		if _, err := s.Append(bg, "u", m, Derived{}); err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Println("ok", m.ID)
	}
	return 0
}

func TestTwoProcesses(t *testing.T) {
	s := open(t)
	create(t, s, "u")
	const children = 3
	var wg sync.WaitGroup
	var acked atomic.Int64
	for range children {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TEST_WRITER="+s.Path())
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		wg.Go(func() {
			for in := bufio.NewScanner(out); in.Scan(); {
				if strings.HasPrefix(in.Text(), "ok ") {
					acked.Add(1)
					continue
				}
				t.Error("child:", in.Text())
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 150 {
		say(t, s, "u", fmt.Sprint("parent ", i))
	}
	wg.Wait()
	got, _, err := s.Messages(bg, "u", MessageQuery{Limit: All})
	must(t, err)
	if want := int(acked.Load()) + 150; len(got) != want || want != 150*(children+1) {
		t.Errorf("%d messages, %d acknowledged", len(got), want)
	}
	checkClean(t, s)
}
