package cli_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hermes/ui/cli"
)

// The scripts run the command line as a process of its own: this test binary under the name hermes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hermes": func() {
			os.Exit(cli.Process(context.Background(), cli.Program{
				Version: "1.2.3", Commit: "0123456789abcdef", Open: openFake, KeyProblems: wrongKeys, SQLite: func() string { return "3.50.1" },
			}))
		},
	})
}

// wrongKeys knows one action, whose key ctrl+q is that of another one.
func wrongKeys(keys map[string][]string) (unknown, conflicts []string) {
	for id, list := range keys {
		if id != "session.new" {
			unknown = append(unknown, "keys: there is no action "+strconv.Quote(id))
		} else if slices.Contains(list, "ctrl+q") {
			conflicts = append(conflicts, "keys: ctrl+q is on two actions")
		}
	}
	return unknown, conflicts
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector waits a second at each exit otherwise
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("HERMES_HOME", env.WorkDir+"/hermes")
			return os.MkdirAll(env.WorkDir+"/home", 0o700)
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
