package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
	"hermes/ui"
)

// scripted is a home whose model runs one script, and goes on.
func scripted(t *testing.T, more string, turns ...modeltest.Turn) (*home, *modeltest.Server) {
	t.Helper()
	needPython(t)
	h, model := homeWith(t, turns...)
	h.configure(serverSettings(model) + "approvals:\n  mode: off\n" + more)
	return h, model
}

func script(code string) modeltest.Turn {
	return modeltest.Turn{Calls: []modeltest.Call{calling("execute_code", map[string]any{"code": code})}}
}

// A script over forty files is watched while it works: its calls stand under it in the
// conversation, and in the output.
func TestAScriptOverFortyFilesIsSeenLive(t *testing.T) {
	t.Parallel()
	h, model := scripted(t, "", script(`from hermes_tools import read_file
import os, time
words = 0
for i in range(40):
    words += len(read_file(f"f{i:02d}.txt")["content"].split())
    while i == 24 and not os.path.exists("go"): time.sleep(0.02)
print("words:", words)
`), modeltest.Turn{Text: "That is all."})
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(h.work, fmt.Sprintf("f%02d.txt", i)), []byte("three words here\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := h.screen(160, 44, ui.Options{}, "")
	s.WaitFor("asks for nothing")
	say(s, "count the words")
	s.Wait("the call that it is at, in both panes", func(p string) bool {
		return strings.Contains(column(p, "─ 3 Output"), "f24.txt") && strings.Contains(strings.ReplaceAll(p, column(p, "─ 3 Output"), ""), "f24.txt") &&
			!strings.Contains(p, "f25.txt")
	})
	if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("words: 120")
	s.WaitFor("That is all.")
	if r := resultsOf(t, model); len(r) != 1 || r[0].Output != "words: 120\n" || r[0].Calls != 40 {
		t.Errorf("the model read %+v", r)
	}
	leave(t, s)
}

// Scripts that are ended show that, and the model reads what they had printed: by their time, esc,
// a new message and too many calls.
func TestScriptsThatAreEnded(t *testing.T) {
	t.Parallel()
	endless := script("import time\nprint('going', flush=True)\nopen('started', 'w').close()\ntime.sleep(600)\n")
	started := func(h *home) {
		eventually(t, "the script", func() bool { _, err := os.Stat(filepath.Join(h.work, "started")); return err == nil })
	}
	t.Run("its time", func(t *testing.T) {
		h, model := scripted(t, "code_execution:\n  timeout: 1s\n", endless, modeltest.Turn{Text: "Too slow."})
		s := h.screen(120, 40, ui.Options{}, "")
		s.WaitFor("asks for nothing")
		say(s, "run")
		s.WaitFor("Too slow.")
		if r := resultsOf(t, model); len(r) != 1 || r[0].Status != "timeout" || r[0].ExitCode != 124 || !strings.Contains(r[0].Output, "Script timed out after 1s and was killed.") {
			t.Errorf("%+v", r)
		}
		leave(t, s)
	})
	t.Run("esc", func(t *testing.T) {
		h, _ := scripted(t, "", endless)
		s := h.screen(120, 40, ui.Options{}, "")
		s.WaitFor("asks for nothing")
		say(s, "run")
		started(h)
		s.Type(esc)
		s.WaitFor("interrupted")
		s.WaitFor("ready")
		leave(t, s)
	})
	t.Run("a new message", func(t *testing.T) {
		h, model := scripted(t, "", endless, modeltest.Turn{Text: "Something else, then."})
		s := h.screen(120, 40, ui.Options{}, "")
		s.WaitFor("asks for nothing")
		say(s, "run")
		started(h)
		say(s, "no, this")
		s.WaitFor("Something else, then.")
		if r := resultsOf(t, model); len(r) != 1 || r[0].Status != "interrupted" || r[0].Output != "going\n[execution interrupted — user sent a new message]" {
			t.Errorf("%+v", r)
		}
		leave(t, s)
	})
	t.Run("calls", func(t *testing.T) {
		h, model := scripted(t, "", script("from hermes_tools import terminal\nlast = None\nfor i in range(60): last = terminal('true')\nprint(last)\n"), modeltest.Turn{Text: "Enough."})
		s := h.screen(120, 40, ui.Options{}, "")
		s.WaitFor("asks for nothing")
		say(s, "run")
		s.WaitFor("Enough.")
		want := "{'error': 'Tool call limit reached (50). No more tool calls allowed in this execution.'}\n"
		if r := resultsOf(t, model); len(r) != 1 || r[0].Calls != 50 || r[0].Output != want {
			t.Errorf("%+v", r)
		}
		leave(t, s)
	})
}

// A script in a container has its Python, its files and the agent's tools, which see the files of
// the session's back end.
func TestAScriptInAContainer(t *testing.T) {
	t.Parallel()
	needPython(t)
	b := newBoxes(t, "")
	python := pythonImage(t)
	b.backends = defaultBox + "    analytics: {image: " + python + ", env: {WHERE: second}}\n"
	code := `from hermes_tools import read_file, terminal
import os, threading
open("/tmp/inside", "w").write("of the container")
terminal("echo of the session > there.txt")
print(os.environ["WHERE"], read_file("there.txt")["content"].strip(), os.path.exists("there.txt"))
print(terminal("cat /tmp/inside", backend="analytics")["output"], terminal("echo $WHERE")["output"])
`
	args, _ := json.Marshal(map[string]string{"code": code, "backend": "analytics"})
	b.plays("", modeltest.Turn{Calls: []modeltest.Call{{Name: "execute_code", Args: string(args)}}}, modeltest.Turn{Text: "done"})
	o := b.turn(nil)
	r := resultsOf(t, b.model)
	if len(r) != 1 || r[0].Status != "success" || r[0].Output != "second of the session False\nof the container first\n" || r[0].Calls != 4 || r[0].Isolation != "backend analytics" {
		t.Errorf("code %d %s: %+v", o.code, o.errs, r)
	}
	if !o.has("ToolStarted", `"parent"`) {
		t.Error("its calls are no events below it")
	}
}
