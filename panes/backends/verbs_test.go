package backends

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestShellAndConfigurationAreAsked(t *testing.T) {
	p, _ := opened(t, every())
	p.moveCursor(1)
	for id, want := range map[string]ui.RunAction{"backends.shell": {ID: "shell", Arg: "analytics"}, "backends.edit": {ID: "config", Arg: "analytics"}} {
		a := action(t, p, id)
		if a.Why() != "" {
			t.Errorf("%s: %s", id, a.Why())
		}
		if msgs := uitest.Pump(p, a.Run("")); len(msgs) != 1 || msgs[0] != want {
			t.Errorf("%s asks %v", id, msgs)
		}
	}
}

// cursor puts the cursor on a row.
func cursor(t *testing.T, p *Pane, name string) {
	t.Helper()
	for i, r := range p.rows {
		if r.Name == name {
			p.moveCursor(i - p.cursor)
			return
		}
	}
	t.Fatalf("no row %s", name)
}

func TestVerbs(t *testing.T) {
	for _, c := range []struct{ id, row, want string }{
		{"backends.start", "created", ""},
		{"backends.start", "gpu-box", "up gpu-box false"},
		{"backends.stop", "default", "stop default false"},
		{"backends.stop", "analytics", "stop analytics true"},
		{"backends.restart", "old", "restart old false"},
		{"backends.restart", "analytics", "restart analytics true"},
		{"backends.remove", "default", "remove default false"},
		{"backends.pull", "default", "pull default false"},
		{"backends.pull", "here", ""},
		{"backends.stop", "here", ""},
		{"backends.remove", "gpu-box", ""},
		{"backends.stop", "old", ""},
		{"backends.restart", "gpu-box", ""},
		{"backends.start", "default", ""},
	} {
		p, f := opened(t, every())
		cursor(t, p, c.row)
		a := action(t, p, c.id)
		if c.want == "" {
			if a.Why() == "" {
				t.Errorf("%s is offered for %s", c.id, c.row)
			}
			continue
		}
		if why := a.Why(); why != "" {
			t.Errorf("%s of %s: %s", c.id, c.row, why)
			continue
		}
		msgs := uitest.Pump(p, a.Run(""))
		if !slices.Equal(f.did, []string{c.want}) || len(msgs) != 1 {
			t.Fatalf("%s of %s did %v and said %v", c.id, c.row, f.did, msgs)
		}
		did, undo := msgs[0].(ui.ShowUndo)
		if undo {
			uitest.Pump(p, did.Undo)
			if want := map[string]string{"backends.start": "stop " + c.row + " false", "backends.stop": "up " + c.row + " false"}[c.id]; f.did[1] != want {
				t.Errorf("%s of %s is taken back by %v", c.id, c.row, f.did)
			}
		}
		if !undo && !a.Dangerous {
			t.Errorf("%s of %s neither asks nor can be taken back", c.id, c.row)
		}
	}
}

func TestWhatIsInUseIsAskedForWithWhatRuns(t *testing.T) {
	p, _ := opened(t, every())
	cursor(t, p, "analytics")
	for _, id := range []string{"backends.stop", "backends.restart", "backends.remove"} {
		if a := action(t, p, id); !a.Dangerous || !strings.Contains(a.Help, "pytest -q") {
			t.Errorf("%s: dangerous %v, %q", id, a.Dangerous, a.Help)
		}
	}
	cursor(t, p, "default")
	if a := action(t, p, "backends.stop"); a.Dangerous {
		t.Error("an idle one is asked for")
	}
	if a := action(t, p, "backends.remove"); !a.Dangerous {
		t.Error("files are removed unasked")
	}
}

func TestAVerbFails(t *testing.T) {
	p, f := opened(t, every())
	f.fail = errors.New("the engine does not answer")
	if msgs := uitest.Pump(p, action(t, p, "backends.stop").Run("")); msgs[0].(ui.ShowToast).Level != event.Error {
		t.Errorf("said %v", msgs)
	}
	f.cannot = "no manager"
	for _, a := range p.Actions() {
		if slices.Contains([]string{"backends.start", "backends.stop", "backends.restart", "backends.remove", "backends.pull"}, a.ID) && a.Why() == "" {
			t.Errorf("%s is offered", a.ID)
		}
	}
}

func TestAPullCanBeStopped(t *testing.T) {
	p, f := opened(t, every())
	f.pulling = make(chan struct{})
	cmd := action(t, p, "backends.pull").Run("")
	said := make(chan tea.Msg, 1)
	go func() { said <- cmd() }()
	<-f.pulling
	if why := action(t, p, "backends.remove").Why(); why != "its pull is not done yet" {
		t.Errorf("meanwhile: %q", why)
	}
	stop := action(t, p, "backends.stop")
	if stop.Why() != "" || stop.Dangerous {
		t.Fatalf("it cannot be stopped: %q", stop.Why())
	}
	stop.Run("")
	msg := (<-said).(doneMsg)
	if msg.err != nil || !strings.Contains(msg.said, "stopped") {
		t.Errorf("ends with %+v", msg)
	}
	p.Update(msg)
	if len(p.doing) != 0 {
		t.Error("it is still being done")
	}
}

