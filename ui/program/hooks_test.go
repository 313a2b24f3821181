package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/event"
	"hermes/core/provider/modeltest"
)

// Hooks of the settings take part, and each run is an event; a project's do after trust, and not
// any more once what they run has changed.
func TestHooks(t *testing.T) {
	t.Parallel()
	done := modeltest.Turn{Text: "done"}
	turns := []modeltest.Turn{
		oneCall("terminal", `{"command":"touch first"}`), done, oneCall("terminal", `{"command":"touch second"}`), done,
		oneCall("terminal", `{"command":"touch third"}`), done,
	}
	h, s := homeWith(t, turns...)
	h.configure(serverSettings(s) + `approvals: {mode: 'off'}
hooks:
  on_session_start: ["echo '{\"context\": \"the build is red\"}'"]
  pre_tool_call:
    - {name: rename, matcher: terminal, command: "sed 's/.*touch \\([a-z]*\\).*/{\"tool_input\": {\"command\": \"touch \\1-hooked\"}}/'"}
`)
	script := filepath.Join(h.work, "guard.sh")
	for path, text := range map[string]string{
		filepath.Join(h.work, ".hermes", "hooks.yaml"): "hooks: {pre_tool_call: ['grep -q second && { echo not second >&2; exit 2; } || true', sh guard.sh]}\n", script: "exit 0\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool { _, err := os.Stat(filepath.Join(h.work, name)); return err == nil }
	r := h.run("run", "--output", "jsonl", "go")
	if r.code != 0 || !there("first-hooked") || there("first") {
		t.Errorf("%+v", r)
	}
	var outcomes []string
	for e, err := range event.ReadLines(strings.NewReader(r.out)) {
		if ran, is := e.Event.(event.HookRan); err == nil && is {
			outcomes = append(outcomes, ran.Event+" "+string(ran.Outcome)+" "+ran.Owner)
		}
	}
	if got := strings.Join(outcomes, ", "); got != "on_session_start added settings, pre_tool_call changed settings" {
		t.Errorf("%s", got)
	}
	var body struct{ Messages []json.RawMessage }
	if first := s.Requests()[0].Body; json.Unmarshal(first, &body) != nil || !strings.Contains(string(first), "the build is red") {
		t.Errorf("%s", first)
	}
	if r := h.run("--set", "terminal.cwd="+h.work, "hooks", "trust", "-y"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r = h.run("run", "go"); there("second-hooked") || !strings.Contains(r.err, "not second") {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(script, []byte("exit 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r = h.run("run", "go"); !there("third-hooked") || !strings.Contains(r.err, "has changed its hooks") {
		t.Errorf("%+v", r)
	}
}
