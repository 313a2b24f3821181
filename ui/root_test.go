package ui_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// model runs the root model without a program: messages in, picture out.
func model(t testing.TB, opt ui.Options, w, h int) *driven {
	t.Helper()
	opt.W, opt.H = w, h
	opt.Output, opt.Input = discard{}, strings.NewReader("")
	if opt.Getenv == nil {
		opt.Getenv = func(string) string { return "" }
	}
	p := ui.New(opt)
	t.Cleanup(p.Close)
	d := &driven{m: p.Model()}
	d.run(d.m.Init())
	return d
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

type driven struct{ m tea.Model }

// run runs a command and everything that follows, timers apart: they are left alone after a moment.
func (d *driven) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	select {
	case msg := <-got:
		d.send(msg)
	case <-time.After(testwait.Within(100 * time.Millisecond)): // a timer: nothing else in these tests waits
	}
}

func (d *driven) send(msg tea.Msg) {
	if b, ok := msg.(tea.BatchMsg); ok {
		for _, c := range b {
			d.run(c)
		}
		return
	}
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

func TestEveryFrameIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opt, _ := options(t)
		w, h := rapid.IntRange(20, 300).Draw(rt, "w"), rapid.IntRange(5, 100).Draw(rt, "h")
		opt.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
		opt.W, opt.H, opt.Output, opt.Input = w, h, discard{}, strings.NewReader("")
		opt.Getenv = func(string) string { return "" }
		m := ui.New(opt).Model()
		m.Init()
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{
			"alt+1", "alt+2", "alt+3", "alt+4", "alt+z", "alt+l", "alt+>", "alt+<", "alt+=", "alt+-", "ctrl+p", "esc", "f1", "x", "down", "enter", "tab",
		}), 0, 8).Draw(rt, "keys")
		for _, k := range keys {
			m.Update(uitest.Key(k))
			if why := uitest.BlockProblem(m.View(), w, h); why != "" {
				rt.Fatalf("%dx%d after %v: %s", w, h, keys, why)
			}
		}
		if why := uitest.BlockProblem(m.View(), w, h); why != "" {
			rt.Fatalf("%dx%d: %s", w, h, why)
		}
	})
}

func TestGoldenFrames(t *testing.T) {
	for _, size := range uitest.Sizes() {
		for name, level := range map[string]style.Level{"plain": style.None, "colour": style.True} {
			opt, _ := options(t)
			opt.Level = &level
			now := time.Unix(1_700_000_041, 0)
			opt.Now = func() time.Time { return now }
			opt.Defaults = func() (ui.Defaults, bool) { return ui.Defaults{Level: "standard"}, true }
			d := model(t, opt, size.W, size.H)
			d.send(uitest.Key("hello 容器"))
			uitest.Golden(t, fmt.Sprintf("frame-%s-%dx%d", name, size.W, size.H), d.m.View())
			d.send(uitest.Key("ctrl+p"))
			uitest.Golden(t, fmt.Sprintf("palette-%s-%dx%d", name, size.W, size.H), d.m.View())
			uitest.CheckBlock(t, d.m.View(), size.W, size.H)
		}
	}
}

func TestAPersonTypesAndMovesAround(t *testing.T) {
	opt, convs := options(t)
	s := uitest.Start(t, opt, 160, 44)
	s.WaitFor("1 sessions")
	s.Type("hi?")
	s.WaitFor("❯ hi?") // a printable key is text, not help
	s.Type("\r")
	s.WaitFor("you: hi?")
	s.Type("\x1b1")
	s.WaitFor("note") // the focused pane names its actions
	s.Type("n")
	s.WaitFor("note ")
	s.Type("z")
	s.WaitFor("Never possible: it never is")
	s.Type("\x18") // ctrl+x asks first
	s.WaitFor("Really?")
	s.Type("\r")
	s.WaitGone("Really?")
	s.Type("\x18")
	s.WaitFor("Really?")
	time.Sleep(600 * time.Millisecond) // the first half second hears no yes
	s.Type("y")
	s.WaitFor("wiped")
	s.Type("\x1b2")
	s.Type("\x1c") // ctrl+\ splits
	s.WaitFor("conversation:s2")
	s.Type("\x1f") // ctrl+_
	s.WaitFor("conversation:s3")
	s.WaitFor("session s3")
	s.Type("\x1bz")
	s.WaitGone("conversation:s2")
	s.Type("\x1bz\x1bw")
	s.WaitGone("conversation:s3")
	if len(*convs) != 3 {
		t.Errorf("%d conversations were made", len(*convs))
	}
	if f := s.Term.Stats().Faults; len(f) > 0 {
		t.Errorf("the terminal did not understand: %v", f)
	}
}

