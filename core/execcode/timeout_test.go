package execcode

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
	"hermes/core/tool"
)

// runUntilItSays runs a script that is to time out after it has said something. Where Python starts
// so late that the time is over before, the script is given twice the time.
func runUntilItSays(t *testing.T, e *Engine, s *Script, words string) Result {
	t.Helper()
	for {
		res := e.Run(t.Context(), *s)
		if res.Status != TimedOut || strings.Contains(res.Output, words) || s.Limits.Timeout > testwait.Hang {
			return res
		}
		s.Limits.Timeout *= 2
	}
}

// A tool that does not hear of the end holds nothing up, and its late answer goes nowhere.
func TestATimeoutInsideACall(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, "from hermes_tools import read_file\nprint('asking')\nread_file('x')")
	s.Limits.Timeout = time.Second
	release, gone := make(chan struct{}), make(chan struct{})
	s.Call = func(context.Context, tool.NestedCall) tool.NestedResult {
		defer close(gone)
		<-release
		return tool.NestedResult{}
	}
	res := runUntilItSays(t, e, &s, "asking\n")
	close(release)
	<-gone
	if res.Status != TimedOut || res.Calls != 1 || !strings.HasPrefix(res.Output, "asking\n") {
		t.Errorf("%+v", res)
	}
}

func TestTheClockStopsWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := script(t, "from hermes_tools import read_file\nprint(read_file('x')['ok'])")
	s.Limits.Timeout = 2 * time.Second
	s.Call = func(ctx context.Context, c tool.NestedCall) tool.NestedResult {
		c.Waiting(true)
		select {
		case <-ctx.Done():
			t.Errorf("it was ended while a person was asked, after %s", s.Limits.Timeout)
		case <-time.After(s.Limits.Timeout + 500*time.Millisecond): // longer than the script may run
		}
		c.Waiting(false)
		return tool.NestedResult{Data: json.RawMessage(`{"ok":"allowed"}`)}
	}
	if res := runUntilItSays(t, e, &s, "allowed\n"); res.Status != Success || res.Output != "allowed\n" {
		t.Errorf("%+v", res)
	}
}
