package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/clip"
	"hermes/core/plugin"
	"hermes/core/secret"
)

// Limits of what a context engine is given of one conversation.
const (
	engineText  = 8 << 10 // bytes of one text
	engineWhole = 2 << 20 // of all of them; the oldest go first
)

// engineMessage is a message as a context engine reads it.
type engineMessage struct {
	Role   string       `json:"role"` // "user", "assistant", "tool", "summary"
	From   string       `json:"from,omitempty"`
	Text   string       `json:"text,omitempty"`
	Calls  []engineCall `json:"calls,omitempty"`
	Tool   string       `json:"tool,omitempty"` // whose result it is
	Failed bool         `json:"failed,omitempty"`
}

type engineCall struct {
	Tool string `json:"tool"`
	Args string `json:"arguments"`
}

// engineTask is what a context engine is asked.
type engineTask struct {
	Session  string          `json:"session_id"`
	Focus    string          `json:"focus,omitempty"`
	Tokens   int             `json:"max_tokens"`
	Messages []engineMessage `json:"messages"`
}

// contextEngine is the plugin that sums conversations up; nil when there is none.
func (a *App) contextEngine() *agent.Summariser {
	one, ok := a.plugins.roleHolder(plugin.RoleContext)
	if !ok {
		return nil
	}
	return &agent.Summariser{Name: one.Name, Sum: func(ctx context.Context, t agent.SummaryTask) (string, error) {
		data, err := json.Marshal(engineTask{t.Session, secret.Clean(t.Focus), t.Tokens, engineMessages(t.Messages)})
		if err != nil {
			return "", err
		}
		limited, cancel := context.WithTimeout(ctx, one.Manifest.Context.Limit())
		defer cancel()
		text, err := a.MCP.Ask(limited, one.Name, one.Manifest.Context.Summarise, data)
		if err != nil && ctx.Err() == nil {
			err = explainDeadline(err)
		}
		return strings.TrimSpace(text), err
	}}
}

// engineMessages are messages without secrets, each cut, the newest as far as there is room.
func engineMessages(list []chat.Message) []engineMessage {
	out := make([]engineMessage, 0, len(list))
	room := engineWhole
	for i := len(list) - 1; i >= 0 && room > 0; i-- {
		m := list[i]
		e := engineMessage{Role: string(m.Role), Text: clip.Bytes(secret.Clean(m.Text), engineText)}
		switch {
		case m.From.IsSummary():
			e.Role, e.Text = "summary", secret.Clean(m.Text)
		case m.Result != nil:
			e.Tool, e.Failed, e.Text = m.Result.Name, m.Result.IsError, clip.Bytes(secret.Clean(m.Result.Text), engineText)
		case m.From.Other():
			e.From = m.From.Words()
		}
		for _, c := range m.Calls {
			args := clip.Bytes(secret.Clean(string(c.Args)), engineText/4)
			e.Calls, room = append(e.Calls, engineCall{c.Name, args}), room-len(args)
		}
		room -= len(e.Text)
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}
