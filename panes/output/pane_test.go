package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

var (
	start = time.Date(2026, 3, 4, 14, 2, 0, 0, time.UTC)
	here  = event.Header{Session: "s", At: start}
	later = event.Header{Session: "s", At: start.Add(6200 * time.Millisecond)}
)

const unified = "--- a/pool/ttl.go\n+++ b/pool/ttl.go\n@@ -10,3 +10,4 @@\n func idle() int {\n-\treturn 31\n+\treturn 30 // 容器\n+\t// not more\n }\n"

func opened(t testing.TB, h History) *Pane {
	t.Helper()
	p := New(h)
	p.SetClock(func() time.Time { return start.Add(41 * time.Second) })
	p.Restyle(uitest.Styles(t, style.None))
	p.Resize(44, 10)
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "s"}))
	return p
}

func started(id, gist string) event.ToolStarted {
	return event.ToolStarted{Call: chat.ToolCall{ID: id, Name: "terminal"}, Gist: gist, Backend: "analytics"}
}

func printed(id string, offset int, s string) event.ToolOutput {
	return event.ToolOutput{CallID: id, Stream: event.Stdout, Offset: int64(offset), Data: []byte(s)}
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func (p *Pane) all(h event.Header, events ...event.Event) { p.Apply(uitest.Envelopes(h, events...)) }

func act(t testing.TB, p *Pane, id string) {
	t.Helper()
	for _, a := range p.Actions() {
		if a.ID == id {
			if a.Why != nil && a.Why() != "" {
				t.Fatalf("%s: %s", id, a.Why())
			}
			uitest.Pump(p, a.Run(""))
			return
		}
	}
	t.Fatalf("there is no action %s", id)
}

const pytest = "........................................\n...................F.....\n\x1b[1m______ test_pool_ttl ______\x1b[0m\n\tdef test_pool_ttl():\n>\t    assert idle() < 30\n\x1b[31mE       assert 31 < 30\nE   still red, 失败 👨‍👩‍👧\x1b[0m\n\x1b[2J\x1b]0;title\atail without end"

func TestGolden(t *testing.T) {
	one := 1
	states := map[string]func(p *Pane){
		"empty":   func(*Pane) {},
		"running": func(p *Pane) { p.all(here, started("c", "pytest -q"), printed("c", 0, pytest)) },
		"pull": func(p *Pane) {
			p.all(here, started("c", "pytest -q"), event.BackendChanged{Name: "analytics", From: event.BackendAbsent, To: event.BackendPulling})
			for i := range int64(11) {
				p.all(event.Header{At: start.Add(time.Duration(i) * time.Second), Session: "s"},
					event.Progress{ID: "pull:analytics", Label: "3 of 5 layers", Done: (12 + 40*i) << 20, Total: 680 << 20, Unit: "bytes"})
			}
		},
		"note": func(p *Pane) {
			p.all(here, started("c", "pytest -q"), event.ToolOutput{CallID: "c", Stream: event.Note, Data: []byte("[backend 'gpu' not found. Available: default, analytics]\n")}, printed("c", 0, pytest))
		},
		"waits": func(p *Pane) {
			p.all(here, started("c", "rm -rf build"), event.ApprovalAsked{ID: "a", Call: chat.ToolCall{ID: "c"}})
		},
		"ended": func(p *Pane) {
			p.all(here, started("c", "make"), printed("c", 0, lines(0, 9)))
			p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Backend: "analytics", Took: 6200 * time.Millisecond}})
		},
		"failed": func(p *Pane) {
			p.all(here, started("c", "pytest -q"), printed("c", 0, pytest))
			p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Backend: "analytics", ExitCode: &one, IsError: true, Warnings: []string{"ran in the default back end: gpu-box does not exist"}, Spill: "/home/me/.hermes/spill/1.txt"}})
		},
		"cut": func(p *Pane) {
			p.all(here, started("c", "yes"), printed("c", 0, lines(0, 9)))
			p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Spill: "/home/me/.hermes/spill/1.txt", SpillCut: true, Warnings: []string{"1.txt holds only the first 64 MB of the output"}}})
		},
		"diff": func(p *Pane) {
			p.all(here, event.ToolStarted{Call: chat.ToolCall{ID: "c", Name: "patch"}, Gist: "pool/ttl.go"})
			p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Text: "patched", Diffs: []chat.FileDiff{{Path: "pool/ttl.go", Op: chat.FileModified, Unified: unified, Added: 2, Removed: 1, Notes: []string{"matched without regard to blanks"}}}}})
		},
		"locked": func(p *Pane) {
			p.all(here, started("c", "make"), printed("c", 0, lines(0, 200)))
			p.scrollRows(-5)
			p.all(here, printed("c", len(lines(0, 200)), lines(200, 237)))
		},
		"search": func(p *Pane) {
			p.all(here, started("c", "make"), printed("c", 0, lines(0, 200)))
			p.Search("line 1")
			p.NextHit(-1)
		},
	}
	for name, arrange := range states {
		for _, size := range uitest.Sizes() {
			for level, colour := range map[style.Level]string{style.True: "colour", style.None: "plain"} {
				t.Run(fmt.Sprintf("%s-%s-%dx%d", name, colour, size.W, size.H), func(t *testing.T) {
					p, s := opened(t, nil), uitest.Styles(t, level)
					uitest.Render(t, p, s, size.W, size.H)
					arrange(p)
					got := p.Title().Text + " | " + p.Title().Right + "\n" + uitest.Render(t, p, s, size.W, size.H)
					uitest.Golden(t, fmt.Sprintf("%s-%s-%dx%d", name, colour, size.W, size.H), got)
				})
			}
		}
	}
}

