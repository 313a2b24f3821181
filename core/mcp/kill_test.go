package mcp

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/testskip"
	"hermes/core/tool"
)

// descriptors counts the open files of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		testskip.Missing(t, "the list of open files, which only Linux has:", err)
	}
	return len(list)
}

// A program that is killed again and again, also in the middle of a call, comes back each time, and
// leaves no process, descriptor or goroutine (TestMain looks for those).
func TestRandomKills(t *testing.T) {
	testskip.Long(t, "two hundred programs")
	killAtRandom(t, 200)
}

func TestThousandRandomKills(t *testing.T) {
	testskip.LongWithoutRace(t, "a thousand programs")
	killAtRandom(t, 1000)
}

func killAtRandom(t *testing.T, kills int) {
	t.Helper()
	p := newPlace(t)
	p.Apply(entries(program("srv", "honest")))
	mustReady(t, p, "srv")
	before := descriptors(t)
	for i := range kills {
		p.pool.mu.Lock()
		for _, q := range p.pool.procs {
			select {
			case <-q.done:
			default:
				_ = syscall.Kill(-q.cmd.Process.Pid, syscall.SIGKILL)
			}
		}
		p.pool.mu.Unlock()
		for range rand.IntN(3) {
			p.call("mcp__srv__echo", `{}`) // it may fail: the kill may come in its middle
		}
		worked := false
		for try := 0; try < 5 && !worked; try++ {
			_, failed := p.call("mcp__srv__echo", `{}`)
			worked = !failed
		}
		if !worked {
			s, _ := p.Status("srv")
			t.Fatalf("no call works after kill %d: %+v", i, s)
		}
	}
	s, _ := p.Status("srv")
	if s.Generation < kills/2 {
		t.Errorf("only %d connections: this proved nothing", s.Generation)
	}
	if now := descriptors(t); now > before+2 {
		t.Errorf("%d descriptors, %d before", now, before)
	}
	if n := p.pool.living(); n != 1 {
		t.Errorf("%d programs live", n)
	}
}

// BenchmarkCall compares a call through the registry with one of the library alone.
func BenchmarkCall(b *testing.B) {
	p := newPlace(b)
	p.Apply(entries(program("srv", "honest")))
	p.Await(b.Context(), "srv")
	s, err := p.findServer("srv")
	if err != nil || s.conn == nil {
		b.Fatal(err)
	}
	args := json.RawMessage(`{"path":"x","n":1}`)
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.conn.session.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: args}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("registry", func(b *testing.B) {
		for b.Loop() {
			if r := p.tools.Run(b.Context(), "mcp__srv__echo", tool.Call{ID: "c", Args: args}); r.IsError {
				b.Fatal(r.Text)
			}
		}
	})
}
