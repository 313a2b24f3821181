package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"hermes/core/chat"
	"hermes/core/provider/history"
)

// What a person never said, where the format wants a message of the person.
const (
	before = "(The conversation began earlier.)"
	goOn   = "(Go on.)"
)

// messages converts a conversation. Whatever the history looks like, the result keeps the rules of
// the wire format: it begins and ends with the person, the sides take turns, all results of an
// answer stand first in the message after it.
func (f format) messages(in []chat.Message, model string) []sdk.MessageParam {
	in = history.Mend(asUser(in))
	turn := history.LoopStart(in)
	var out []sdk.MessageParam
	add := func(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		if len(out) == 0 && role != sdk.MessageParamRoleUser {
			out = append(out, sdk.NewUserMessage(sdk.NewTextBlock(before)))
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	for i, m := range in {
		switch m.Role {
		case chat.RoleAssistant:
			var pieces []piece
			if i >= turn {
				pieces = f.thoughts(m, model)
			}
			add(sdk.MessageParamRoleAssistant, weave(pieces, m.Text, uses(m.Calls))...)
		case chat.RoleTool:
			add(sdk.MessageParamRoleUser, result(m.Result))
		default:
			add(sdk.MessageParamRoleUser, user(m)...)
		}
	}
	if n := len(out); n == 0 || out[n-1].Role != sdk.MessageParamRoleUser { // newer models refuse it
		add(sdk.MessageParamRoleUser, sdk.NewTextBlock(goOn))
	}
	return out
}

// asUser makes notes of the system messages of the person: the format has the system prompt only.
func asUser(in []chat.Message) []chat.Message {
	out := slices.Clone(in)
	for i := range out {
		if out[i].Role == chat.RoleSystem {
			out[i].Role = chat.RoleUser
		}
	}
	return out
}

// thoughts is the thinking of m, if this server wrote it with this model and takes it back.
func (f format) thoughts(m chat.Message, model string) []piece {
	var pieces []piece
	if f.Refuses(string(m.Opaque)) || !history.Open(f.WriterOf(model), m.Opaque, &pieces) {
		return nil
	}
	return pieces
}

func appendText(out []sdk.ContentBlockParamUnion, text string) []sdk.ContentBlockParamUnion {
	if strings.TrimSpace(text) == "" {
		return out
	}
	return append(out, sdk.NewTextBlock(text))
}

func uses(calls []chat.ToolCall) []sdk.ContentBlockParamUnion {
	out := make([]sdk.ContentBlockParamUnion, 0, len(calls))
	for _, c := range calls {
		out = append(out, sdk.NewToolUseBlock(history.CallID(c.ID), json.RawMessage(history.Arguments(c)), c.Name))
	}
	return out
}

func result(r *chat.ToolResult) sdk.ContentBlockParamUnion {
	b := &sdk.ToolResultBlockParam{ToolUseID: history.CallID(r.CallID)}
	if r.IsError {
		b.IsError = param.NewOpt(true)
	}
	b.Content = append(b.Content, sdk.ToolResultBlockParamContentUnion{
		OfText: &sdk.TextBlockParam{Text: history.ResultText(r)},
	})
	for _, p := range history.Images(r.Parts) {
		b.Content = append(b.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image(p).OfImage})
	}
	return sdk.ContentBlockParamUnion{OfToolResult: b}
}

func user(m chat.Message) []sdk.ContentBlockParamUnion {
	out := []sdk.ContentBlockParamUnion{sdk.NewTextBlock(history.UserText(m))}
	for _, p := range history.Images(m.Parts) {
		out = append(out, image(p))
	}
	for _, p := range history.Documents(m.Parts) {
		out = append(out, document(p))
	}
	return out
}

func document(p chat.Part) sdk.ContentBlockParamUnion {
	b := sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(p.Data)})
	b.OfDocument.Title = param.NewOpt(p.Name)
	return b
}

func image(p chat.Part) sdk.ContentBlockParamUnion {
	return sdk.NewImageBlockBase64(p.Media, base64.StdEncoding.EncodeToString(p.Data))
}