func shown(p *Pane) string { return text.Sanitize(p.View()) }

// TestAWarningIsSaidOnce: what stood above the output while the call ran is not said again below
// it.
func TestAWarningIsSaidOnce(t *testing.T) {
	p := opened(t, nil)
	p.Resize(80, 20)
	p.all(here, started("c", "hostname"), event.ToolOutput{CallID: "c", Stream: event.Note, Data: []byte("[analytics is gone]\n")}, printed("c", 0, "box\n"))
	p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Warnings: []string{"analytics is gone", "its directory was lost"}}})
	if got := shown(p); strings.Count(got, "analytics is gone") != 1 || !strings.Contains(got, "its directory was lost") {
		t.Errorf("shown:\n%s", got)
	}
}

func TestFollowsTheNewestRunningCall(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("a", "first"), printed("a", 0, "from a\n"), started("b", "second"), printed("b", 0, "from b\n"))
	if !strings.Contains(shown(p), "from b") {
		t.Errorf("the newest call is not shown:\n%s", shown(p))
	}
	p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "b"}})
	if !strings.Contains(shown(p), "from a") {
		t.Errorf("b has ended, a still runs, yet it is not shown:\n%s", shown(p))
	}
	act(t, p, "output.next")
	if !strings.Contains(shown(p), "from b") || !strings.Contains(p.Title().Right, "done") {
		t.Errorf("the selected call is not shown:\n%s", shown(p))
	}
	p.all(here, started("c", "third"), printed("c", 0, "from c\n"))
	if !strings.Contains(shown(p), "from c") {
		t.Errorf("a new call must take over from one that is over:\n%s", shown(p))
	}
	p.all(event.Header{Session: "other"}, started("x", "elsewhere"), printed("x", 0, "from x\n"))
	if strings.Contains(shown(p), "from x") {
		t.Error("another session's call is shown")
	}
}

func TestScrollLockKeepsWhatIsReadAndEndFollows(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("c", "make"), printed("c", 0, lines(0, 100)))
	p.scrollRows(-20)
	before := strings.Split(shown(p), "\n")
	p.all(here, printed("c", len(lines(0, 100)), lines(100, 137)))
	after := strings.Split(shown(p), "\n")
	if !slices.Equal(before[:p.h-1], after[:p.h-1]) {
		t.Errorf("new output moved what is read:\n%v\n%v", before, after)
	}
	if !strings.Contains(after[p.h-1], "37 new") {
		t.Errorf("no word of what is new: %q", after[p.h-1])
	}
	act(t, p, "output.end")
	if got := shown(p); !strings.Contains(got, "line 136") || strings.Contains(got, "new") {
		t.Errorf("end does not follow:\n%s", got)
	}
	act(t, p, "output.top")
	if !strings.HasPrefix(shown(p), "line 0 ") {
		t.Errorf("home does not show the beginning:\n%s", shown(p))
	}
	p.scrollRows(10_000)
	if !p.view.follow {
		t.Error("scrolling to the end does not follow")
	}
}

