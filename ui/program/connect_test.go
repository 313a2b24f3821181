package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/uitest"
)

// From nothing to an answer without leaving the program: a server, a key that is refused, another
// key, a model of the server's own list, a theme.
func TestConnectFromInsideTheProgram(t *testing.T) {
	t.Parallel()
	m := modeltest.NewScript(t, modeltest.Script{
		Models: []modeltest.Model{{ID: "small-model"}, {ID: "test-model"}},
		Turns: []modeltest.Turn{
			{Status: 401, Message: "Incorrect API key provided"}, {Text: "Hi."}, {Text: "Here I am."},
		},
	})
	h := newHome(t, "display:\n  theme: default\n")
	s := h.open()
	completed(t, s, "offline/offl", "offline/offline")
	say(s, "/connect")
	s.WaitFor("Connect: which server?")
	s.Type("another")
	s.WaitFor("any address that speaks like OpenAI")
	s.Type("\r")
	s.WaitFor("https://host/v1")
	s.Type("my server\r")
	s.WaitFor("is no address")
	s.Type("\x15" + strings.TrimPrefix(m.URL, "http://") + "\r")
	s.WaitFor("the settings it is providers.NAME")
	s.Type("\x15openai\r")
	s.WaitFor("is the name of a vendor")
	s.Type("\x15lab\r")
	s.WaitFor("Key for lab")
	s.Type("sk-wrong-123456\r")
	s.WaitFor("small-model")
	if strings.Contains(s.Settle(), "sk-wrong") {
		t.Error("the key is shown")
	}
	s.Type("test\r")
	s.WaitFor("The key was not taken: Incorrect API key provided (HTTP 401)")
	if _, err := os.Stat(filepath.Join(h.dir, ".env")); err == nil {
		t.Error("a key that was refused is written down")
	}
	s.Type("sk-right-123456\r")
	s.WaitFor("small-model")
	s.Type("test\r")
	s.WaitFor("Theme")
	s.WaitFor("connected: test-model of lab answers")
	s.Type("\x1b")
	s.WaitGone("Theme")
	say(s, "are you there?")
	s.WaitFor("Here I am.")
	completed(t, s, "lab/sma", "lab/small-model")
	leave(t, s)
	env, _ := os.ReadFile(filepath.Join(h.dir, ".env"))
	settings, _ := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
	if !strings.Contains(string(env), "sk-right-123456") || strings.Contains(string(settings), "sk-right") || !strings.Contains(string(settings), "lab:\n") || !strings.Contains(string(settings), m.URL) {
		t.Errorf(".env:\n%s\nconfig.yaml:\n%s", env, settings)
	}
	for _, r := range m.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer sk-wrong-123456" && got != "Bearer sk-right-123456" {
			t.Errorf("asked with %q", got)
		}
	}
}

// completed types /model with the begin of a name, sees the whole one offered, and empties the
// line.
func completed(t *testing.T, s *uitest.Screen, begin, whole string) {
	t.Helper()
	s.Type("/model " + begin)
	s.WaitFor(whole)
	s.Type("\x15")
	s.WaitGone(whole)
}

// A session that was there gets the model that was connected, and so does each that begins then.
func TestNewSessionsShowTheModelThatWasConnected(t *testing.T) {
	t.Parallel()
	m := modeltest.NewScript(t, modeltest.Script{
		Models: []modeltest.Model{{ID: "test-model"}}, Turns: []modeltest.Turn{{Text: "Hi."}},
	})
	h := newHome(t, "model: offline/offline\nproviders:\n  other:\n    base_url: http://127.0.0.1:1/v1\n")
	s := h.open()
	say(s, "$ echo here before")
	s.WaitFor("no model: /connect")
	s.WaitFor("done after")
	say(s, "/connect "+m.URL)
	s.WaitFor("the settings it is providers.NAME")
	s.Type("\r")
	s.WaitFor("Key for custom")
	s.Type("\r")
	s.WaitFor("Which model of custom?")
	s.Type("\r")
	s.WaitFor("Theme")
	s.Type("\x1b")
	s.WaitGone("Theme")
	s.WaitGone("no model: /connect")
	s.Type(split)
	s.WaitFor("New conversation")
	if screen := s.Settle(); strings.Contains(screen, "no model: /connect") {
		t.Errorf("a new session is said to have no model:\n%s", screen)
	}
	leave(t, s)
}

// An address is enough: after the command, or typed where the servers are listed.
func TestConnectTakesAnAddress(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t)
	h := newHome(t, "display:\n  theme: default\n")
	s := h.open()
	say(s, "/connect "+m.URL)
	s.WaitFor("the settings it is providers.NAME")
	s.Type("\x1b")
	s.WaitGone("providers.NAME")
	say(s, "/connect")
	s.WaitFor("Connect: which server?")
	s.Type("local")
	s.WaitFor("another server")
	s.Type("\x15" + strings.TrimPrefix(m.URL, "http://"))
	s.WaitFor(m.URL + "  a server at this address")
	s.Type("\r")
	s.WaitFor("the settings it is providers.NAME")
	s.Type("\r")
	s.WaitFor("Key for custom")
	s.Type("\x1b")
	s.WaitGone("Key for custom")
	leave(t, s)
}

// A key that the server does not take any more leads to /connect.
func TestARefusedKeyLeadsToConnect(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Status: 401, Message: "Incorrect API key provided"})
	s := h.open()
	say(s, "hello")
	s.WaitFor("check the key of scripted; /connect chooses a server")
	leave(t, s)
}

// A vendor of the catalogue is chosen from the list, asked with the key, and offers its own models;
// the themes are shown on the screen while the arrows move among them.
func TestConnectTakesAVendorOfTheCatalogue(t *testing.T) {
	t.Parallel()
	m := modeltest.NewScript(t, modeltest.Script{Models: []modeltest.Model{{ID: "vendor-large"}, {ID: "vendor-small"}}, Turns: []modeltest.Turn{{Text: "Hi."}}})
	h := newHome(t, "display:\n  theme: default\nproviders:\n  mistral:\n    base_url: "+m.URL+"\n")
	colours := style.True
	s := h.screen(160, 44, ui.Options{Level: &colours}, "")
	s.WaitFor("asks for risky things") // the store is open
	say(s, "/connect")
	s.WaitFor("MISTRAL_API_KEY")
	s.Type("mist")
	s.WaitFor("▸ mistral")
	s.WaitGone("openrouter")
	s.Type("\r")
	s.WaitFor("Key for mistral")
	s.Type("sk-mine-123456\r")
	s.WaitFor("Which model of mistral?")
	s.WaitFor("vendor-large")
	s.Type("\x1b[B\r")
	s.WaitFor("vendor-small of mistral answers")
	s.WaitFor("Theme")
	edge := func() string { return fmt.Sprint(s.Term.Rows()[0][:4]) }
	before := edge()
	s.Type("\x1b[B")
	s.Wait("another theme", func(string) bool { return edge() != before })
	s.Type("\x1b")
	s.WaitGone("Theme")
	leave(t, s)
	for _, r := range m.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer sk-mine-123456" {
			t.Errorf("asked with %q", got)
		}
	}
	settings, _ := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
	if !strings.Contains(string(settings), "vendor-small") {
		t.Errorf("the settings do not name the model:\n%s", settings)
	}
}
