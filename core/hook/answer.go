package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// answer is what a hook says to an event.
type answer struct {
	refused bool
	reason  string
	args    json.RawMessage
	context string
}

// written is the JSON of an answer, in the words of several agents.
type written struct {
	Decision string          `json:"decision"`
	Action   string          `json:"action"`
	Reason   string          `json:"reason"`
	Message  string          `json:"message"`
	Context  string          `json:"context"`
	Added    string          `json:"additionalContext"`
	Args     json.RawMessage `json:"tool_input"`
	Updated  json.RawMessage `json:"updatedInput"`
	Continue *bool           `json:"continue"`
	Stop     string          `json:"stopReason"`
	Specific struct {
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Added    string          `json:"additionalContext"`
		Updated  json.RawMessage `json:"updatedInput"`
	} `json:"hookSpecificOutput"`
}

// readAnswer reads what a hook printed. What does not begin as JSON is its own talk and says
// nothing; what begins so and cannot be understood is an error.
func readAnswer(out []byte) (answer, error) {
	out = bytes.TrimSpace(out)
	if len(out) == 0 || out[0] != '{' {
		return answer{}, nil
	}
	var w written
	if err := json.Unmarshal(out, &w); err != nil {
		return answer{}, fmt.Errorf("what it printed is not valid JSON: %w", err)
	}
	a := answer{
		reason:  cmp.Or(w.Specific.Reason, w.Reason, w.Message, w.Stop),
		context: strings.TrimSpace(cmp.Or(w.Specific.Added, w.Context, w.Added)),
	}
	switch word := cmp.Or(w.Specific.Decision, w.Decision, w.Action); strings.ToLower(word) {
	case "", "allow", "approve", "continue":
		a.refused = w.Continue != nil && !*w.Continue
	case "block", "deny":
		a.refused = true
	default:
		return answer{}, fmt.Errorf("it decided %q: allow and deny are known", cutText(word, 40))
	}
	for _, args := range []json.RawMessage{w.Specific.Updated, w.Args, w.Updated} {
		if len(args) == 0 || string(args) == "null" {
			continue
		}
		if args[0] != '{' {
			return answer{}, errors.New("the arguments that it wants instead are no JSON object")
		}
		a.args = args
		break
	}
	return a, nil
}
