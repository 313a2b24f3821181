package program

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/core"
	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider/modeltest"
	"hermes/core/secret"
)

// canaries are secrets that are planted in one place each. Those of the first group are known by
// where they stand, those of the second by their shape.
var canaries = map[string]string{
	".env": "Zq7-env-canary/4711+x", "config": "Zq7-config-canary-4712", "environment": "Zq7 environment\"canary\" 4713",
	"file": "ghp_Zq7fileCanary4714abcdefABCDEF0123", "url": "Zq7urlCanary4715", "argument": "sk-Zq7argumentCanary4716abcdef", "title": "xoxb-4717-Zq7titleCanary4717abcd",
	"prompt": "glpat-Zq7promptCanary4718", "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJacTciOiJjYW5hcnkifQ.Zq7jwtCanary4719",
}

func count(calls ...modeltest.Call) modeltest.Turn { return modeltest.Turn{Calls: calls} }

func terminal(command string) modeltest.Call {
	args, _ := json.Marshal(map[string]string{"command": command})
	return modeltest.Call{Name: "terminal", Args: string(args)}
}

// canaryTurns are what the model does: it meets each canary in many ways, and says them itself.
func canaryTurns(work string) []modeltest.Turn {
	env, conf, key := canaries[".env"], canaries["config"], canaries["argument"]
	half := len(env) / 2
	bg, _ := json.Marshal(map[string]any{"command": "printf %s " + env[:half] + "; sleep 0.2; echo " + env[half:] + "; sleep 0.3", "background": true})
	code, _ := json.Marshal(map[string]any{"code": "import os\nprint('" + env + "')\nprint(open('" + work + "/secrets.txt').read())\n"})
	write, _ := json.Marshal(map[string]any{"path": "made.txt", "content": "key: " + key + "\n"})
	return []modeltest.Turn{
		count(terminal(`echo "$CANARY_TOKEN"; printf %s "$CANARY_TOKEN" | base64; printf %s "$CANARY_TOKEN" | od -An -tx1 | tr -d ' \n'`)),
		count(terminal("printf %s '" + env[:half] + "'; sleep 0.1; printf '%s\\n' '" + env[half:] + "'; printf '\\033[31m%s\\033[0m%s\\n' '" + env[:4] + "' '" + env[4:] + "'")),
		count(terminal("cat secrets.txt; echo x | base64 secrets.txt >&2; no-such-program " + key)),
		count(modeltest.Call{Name: "read_file", Args: `{"path":"secrets.txt"}`}, modeltest.Call{Name: "search_files", Args: `{"pattern":"Zq7","path":"."}`}, modeltest.Call{Name: "write_file", Args: string(write)}),
		count(terminal("for i in $(seq 6000); do echo \"$i " + conf + " " + key + "\"; done")),
		count(modeltest.Call{Name: "terminal", Args: string(bg)}),
		count(modeltest.Call{Name: "process", Args: `{"action":"wait","session_id":"p1","timeout":5}`}),
		count(modeltest.Call{Name: "process", Args: `{"action":"log","session_id":"p1"}`}),
		count(modeltest.Call{Name: "execute_code", Args: string(code)}),
		count(modeltest.Call{Name: "terminal", Args: `{"command": "echo ` + key + `"`}, modeltest.Call{Name: "no_such_tool", Args: `{"a":"` + key + `"}`}),
		count(terminal("rm -rf ./build-" + key)),
		count(terminal("git clone https://me:" + canaries["url"] + "@127.0.0.1:1/x.git")),
		{Reasoning: "I think of " + env + " and " + canaries["jwt"], Text: "The keys are " + env + ", " + key + " and " + canaries["jwt"] + ".", Chunk: 3},
		{Status: 500, Message: "the key " + conf + " broke it"},
		{Text: "second answer"},
		{Text: "third answer"},
		{Text: "fourth answer"},
		{Text: "A summary with " + env + " in it."},
		{Status: 401, Message: "Incorrect API key provided: " + conf},
	}
}