func TestNobodyIsTakenAwayFromWhatIsRead(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("a", "first"), started("b", "second"), printed("b", 0, lines(0, 100)))
	p.scrollRows(-20)
	before := shown(p)
	p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "b"}})
	p.all(later, started("c", "third"), printed("c", 0, "from c\n"))
	if got := shown(p); got[:200] != before[:200] {
		t.Errorf("another call took over while one reads:\n%s", got)
	}
	act(t, p, "output.newest")
	if !strings.Contains(shown(p), "from c") {
		t.Errorf("the way back does not work:\n%s", shown(p))
	}
}

// A server in the background prints after the call that started it has returned.
func TestWhatRunsInTheBackgroundGoesOn(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("a", "serve"), printed("a", 0, "booting\n"))
	p.all(later, event.ToolEnded{Result: chat.ToolResult{CallID: "a", Text: "Started in the background as p1."}})
	p.all(later, printed("a", len("booting\n"), "GET /index\n"))
	if got := shown(p); !strings.Contains(got, "GET /index") || strings.Contains(got, "not shown") {
		t.Errorf("the output after the call is\n%s", got)
	}
}

func TestSearchShowsEveryHit(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("c", "make"), printed("c", 0, lines(0, 300)+strings.Repeat("long ", 200)+"line X\n"+lines(0, 50)))
	if n, want := p.Search("LINE 4"), strings.Count(lines(0, 300)+lines(0, 50), "line 4"); n != want {
		t.Errorf("%d hits, want %d", n, want)
	}
	p.Search("line X")
	if !strings.Contains(shown(p), "line X") {
		t.Errorf("a hit at the end of a long line is not on the screen:\n%s", shown(p))
	}
	p.Search("line 29")
	for range 12 {
		p.NextHit(1)
		if !strings.Contains(shown(p), "line 29") {
			t.Fatalf("hit %d is not on the screen:\n%s", p.view.hit, shown(p))
		}
	}
	if p.Search("nowhere") != 0 || p.Search("") != 0 {
		t.Error("hits of what is not there")
	}
}

func TestGapsAndRepeatsOfTheStream(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("c", "make"), printed("c", 0, "0123456789"))
	p.Apply([]event.Envelope{{Header: here, Event: printed("c", 5, "56789AB")}, {Header: here, Event: printed("c", 0, "01")}})
	if got := p.currentCall().buf.text(); got != "0123456789AB\n" {
		t.Errorf("a repeat: %q", got)
	}
	p.all(here, printed("c", 100, "tail"))
	if got := p.currentCall().buf.text(); !strings.Contains(got, "88 bytes were not shown") || !strings.HasSuffix(got, "tail\n") {
		t.Errorf("a gap: %q", got)
	}
}

// past gives the results of a stored session.
type past struct {
	messages []chat.Message
	err      error
	asked    int
}

func (h *past) Recent(context.Context, string, int) ([]chat.Message, error) {
	h.asked++
	return h.messages, h.err
}

func TestResumedSessionShowsItsLastCall(t *testing.T) {
	h := &past{messages: []chat.Message{
		{Role: chat.RoleAssistant, Calls: []chat.ToolCall{{ID: "c", Name: "terminal", Args: []byte(`{"command":"uname -a"}`)}}},
		{Role: chat.RoleTool, At: start, Result: &chat.ToolResult{CallID: "c", Name: "terminal", Text: "Linux\nhere", Took: time.Second}},
	}}
	p := opened(t, h)
	if got := shown(p); !strings.Contains(got, "Linux") || !strings.Contains(p.Title().Text, "uname -a") {
		t.Errorf("%s: %s", p.Title().Text, got)
	}
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "t"}))
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "s"}))
	if h.asked != 2 {
		t.Errorf("asked %d times for two sessions", h.asked)
	}
}

