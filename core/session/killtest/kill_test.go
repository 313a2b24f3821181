package killtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/crash"
	"hermes/core/session"
	"hermes/core/store"
	"hermes/core/testskip"
	"hermes/core/testwait"
)

const (
	kills     = 200
	producers = 4
	reopenMax = 2 * time.Second // 250 ms on a quiet machine; the machine may be busy
)

func TestMain(m *testing.M) {
	if path := os.Getenv("KILLTEST_DB"); path != "" {
		fmt.Println("error", child(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child writes under load until it is killed, and says on standard output what was acknowledged:
// one write call a line.
func child(path string) error {
	ctx := context.Background()
	st, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	svc := session.New(st, nil)
	failed := make(chan error, producers)
	for p := range producers {
		crash.Go("producer", func() { failed <- produce(ctx, svc, p) })
	}
	fmt.Println("ready")
	return <-failed
}

// produce works like an agent: a prompt, a streamed answer with a call, a result, now and then an
// undo.
func produce(ctx context.Context, svc *session.Service, p int) error {
	info, err := svc.Create(ctx, session.NewSession{Source: "killtest"})
	if err != nil {
		return err
	}
	uid := info.UID
	rnd := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(p)))
	for i := 0; ; i++ {
		if err := exchange(ctx, svc, uid, i, rnd); err != nil {
			return err
		}
		if i%3 == 2 {
			if err := compress(ctx, svc, uid, rnd); err != nil {
				return err
			}
		}
		if i%20 == 19 {
			if _, err := svc.Undo(ctx, uid, 1); err != nil {
				return err
			}
		}
	}
}

// compress puts a summary in the place of all that is older than a prompt.
func compress(ctx context.Context, svc *session.Service, uid string, rnd *rand.Rand) error {
	history, err := svc.History(ctx, uid)
	if err != nil {
		return err
	}
	cut := rnd.IntN(len(history))
	for cut > 0 && history[cut].Role != chat.RoleUser {
		cut--
	}
	if cut == 0 {
		return nil
	}
	sum := chat.Message{Role: chat.RoleUser, From: chat.Summary(), Text: fmt.Sprintf("stands for %d", cut)}
	return svc.Compact(ctx, uid, history[cut-1].ID, &sum)
}

func exchange(ctx context.Context, svc *session.Service, uid string, i int, rnd *rand.Rand) error {
	prompt := chat.Message{Role: chat.RoleUser, Text: fmt.Sprintf("prompt %d 数据库 %s", i, strings.Repeat("x", rnd.IntN(500)))}
	if err := svc.Append(ctx, uid, &prompt); err != nil {
		return err
	}
	acked(&prompt)
	answer := chat.Message{Role: chat.RoleAssistant, Status: chat.StatusPartial}
	if err := svc.Append(ctx, uid, &answer); err != nil {
		return err
	}
	if err := svc.UpdatePartial(ctx, answer.ID, "half", "thinking"); err != nil {
		return err
	}
	answer.Text, answer.Status = fmt.Sprintf("answer %d", i), chat.StatusFinal
	answer.Calls = []chat.ToolCall{{ID: strconv.Itoa(i), Name: "terminal", Args: []byte(`{"command":"ls"}`)}}
	if err := svc.Seal(ctx, &answer); err != nil {
		return err
	}
	acked(&answer)
	size := rnd.IntN(2000)
	if i%50 == 0 {
		size = 60_000 // compressed into a row of its own
	}
	result := chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: strconv.Itoa(i), Name: "terminal", Text: strings.Repeat("out ", size/4)}}
	if err := svc.Append(ctx, uid, &result); err != nil {
		return err
	}
	acked(&result)
	return nil
}

func acked(m *chat.Message) { fmt.Printf("ack %d %s\n", m.ID, sum(m)) }

func sum(m *chat.Message) string {
	text := m.Text
	if m.Result != nil {
		text = m.Result.Text
	}
	for _, c := range m.Calls {
		text += c.ID + string(c.Args)
	}
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}

