package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/list"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// The clock of chroma's patterns ends by itself, a second after the last of them was tried.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

func TestGolden(t *testing.T) {
	for name, level := range map[string]style.Level{"plain": style.None, "colour": style.True} {
		for _, size := range uitest.Sizes() {
			p := story(t)
			uitest.Golden(t, fmt.Sprintf("story-%s-%dx%d", name, size.W, size.H), uitest.Render(t, p, uitest.Styles(t, level), size.W, size.H))
		}
	}
	p := New((&world{}).deps(), "")
	uitest.Golden(t, "first", uitest.Render(t, p, uitest.Styles(t, style.None), 80, 24))
}

// seen is the picture without its styles.
func seen(p *Pane) string { return text.Sanitize(p.View()) }

func TestPromptMarkIsExact(t *testing.T) {
	p := open(t, &world{})
	press(p, "h", "i")
	if !strings.Contains(seen(p), "\n❯ hi ") {
		t.Fatalf("no prompt line in\n%s", p.View())
	}
	if x, _, ok := p.Cursor(); x != 4 || !ok {
		t.Errorf("cursor at %d, %v", x, ok)
	}
}

func TestSubmitCreatesTheSessionAndKeepsWhatFailed(t *testing.T) {
	w := &world{now: start}
	p := New(w.deps(), "")
	p.Resize(80, 24)
	p.Restyle(uitest.Styles(t, style.None))
	drain(p, p.Update(ui.OpenSession{}))
	press(p, "!", "l", "s", "enter")
	if want := []string{"remember !ls", "new", `submit fresh "$ ls" 0 `}; !slices.Equal(w.log, want) || p.Session() != "fresh" {
		t.Fatalf("log %q, session %q", w.log, p.Session())
	}
	w.fail = errors.New("disk full")
	out := press(p, "x", "enter")
	if p.composer.Text() != "x" || len(out) != 1 || !strings.Contains(out[0].(ui.ShowToast).Text, "disk full") {
		t.Fatalf("the prompt is %q, said %+v", p.composer.Text(), out)
	}
}

