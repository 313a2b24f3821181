package program

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hermes/core/provider/modeltest"
)

// TestScripts runs the real program as a process, against a scripted model where a script says so.
// Each script runs beside the others: most of their time is the wait before a model is asked again.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(8 * patience), // of all of them, which wait for one another where there are few cores
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "model": model, "backup": backup, "requests": requests, "busybox": busybox, "until": until,
		},
		Condition: scriptCondition,
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"GORACE": "atexit_sleep_ms=0", "HOME": env.WorkDir + "/home", "HERMES_HOME": env.WorkDir + "/home/.hermes", "HERMES_MODEL": "offline",
				rootName: os.Getenv(rootName),
			} {
				env.Setenv(name, value)
			}
			return os.MkdirAll(env.WorkDir+"/home/.hermes", 0o700)
		},
	})
}

// exits runs a command that must end with the given code: exits 3 hermes run ask
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// servers are the scripted servers by *testscript.TestScript.
var servers sync.Map

// model starts a scripted server with the turns of a JSON file (a list of modeltest.Turn) and
// writes the settings that name it: model turns.json
func model(ts *testscript.TestScript, _ bool, args []string) {
	var turns []modeltest.Turn
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &turns))
	s, err := modeltest.Start(modeltest.Script{Turns: turns})
	ts.Check(err)
	ts.Defer(s.Close)
	ts.Setenv("HERMES_MODEL", "")
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("HERMES_HOME"), "config.yaml"), []byte(serverSettings(s)), 0o600))
	servers.Store(ts, s)
	ts.Defer(func() { servers.Delete(ts) })
}

// backup starts another scripted server and makes it the fallback of the first: backup turns.json
func backup(ts *testscript.TestScript, _ bool, args []string) {
	var turns []modeltest.Turn
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &turns))
	s, err := modeltest.Start(modeltest.Script{Turns: turns})
	ts.Check(err)
	ts.Defer(s.Close)
	path := filepath.Join(ts.Getenv("HERMES_HOME"), "config.yaml")
	text, err := os.ReadFile(path)
	ts.Check(err)
	chain := "fallback_providers:\n  - {provider: backup, model: spare-model, base_url: " + s.URL + ", api_mode: anthropic_messages}\n"
	ts.Check(os.WriteFile(path, append(text, chain...), 0o600))
}

// requests waits until the server was asked so many times, and fails when it was asked more often:
// requests 2
func requests(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	s, ok := servers.Load(ts)
	if !ok {
		ts.Fatalf("no model was started")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	server := s.(*modeltest.Server)
	if err := server.WaitRequests(ctx, want); err != nil || len(server.Requests()) != want {
		ts.Fatalf("%d requests came, want %d: %v", len(server.Requests()), want, err)
	}
}