func TestADeniedCallIsDeniedAfterAReload(t *testing.T) {
	p := opened(t, &past{messages: []chat.Message{{Role: chat.RoleTool, At: start, Result: &chat.ToolResult{CallID: "c", Name: "terminal", Text: "Denied by the person.", IsError: true, Denied: true}}}})
	if got := p.Title().Right + shown(p); !strings.HasPrefix(got, "denied") || strings.Contains(got, "failed") || strings.Contains(got, "0 ms") {
		t.Error(got)
	}
}

func TestAfterLostEventsCallsEnd(t *testing.T) {
	h := &past{}
	p := opened(t, h)
	p.all(here, started("c", "make"), printed("c", 0, "some\n"))
	h.messages = []chat.Message{{Role: chat.RoleTool, At: start, Result: &chat.ToolResult{CallID: "c", Name: "terminal", Text: "some"}}}
	p.all(event.Header{}, event.Resync{})
	uitest.Pump(p, p.Wake())
	if p.currentCall().isRunning() {
		t.Error("the call runs for ever after a resync")
	}
	h.err = errors.New("no store")
	p.all(event.Header{}, event.Resync{})
	uitest.Pump(p, p.Wake())
	if p.loaded["s"] {
		t.Error("a failed read is never tried again")
	}
}

func TestDeletedSessionIsForgotten(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("c", "make"))
	p.all(here, event.SessionDeleted{})
	if p.currentCall() != nil || len(p.byID) != 0 {
		t.Error("calls of a deleted session stay")
	}
}

func TestTheEndOfACallThatSomebodyReadsIsSeen(t *testing.T) {
	p := opened(t, nil)
	p.all(here, started("a", "runs on"))
	p.all(here, started("b", "ends"), printed("b", 0, lines(0, 100)))
	p.View()
	p.scrollRows(-3)
	before := p.View()
	p.all(here, event.ToolEnded{Result: chat.ToolResult{CallID: "b"}})
	if after := p.View(); after == before || !strings.Contains(after, "new") {
		t.Errorf("nothing tells that it ended:\n%s", after)
	}
}

func TestManyCallsAreBounded(t *testing.T) {
	p := opened(t, nil)
	for i := range 3 * maxCalls {
		id := fmt.Sprint(i)
		p.all(here, started(id, "x"), event.ToolEnded{Result: chat.ToolResult{CallID: id}})
	}
	if len(p.calls) > maxCalls || len(p.byID) != len(p.calls) {
		t.Errorf("%d calls, %d ids", len(p.calls), len(p.byID))
	}
}

func TestWhatCallsPrintedIsBoundedTogether(t *testing.T) {
	p := opened(t, nil)
	line := bytes.Repeat([]byte("x"), 1023)
	page := bytes.Repeat(append(line, '\n'), 64)
	for i := range 40 {
		id := fmt.Sprint(i)
		p.all(here, started(id, "x"))
		for k := range int64(16) { // a mailbox keeps the tail of more
			p.all(here, event.ToolOutput{CallID: id, Offset: k * int64(len(page)), Data: page})
		}
		p.all(here, event.ToolEnded{Result: chat.ToolResult{CallID: id}})
	}
	kept := 0
	for _, c := range p.calls {
		kept += c.buf.size
	}
	if kept > maxKept+16*len(page) || kept < maxKept/2 {
		t.Errorf("%d bytes in %d calls are kept", kept, len(p.calls))
	}
}