// A split that a small terminal has no room for says how to come back to what it hides.
func TestASplitWithoutRoomSaysHowToComeBack(t *testing.T) {
	for _, size := range []struct {
		w, h int
		told bool
	}{{80, 24, true}, {120, 40, false}} {
		for _, key := range []string{"\x1c", "\x1f"} {
			opt, _ := options(t)
			s := uitest.Start(t, opt, size.w, size.h)
			s.WaitFor("conversation:s1")
			s.Type(key)
			s.WaitFor("conversation:s2")
			if size.told {
				s.WaitFor("alt+2 goes to the other one")
				s.Type("\x1b2")
				s.WaitFor("conversation:s1")
			} else if strings.Contains(s.Settle(), "goes to the other") {
				t.Errorf("%dx%d: both are there, and one is said to be hidden", size.w, size.h)
			}
		}
	}
}

// TestAKeyBetweenTwoCtrlCKeepsTheProgram: who clears a line, writes and clears again stays.
func TestAKeyBetweenTwoCtrlCKeepsTheProgram(t *testing.T) {
	for _, key := range []string{"ctrl+c", "ctrl+d"} {
		opt, _ := options(t)
		opt.Now = func() time.Time { return time.Unix(1_700_000_000, 0) } // what is said stays for seconds
		d := model(t, opt, 120, 40)
		press := func() { d.send(uitest.Key(key)) }
		if key == "ctrl+d" {
			press = func() { d.send(ui.Leave{Key: key}) }
		}
		press()
		if !strings.Contains(d.m.View(), key+" again") {
			t.Fatalf("%s does not say what it does:\n%s", key, d.m.View())
		}
		d.send(uitest.Key("x"))
		if strings.Contains(d.m.View(), key+" again") {
			t.Errorf("%s: it is still said", key)
		}
		press()
		if !strings.Contains(d.m.View(), key+" again") {
			t.Errorf("%s: the second is not asked about", key)
		}
	}
}

func TestCtrlCInterruptsThenQuits(t *testing.T) {
	opt, _ := options(t)
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Type("\x03")
	s.WaitFor("interrupted")
	s.WaitFor("ctrl+c again quits")
	s.Type("\x03")
	select {
	case err := <-s.Done():
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testwait.Hang):
		t.Fatal("ctrl+c twice did not quit")
	}
	for _, mode := range []string{"1049", "1002", "1006", "2004", "1004"} {
		if s.Term.Mode(mode) {
			t.Errorf("mode %s stayed on", mode)
		}
	}
	if !s.Term.Mode("25") || !s.Term.Mode("7") {
		t.Error("the cursor or the wrap did not come back")
	}
}

func TestIdleMeansIdle(t *testing.T) {
	opt, _ := options(t)
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Settle()
	// Nothing must happen: a stretch of time is the only way to see that. On a busy machine what
	// the start still has to draw may come in the first ones; what goes on by itself comes in all
	// of them.
	for range 10 {
		before := s.Term.Stats()
		time.Sleep(700 * time.Millisecond)
		if s.Term.Stats().Writes == before.Writes {
			return
		}
	}
	t.Error("it goes on writing while nothing happens")
}

func TestEventsReachPanesAndStatusRow(t *testing.T) {
	opt, _ := options(t)
	s := uitest.Start(t, opt, 160, 44)
	s.WaitFor("ready")
	h := event.Header{Session: "s1", Turn: "t1"}
	opt.Bus.Publish(h, event.TurnStarted{Model: "sonnet"})
	opt.Bus.Publish(h, event.TurnPhase{Turn: "t1", Kind: event.PhaseRunning, Tool: "pytest\x1b[2J"})
	opt.Bus.Publish(h, event.UsageTick{Session: "s1", Context: 62_000, Window: 200_000, Total: chat.Usage{Cost: 42_000, CostKnown: true}})
	opt.Bus.Publish(h, event.ApprovalAsked{ID: "a", Title: "Run this?"})
	for i := range 100 {
		opt.Bus.Publish(h, event.TextDelta{MessageID: 1, Offset: i * 3, Text: "abc"})
	}
	s.WaitFor("running pytest · 00:0")
	s.WaitFor("sonnet  31% of 200k  $0.042")
	s.WaitFor("1 waits for you")
	s.WaitFor("abcabc")
	opt.Bus.Publish(h, event.ApprovalSettled{ID: "a"})
	s.WaitGone("waits for you")
	opt.Bus.Publish(h, event.TurnEnded{Reason: event.TurnDone})
	s.WaitFor("ready")
	s.Settle()
}