// TestKill9Acked kills a process that writes, at random moments. What it was told to be saved is
// there.
func TestKill9Acked(t *testing.T) {
	testskip.LongWithoutRace(t, "kills the store 200 times")
	path := filepath.Join(t.TempDir(), "workbench.db")
	rnd := rand.New(rand.NewPCG(1, 1))
	total, slowest := 0, time.Duration(0)
	for round := range kills {
		acks := runAndKill(t, path, time.Duration(5+rnd.IntN(120))*time.Millisecond)
		total += len(acks)
		slowest = max(slowest, verify(t, path, acks, round%10 == 9))
		if t.Failed() {
			t.Fatalf("after kill %d", round+1)
		}
	}
	if total < kills {
		t.Errorf("only %d messages were acknowledged: this proved nothing", total)
	}
	t.Logf("%d kills, %d acknowledged messages, all there; slowest reopen %v", kills, total, slowest)
}

// runAndKill starts the writer, kills it some time after it became ready, and returns what it had
// acknowledged.
func runAndKill(t *testing.T, path string, after time.Duration) map[int64]string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KILLTEST_DB="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acks := map[int64]string{}
	in := bufio.NewScanner(out)
	for in.Scan() {
		f := strings.Fields(in.Text())
		switch {
		case len(f) == 1 && f[0] == "ready":
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		case len(f) == 3 && f[0] == "ack":
			id, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acks[id] = f[2]
		case len(f) > 0 && f[0] == "error":
			t.Errorf("the writer: %s", in.Text())
		}
	}
	_ = cmd.Wait() // killed, as it should be
	return acks
}

// verify opens the database as the next process would, and returns how long that took.
func verify(t *testing.T, path string, acks map[int64]string, thorough bool) time.Duration {
	t.Helper()
	ctx := context.Background()
	start := time.Now()
	st, err := store.Open(ctx, path, store.Options{})
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if took > testwait.Within(reopenMax) {
		t.Errorf("opening took %v", took)
	}
	if r := st.Report(); r.MovedTo != "" || r.Replayed > 0 || len(r.Notes) > 0 {
		t.Errorf("open: %+v", r)
	}
	for id, want := range acks {
		m, err := st.Message(ctx, id)
		if err != nil || sum(&m.Message) != want {
			t.Errorf("message %d: sum %s, want %s: %v", id, sum(&m.Message), want, err)
		}
	}
	checkFile(ctx, t, st, thorough)
	resume(ctx, t, session.New(st, nil))
	return took
}

func checkFile(ctx context.Context, t *testing.T, st *store.Store, thorough bool) {
	t.Helper()
	check := st.QuickCheck
	if thorough { // also the index, row by row
		check = st.Check
	}
	problems, err := check(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("check: %q %v", problems, err)
	}
}

// resume opens the newest session: nothing partial is left, and every call has its answer.
func resume(ctx context.Context, t *testing.T, svc *session.Service) {
	t.Helper()
	info, err := svc.Resolve(ctx, "last")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := svc.Open(ctx, info.UID, "resume"); err != nil {
		t.Fatal(err)
	}
	history, err := svc.History(ctx, info.UID)
	if err != nil {
		t.Fatal(err)
	}
	shown, _, err := svc.Messages(ctx, info.UID, session.Page{Limit: store.All})
	if err != nil {
		t.Fatal(err)
	}
	// The whole conversation, or a summary in the place of its beginning.
	hidden := len(shown) - len(history)
	if hidden > 0 != (len(history) > 0 && history[0].From.IsSummary()) {
		t.Errorf("%d messages are shown, %d are sent, the first of these is by %q", len(shown), len(history), history[0].From.Kind)
	}
	open := map[string]bool{}
	for i, m := range history {
		if m.ID != shown[hidden+i].ID {
			t.Errorf("message %d is sent at %d, where %d is shown", m.ID, i, shown[hidden+i].ID)
		}
		if m.Status == chat.StatusPartial {
			t.Errorf("message %d is still partial", m.ID)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
		if m.Result != nil {
			delete(open, m.Result.CallID)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without an answer: %v", open)
	}
}