func TestBusyModes(t *testing.T) {
	w := &world{}
	p := open(t, w)
	say(p, event.TurnStarted{})
	press(p, "a", "enter", "alt+q", "b", "enter", "alt+q", "c", "enter", "esc")
	got := strings.Join(w.log, "|")
	for _, want := range []string{`submit s "a" 0 queue`, `submit s "b" 0 steer`, `submit s "c" 0 interrupt`, "interrupt s"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

func TestStreamEndsLikeTheStoredMessage(t *testing.T) {
	body := "# Title\n\nSome *text* with 容器.\n\n- one\n- two\n\n```go\nx := 1\n```\n\nlast"
	rapid.Check(t, func(rt *rapid.T) {
		live, stored := open(t, &world{}), open(t, &world{})
		say(live, event.MessageStarted{MessageID: 2, Model: "sonnet"})
		for at := 0; at < len(body); {
			n := min(rapid.IntRange(1, 9).Draw(rt, "n"), len(body)-at)
			from := max(0, at-rapid.IntRange(0, 3).Draw(rt, "repeat"))
			say(live, event.TextDelta{MessageID: 2, Offset: from, Text: body[from : at+n]})
			if rapid.Bool().Draw(rt, "look") {
				live.View()
			}
			at += n
		}
		m := assistant(2, body)
		say(live, event.MessageSealed{Message: m})
		say(stored, event.MessageAdded{Message: m})
		if got, want := live.View(), stored.View(); got != want {
			rt.Fatalf("streamed\n%s\nstored\n%s", got, want)
		}
	})
}

func TestScrollingUpLocksAndCountsWhatIsNew(t *testing.T) {
	p := open(t, &world{messages: history(100)})
	p.View()
	press(p, "pgup")
	before := p.View()
	say(p, event.MessageAdded{Message: user(1000, "a new one")})
	if after := p.View(); !strings.Contains(after, "new · end") || strings.Contains(after, "a new one") || before[:400] != after[:400] {
		t.Fatalf("the view moved, or does not tell:\n%s", after)
	}
	press(p, "end")
	if !strings.Contains(seen(p), "a new one") {
		t.Error("end does not follow")
	}
}

func history(n int) []chat.Message {
	var out []chat.Message
	for i := 1; i <= n; i++ {
		if i%2 == 1 {
			out = append(out, user(int64(i), fmt.Sprintf("question %d", i)))
		} else {
			out = append(out, assistant(int64(i), fmt.Sprintf("Answer **%d** of some words.\n\n- one\n- two\n\n```go\nfunc f() {}\n```\n", i)))
		}
	}
	return out
}

func TestOlderMessagesComeWhenTheReaderGoesUp(t *testing.T) {
	w := &world{messages: history(500)}
	p := open(t, w)
	for range 400 {
		p.View()
		press(p, "pgup")
	}
	if !strings.Contains(seen(p), "question 1 ") {
		t.Fatalf("the beginning was not reached:\n%s", p.View())
	}
	if pages := strings.Count(strings.Join(w.log, "\n"), "page"); pages != 3 {
		t.Errorf("%d pages were read", pages)
	}
}

func TestOpeningAtAMessage(t *testing.T) {
	w := &world{messages: history(1000), now: start}
	p := New(w.deps(), "s")
	p.Resize(80, 24)
	p.Restyle(uitest.Styles(t, style.None))
	drain(p, p.Update(ui.OpenSession{UID: "s", At: 401}))
	if !strings.Contains(seen(p), "question 401") {
		t.Fatalf("not there:\n%s", p.View())
	}
}

func TestEventsWhileLoadingAreNotLost(t *testing.T) {
	w := &world{messages: history(3), now: start}
	p := New(w.deps(), "s")
	p.Resize(80, 24)
	p.Restyle(uitest.Styles(t, style.None))
	load := p.Update(ui.OpenSession{UID: "s"})
	say(p, event.MessageAdded{Message: w.messages[2]}, event.MessageAdded{Message: user(4, "while loading")})
	drain(p, load)
	if v := seen(p); !strings.Contains(v, "while loading") || strings.Count(v, "question 3") != 1 {
		t.Fatalf("got\n%s", v)
	}
}

// A pane that comes late, or lost events, must not leave a person without the question that
// everything waits for.
func TestALatePaneFindsWhatWaits(t *testing.T) {
	ask := asking("ap", "make", start)
	w := &world{
		messages: []chat.Message{user(1, "go"), assistant(2, "", ask.Call)}, busy: true,
		asks: []event.ApprovalAsked{ask}, question: []event.QuestionAsked{{ID: "q", Text: "Which?"}},
	}
	p := open(t, w)
	say(p, ask)
	if v := seen(p); !strings.Contains(v, "2 waits for you") || !strings.Contains(v, "! terminal  make") || !strings.Contains(v, "enter queues") {
		t.Errorf("opened late:\n%s", v)
	}
	w.busy, w.asks, w.question = false, nil, nil
	say(p, event.Resync{Dropped: 100})
	if v := seen(p); strings.Contains(v, "waits for you") || strings.Contains(v, "enter queues") {
		t.Errorf("after events were lost:\n%s", v)
	}
}

func TestAPasteIsAChipThatOpens(t *testing.T) {
	w := &world{}
	p := open(t, w)
	k := keyMsg("1\n2\n3\n4\n5\nsix")
	k.Paste = true
	drain(p, p.Update(k))
	if v := seen(p); !strings.Contains(v, "[paste 1: 6 lines]") || !strings.Contains(v, "backspace takes it away") {
		t.Errorf("in the line:\n%s", v)
	}
	m := user(1, "")
	m.Parts = p.composer.Parts()
	press(p, "backspace")
	if len(p.composer.Parts()) > 0 {
		t.Error("backspace leaves it")
	}
	say(p, event.MessageAdded{Message: m})
	if v := seen(p); !strings.Contains(v, "14:02\n   [paste 1: 6 lines]") || strings.Contains(v, "six") {
		t.Errorf("closed:\n%s", v)
	}
	press(p, "ctrl+up", "enter")
	if v := seen(p); !strings.Contains(v, "six") {
		t.Errorf("open:\n%s", v)
	}
	if out := press(p, "y"); out[0].(ui.CopyText).Text != "1\n2\n3\n4\n5\nsix" {
		t.Errorf("copied %+v", out)
	}
}

func TestHistoryChangedReadsAgain(t *testing.T) {
	w := &world{messages: history(4)}
	p := open(t, w)
	w.messages = history(2)
	say(p, event.HistoryChanged{Why: "undo"})
	if strings.Contains(seen(p), "question 3") {
		t.Fatalf("what was undone still shows:\n%s", p.View())
	}
}

// Days of turns in one open conversation must not fill the memory.
func TestAConversationThatGoesOnForDaysIsBounded(t *testing.T) {
	w := &world{messages: history(400)}
	p := open(t, w)
	most := 0
	for i := range 10_000 {
		id := int64(1000 + i)
		events := uitest.Envelopes(event.Header{Session: p.session},
			event.TurnStarted{}, event.MessageAdded{Message: chat.Message{ID: id, Role: chat.RoleUser, Text: "again"}}, event.TurnEnded{Reason: event.TurnDone})
		p.Apply(events)
		uitest.Pump(p, p.Wake())
		most = max(most, p.list.Len())
	}
	if most > maxItems+pageSize || len(p.script.known) > maxItems {
		t.Errorf("up to %d items, %d ids are kept", most, len(p.script.known))
	}
	uitest.Press(p, "pgup")
	before := p.list.Len()
	for range 3 {
		p.Apply(uitest.Envelopes(event.Header{Session: p.session}, event.TurnStarted{}, event.TurnEnded{Reason: event.TurnDone}))
		uitest.Pump(p, p.Wake())
	}
	if p.list.Len() < before {
		t.Error("what somebody reads was taken away")
	}
}

func TestToolLineTellsItsState(t *testing.T) {
	w := &world{}
	p := open(t, w)
	c := toolCall("c", "sleep 9")
	say(p, event.MessageAdded{Message: assistant(2, "", c)}, event.ToolStarted{Call: c, Gist: "sleep 9", Backend: "here"})
	if at := p.RefreshAt(w.now); at.IsZero() {
		t.Error("a running clock asks for no refresh")
	}
	w.now = start.Add(41 * time.Second)
	if v := seen(p); !strings.Contains(v, "▶ terminal  sleep 9") || !strings.Contains(v, "41 s") {
		t.Errorf("running:\n%s", v)
	}
	say(p, event.ToolOutput{CallID: "c", Data: []byte("one\ntwo\n")})
	if v := seen(p); !strings.Contains(v, "↳ two") {
		t.Errorf("no last line:\n%s", v)
	}
	code := 3
	say(p, event.ToolEnded{Result: chat.ToolResult{CallID: "c", Text: "all of it", ExitCode: &code, Took: time.Second}})
	if v := seen(p); !strings.Contains(v, "✕ terminal") || !strings.Contains(v, "exit 3") {
		t.Errorf("ended:\n%s", v)
	}
	if at := p.RefreshAt(w.now); !at.IsZero() {
		t.Error("nothing runs, yet it asks for a refresh")
	}
	press(p, "ctrl+up", "enter")
	if v := seen(p); !strings.Contains(v, "arguments") || !strings.Contains(v, "all of it") {
		t.Errorf("opened:\n%s", v)
	}
	out := press(p, "y")
	if got := out[0].(ui.CopyText); got.Text != "all of it" || got.What != "tool output" {
		t.Errorf("copied %+v", got)
	}
}

func TestQuestions(t *testing.T) {
	w := &world{}
	p := open(t, w)
	say(p, event.QuestionAsked{ID: "q", Text: "Which one?", Choices: []string{"red", "green"}})
	box := press(p, "ctrl+y")[0].(ui.ShowOverlay).Overlay
	box.Restyle(uitest.Styles(t, style.None))
	ow, oh := box.Size(60, 20)
	uitest.CheckBlock(t, box.View(ow, oh), ow, oh)
	w.now = w.now.Add(time.Second)
	hit(p, box, "2")
	if last := w.log[len(w.log)-1]; strings.HasPrefix(last, "question") {
		t.Errorf("a digit answers: %s", last)
	}
	if !hit(p, box, "enter") {
		t.Fatal("enter does not answer with what a digit chose")
	}
	if last := w.log[len(w.log)-1]; last != "question q green" {
		t.Errorf("got %s", last)
	}
}

func TestCompletionAndCommands(t *testing.T) {
	w := &world{}
	p := open(t, w)
	press(p, "/", "r", "e")
	if v := seen(p); !strings.Contains(v, "/retry") || !strings.Contains(v, "/resume name") {
		t.Fatalf("no offers:\n%s", v)
	}
	press(p, "tab")
	if out := press(p, "enter"); len(out) != 1 || out[0].(ui.ShowToast).Text != "ran /retry" {
		t.Fatalf("said %+v, line %q", out, p.composer.Text())
	}
	press(p, "ctrl+u", "@", "l", "i", "s", "t")
	press(p, "tab")
	if p.composer.Text() != "@ui/list/list.go " {
		t.Fatalf("got %q", p.composer.Text())
	}
	press(p, "ctrl+u", "/", "x", "x", "esc")
	if out := press(p, "enter"); len(out) == 0 || p.composer.Text() != "/xx" {
		t.Fatalf("an unknown command is lost: %q %v", p.composer.Text(), out)
	}
}

// TestEnterTakesNoGuess: a mistyped command is said to be one, and becomes no other.
func TestEnterTakesNoGuess(t *testing.T) {
	p := open(t, &world{})
	press(p, "/", "r", "t", "r", "y")
	if v := seen(p); !strings.Contains(v, "/retry") || strings.Contains(v, "▸ /retry") {
		t.Errorf("before enter:\n%s", v)
	}
	if out := press(p, "enter"); len(out) != 1 || out[0].(ui.ShowToast).Text != "There is no command /rtry" {
		t.Errorf("said %+v, line %q", out, p.composer.Text())
	}
}

func TestSearchAndFork(t *testing.T) {
	w := &world{messages: history(60)}
	p := open(t, w)
	if n := p.Search("question 31"); n != 1 {
		t.Fatalf("%d hits", n)
	}
	if !strings.Contains(seen(p), "question 31") {
		t.Error("the hit is not shown")
	}
	press(p, "alt+f")
	if !slices.Contains(w.log, "fork s 31") {
		t.Errorf("log %q", w.log)
	}
	i := slices.IndexFunc(p.Actions(), func(a ui.Action) bool { return a.Slash == "retry" })
	if out := drain(p, p.Actions()[i].Run("")); len(out) != 1 || !strings.Contains(out[0].(ui.ShowToast).Text, "no prompt") {
		t.Errorf("a failed retry says %+v", out)
	}
}

// TestMutatorsBumpVersions: what an item remembers must never outlive a change.
func TestMutatorsBumpVersions(t *testing.T) {
	e := story(t).env
	c := newCall(e, 1, toolCall("x", "y"), start)
	outer := newCall(e, 1, toolCall("o", "y"), start)
	inner := newCall(e, 1, toolCall("i", "y"), start)
	inner.up = outer
	th, td, h := &thought{base: base{e: e}}, &todo{base: base{e: e}}, &header{base: base{e: e}}
	for name, f := range map[string]struct {
		item   list.Item
		mutate func()
	}{
		"start": {c, func() { c.noteStart(start, event.ToolStarted{Gist: "z"}) }}, "output": {c, func() { c.addOutput([]byte("a")) }},
		"wait": {c, func() { c.setWaiting(true) }}, "toggle": {c, func() { c.toggleOpen() }}, "end": {c, func() { c.noteEnd(start, chat.ToolResult{}) }},
		"clock": {newCall(e, 1, toolCall("r", "y"), start), func() { w := e.now(); e.now = func() time.Time { return w.Add(time.Second) } }},
		"think": {th, func() { th.addText("a") }}, "thought": {th, th.endThought}, "open": {th, func() { th.toggleOpen() }},
		"todo": {td, func() { td.setSteps(nil) }}, "header": {h, func() { h.noteTurnEnd(event.TurnEnded{}) }}, "deny": {c, c.setDenied},
		"inside": {outer, func() { inner.addOutput([]byte("a")) }},
	} {
		before := f.item.Version()
		if f.mutate(); f.item.Version() == before {
			t.Errorf("%s leaves the version as it was", name)
		}
	}
}

func TestAnyEventsKeepThePictureWhole(t *testing.T) {
	keys := []string{"a", "容", "enter", "pgup", "pgdown", "ctrl+up", "j", "k", "esc", "ctrl+u", "alt+enter", "up", "/", "@", "tab", "end", "g", "G", "ctrl+home", "alt+q", "alt+x"}
	colour := uitest.Styles(t, style.True)
	rapid.Check(t, func(rt *rapid.T) {
		p := story(t)
		p.Restyle(colour)
		id := int64(100)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			id++
			switch rapid.IntRange(0, 9).Draw(rt, "op") {
			case 0:
				p.Resize(rapid.IntRange(1, 300).Draw(rt, "w"), rapid.IntRange(1, 100).Draw(rt, "h"))
			case 1, 2:
				press(p, rapid.SampledFrom(keys).Draw(rt, "key"))
			case 3:
				say(p, event.MessageStarted{MessageID: id}, event.ReasoningDelta{MessageID: id, Text: bomb}, event.TextDelta{MessageID: id, Text: bomb + "\n\n```\n" + bomb})
			case 4:
				say(p, event.MessageAdded{Message: user(id, bomb)})
			case 5:
				if l := p.script.live; l != nil {
					say(p, event.TextDelta{MessageID: l.id, Offset: l.got, Text: "\n\n- " + bomb})
				}
			case 6:
				say(p, event.TurnEnded{Reason: event.TurnFailed, Err: bomb, Hint: bomb})
			case 7:
				say(p, event.ToolOutput{CallID: "c", Data: []byte(bomb)}, event.QuestionAsked{ID: "q", Text: bomb})
			case 8:
				drain(p, p.Update(tea.MouseMsg{X: 3, Y: rapid.IntRange(-2, 40).Draw(rt, "y"), Button: tea.MouseButtonLeft}))
			case 9:
				if l := p.script.live; l != nil {
					say(p, event.MessageDiscarded{MessageID: l.id - rapid.Int64Range(0, 2).Draw(rt, "before")})
				}
			}
			view := p.View()
			if why := uitest.BlockProblem(view, p.w, p.h); why != "" {
				rt.Fatalf("%dx%d: %s", p.w, p.h, why)
			}
			p.list.Invalidate()
			p.memoOK = false
			if fresh := p.View(); fresh != view {
				rt.Fatalf("remembered\n%s\nfresh\n%s", text.Sanitize(view), text.Sanitize(fresh))
			}
		}
	})
}

func TestEndOfABackgroundProcessIsTold(t *testing.T) {
	p := open(t, &world{})
	say(p, event.ProcessEnded{ID: "p1", Command: "npm run\x1b[2J build", ExitCode: 2, Took: 41 * time.Second})
	if got := seen(p); !strings.Contains(got, "p1 ended with exit code 2 after 41 s: npm run build") {
		t.Errorf("the pane shows\n%s", got)
	}
}

func TestALongTextSaysWhatOfItIsNotSeen(t *testing.T) {
	p := open(t, &world{})
	p.composer.SetText(strings.Repeat("line\n", 29) + "last")
	if got := seen(p); !strings.Contains(got, "21 more above ─") || strings.Contains(got, "more below ─") {
		t.Errorf("at the end:\n%s", got)
	}
	for range 15 {
		press(p, "up")
	}
	if got := seen(p); !strings.Contains(got, "14 more above, 7 more below ─") {
		t.Errorf("in the middle:\n%s", got)
	}
	say(p, event.TurnStarted{})
	if got := seen(p); !strings.Contains(got, "7 more below  enter queues") {
		t.Errorf("while it works:\n%s", got)
	}
	p.composer.SetText("short")
	p.memoOK = false
	if got := seen(p); strings.Contains(got, "more above") {
		t.Errorf("a short text:\n%s", got)
	}
}

func TestAPromptUnderACallIsSetOff(t *testing.T) {
	w := &world{messages: []chat.Message{
		{ID: 1, Role: chat.RoleUser, Text: "go"},
		{ID: 2, Role: chat.RoleAssistant, Text: "Working.", Calls: []chat.ToolCall{{ID: "c", Name: "terminal", Args: []byte(`{"command":"sleep 3"}`)}}},
		{ID: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "c", Name: "terminal"}},
		{ID: 4, Role: chat.RoleUser, Text: "mention dogs"},
		{ID: 5, Role: chat.RoleAssistant, Text: "done"},
		{ID: 6, Role: chat.RoleUser, Text: "thanks"},
	}}
	lines := strings.Split(seen(open(t, w)), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, " You") && i > 0 && (strings.TrimSpace(lines[i-1]) != "" || i > 1 && strings.TrimSpace(lines[i-2]) == "") {
			t.Errorf("line %d is not one blank line below the last:\n%s", i, strings.Join(lines, "\n"))
		}
	}
}