func TestOnlyWhatIsSeenIsMeasured(t *testing.T) {
	p, f := opened(t, every())
	now := start
	p.SetClock(func() time.Time { return now })
	if at := p.RefreshAt(now); !at.Equal(now) {
		t.Fatalf("the first measurement is due at %v", at)
	}
	cmd := p.Wake()
	if cmd == nil || p.Wake() != nil {
		t.Fatal("not one measurement at a time")
	}
	uitest.Pump(p, cmd)
	if !slices.Equal(f.did, []string{"sample default"}) || !strings.Contains(p.View(), "cpu 12%, memory 300M of 4.0G, 7 processes") {
		t.Errorf("%v\n%s", f.did, p.View())
	}
	if at := p.sampleAt(now); !at.Equal(now.Add(sampleEvery)) || p.Wake() != nil {
		t.Errorf("the next one at %v", at)
	}
	now = now.Add(sampleEvery)
	uitest.Pump(p, p.Wake())
	p.Resize(0, 0)
	now = now.Add(sampleEvery)
	if p.Wake() != nil || !p.RefreshAt(now).IsZero() {
		t.Error("a hidden pane measures")
	}
	p.Resize(44, 14)
	cursor(t, p, "here")
	if p.Wake() != nil || strings.Contains(p.View(), "cpu") {
		t.Error("this machine, or what is not selected, is measured")
	}
	cursor(t, p, "default")
	f.fail = errors.New("unknown")
	uitest.Pump(p, p.Wake())
	now = now.Add(time.Minute)
	if p.Wake() != nil {
		t.Error("what cannot be measured is asked again and again")
	}
	p.all(event.BackendChanged{Name: "default", Kind: "docker", From: event.BackendStarting, To: event.BackendReady})
	if p.Wake() == nil {
		t.Error("after a change it is not tried again")
	}
}

func TestACallThatRanElsewhereIsSeen(t *testing.T) {
	p, _ := opened(t, every())
	p.all(event.ToolStarted{Call: chat.ToolCall{ID: "c1"}, Backend: "old"}, event.ToolEnded{Result: chat.ToolResult{CallID: "c1", Backend: "default"}})
	if !strings.Contains(p.View(), "old was not used") {
		t.Errorf("not told:\n%s", p.View())
	}
	p.all(event.ToolStarted{Call: chat.ToolCall{ID: "c2"}, Backend: "old"}, event.ToolEnded{Result: chat.ToolResult{CallID: "c2", Backend: "old"}})
	if strings.Contains(p.View(), "was not used") {
		t.Error("it is told for ever")
	}
}

func TestTheLogTellsTransitionsWithTheirCauses(t *testing.T) {
	p, _ := opened(t, every())
	p.all(
		event.BackendChanged{Name: "default", Kind: "docker", From: event.BackendReady, To: event.BackendReady},
		event.BackendChanged{Name: "default", Kind: "docker", From: event.BackendReady, To: event.BackendStopping, Cause: "idle for 30m"},
		event.BackendChanged{Name: "old", Kind: "docker", From: event.BackendAbsent, To: event.BackendFailed, Cause: "no\nimage\x1b[2J"},
		event.BackendChanged{Name: "default", Kind: "docker", From: event.BackendStopping, To: event.BackendStopped, Cause: "idle for 30m"},
	)
	o := uitest.Pump(p, action(t, p, "backends.log").Run(""))[0].(ui.ShowOverlay).Overlay
	o.Restyle(uitest.Styles(t, style.None))
	w, h := o.Size(80, 24)
	view := o.View(w, h)
	uitest.CheckBlock(t, view, w, h)
	view = text.Sanitize(view)
	if !strings.Contains(view, "14:02:00 stopping > stopped   idle for 30m") || strings.Contains(view, "image") {
		t.Errorf("shows:\n%s", view)
	}
	if strings.Index(view, "> stopped") > strings.Index(view, "> stopping") {
		t.Error("the newest is not on top")
	}
	if _, done := o.Update(uitest.Key("esc")); !done {
		t.Error("esc does not close it")
	}
}

// TestAPullByHandLeavesNoBar: nothing but the last report says that it is over, for the state does
// not change.
func TestAPullByHandLeavesNoBar(t *testing.T) {
	p, _ := opened(t, []Row{{Name: "default", Default: true, State: event.BackendReady}, {Name: "browser", State: event.BackendAbsent}})
	p.Resize(80, 20)
	p.Apply(uitest.Envelopes(event.Header{At: start}, event.Progress{ID: "pull:browser", Done: 1, Total: 3, Unit: "bytes"}))
	if got := line(t, p, "browser"); !strings.Contains(got, "33%") {
		t.Errorf("while it runs: %q", got)
	}
	p.Apply(uitest.Envelopes(event.Header{At: start}, event.Progress{ID: "pull:browser", Done: 3, Total: 3, Unit: "bytes"}))
	if got := line(t, p, "browser"); strings.Contains(got, "%") {
		t.Errorf("after it: %q", got)
	}
}
