package procedure

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// brokenHost is a host whose back end goes, and whose person says no.
type brokenHost struct{ *shell }

func (h brokenHost) Tool(a string) (string, bool) { return a, a == toolCommand || a == toolAsk }

func (h brokenHost) Call(ctx context.Context, name string, args map[string]any, w func(bool)) Outcome {
	switch c := fmt.Sprint(args["command"]); {
	case strings.Contains(c, "refuse"):
		return Outcome{Text: "denied", Failed: true, Refused: true}
	case strings.Contains(c, "broken"):
		return Outcome{Text: "the back end is gone", Failed: true}
	}
	return h.shell.Call(ctx, name, args, w)
}

// A failure counts more than a refusal beside it, and what could not be asked holds nowhere.
func TestEndsOfMixedRuns(t *testing.T) {
	t.Parallel()
	const steps = "\n  execution:\n    steps: "
	for _, c := range []struct {
		text, end string
		held      int
	}{
		{steps + `[{name: a, command: "exit 1", on_failure: b}]
    error_handling:
      b: {steps: [{name: c, command: "true", requires_confirmation: true}]}
`, EndFailed, 0},
		{steps + `[{name: a, command: "exit 1"}, {name: b, command: "refuse"}]
    parallel_steps: [[a, b]]
`, EndFailed, 0},
		{steps + `[{name: a, command: "refuse"}, {name: b, command: "refuse"}]
    parallel_steps: [[a, b]]
`, EndRefused, 0},
		{steps + "[{name: a, command: \"true\"}]\n  postconditions: [{broken_installed: false}]\n", EndUnchecked, 0},
		{steps + "[{name: a, command: \"true\"}]\n  postconditions: [{broken_installed: true}]\n", EndUnchecked, 0},
		{steps + "[{name: a, command: \"true\"}]\n  preconditions: [{broken_installed: false}]\n", EndNotBegun, 0},
		{steps + "[{name: a, command: \"true\", condition: \"1 == 2\"}]\n  postconditions: [{sh_installed: true}]\n", EndDone, 0},
		{steps + "[{name: a, command: \"true\"}]\n  postconditions: [{sh_installed: true}]\n", EndDone, 1},
	} {
		h := brokenHost{&shell{dir: t.TempDir(), answer: "no"}}
		if res := Start(parsed(t, c.text), h, State{}).Do(t.Context()); res.End != c.end || res.Held != c.held {
			t.Errorf("%s\nends %q, held %d, want %q, %d: %v", c.text, res.End, res.Held, c.end, c.held, res.Err)
		}
	}
}
