package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hermes/core/approval"
	"hermes/core/event"
	"hermes/core/intent"
	"hermes/core/tool"
)

// TestAnEditedCommandRunsAsThatCall: what the person wrote instead of the model's command runs in
// its place, unasked; the model is told, and what never runs still does not.
func TestAnEditedCommandRunsAsThatCall(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"rm -rf other": "[the person changed the command; this ran instead: rm -rf other]\nran rm -rf other",
		"rm -rf /":     "Refused:",
	} {
		terminal := fakeTool{spec: tool.Spec{
			Name: "terminal", Toolset: "terminal", Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["command"],"properties":{"command":{"type":"string"}}}`),
			Intent: func(args json.RawMessage) intent.Intent {
				var a struct{ Command string }
				_ = json.Unmarshal(args, &a)
				return intent.Intent{Gist: a.Command, Shell: &intent.Shell{Command: a.Command}}
			},
			Replace: func(_ json.RawMessage, command string) (json.RawMessage, error) {
				return json.Marshal(map[string]string{"command": command})
			},
		}, run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			var a struct{ Command string }
			err := json.Unmarshal(c.Args, &a)
			return tool.Result{Text: "ran " + a.Command}, err
		}}
		r := rigWith(t, []tool.Tool{terminal}, callsTools(fakeCall{"terminal", `{"command":"rm -rf build"}`}), says("done"))
		r.gate.SetPolicy(approval.Policy{Level: approval.LevelRead})
		r.submit("clean up", event.InputQueue)
		ask := first[event.ApprovalAsked](r.sink)
		if err := r.agent.AnswerEdited(ask.ID, command); err != nil {
			t.Fatal(err)
		}
		r.ended(1)
		r.idle()
		got := ""
		for _, m := range r.history() {
			if m.Result != nil {
				got += m.Result.Text
			}
			if m.Result != nil && command == "rm -rf other" && string(m.Result.Ran) != `{"command":"rm -rf other"}` {
				t.Errorf("what ran is kept as %s", m.Result.Ran)
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: the model reads %q, not %q", command, got, want)
		}
	}
}
