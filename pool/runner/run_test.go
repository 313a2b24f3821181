package runner

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/testwait"
)

// askInside is the variable by which a test starts this program for the answer of Inside.
const askInside = "RUNNER_TEST_INSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(askInside) != "" {
		fmt.Printf("inside: %v\n", Inside())
		return
	}
	goleak.VerifyTestMain(m)
}

// newRunner returns a Runner with a short grace, closed when the test ends.
func newRunner(t testing.TB) *Runner {
	t.Helper()
	r := New(Options{Grace: 300 * time.Millisecond})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

func script(t testing.TB, text string) Spec {
	return Spec{Command: text, Env: Environ(os.Environ(), false), Home: t.TempDir()}
}

func mustRun(t testing.TB, r *Runner, s Spec) Result {
	t.Helper()
	res, err := r.Run(context.Background(), s)
	if err != nil {
		t.Fatalf("Run(%q): %v", s.Command, err)
	}
	return res
}

func TestExitCodes(t *testing.T) {
	r := newRunner(t)
	for text, want := range map[string]int{
		"true": 0, "exit 7": 7, "kill -9 $$": 137, "nosuchprogram": 127, "exec false": 1,
		"set -eu; false; true": 1, "echo 'open": 2, "if true": 2, "exit 300": 44,
	} {
		if res := mustRun(t, r, script(t, text)); res.ExitCode != want {
			t.Errorf("%q: exit code %d, want %d (%s)", text, res.ExitCode, want, res.Output)
		}
	}
}
