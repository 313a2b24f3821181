// Package history makes any conversation valid for a wire format without changing what it says, and
// has the words in which the formats say what has no field of its own.
package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes/core/chat"
)

// Mend makes a history valid for the wire without changing what it says:
//
//   - each call is followed by exactly one result, in the order of the calls; a missing one is made
//     up as interrupted
//   - a result without a call is dropped
//   - a message that says nothing is dropped; neighbours of the same speaker are joined (some chat
//     templates reject them)
func Mend(in []chat.Message) []chat.Message {
	var out []chat.Message
	for i := 0; i < len(in); i++ {
		m := in[i]
		switch m.Role {
		case chat.RoleTool: // a result that no call waits for: those that belong are taken below
			continue
		case chat.RoleAssistant:
			m.Calls = named(m.Calls)
			if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
				continue
			}
		default:
		}
		out = Join(out, m)
		if len(m.Calls) > 0 {
			n := i + 1
			for n < len(in) && in[n].Role == chat.RoleTool {
				n++
			}
			out = append(out, results(m.Calls, in[i+1:n])...)
			i = n - 1
		}
	}
	return out
}

// maxName is how long a name of a tool may be for every vendor.
const maxName = 64

// sendableName is a name as vendors take it: a model can call anything, and its call goes back with
// every later request.
func sendableName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxName)]
}

// named drops what cannot be sent as a call: no id, no name, or an id twice in a message.
func named(calls []chat.ToolCall) []chat.ToolCall {
	var out []chat.ToolCall
	seen := map[string]bool{}
	for _, c := range calls {
		if c.ID != "" && c.Name != "" && !seen[c.ID] {
			seen[c.ID] = true
			c.Name = sendableName(c.Name)
			out = append(out, c)
		}
	}
	return out
}

// results orders what came by the calls and fills the gaps.
func results(calls []chat.ToolCall, came []chat.Message) []chat.Message {
	byID := map[string]chat.Message{}
	for _, m := range came {
		if m.Result != nil {
			if _, twice := byID[m.Result.CallID]; !twice {
				byID[m.Result.CallID] = m
			}
		}
	}
	out := make([]chat.Message, 0, len(calls))
	for _, c := range calls {
		m, ok := byID[c.ID]
		if !ok {
			m = chat.Message{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: c.ID, Name: c.Name, IsError: true, Interrupted: true}}
		}
		out = append(out, m)
	}
	return out
}

// Join appends m, into the last message when the same side speaks again.
func Join(out []chat.Message, m chat.Message) []chat.Message {
	if len(out) == 0 {
		return append(out, m)
	}
	last := &out[len(out)-1]
	same := last.Role == m.Role && (m.Role == chat.RoleUser || (m.Role == chat.RoleAssistant && len(last.Calls) == 0))
	if !same {
		return append(out, m)
	}
	if m.Role == chat.RoleUser {
		last.Text = UserText(textOnly(*last))
		m.Text = UserText(textOnly(m))
		last.Parts = slices.Concat(attached(last.Parts), attached(m.Parts))
	}
	last.Text = strings.TrimSpace(last.Text + "\n\n" + m.Text)
	last.Calls, last.Reasoning, last.Opaque = m.Calls, m.Reasoning, m.Opaque
	return out
}

// textOnly is the message without its images and documents.
func textOnly(m chat.Message) chat.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isAttached)
	return m
}

// isAttached reports whether a model is shown the bytes of a part: an image, or a document.
func isAttached(p chat.Part) bool { return p.Data != nil }

func attached(in []chat.Part) []chat.Part { return keep(in, isAttached) }

// Images are the images among the parts that a model is shown.
func Images(in []chat.Part) []chat.Part {
	return keep(in, func(p chat.Part) bool { return isAttached(p) && p.Kind == chat.PartImage })
}

// Documents are the documents among the parts that a model is shown.
func Documents(in []chat.Part) []chat.Part {
	return keep(in, func(p chat.Part) bool { return isAttached(p) && p.IsDocument() })
}

func keep(in []chat.Part, is func(chat.Part) bool) []chat.Part {
	var out []chat.Part
	for _, p := range in {
		if is(p) {
			out = append(out, p)
		}
	}
	return out
}

// HasAttached reports whether a conversation shows an image or a document.
func HasAttached(in []chat.Message) bool {
	found := false
	for _, m := range in {
		m.EachPart(func(part *chat.Part) { found = found || isAttached(*part) })
	}
	return found
}

