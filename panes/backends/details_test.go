package backends

import (
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

const longFailure = "the engine answered: error creating container: mount /srv/data into /workspace: permission denied\n" +
	"while asking unix:///run/user/1000/docker.sock as uid 1000, which is not in the group docker\n" +
	"ask whoever runs this machine to add you to it, or set terminal.docker_host to an engine of your own: LAST WORDS"

func TestAFailureOpensWhole(t *testing.T) {
	p, _ := opened(t, []Row{{Name: "gpu", Kind: "docker", Traits: container, Image: "cuda:12", State: event.BackendAbsent}})
	p.Resize(44, 16)
	p.Apply(uitest.Envelopes(event.Header{At: start}, event.BackendChanged{Name: "gpu", Kind: "docker", From: event.BackendCreating, To: event.BackendFailed, Cause: longFailure}))
	v := text.Sanitize(p.View())
	if strings.Contains(v, "LAST WORDS") || !strings.Contains(v, "w shows all of it") {
		t.Errorf("the pane:\n%s", v)
	}
	var card ui.Overlay
	for _, a := range p.Actions() {
		if a.ID == "backends.whole" {
			if !a.InBar {
				t.Error("the bottom row does not name the key")
			}
			card = a.Run("")().(ui.ShowOverlay).Overlay
		}
	}
	card.Restyle(uitest.Styles(t, style.None))
	for _, size := range uitest.Sizes() {
		w, h := card.Size(size.W, size.H)
		if got := text.Sanitize(card.View(w, max(h, 40))); !strings.Contains(strings.Join(strings.Fields(got), " "), "LAST WORDS") {
			t.Errorf("%dx%d lacks the end:\n%s", size.W, size.H, got)
		}
	}
}

func TestABackEndThatAnotherSessionUsesSaysSo(t *testing.T) {
	p, _ := opened(t, []Row{
		{Name: "default", Kind: "local", Traits: machine, State: event.BackendReady},
		{Name: "box", Kind: "docker", Traits: container, State: event.BackendAbsent},
	})
	p.Resize(60, 20)
	p.Apply(uitest.Envelopes(event.Header{Session: "b"}, event.SessionOpened{Info: event.SessionInfo{UID: "b", Title: "nightly build"}, How: "new"}))
	p.Apply(uitest.Envelopes(event.Header{}, event.BackendActivity{Name: "default", Refs: 1, Command: "make", Session: "b"}))
	if v := text.Sanitize(p.View()); !strings.Contains(v, "used by another session: nightly build") || !strings.Contains(v, "other session") {
		t.Errorf("a shared one:\n%s", v)
	}
	p.Apply(uitest.Envelopes(event.Header{}, event.BackendActivity{Name: "default", Refs: 1, Command: "make", Session: p.session}))
	if v := text.Sanitize(p.View()); strings.Contains(v, "other session") {
		t.Errorf("our own command:\n%s", v)
	}
	up := event.BackendChanged{Name: "box", Kind: "docker", From: event.BackendStarting, To: event.BackendReady}
	p.Apply(uitest.Envelopes(event.Header{Session: "b", At: start}, up))
	p.moveCursor(1)
	if v := text.Sanitize(p.View()); !strings.Contains(v, "another session has its own up: nightly build") {
		t.Errorf("one of its own:\n%s", v)
	}
	up.From, up.To = event.BackendReady, event.BackendStopped
	p.Apply(uitest.Envelopes(event.Header{Session: "b", At: start}, up))
	if v := text.Sanitize(p.View()); strings.Contains(v, "another session") {
		t.Errorf("stopped:\n%s", v)
	}
}

// What is told below the list is told of the back end that was chosen, as long as nobody moves the
// cursor.
func TestTheBackEndThatWasChosenIsTheOneThatIsToldOf(t *testing.T) {
	p, _ := opened(t, []Row{
		{Name: "default", Kind: "local", Traits: machine, State: event.BackendReady, Selected: true, Default: true},
		{Name: "gpu", Kind: "docker", Traits: container, State: event.BackendAbsent},
	})
	p.Resize(60, 20)
	mine := event.Header{Session: p.session, At: start}
	p.Apply(uitest.Envelopes(mine, event.BackendSelected{Name: "gpu"}))
	p.Apply(uitest.Envelopes(mine, event.BackendChanged{Name: "gpu", Kind: "docker", From: event.BackendCreating, To: event.BackendFailed, Cause: longFailure}))
	if v := text.Sanitize(p.View()); !strings.Contains(v, "LAST WORDS") {
		t.Errorf("after it was chosen:\n%s", v)
	}
	p.moveCursor(-2)
	p.Apply(uitest.Envelopes(mine, event.BackendSelected{Name: "gpu"}))
	if v := text.Sanitize(p.View()); strings.Contains(v, "LAST WORDS") {
		t.Errorf("after the cursor was moved:\n%s", v)
	}
}