func TestBellOnlyWhenNobodyLooks(t *testing.T) {
	opt, _ := options(t)
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	h := event.Header{Session: "s1"}
	opt.Bus.Publish(h, event.ApprovalAsked{ID: "a", Title: "Run this?"})
	s.WaitFor("1 waits for you")
	if n := s.Term.Stats().Bells; n != 0 {
		t.Errorf("%d bells while somebody looks", n)
	}
	s.Type("\x1b[O") // focus lost
	s.Type("x")
	s.WaitFor("❯ x")
	opt.Bus.Publish(h, event.ApprovalAsked{ID: "b", Title: "And this?"})
	s.WaitFor("2 waits for you")
	if st := s.Term.Stats(); st.Bells != 1 || len(st.OSC) != 1 || st.OSC[0] != "9;Hermes: And this?" {
		t.Errorf("%d bells, %q", st.Bells, st.OSC)
	}
}

func TestPaletteFindsAndRuns(t *testing.T) {
	opt, _ := options(t)
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Type("\x10")
	s.WaitFor("what do you want to do?")
	s.WaitFor(" of ") // not all of the list is in sight
	s.Type("zoom")
	s.WaitFor("alt+z")
	s.Type("\r")
	s.WaitGone("3 output")
	s.Type("\x1bz")
	s.WaitFor("3 output")
}

func TestSlashCommandsComeFromTheTable(t *testing.T) {
	opt, _ := options(t)
	d := model(t, opt, 160, 44)
	cmd, ok := opt.Slash.Run("/note from slash")
	if !ok {
		t.Fatal("no /note")
	}
	d.run(cmd)
	d.send(nil)
	d.send(uitest.Key("x"))
	if !strings.Contains(d.m.View(), "note from slash") {
		t.Errorf("the note was lost:\n%s", d.m.View())
	}
	if _, ok := opt.Slash.Run("/nonsense"); ok {
		t.Error("there is no /nonsense")
	}
	if got := opt.Slash.Nearest("noet"); got != "note" {
		t.Errorf("nearest to noet: %q", got)
	}
	if got := opt.Slash.Nearest("init"); got != "" {
		t.Errorf("nearest to init: %q", got)
	}
	if _, ok := opt.Slash.Run("/skin daylight"); !ok {
		t.Error("the other name of /theme is not known")
	}
	if first := opt.Slash.List()[0].Name; first != "help" && first != "new" {
		t.Errorf("the list begins with /%s", first)
	}
	if got := opt.Slash.Complete("skin")(t.Context()); !slices.Contains(got, "daylight") {
		t.Errorf("completions of /theme: %v", got)
	}
	if opt.Slash.Complete("nonsense") != nil || opt.Slash.Complete("help") != nil {
		t.Error("something is offered where nothing can stand")
	}
}

func TestMouseFocusesAndDrags(t *testing.T) {
	opt, _ := options(t)
	store := &memory{saved: make(chan string, 8)}
	opt.State = store
	s := uitest.Start(t, opt, 160, 44)
	s.WaitFor("3 output")
	s.Type("\x1b[<0;140;5M\x1b[<0;140;5m")
	s.WaitFor("mouse ")
	left, _, _ := strings.Cut(s.Term.Text(), "╭─ 3 output")
	edge := len([]rune(left)) // every rune of the first row is one cell
	s.Type(fmt.Sprintf("\x1b[<0;%d;10M\x1b[<32;%d;10M\x1b[<0;%d;10m", edge+1, edge-9, edge-9))
	s.Wait("the moved border", func(p string) bool {
		row := []rune(strings.Split(p, "\n")[0])
		return string(row[edge-10:edge-9]) == "╭"
	})
	select {
	case got := <-store.saved:
		if !strings.Contains(got, `"right":`) {
			t.Errorf("saved %s", got)
		}
	case <-time.After(testwait.Hang):
		t.Error("the layout was not saved")
	}
}

