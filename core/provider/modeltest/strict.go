package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// part is a block of a message as a client sends it.
type part struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Source    struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  []byte `json:"data"`
	} `json:"source"`
}

var idForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkMessages is the rules of Anthropic Messages for a request.
func checkMessages(req Request) error {
	var in struct {
		MaxTokens int `json:"max_tokens"`
		Thinking  struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		} `json:"thinking"`
		Tools []struct {
			Name   string `json:"name"`
			Schema struct {
				Type string `json:"type"`
			} `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(req.Body, &in); err != nil {
		return err
	}
	switch {
	case req.Header.Get("Anthropic-Version") == "":
		return errors.New("anthropic-version: header is required")
	case in.MaxTokens < 1:
		return errors.New("max_tokens: Field required")
	case in.Thinking.Type == "enabled" && (in.Thinking.Budget < 1024 || in.Thinking.Budget >= in.MaxTokens):
		return errors.New("thinking.budget_tokens: must be at least 1024 and less than max_tokens")
	case strings.Count(string(req.Body), `"cache_control":`) > 4:
		return errors.New("a maximum of 4 blocks with cache_control may be provided")
	}
	for i, t := range in.Tools {
		if t.Name == "" || t.Schema.Type != "object" {
			return fmt.Errorf("tools.%d: name and input_schema of type object are required", i)
		}
	}
	if err := CheckMessages(req.Body); err != nil {
		return err
	}
	return checkBlocks(req.Messages, in.Thinking.Type == "enabled")
}

// checkBlocks is what the vendor asks of single blocks, and of the end: a conversation ends with
// the user, and with a budget for thinking the last calls begin with thoughts.
func checkBlocks(list []Message, budget bool) error {
	for i, m := range list {
		parts, err := partsOf(m)
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		first, last := parts[0].Type, parts[len(parts)-1].Type
		calls := slices.ContainsFunc(parts, func(p part) bool { return p.Type == "tool_use" })
		switch {
		case m.Role == "assistant" && thought(last):
			return fmt.Errorf("messages.%d: the final block in an assistant message cannot be %s", i, last)
		case m.Role == "assistant" && budget && i+2 == len(list) && calls && !thought(first):
			return fmt.Errorf("messages.%d: expected `thinking` or `redacted_thinking`, but found %q", i, first)
		case m.Role != "assistant" && (calls || slices.ContainsFunc(parts, func(p part) bool { return thought(p.Type) })):
			return fmt.Errorf("messages.%d: a user message has a block of the assistant", i)
		}
	}
	if len(list) == 0 || list[len(list)-1].Role != "user" {
		return errors.New("this model does not support assistant message prefill: the conversation must end with a user message")
	}
	return nil
}

func thought(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

func partsOf(m Message) ([]part, error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []part{{Type: "text", Text: &text}}, checkText(&text)
	}
	var parts []part
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, errors.New("content must not be empty")
	}
	for _, p := range parts {
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func (p part) check() error {
	switch p.Type {
	case "text":
		return checkText(p.Text)
	case "thinking":
		if p.Signature != Signature(p.Thinking) {
			return errors.New("invalid `signature` in `thinking` block")
		}
	case "redacted_thinking":
		if p.Data == "" {
			return errors.New("data of redacted_thinking is required")
		}
	case "image":
		if p.Source.Type != "base64" || !strings.HasPrefix(p.Source.Media, "image/") || len(p.Source.Data) == 0 {
			return errors.New("the image has no source")
		}
	case "document":
		if p.Source.Type != "base64" || p.Source.Media != "application/pdf" || len(p.Source.Data) == 0 {
			return errors.New("the document has no source")
		}
	case "tool_use":
		var o map[string]any
		if !idForm.MatchString(p.ID) || p.Name == "" || json.Unmarshal(p.Input, &o) != nil || o == nil {
			return fmt.Errorf("tool_use %q: id, name and an object as input are required", p.ID)
		}
	case "tool_result":
	default:
		return fmt.Errorf("unknown type of block %q", p.Type)
	}
	return nil
}

func checkText(s *string) error {
	if s == nil || strings.TrimSpace(*s) == "" {
		return errors.New("text content blocks must contain non-whitespace text")
	}
	return nil
}