func TestAnythingKeepsTheShapeAndTheMemo(t *testing.T) {
	styles := []*style.Styles{uitest.Styles(t, style.True), uitest.Styles(t, style.None)}
	pieces := []string{"a", "\n", "网络", "👨‍👩‍👧", "\t", "\x1b[31m", "\x1b[0m", "\x1b[2J", "\x1b]0;x\a", "\r", "\x00", "\xff", "e\u0301", strings.Repeat("word ", 80), strings.Repeat("x", 300), lines(0, 40)}
	rapid.Check(t, func(rt *rapid.T) {
		p := opened(t, nil)
		p.Restyle(styles[rapid.IntRange(0, 1).Draw(rt, "plain")])
		offset := map[string]int{}
		for range rapid.IntRange(0, 20).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "call")
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0:
				p.Resize(rapid.IntRange(20, 300).Draw(rt, "w"), rapid.IntRange(5, 100).Draw(rt, "h"))
			case 1:
				p.all(here, started(id, "gist\n\x1b[2J"))
			case 2, 3:
				s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(rt, "data"), "")
				p.all(here, printed(id, offset[id], s))
				offset[id] += len(s)
				p.all(here, rapid.SampledFrom([]event.Event{
					event.BackendChanged{Name: "analytics", To: event.BackendPulling},
					event.BackendChanged{Name: "analytics", To: event.BackendReady},
					event.Progress{ID: "pull:analytics", Label: "网络\n", Done: 1 << 30, Total: 5 << 30},
					event.ToolOutput{CallID: id, Stream: event.Note, Data: []byte("a\x1b[2J\n\nb")},
				}).Draw(rt, "event"))
			case 4:
				r := chat.ToolResult{CallID: id, Text: "text\x1b[31m", Warnings: []string{"warn\nings"}}
				if rapid.Bool().Draw(rt, "diff") {
					r.Diffs = []chat.FileDiff{{Path: "p\x1b[2J", Op: chat.FileModified, Unified: unified}}
				}
				p.all(later, event.ToolEnded{Result: r})
			case 5:
				all := p.Actions()
				if a := all[rapid.IntRange(0, len(all)-1).Draw(rt, "action")]; a.Why == nil || a.Why() == "" {
					a.Run("")
				}
			case 6:
				p.Search(rapid.SampledFrom([]string{"a", "网", "word", "line 3", ""}).Draw(rt, "query"))
			}
			got := p.View()
			if why := uitest.BlockProblem(got, p.w, p.h); why != "" {
				rt.Fatalf("%dx%d: %s", p.w, p.h, why)
			}
			p.memoOK = false
			if fresh := p.View(); fresh != got {
				rt.Fatalf("the memo is not what a fresh drawing shows:\n%s\n---\n%s", got, fresh)
			}
		}
	})
}

// A megabyte of output, in the pieces that a mailbox hands over, against a plain copy of the same
// bytes.
func BenchmarkMegabyte(b *testing.B) {
	data := bytes.Repeat([]byte("\x1b[32mok\x1b[0m  core/store/search_test.go:120: 容器 took 12 ms\n"), 1<<20/60)
	b.Run("applied", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			p := opened(b, nil)
			p.all(here, started("c", "make"))
			for i := 0; i < len(data); i += 64 << 10 {
				p.Apply([]event.Envelope{{Header: here, Event: event.ToolOutput{CallID: "c", Stream: event.Stdout, Offset: int64(i), Data: data[i:min(len(data), i+64<<10)]}}})
				p.View()
			}
		}
	})
	b.Run("copied", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var out []byte
			for i := 0; i < len(data); i += 64 << 10 {
				out = append(out, data[i:min(len(data), i+64<<10)]...)
			}
			_ = out
		}
	})
}

// Servers without a memory give the first call of every conversation the same id.
func TestTwoSessionsMayUseTheSameCallID(t *testing.T) {
	p := opened(t, nil)
	other := event.Header{Session: "other", At: start}
	begin := func(h event.Header, gist string) event.Envelope {
		return event.Envelope{Header: h, Event: event.ToolStarted{Call: chat.ToolCall{ID: "call_0", Name: "terminal"}, Gist: gist}}
	}
	says := func(h event.Header, data string) event.Envelope {
		return event.Envelope{Header: h, Event: event.ToolOutput{CallID: "call_0", Stream: event.Stdout, Data: []byte(data)}}
	}
	p.Apply([]event.Envelope{begin(here, "mine"), begin(other, "theirs"), says(here, "my output\n"), says(other, "their output\n")})
	p.Apply([]event.Envelope{{Header: other, Event: event.ToolEnded{Result: chat.ToolResult{CallID: "call_0"}}}})
	if got := shown(p); !strings.Contains(got, "my output") || strings.Contains(got, "their output") || strings.Contains(p.Title().Right, "done") {
		t.Errorf("the focused session's call shows %q under %v", got, p.Title())
	}
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "other"}))
	if got := shown(p); !strings.Contains(got, "their output") || strings.Contains(got, "my output") {
		t.Errorf("the other session's call shows %q", got)
	}
}
