package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hermes/core/chat"
)

// step is one entry of a conversation, whatever wire format it came in. A result of a tool is a
// step of its own.
type step struct {
	role  string // user, assistant or tool
	text  string
	other bool // it carries an image or a file
	calls []stepCall
	id    string // of the call that a result answers
}

type stepCall struct{ id, name, args string }

// CheckHistory tells how a conversation breaks the rules of OpenAI's chat completions or of
// Anthropic's messages. It is for what goes to a provider, before a wire format gives it its form.
func CheckHistory(messages []chat.Message) error {
	var steps []step
	for _, m := range messages {
		s := step{role: string(m.Role), text: m.Text, other: len(m.Parts) > 0}
		for _, c := range m.Calls {
			args := string(c.Args)
			if c.Invalid != "" || args == "" {
				args = "{}" // a provider sends it so
			}
			s.calls = append(s.calls, stepCall{c.ID, c.Name, args})
		}
		if m.Result != nil {
			s.id, s.text = m.Result.CallID, "result"
		}
		steps = append(steps, s)
	}
	return errors.Join(checkPairs(steps), checkTurns(steps))
}

// CheckChat tells how the body of a request breaks the rules of OpenAI's chat completions.
func CheckChat(body []byte) error {
	var in struct {
		Messages []Message `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	var steps []step
	for i, m := range in.Messages {
		if m.Role == "system" || m.Role == "developer" {
			continue
		}
		text, other, err := contentOf(m.Content)
		if err != nil {
			return fmt.Errorf("messages[%d].content: %w", i, err)
		}
		s := step{role: m.Role, text: text, other: other, id: m.ToolCallID}
		for _, c := range m.ToolCalls {
			s.calls = append(s.calls, stepCall{c.ID, c.Function.Name, c.Function.Arguments})
		}
		steps = append(steps, s)
	}
	return checkPairs(steps)
}

// contentOf reads a content that is a string, or a list of parts.
func contentOf(raw json.RawMessage) (text string, other bool, err error) {
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &text) == nil {
		return text, false, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", false, errors.New("neither a string nor a list of parts")
	}
	for _, p := range parts {
		text += p.Text
		other = other || p.Type != "text"
	}
	return text, other, nil
}

// CheckMessages tells how the body of a request breaks the rules of Anthropic's messages.
func CheckMessages(body []byte) error {
	var in struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	var steps []step
	for i, m := range in.Messages {
		said, err := blocksOf(m.Role, m.Content)
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		if i > 0 && in.Messages[i-1].Role == m.Role {
			return fmt.Errorf("messages[%d]: two messages of the %s in a row", i, m.Role)
		}
		steps = append(steps, said...)
	}
	return errors.Join(checkPairs(steps), checkTurns(steps))
}

// blocksOf takes a message of Anthropic's apart: the results of tools, which come first, then what
// else it says.
func blocksOf(role string, content json.RawMessage) ([]step, error) {
	said := step{role: role}
	if json.Unmarshal(content, &said.text) == nil {
		return []step{said}, nil
	}
	var blocks []struct {
		Type, Text, ID, Name string
		Input                json.RawMessage
		ToolUseID            string `json:"tool_use_id"`
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, err
	}
	var out []step
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			if said.text != "" || said.other {
				return nil, errors.New("a tool_result stands behind something else")
			}
			out = append(out, step{role: "tool", id: b.ToolUseID, text: "result"})
		case "tool_use":
			said.calls = append(said.calls, stepCall{b.ID, b.Name, string(b.Input)})
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				return nil, errors.New("text content blocks must contain non-whitespace text")
			}
			said.text += b.Text
		case "thinking", "redacted_thinking":
		default:
			said.other = true
		}
	}
	if said.text != "" || said.other || len(said.calls) > 0 || len(out) == 0 {
		out = append(out, said)
	}
	return out, nil
}

var callName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) })

// checkPairs holds for every vendor: each call has its result right behind it, no result is without
// its call, nothing is empty, arguments are a JSON object.
func checkPairs(steps []step) error {
	open, seen := map[string]bool{}, map[string]bool{}
	for i, s := range steps {
		switch {
		case s.role == "tool" && !open[s.id]:
			return fmt.Errorf("message %d: the result of %q follows no call of that id", i, s.id)
		case s.role == "tool":
			delete(open, s.id)
		case len(open) > 0:
			return fmt.Errorf("message %d: %d calls before it have no result", i, len(open))
		case s.role != "user" && s.role != "assistant":
			return fmt.Errorf("message %d: no role is called %q", i, s.role)
		}
		if strings.TrimSpace(s.text) == "" && !s.other && len(s.calls) == 0 {
			return fmt.Errorf("message %d of the %s is empty", i, s.role)
		}
		for _, c := range s.calls {
			var args map[string]json.RawMessage
			switch err := json.Unmarshal([]byte(c.args), &args); {
			case s.role != "assistant" || seen[c.id]:
				return fmt.Errorf("message %d: the call %q is there twice, or not the assistant's", i, c.id)
			case !callName().MatchString(c.id) || !callName().MatchString(c.name):
				return fmt.Errorf("message %d: the call %q of %q is not called as it may be", i, c.id, c.name)
			case err != nil || args == nil:
				return fmt.Errorf("message %d: the arguments of %q are no JSON object: %.80q", i, c.id, c.args)
			}
			open[c.id], seen[c.id] = true, true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d calls at the end have no result", len(open))
	}
	return nil
}

// checkTurns is what Anthropic, and some chat templates, ask for besides: the user begins, sides
// take turns.
func checkTurns(steps []step) error {
	if len(steps) == 0 || steps[0].role != "user" {
		return errors.New("the first message is not the user's")
	}
	for i, s := range steps[1:] {
		if s.role != "tool" && s.role == steps[i].role {
			return fmt.Errorf("message %d: two messages of the %s in a row", i+1, s.role)
		}
	}
	return nil
}