// traces are the ways in which a canary may be written, by name.
func traces() map[string][]byte {
	out := map[string][]byte{}
	for name, c := range canaries {
		quoted, _ := json.Marshal(c)
		forms := []string{c, url.QueryEscape(c), url.PathEscape(c), hex.EncodeToString([]byte(c)), string(quoted[1 : len(quoted)-1])}
		if name == ".env" || name == "config" || name == "environment" { // of the others only the shape is known
			for shift := range 3 {
				text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + c))
				forms = append(forms, text[shift+shift/1:(shift+len(c))*8/6])
			}
		}
		for i, f := range forms {
			out[fmt.Sprintf("%s, form %d", name, i)] = []byte(f)
		}
	}
	return out
}

func tracesIn(data []byte) (found []string) {
	for name, trace := range traces() {
		if bytes.Contains(data, trace) {
			found = append(found, name)
		}
	}
	return found
}

// canaryHome is a home with all canaries in their places.
func canaryHome(t *testing.T, more string) (*home, *modeltest.Server) {
	t.Setenv("CANARY_TOKEN", canaries["environment"])
	t.Setenv("TMPDIR", t.TempDir())
	h := newHome(t, "")
	s := modeltest.NewScript(t, modeltest.Script{Turns: canaryTurns(h.work)})
	settings := strings.Replace(serverSettings(s), "api_key: secret", "api_key: "+canaries["config"], 1)
	h.configure(settings + "logging: {level: debug}\nterminal: {env_passthrough: [CANARY_TOKEN]}\napprovals: {mode: manual, timeout: 30}\n" + more)
	for path, text := range map[string]string{
		filepath.Join(h.dir, ".env"):         "SOME_VALUE='" + canaries[".env"] + "'\n",
		filepath.Join(h.work, "secrets.txt"): "Zq7 token: " + canaries["file"] + "\nurl: https://me:" + canaries["url"] + "@host/x\n" + canaries["jwt"] + "\n",
		filepath.Join(h.work, "AGENTS.md"):   "Use the key " + canaries["argument"] + " for everything.\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h, s
}

// spy collects every event and answers what is asked.
func spy(t *testing.T, app *core.App) (all func() []byte) {
	box := app.Bus.Subscribe(event.Limits{})
	done := make(chan []byte, 1)
	deltas := map[string][]byte{}
	go func() {
		var out bytes.Buffer
		for {
			envelopes, err := box.Next(context.Background())
			if envelopes == nil || err != nil {
				for _, d := range deltas {
					out.Write(append(d, '\n'))
				}
				done <- out.Bytes()
				return
			}
			for _, env := range envelopes {
				line, _ := json.Marshal(env)
				out.Write(append(line, '\n'))
				switch e := env.Event.(type) {
				case event.ToolOutput: // base64 in JSON: the bytes themselves, and pieces put together
					deltas[e.CallID+string(e.Stream)] = append(deltas[e.CallID+string(e.Stream)], e.Data...)
				case event.TextDelta:
					deltas[fmt.Sprint("text", e.MessageID)] = append(deltas[fmt.Sprint("text", e.MessageID)], e.Text...)
				case event.ApprovalAsked:
					decision := event.DecisionDeny
					for _, c := range e.Choices {
						if c == event.DecisionAlways && !strings.Contains(e.Detail, "rm ") {
							decision = c
						} else if c == event.DecisionOnce && decision == event.DecisionDeny && !strings.Contains(e.Detail, "rm ") {
							decision = c
						}
					}
					_ = app.Agent.Answer(e.ID, decision)
				default:
				}
			}
		}
	}()
	return func() []byte { box.Close(); return <-done }
}

// converse runs the whole conversation in the program without a screen and returns everything that
// was published.
func converse(t *testing.T, h *home) []byte {
	t.Helper()
	o, closeLog := options(h.start())
	defer closeLog()
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	app, err := core.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	all := spy(t, app)
	submit := func(text string) {
		if err := app.Submit(ctx, "canary", agent.Input{From: chat.Person(), Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := app.Agent.Wait(ctx, "canary"); err != nil {
			t.Fatal(err)
		}
	}
	submit("Begin. My token is " + canaries["prompt"] + ", use " + canaries[".env"])
	submit("go on")
	submit("and on")
	submit("and on")
	if err := app.Agent.Compress(ctx, "canary", "keys like "+canaries["argument"]); err != nil {
		t.Fatal(err)
	}
	_ = app.Agent.Wait(ctx, "canary")
	submit("fail now")
	if err := app.Sessions.Rename(ctx, "canary", "about "+canaries["title"]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // what the background still says
	if err := app.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return all()
}

// TestNoCanaryAnywhere plants secrets, lets a model meet them in every way that the program has,
// and then looks at every byte that was written, published or sent.
func TestNoCanaryAnywhere(t *testing.T) {
	defer secret.Enable(true)
	h, s := canaryHome(t, "")
	defer syscall.Umask(syscall.Umask(0))
	published := converse(t, h)
	for _, found := range tracesIn(published) {
		t.Errorf("an event holds %s", found)
	}
	if !bytes.Contains(published, []byte(secret.Hidden)) || !bytes.Contains(published, []byte("ApprovalAsked")) || !bytes.Contains(published, []byte("Compressed")) {
		t.Errorf("the conversation did not go as planned: %.3000s", published)
	}
	for i, r := range s.Requests() {
		for _, found := range tracesIn(r.Body) {
			t.Errorf("request %d to the model holds %s", i, found)
		}
	}
	if left := s.Remaining(); left > 0 {
		t.Errorf("%d turns of the script were not played", left)
	}
	look := func(what, text string) {
		for _, found := range tracesIn([]byte(text)) {
			t.Errorf("%s shows %s", what, found)
		}
	}
	for _, format := range []string{"json", "markdown", "sharegpt"} {
		file := filepath.Join(h.work, "export."+format)
		if r := h.run("sessions", "export", "canary", "--format", format, "--to", file); r.code != 0 {
			t.Errorf("export: %s", r.err)
		}
		data, _ := os.ReadFile(file)
		look("export as "+format, string(data))
	}
	h.run("sessions", "import", filepath.Join(h.work, "export.json"))
	for _, args := range [][]string{{"sessions", "show", "canary"}, {"sessions", "search", "token"}, {"sessions", "list"}, {"audit"}, {"logs"}, {"config", "show"}, {"doctor"}, {"approvals", "list"}, {"run", "--output", "jsonl", "again"}} {
		r := h.run(args...)
		look(strings.Join(args, " "), r.out+r.err)
	}
	closedToOthers(t, h.dir)
	searchFiles(t, h.dir, true)
	searchFiles(t, os.Getenv("TMPDIR"), true)
}

// closedToOthers looks at what was made while the umask kept nothing back.
func closedToOthers(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // gone already
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().Type()&fs.ModeSymlink == 0 {
			t.Errorf("%s can be read by others: %v", path, info.Mode())
		}
		return nil
	})
}

// searchFiles looks into every file below dir, the database's raw bytes among them.
func searchFiles(t *testing.T, dir string, clean bool) {
	t.Helper()
	files, dirty := 0, 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/checkpoints/") || // files as they were, to be put back
			d.Name() == ".env" || d.Name() == "config.yaml" {
			return nil //nolint:nilerr // gone already
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		files++
		for _, found := range tracesIn(data) {
			dirty++
			if clean {
				t.Errorf("%s holds %s", path, found)
			}
		}
		return nil
	})
	if !clean && dirty == 0 {
		t.Errorf("nothing was found in %d files: this test sees nothing", files)
	}
}

// Switched off, the same conversation leaves traces: so the test above can fail. The log has none
// even then.
func TestCanariesAreSeenWhenNothingIsHidden(t *testing.T) {
	defer secret.Enable(true)
	h, _ := canaryHome(t, "security: {redact_secrets: false}\n")
	if published := converse(t, h); len(tracesIn(published)) == 0 {
		t.Error("no event holds a canary")
	}
	searchFiles(t, h.dir, false)
	log, err := os.ReadFile(h.start().Config.Paths().LogFile)
	if err != nil || len(log) == 0 {
		t.Errorf("no log: %v", err)
	}
	for _, found := range tracesIn(log) {
		t.Errorf("the log holds %s", found)
	}
}
