package backends

import (
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

// What the kinds of the program say of themselves.
var (
	container = event.Traits{Isolated: true, Image: true, Stoppable: true, Removable: true}
	host      = event.Traits{Shared: true, Stoppable: true}
	machine   = event.Traits{Local: true, Shared: true}
)

var start = time.Date(2026, 3, 4, 14, 2, 0, 0, time.UTC)

// fleet is a pool that notes what it is asked.
type fleet struct {
	rows     []Row
	selected string
	asked    int
	fail     error
	cannot   string
	did      []string
	pulling  chan struct{} // closed when a pull has begun, which then lasts until it is cancelled
}

func (f *fleet) List(string) []Row {
	f.asked++
	return slices.Clone(f.rows)
}

func (f *fleet) Select(_, name string) error {
	f.selected = name
	return f.fail
}

func (f *fleet) Can() string { return f.cannot }

func (f *fleet) note(verb, name string, force bool) error {
	f.did = append(f.did, fmt.Sprintf("%s %s %v", verb, name, force))
	return f.fail
}

func (f *fleet) Up(_ context.Context, _, name string) error { return f.note("up", name, false) }

func (f *fleet) Stop(_ context.Context, _, name string, force bool) error {
	return f.note("stop", name, force)
}

func (f *fleet) Restart(_ context.Context, _, name string, force bool) error {
	return f.note("restart", name, force)
}

func (f *fleet) Remove(_ context.Context, _, name string, force bool) error {
	return f.note("remove", name, force)
}

func (f *fleet) Pull(ctx context.Context, _, name string) error {
	if f.pulling != nil {
		close(f.pulling)
		<-ctx.Done()
		return ctx.Err()
	}
	return f.note("pull", name, false)
}

func (f *fleet) Sample(_ context.Context, _, name string) (event.BackendStats, error) {
	f.did = append(f.did, "sample "+name)
	return event.BackendStats{Name: name, CPUPercent: 12.4, MemoryBytes: 300 << 20, MemoryLimit: 4 << 30, Pids: 7}, f.fail
}

// every is one back end in each state, as screens.md sketches them.
func every() []Row {
	return []Row{
		{Name: "default", Kind: "docker", Traits: container, Image: "python:3.11", State: event.BackendReady, Since: start.Add(-time.Hour), IdleSince: start.Add(-18 * time.Minute), IdleTTL: 30 * time.Minute, Default: true},
		{Name: "analytics", Kind: "docker", Traits: container, Image: "sandbox-plus", State: event.BackendReady, Refs: 1, Command: "pytest -q\n  --maxfail=1", Selected: true, IdleTTL: 30 * time.Minute, Cause: "first use", Since: start.Add(-2 * time.Hour)},
		{Name: "browser", Kind: "docker", Traits: container, Image: "chromium", State: event.BackendPulling},
		{Name: "created", Kind: "docker", Traits: container, Image: "alpine", State: event.BackendCreating},
		{Name: "gpu-box", Kind: "ssh", Traits: host, Image: "gpu.lan", State: event.BackendStopped},
		{Name: "here", Kind: "local", Traits: machine, State: event.BackendAbsent},
		{Name: "lost", Kind: "docker", Traits: container, Image: "alpine", State: event.BackendLost, Cause: "the engine does not answer"},
		{Name: "old", Kind: "docker", Traits: container, Image: "old:1", State: event.BackendFailed, Cause: "no such image: old:1", Retry: start.Add(40 * time.Second)},
		{Name: "stopping", Kind: "docker", Traits: container, Image: "alpine", State: event.BackendStopping},
		{Name: "容器", Kind: "docker", Traits: container, Image: "网络/镜像:最新", State: event.BackendStarting},
	}
}

func opened(t testing.TB, rows []Row) (*Pane, *fleet) {
	t.Helper()
	f := &fleet{rows: rows}
	p := New(f)
	p.SetClock(func() time.Time { return start })
	p.Restyle(uitest.Styles(t, style.None))
	p.Resize(44, 14)
	uitest.Pump(p, p.Update(ui.SessionFocused{UID: "s"}))
	p.Focus(true)
	return p, f
}

func (p *Pane) all(events ...event.Event) {
	p.Apply(uitest.Envelopes(event.Header{At: start}, events...))
}

func action(t testing.TB, p *Pane, id string) ui.Action {
	t.Helper()
	for _, a := range p.Actions() {
		if a.ID == id {
			return a
		}
	}
	t.Fatalf("there is no action %s", id)
	return ui.Action{}
}

func TestGolden(t *testing.T) {
	states := map[string]func(t *testing.T) *Pane{
		"empty": func(t *testing.T) *Pane { p, _ := opened(t, nil); return p },
		"local": func(t *testing.T) *Pane {
			p, _ := opened(t, []Row{{Name: "default", Kind: "local", Traits: machine, State: event.BackendAbsent, Default: true, Selected: true}})
			return p
		},
		"every": func(t *testing.T) *Pane {
			p, _ := opened(t, every())
			pull(p)
			p.moveCursor(1)
			return p
		},
		"pull": func(t *testing.T) *Pane {
			p, _ := opened(t, every())
			pull(p)
			p.moveCursor(2)
			return p
		},
		"load": func(t *testing.T) *Pane {
			p, _ := opened(t, every())
			uitest.Pump(p, p.Wake())
			p.all(event.ToolStarted{Call: chat.ToolCall{ID: "c1"}, Backend: "old"}, event.ToolEnded{Result: chat.ToolResult{CallID: "c1", Backend: "default"}})
			return p
		},
	}
	for name, make := range states {
		for _, size := range uitest.Sizes() {
			for level, colour := range map[style.Level]string{style.True: "colour", style.None: "plain"} {
				t.Run(fmt.Sprintf("%s-%s-%dx%d", name, colour, size.W, size.H), func(t *testing.T) {
					uitest.Golden(t, fmt.Sprintf("%s-%s-%dx%d", name, colour, size.W, size.H), uitest.Render(t, make(t), uitest.Styles(t, level), size.W, size.H))
				})
			}
		}
	}
}

// pull tells of a pull that is under way for ten seconds.
func pull(p *Pane) {
	for i := range int64(11) {
		p.Apply(uitest.Envelopes(event.Header{At: start.Add(time.Duration(i-10) * time.Second)},
			event.Progress{ID: "pull:browser", Label: "3 of 5 layers", Done: (12 + 40*i) << 20, Total: 680 << 20, Unit: "bytes"}))
	}
}

// line is the row of a back end as text.
func line(t *testing.T, p *Pane, name string) string {
	t.Helper()
	for _, l := range strings.Split(strings.ReplaceAll(text.Sanitize(p.View()), "❯", " "), "\n") {
		if strings.Contains(l, " "+name+" ") {
			return strings.TrimSpace(l)
		}
	}
	t.Fatalf("%s is not shown:\n%s", name, text.Sanitize(p.View()))
	return ""
}

func TestStatesAreGlyphAndWord(t *testing.T) {
	p, _ := opened(t, nil)
	p.Resize(60, 12)
	words := map[event.BackendState]string{
		event.BackendAbsent: "○ x docker  unused", event.BackendPulling: "◐ x docker  pull", event.BackendCreating: "◐ x docker  create",
		event.BackendStarting: "◐ x docker  start", event.BackendReady: "● x docker  idle", event.BackendStopping: "◐ x docker  stop",
		event.BackendStopped: "○ x docker  stopped", event.BackendRemoving: "◐ x docker  remove", event.BackendFailed: "✕ x broken  failed", event.BackendLost: "✕ x broken  lost",
	}
	for state, want := range words {
		p.all(event.BackendChanged{Name: "x", Kind: "docker", From: "before", To: state, Cause: "broken"})
		if got := line(t, p, "x"); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

func TestCountdownRunsOnlyWhileIdleAndTicksNoMoreThanItShows(t *testing.T) {
	p, f := opened(t, []Row{{Name: "x", Kind: "docker", Traits: container, State: event.BackendReady, IdleSince: start, IdleTTL: 30 * time.Minute}})
	f.cannot = "nothing is measured here"
	now := start.Add(90 * time.Second)
	p.SetClock(func() time.Time { return now })
	if got := line(t, p, "x"); !strings.HasSuffix(got, "29 min") {
		t.Errorf("after 90 s: %q", got)
	}
	if at := p.RefreshAt(now); at.Sub(now) != 30*time.Second {
		t.Errorf("whole minutes are shown, yet the next look is in %v", at.Sub(now))
	}
	now = start.Add(28*time.Minute + 30*time.Second)
	if got := line(t, p, "x"); !strings.HasSuffix(got, "90 s") || p.RefreshAt(now).Sub(now) != time.Second {
		t.Errorf("%q, next look in %v", got, p.RefreshAt(now).Sub(now))
	}
	p.all(event.BackendActivity{Name: "x", Refs: 2, Command: "make"})
	if got := line(t, p, "x"); !strings.HasSuffix(got, "⟳2") || !p.RefreshAt(now).IsZero() {
		t.Errorf("in use: %q, next look %v", got, p.RefreshAt(now))
	}
}

func TestRetryCountsDown(t *testing.T) {
	p, _ := opened(t, every())
	p.Resize(80, 30)
	if got := line(t, p, "old"); !strings.HasSuffix(got, "retry in 40 s") || !strings.Contains(got, "no such image") {
		t.Errorf("%q", got)
	}
	if p.RefreshAt(start).IsZero() {
		t.Error("nobody will redraw the countdown")
	}
	rows := every()
	for i := range rows {
		rows[i].Retry = start.Add(-time.Second)
	}
	p, _ = opened(t, rows)
	p.Resize(80, 30)
	if got := line(t, p, "old"); strings.Contains(got, "retry") { // the next use tries
		t.Errorf("%q", got)
	}
}

func TestPoolIsAskedAgainWhenItAnnouncesItself(t *testing.T) {
	p, f := opened(t, nil)
	f.rows = every()
	p.all(event.BackendChanged{Name: "default", Kind: "docker", From: event.BackendReady, To: event.BackendReady})
	if len(p.rows) != len(f.rows) || !p.rows[0].Default {
		t.Errorf("%d rows after the announcement, %d in the pool", len(p.rows), len(f.rows))
	}
	asked := f.asked
	p.all(event.Resync{})
	if f.asked != asked+1 {
		t.Error("after lost events the pool is not asked")
	}
}

func TestTheCursorBeginsAtTheTopHoweverTheRowsArrive(t *testing.T) {
	p, f := opened(t, nil)
	for _, name := range []string{"analytics", "here"} { // told of before the pool can be asked
		p.all(event.BackendChanged{Name: name, Kind: "docker", From: event.BackendAbsent, To: event.BackendAbsent})
	}
	f.rows = every()
	p.all(event.BackendChanged{Name: "here", Kind: "local", From: event.BackendAbsent, To: event.BackendAbsent})
	if p.cursor != 0 {
		t.Errorf("it stands on %s", p.rows[p.cursor].Name)
	}
	cursor(t, p, "here")
	p.all(event.BackendChanged{Name: "aaa", Kind: "docker", From: event.BackendAbsent, To: event.BackendCreating})
	if r := p.rows[p.cursor]; r.Name != "here" {
		t.Errorf("it leaves the row that was chosen for %s", r.Name)
	}
}

func TestOtherSessionsBackEndsStayOut(t *testing.T) {
	p, _ := opened(t, every())
	p.Apply(uitest.Envelopes(event.Header{Session: "other"}, event.BackendSelected{Name: "old"}, event.BackendChanged{Name: "analytics", From: event.BackendReady, To: event.BackendFailed}))
	if !p.rows[1].Selected || p.rows[1].State != event.BackendReady {
		t.Errorf("another session's choice changed ours: %+v", p.rows[1])
	}
	p.Apply(uitest.Envelopes(event.Header{Session: "s"}, event.BackendSelected{Name: "old"}))
	if p.rows[1].Selected {
		t.Error("our own choice was not taken")
	}
}

func TestUse(t *testing.T) {
	p, f := opened(t, every())
	use := action(t, p, "backends.use")
	msgs := uitest.Pump(p, use.Run(""))
	if f.selected != "default" || len(msgs) != 1 {
		t.Errorf("selected %q, said %v", f.selected, msgs)
	}
	uitest.Pump(p, msgs[0].(ui.ShowUndo).Undo)
	if f.selected != "analytics" {
		t.Errorf("taken back, it is %q", f.selected)
	}
	f.fail = errors.New("there is no such back end")
	if msgs = uitest.Pump(p, use.Run("")); msgs[0].(ui.ShowToast).Level != event.Error {
		t.Errorf("the error is swallowed: %v", msgs)
	}
	p.moveCursor(1)
	if why := use.Why(); !strings.Contains(why, "analytics") {
		t.Errorf("the selected one can be chosen again: %q", why)
	}
}

func TestAnythingKeepsTheShapeAndTheMemo(t *testing.T) {
	styles := uitest.Styles(t, style.True)
	states := []event.BackendState{event.BackendAbsent, event.BackendPulling, event.BackendReady, event.BackendFailed, event.BackendStopped, "odd\x1b[2J"}
	rapid.Check(t, func(rt *rapid.T) {
		p, f := opened(t, nil)
		p.Restyle(styles)
		now := start
		p.SetClock(func() time.Time { return now })
		if rapid.Bool().Draw(rt, "full") {
			f.rows = every()
		}
		for range rapid.IntRange(0, 15).Draw(rt, "steps") {
			name := rapid.SampledFrom([]string{"default", "old", "容器", "\x1b[31mred\t", "👨‍👩‍👧", "zz"}).Draw(rt, "name")
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				p.Resize(rapid.IntRange(20, 300).Draw(rt, "w"), rapid.IntRange(5, 100).Draw(rt, "h"))
			case 1:
				p.all(rapid.SampledFrom([]event.Event{
					event.BackendChanged{Name: name, Kind: "docker", To: rapid.SampledFrom(states).Draw(rt, "state"), Cause: "tab\there 网络\x1b]0;x\a", Retry: now.Add(time.Minute)},
					event.BackendActivity{Name: name, Refs: rapid.IntRange(0, 2).Draw(rt, "refs"), Command: "a\nb", IdleSince: now, IdleTTL: time.Hour},
					event.BackendStats{Name: name, MemoryBytes: 1 << 31},
					event.Progress{ID: "pull:" + name, Done: 5, Total: 3},
					event.Resync{},
				}).Draw(rt, "event"))
			case 2:
				p.moveCursor(rapid.IntRange(-3, 3).Draw(rt, "move"))
			case 3:
				now = now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(rt, "seconds")) * time.Second)
			case 4:
				p.Focus(rapid.Bool().Draw(rt, "focus"))
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

func TestNothingBelowTheListIsCutWithoutAMark(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"pulling", "容器", "uxt-none:9:", "the", "engine", "cannot", "reach", "docker.io"}), 1, 60)
		cause := strings.Join(words.Draw(rt, "cause"), " ")
		p := New(nil)
		p.Restyle(&style.Styles{Glyphs: style.Unicode()})
		p.Resize(rapid.IntRange(20, 120).Draw(rt, "w"), 40)
		lines := p.wrapDetail(cause, maxCause)
		if len(lines) > maxCause {
			rt.Fatalf("%d lines", len(lines))
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		got := squeeze(strings.Join(lines, ""))
		head, cut := strings.CutSuffix(got, "…")
		if !strings.HasPrefix(squeeze(cause), head) || !cut && got != squeeze(cause) {
			rt.Fatalf("%q became %q", cause, lines)
		}
	})
}

func TestABackEndThatFailedSaysWhyFirst(t *testing.T) {
	p := New(nil)
	p.Restyle(&style.Styles{Glyphs: style.Unicode()})
	p.Resize(46, 16)
	p.rows = []Row{{Name: "broken", Kind: "docker", Traits: container, Image: "none:9", State: event.BackendFailed, Cause: "pulling none:9: the engine cannot reach docker.io: no such host"}}
	if v := text.Sanitize(p.View()); !strings.Contains(v, "cannot reach") || !strings.Contains(v, "no such host") || strings.Contains(v, "last change") {
		t.Errorf("it says\n%s", v)
	}
}
