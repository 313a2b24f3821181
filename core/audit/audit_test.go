package audit

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/testwait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func record(t *testing.T, dir string, events ...event.Event) {
	t.Helper()
	bus := event.NewBus()
	w := Open(dir, bus, slog.New(slog.DiscardHandler))
	for _, e := range events {
		bus.Publish(event.Header{Session: "s1", Turn: "t1"}, e)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func entries(t *testing.T, dir string, f Filter) []Entry {
	t.Helper()
	var out []Entry
	if err := Read(dir, f, func(e Entry) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	secret.Add("canary-secret-4711")
	code := 3
	record(t, dir,
		event.ToolStarted{Call: chat.ToolCall{ID: "c1", Name: "terminal"}, Gist: "rm -rf build # canary-secret-4711", Backend: "box"},
		event.ApprovalAsked{ID: "a1", Call: chat.ToolCall{ID: "c1", Name: "terminal"}, Detail: "rm -rf build", Effects: []string{"deletes recursively: build"}, Reason: "deletes"},
		event.ApprovalSettled{ID: "a1", CallID: "c1", Decision: event.DecisionOnce, By: "user"},
		event.TextDelta{Text: "not an act"},
		event.ToolEnded{Result: chat.ToolResult{CallID: "c1", Name: "terminal", Backend: "box", ExitCode: &code, Took: time.Second, Text: "output is not kept"}},
	)
	got := entries(t, dir, Filter{})
	if len(got) != 4 {
		t.Fatalf("%d entries: %+v", len(got), got)
	}
	var what []string
	for _, e := range got {
		what = append(what, e.What)
		if e.Session != "s1" || e.User == "" || e.PID != os.Getpid() || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	if s := strings.Join(what, " "); s != "start ask decide end" {
		t.Errorf("recorded %s", s)
	}
	if got[2].By != "user" || got[2].Decision != "once" || *got[3].ExitCode != 3 || got[3].TookMS != 1000 {
		t.Errorf("%+v %+v", got[2], got[3])
	}
	files, _ := Files(dir)
	data, err := os.ReadFile(files[0])
	if err != nil || bytes.Contains(data, []byte("canary")) || bytes.Contains(data, []byte("output is not kept")) {
		t.Errorf("%v %s", err, data)
	}
	if info, _ := os.Stat(files[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if list := entries(t, dir, Filter{What: Ask, Text: "RECURSIVELY"}); len(list) != 1 {
		t.Errorf("filter: %v", list)
	}
}

func many(n int) []event.Event {
	out := make([]event.Event, n)
	for i := range out {
		out[i] = event.BackendSelected{Name: fmt.Sprint("b", i)}
	}
	return out
}

// TestTheChain changes, removes and inserts lines: Verify names the place each time.
func TestTheChain(t *testing.T) {
	for name, spoil := range map[string]func([]string) []string{
		"changed":  func(l []string) []string { l[3] = strings.Replace(l[3], "b3", "b9", 1); return l },
		"removed":  func(l []string) []string { return append(l[:3:3], l[4:]...) },
		"inserted": func(l []string) []string { return append(l[:3:3], append([]string{l[1]}, l[3:]...)...) },
		"torn":     func(l []string) []string { l[3] = l[3][:20]; return l },
	} {
		dir := t.TempDir()
		record(t, dir, many(6)...)
		if n, breaks, err := Verify(dir); n != 6 || len(breaks) != 0 || err != nil {
			t.Fatalf("untouched: %d %v %v", n, breaks, err)
		}
		files, _ := Files(dir)
		data, _ := os.ReadFile(files[0])
		lines := spoil(strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"))
		if err := os.WriteFile(files[0], []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, breaks, _ := Verify(dir); len(breaks) == 0 || breaks[0].Line < 3 || breaks[0].Line > 5 {
			t.Errorf("%s: %v", name, breaks)
		}
	}
}

func TestSeveralWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { record(t, dir, many(50)...) })
	}
	wg.Wait()
	if n, breaks, err := Verify(dir); n != 400 || len(breaks) != 0 || err != nil {
		t.Errorf("%d %v %v", n, breaks, err)
	}
}

// TestAfterACrash goes on behind half a line.
func TestAfterACrash(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, many(2)...)
	files, _ := Files(dir)
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"at":"2026-`)
	_ = f.Close()
	record(t, dir, many(2)...)
	n, breaks, err := Verify(dir)
	if n != 5 || len(breaks) != 1 || breaks[0].Line != 3 || err != nil {
		t.Errorf("%d %v %v", n, breaks, err)
	}
	if got := entries(t, dir, Filter{}); len(got) != 4 {
		t.Errorf("%d entries", len(got))
	}
}

// TestADiskThatRefuses keeps what happened and writes it later.
func TestADiskThatRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the folder belongs
		t.Fatal(err)
	}
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	defer box.Close()
	w := Open(dir, bus, slog.New(slog.DiscardHandler))
	bus.Publish(event.Header{}, event.BackendSelected{Name: "one"})
	for told := false; !told; {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		batch, err := box.Next(ctx)
		cancel()
		if err != nil {
			t.Fatal("nobody was told: ", err)
		}
		for _, env := range batch {
			_, told = env.Event.(event.Notice)
		}
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	bus.Publish(event.Header{}, event.BackendSelected{Name: "two"})
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir, Filter{}); len(got) != 2 || got[0].Backend != "one" {
		t.Errorf("%+v", got)
	}
}

func TestADecisionThatNobodyWasAskedAboutIsRecordedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	bus := event.NewBus()
	w := Open(dir, bus, slog.New(slog.DiscardHandler))
	told := func(id string, asked, allowed bool, by string) {
		w.Decided(approval.Record{
			At:      time.Now(),
			Request: approval.Request{Session: "s1", Turn: "t1", Call: chat.ToolCall{ID: id, Name: "terminal"}},
			Verdict: approval.Verdict{Asked: asked, Allowed: allowed, Decision: event.DecisionOnce, By: event.Decider(by)},
		})
	}
	bus.Publish(event.Header{Session: "s1"}, event.ToolStarted{Call: chat.ToolCall{ID: "c1", Name: "terminal"}})
	told("c1", false, true, "level")
	told("c2", true, true, "user")     // the bus tells of it
	told("c3", false, false, "policy") // and of every refusal
	bus.Publish(event.Header{Session: "s1"}, event.ToolEnded{Result: chat.ToolResult{CallID: "c1", Name: "terminal"}})
	told("c4", false, true, "rule") // no event follows: the end writes it
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	got := entries(t, dir, Filter{})
	var order []string
	for _, e := range got {
		order = append(order, e.What+" "+e.Call+" "+e.By)
	}
	if want := "start c1 |decide c1 level|end c1 |decide c4 rule"; strings.Join(order, "|") != want || got[1].Session != "s1" || got[1].Turn != "t1" {
		t.Errorf("%q, want %q", order, want)
	}
}

// A program without a bus records into the same chain.
func TestRecordWithoutABus(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	changed := event.MemoryChanged{Target: "user", Action: "write", By: "person", Added: []string{"Likes tea"}}
	record(t, dir, changed)
	if err := Record(dir, changed, event.TurnStarted{}); err != nil {
		t.Fatal(err)
	}
	if err := Record(dir, event.TurnStarted{}); err != nil {
		t.Fatal(err)
	}
	var gists []string
	if err := Read(dir, Filter{What: Memory}, func(e Entry) error { gists = append(gists, e.By+" "+e.Gist); return nil }); err != nil {
		t.Fatal(err)
	}
	if n, breaks, err := Verify(dir); n != 2 || breaks != nil || err != nil || len(gists) != 2 || gists[1] != "person + Likes tea" {
		t.Errorf("%d entries, %v, %v, %q", n, breaks, err, gists)
	}
	if err := Record(string([]byte{0}), changed); err == nil || !strings.Contains(err.Error(), "audit log cannot be written") {
		t.Errorf("%v", err)
	}
}