// ShownAfter is what shows the images of the results that end with results: a message of the
// person, because the format takes texts only as results. It names each by its call. It is empty
// when there are none.
func ShownAfter(results []chat.Message) chat.Message {
	first := len(results)
	for first > 0 && results[first-1].Role == chat.RoleTool {
		first--
	}
	m := chat.Message{Role: chat.RoleUser}
	for _, r := range results[first:] {
		for _, p := range Images(r.Result.Parts) {
			m.Text += fmt.Sprintf(", %q of %s (%s)", p.Name, r.Result.Name, r.Result.CallID)
			m.Parts = append(m.Parts, p)
		}
	}
	m.Text = "[Images that the results above hold, in this order: " + strings.TrimPrefix(m.Text, ", ") + "]"
	return m
}

// WithoutAttached is a conversation with a line in the place of each image and document: what
// instead says, if it is not nil.
func WithoutAttached(in []chat.Message, instead func(chat.Part) string) []chat.Message {
	if instead == nil {
		instead = func(p chat.Part) string {
			return strings.TrimSpace(p.Instead("you cannot see it, because the server refuses it") + "\n" + p.Text)
		}
	}
	out := make([]chat.Message, len(in))
	for i, m := range in {
		out[i] = m.Reduce(func(p *chat.Part) string {
			if !isAttached(*p) {
				return ""
			}
			return instead(*p)
		})
	}
	return out
}

// Arguments is always a JSON object: some servers parse the arguments of old calls, and one broken
// call in the history would make every later request fail.
func Arguments(c chat.ToolCall) string {
	var o map[string]json.RawMessage
	if c.Invalid == "" && json.Unmarshal(c.Args, &o) == nil && o != nil {
		return string(c.Args)
	}
	raw := c.Invalid
	if raw == "" {
		raw = string(c.Args)
	}
	if strings.TrimSpace(raw) == "" || raw == "null" {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"_invalid_json": raw})
	if err != nil {
		return "{}"
	}
	return string(b)
}

// CallID is the id of a call as strict formats take it: letters, digits, - and _, at most 64.
// Another vendor's id becomes one that is the same every time.
func CallID(id string) string {
	const most = 64
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if id != "" && len(id) <= most && strings.Trim(id, plain) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

// ResultText is what a model reads of a result: never nothing.
func ResultText(r *chat.ToolResult) string {
	switch {
	case strings.TrimSpace(r.Text) != "":
		return r.Text
	case r.Interrupted:
		return "(interrupted: the call did not finish)"
	default:
		return "(no output)"
	}
}

// UserText is the text with pasted blocks and files after it.
func UserText(m chat.Message) string {
	var b strings.Builder
	b.WriteString(m.Text)
	for _, p := range m.Parts {
		if p.Data == nil {
			fmt.Fprintf(&b, "\n\n<attachment name=%q>\n%s\n</attachment>", p.Name, p.Text)
		}
	}
	text := strings.TrimLeft(b.String(), "\n")
	switch {
	case strings.TrimSpace(text) != "":
		return text
	case Images(m.Parts) != nil:
		return "(see the image)"
	case Documents(m.Parts) != nil:
		return "(see the document)"
	}
	return "(an empty message)"
}

// TurnStart is the index after the last user message.
func TurnStart(in []chat.Message) int {
	for i := len(in) - 1; i >= 0; i-- {
		if in[i].Role == chat.RoleUser {
			return i + 1
		}
	}
	return 0
}

// LoopStart is where the calls begin that the model has not answered yet: what a person says right
// after results does not end them.
func LoopStart(in []chat.Message) int {
	for i := len(in) - 1; i >= 0; i-- {
		if in[i].Role == chat.RoleUser && (i == 0 || in[i-1].Role != chat.RoleTool) {
			return i + 1
		}
	}
	return 0
}

// sealed is provider state with the name of who wrote it.
type sealed struct {
	From string          `json:"from"`
	Data json.RawMessage `json:"data"`
}

// Seal is provider state for chat.Message.Opaque: v, with the name of who wrote it.
func Seal(from string, v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	b, err := json.Marshal(sealed{From: from, Data: data})
	if err != nil {
		return nil
	}
	return b
}

// Open reads provider state into v, and reports whether from wrote it.
func Open(from string, opaque json.RawMessage, v any) bool {
	var s sealed
	return json.Unmarshal(opaque, &s) == nil && s.From == from && json.Unmarshal(s.Data, v) == nil
}
