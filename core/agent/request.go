package agent

import (
	"fmt"
	"slices"

	"hermes/core/chat"
	"hermes/core/prompt"
	"hermes/core/provider"
)

// Marks of what is said, so that it is not taken for a tool's output, nor one's words for
// another's.
const (
	steered = "[The person says, while you are at work:]\n"
	person  = "[The person says:]\n"
	other   = "[%s, not the person, says:]\n"
)

// missing is the result of a call that has none. The history of a healthy session needs it never.
const missing = "[no result: the call was interrupted]"

// buildRequest builds one model call from the history.
func (t *turn) buildRequest(specs []provider.ToolSpec, instruction string,
	whole bool,
) provider.Request {
	sent := t.w.pruned
	t.w.sent.Store(&sent)
	messages := t.presentParts(validHistory(t.shownHistory()))
	for i := range messages {
		messages[i].Opaque = opaqueFor(t.via.Name(), messages[i].Opaque)
	}
	if instruction != "" {
		messages = addUser(messages, chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: instruction})
	}
	return provider.Request{
		Model: t.model.ID, System: prompt.NameModel(t.system, t.model.ID), Messages: messages, Tools: specs, MaxTokens: t.settings.MaxTokens,
		Effort: t.reasoningEffort(), Session: t.w.uid, NoStream: whole, Refused: t.refusedText,
	}
}

// reasoningEffort is how long the model is told to think: as the session says, else as is set for
// the model, else as for all.
func (t *turn) reasoningEffort() string {
	if t.settings.EffortSet || t.model.Effort == "" {
		return t.settings.Effort
	}
	return t.model.Effort
}

// validHistory makes a history that every provider takes: never two user or two assistant messages
// in a row, every call followed by its results in call order, no result without a call, nothing
// empty. It changes no message of the history.
func validHistory(history []chat.Message) []chat.Message {
	results := map[string]chat.Message{}
	for _, m := range history {
		if m.Role == chat.RoleTool && m.Result != nil {
			results[m.Result.CallID] = m
		}
	}
	out := make([]chat.Message, 0, len(history))
	var before, asking chat.Message // asking called what results are of
	for i, m := range history {
		said := m
		switch m.Role {
		case chat.RoleUser:
			said.Text = markOf(before, m) + m.Text
			if m.From.IsSummary() {
				said.Text = summaryForModel(m, i+1 < len(history) && !isPrompt(history, i+1))
				said.Parts = nil
			}
			out = addUser(out, said)
		case chat.RoleAssistant:
			asking = m
			out = addAssistant(out, m, results)
		case chat.RoleTool, chat.RoleSystem:
		}
		if before = m; m.Role == chat.RoleTool {
			before.From = asking.From
		}
	}
	return out
}

// markOf is what stands before a user message that follows another message.
func markOf(before, m chat.Message) string {
	switch {
	case m.From.IsSummary():
		return ""
	case m.From.Other():
		return fmt.Sprintf(other, m.From.Words())
	case before.Role == chat.RoleTool && before.From.IsPerson():
		return "" // their own command had ended: nobody was at work
	case before.Role == chat.RoleTool:
		return steered
	case before.Role == chat.RoleUser && before.From.Other():
		return person
	default:
		return ""
	}
}

func addUser(out []chat.Message, m chat.Message) []chat.Message {
	if n := len(out); n > 0 && out[n-1].Role == chat.RoleUser {
		last := &out[n-1]
		last.Text = joinTexts(last.Text, m.Text)
		last.Parts = slices.Concat(last.Parts, m.Parts)
		return out
	}
	return append(out, m)
}

func addAssistant(out []chat.Message, m chat.Message, results map[string]chat.Message) []chat.Message {
	if m.Text == "" && len(m.Calls) == 0 {
		return out
	}
	if n := len(out); n > 0 && out[n-1].Role == chat.RoleAssistant {
		m.Text = joinTexts(out[n-1].Text, m.Text)
		out = out[:n-1] // it had no calls: their results would stand between
	}
	out = append(out, m)
	for _, c := range m.Calls {
		r, ok := results[c.ID]
		if !ok {
			r = chat.Message{
				Role: chat.RoleTool, Status: chat.StatusFinal,
				Result: &chat.ToolResult{CallID: c.ID, Name: c.Name, Text: missing, IsError: true, Interrupted: true},
			}
		}
		out = append(out, r)
	}
	return out
}

func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
