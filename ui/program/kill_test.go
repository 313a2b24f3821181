package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/provider/modeltest"
	"hermes/core/testskip"
)

// forever is a command in the background that never ends, with a child that leaves its group. Its
// ampersand is as an event's line writes it.
const forever = `{"background": true, "command": "setsid sleep 4711 \u0026 sleep %d4711"}`

// busyTurns keep the program at work: streams, parallel calls, commands, files. No two are the
// same, because a model that repeats itself is stopped.
func busyTurns() modeltest.Script {
	script := modeltest.Script{Loop: true}
	for n := range 200 {
		call := func(name, args string) modeltest.Call { return modeltest.Call{Name: name, Args: fmt.Sprintf(args, n)} }
		script.Turns = append(script.Turns,
			modeltest.Turn{
				Reasoning: "Both at once.", Text: strings.Repeat("I run and read. ", 20), Chunk: 3,
				Calls: []modeltest.Call{call("terminal", `{"command": "seq %d 500"}`), call("terminal", `{"command": "echo 容器 %d; exit 3"}`), call("terminal", forever)},
			},
			modeltest.Turn{Text: "Now a file.", Calls: []modeltest.Call{
				call("write_file", `{"path": "notes-%d.txt", "content": "`+strings.Repeat("line\\n", 200)+`"}`),
			}},
			modeltest.Turn{Calls: []modeltest.Call{call("read_file", `{"path": "notes-%d.txt"}`), call("search_files", `{"pattern": "line", "path": "notes-%d.txt"}`)}},
		)
	}
	return script
}

// TestKillAtAnyMoment kills the real program at random moments while a model keeps it at work.
// Every message that it had announced is stored as announced, the file is sound, no command lives
// on, and the next run goes on with the session.
func TestKillAtAnyMoment(t *testing.T) {
	if testing.Short() {
		killInTwoHomes(t, 16)
		return
	}
	killInTwoHomes(t, 60)
}

func TestKillTwoHundredTimes(t *testing.T) {
	testskip.LongWithoutRace(t, "kills the program two hundred times")
	killInTwoHomes(t, 200)
}

// killInTwoHomes works in two homes at a time, because half of a round is waiting.
func killInTwoHomes(t *testing.T, kills int) {
	t.Helper()
	const homes = 2
	for seed := range uint64(homes) {
		t.Run(fmt.Sprint("home ", seed), func(t *testing.T) {
			t.Parallel()
			killAgainAndAgain(t, kills/homes, rand.New(rand.NewPCG(seed, 7))) //nolint:gosec // the same moments each time, as far as events are
		})
	}
}

func killAgainAndAgain(t *testing.T, rounds int, rnd *rand.Rand) {
	server := modeltest.NewScript(t, busyTurns())
	h := newHome(t, serverSettings(server)+"agent:\n  max_turns: 0\n")
	announced, children := 0, 0
	for round := range rounds {
		args := []string{"run", "--yes", "--output", "jsonl", "--cwd", h.work, "keep going"}
		if round > 0 && round%5 != 0 {
			args = append(args, "--continue")
		}
		said, after := h.killed(args, rnd.IntN(moments), time.Duration(rnd.IntN(20))*time.Millisecond)
		announced += len(said)
		children += len(after.children)
		h.verify(said)
		after.gone(t)
		if t.Failed() {
			t.Fatalf("after kill %d of %d", round+1, rounds)
		}
	}
	if announced < rounds {
		t.Errorf("only %d messages were announced in %d runs: this proved nothing", announced, rounds)
	}
	if children < rounds/8 && runtime.GOOS == "linux" { // many a kill comes before the first command
		t.Errorf("only %d children were seen in %d runs: this proved nothing about them", children, rounds)
	}
	t.Logf("%d kills, %d announced messages, all there, %d children, none left", rounds, announced, children)
}

// moments are the events after which a kill may come: those of the first requests with their
// commands.
const moments = 60

// killed runs the program, kills it some time after so many events, and returns the messages that
// it had announced, and what may be left of it. Events are a clock that goes as fast as the program
// does; should they stop coming, a second without one is enough.
func (h *home) killed(args []string, events int, after time.Duration) ([]chat.Message, *orphans) {
	h.t.Helper()
	cmd := exec.Command("hermes", args...)
	cmd.Env = h.env()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	left := &orphans{home: h.dir}
	var once sync.Once
	kill := func() {
		once.Do(func() {
			left.seen(cmd.Process.Pid)
			_ = cmd.Process.Kill()
		})
	}
	silence := time.AfterFunc(patience, kill)
	defer silence.Stop()
	said := announced(h.t, out, func(n int) {
		silence.Reset(time.Second)
		if n == events {
			time.AfterFunc(after, kill)
		}
	})
	_ = cmd.Wait() // killed, as it should be
	if code := cmd.ProcessState.ExitCode(); code != -1 {
		h.t.Errorf("the program ended by itself with %d: %s", code, &errs)
	}
	return said, left
}

// announced reads events until the pipe ends and keeps the complete messages. came is called at
// each event with its number from 0. A last line that the kill cut in two announced nothing.
func announced(t testing.TB, out io.Reader, came func(n int)) []chat.Message {
	t.Helper()
	var said []chat.Message
	in := bufio.NewReader(out)
	for n := 0; ; n++ {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return said
		}
		came(n)
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		if l.Type == "MessageAdded" || l.Type == "MessageSealed" {
			said = append(said, l.Data.Message)
		}
	}
}

// verify opens the home as the next process would: what was announced is there, and the newest
// session goes on.
func (h *home) verify(said []chat.Message) {
	h.t.Helper()
	ctx := h.t.Context()
	svc, st := h.sessions()
	defer st.Close()
	if r := st.Report(); r.MovedTo != "" || len(r.Notes) > 0 {
		h.t.Errorf("open: %+v", r)
	}
	for _, m := range said {
		got, err := st.Message(ctx, m.ID)
		if err != nil || content(&got.Message) != content(&m) {
			h.t.Errorf("message %d of %s is %.200q, was announced as %.200q: %v", m.ID, m.Role, content(&got.Message), content(&m), err)
		}
	}
	if problems, err := st.QuickCheck(ctx); err != nil || len(problems) > 0 {
		h.t.Errorf("check: %q %v", problems, err)
	}
	info, err := svc.Resolve(ctx, "last")
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := svc.Open(ctx, info.UID, "resume"); err != nil {
		h.t.Fatal(err)
	}
	history, err := svc.History(ctx, info.UID)
	if err != nil {
		h.t.Fatal(err)
	}
	open := map[string]int{}
	for _, m := range history {
		if m.Status == chat.StatusPartial {
			h.t.Errorf("message %d is still partial", m.ID)
		}
		for _, c := range m.Calls {
			open[c.ID]++
		}
		if m.Result != nil {
			open[m.Result.CallID]--
		}
	}
	for id, n := range open {
		if n != 0 {
			h.t.Errorf("call %s: %d without an answer", id, n)
		}
	}
}

// content is what a message says, whatever part says it.
func content(m *chat.Message) string {
	text := string(m.Role) + m.Text + m.Reasoning
	for _, c := range m.Calls {
		var args bytes.Buffer
		_ = json.Compact(&args, c.Args) // an event's line has no blanks
		text += c.ID + c.Name + args.String()
	}
	if m.Result != nil {
		text += m.Result.CallID + m.Result.Text
	}
	return text
}