type memory struct{ saved chan string }

func (m *memory) Load() ([]byte, error) { return nil, nil }

func (m *memory) Save(b []byte) error {
	if len(b) == 0 {
		return errors.New("nothing to save")
	}
	m.saved <- string(b)
	return nil
}

func TestCopyTellsWhatWorked(t *testing.T) {
	opt, _ := options(t)
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Program.Send(ui.CopyText{Text: "hello", What: "message"})
	s.WaitFor("sent message to the terminal's clipboard")
	if osc := s.Term.Stats().OSC; len(osc) != 1 || osc[0] != "52;c;aGVsbG8=" {
		t.Errorf("OSC %q", osc)
	}
}

func TestLeakedMouseReportsAreNotTyped(t *testing.T) {
	opt, convs := options(t)
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Type("<35;12;5M")
	s.Type("ok")
	s.WaitFor("❯ ok")
	_ = convs
}

func TestPriceAndTheWayOutAreNamedAtEveryWidth(t *testing.T) {
	for _, w := range []int{50, 60, 80, 100, 120, 160} {
		opt, _ := options(t)
		s := uitest.Start(t, opt, w, 24)
		h := event.Header{Session: "s1", Turn: "t1"}
		call := chat.ToolCall{ID: "c", Name: "terminal"}
		opt.Bus.Publish(h, event.TurnStarted{Model: "some-vendor/a-model-with-a-name"})
		opt.Bus.Publish(h, event.UsageTick{Session: "s1", Context: 5000, Window: 20000, Total: chat.Usage{Cost: 42000, CostKnown: true}})
		opt.Bus.Publish(h, event.ToolStarted{Call: call, Gist: "pytest -q --maxfail=1 tests/pool", Backend: "analytics"})
		opt.Bus.Publish(h, event.TurnPhase{Turn: "t1", Kind: event.PhaseRunning, Tool: "terminal"})
		s.Wait("work, price and keys", func(p string) bool {
			rows := strings.Split(strings.TrimRight(p, "\n "), "\n")
			last := rows[len(rows)-1]
			return strings.Contains(last, "running pytest") && (w < 70 || strings.Contains(last, "$0.042") && strings.Contains(last, "esc stop"))
		})
	}
}

// Keys that come in one read, from a slow line or a paste without brackets, do what they would do
// one by one.
func TestKeysOfOneReadAreThoseOfASlowTypist(t *testing.T) {
	opt, _ := options(t)
	var ran atomic.Int32
	opt.Actions = []ui.Action{
		{ID: "again", Keys: []string{"r"}, Title: "Answer again", Dangerous: true, Run: func(string) tea.Cmd { ran.Add(1); return nil }},
		{ID: "look", Keys: []string{"/"}, Title: "Look", Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.RunAction{ID: "palette"} }
		}},
	}
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Type("\x1b1")
	s.Settle()
	s.Type("/memory")
	s.WaitFor("memory")
	s.Type("\x1b")
	s.WaitGone("memory")
	s.Type("ryy")
	s.WaitFor("Really?")
	s.Settle()
	if n := ran.Load(); n != 0 {
		t.Errorf("it ran %d times unasked", n)
	}
	time.Sleep(600 * time.Millisecond) // the first half second hears no yes
	s.Type("y")
	s.WaitGone("Really?")
	if n := ran.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestASearchSaysWhatItFindsWhileItIsTyped(t *testing.T) {
	opt, _ := options(t)
	opt.Side[0] = searched{&fake{id: "sessions"}}
	s := uitest.Start(t, opt, 120, 40)
	s.WaitFor("ready")
	s.Type("\x1b1")
	s.Settle()
	s.Type("\x1b/")
	s.WaitFor("Search in this pane")
	for typed, want := range []string{"1 hit ", "2 hits", "3 hits", "no hit in this pane; / among the sessions"} {
		s.Type(string(rune('a' + typed)))
		s.WaitFor(want)
	}
	s.Type("\r")
	s.WaitFor("no hit in this pane")
	s.Type("\x7f")
	s.WaitFor("3 hits")
	s.Type("\r")
	s.WaitGone("Search in this pane")
	s.WaitFor("3 hits")
}
