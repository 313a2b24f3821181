package openai

import (
	"encoding/base64"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/history"
	"hermes/core/provider/stream"
)

func (f *format) tools(r provider.Request) ([]sdk.ChatCompletionToolUnionParam, error) {
	var out []sdk.ChatCompletionToolUnionParam // nil for none: several vendors refuse an empty list
	for _, t := range r.Tools {
		var schema shared.FunctionParameters
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return nil, stream.BadSchema(f.Name(), r.Model, t.Name, err)
		}
		tool := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		out = append(out, sdk.ChatCompletionFunctionTool(tool))
	}
	return out, nil
}

// messages converts a conversation. Whatever the history looks like, the result keeps the rules of
// the wire format.
func (f *format) messages(r provider.Request) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	if r.System != "" {
		out = append(out, sdk.SystemMessage(r.System))
	}
	in := history.Mend(r.Messages)
	turn := history.TurnStart(in)
	for i, m := range in {
		switch m.Role {
		case chat.RoleSystem:
			out = append(out, sdk.SystemMessage(m.Text))
		case chat.RoleUser:
			out = append(out, user(m))
		case chat.RoleAssistant:
			var t thoughts
			if i >= turn {
				t = f.thoughtsOf(m, r.Model)
			}
			out = append(out, f.assistant(m, t, r.Model))
		case chat.RoleTool:
			out = append(out, sdk.ToolMessage(history.ResultText(m.Result), m.Result.CallID))
			last := i+1 == len(in)
			if !last && in[i+1].Role == chat.RoleTool {
				continue
			}
			switch shown := history.ShownAfter(in[:i+1]); {
			case shown.Parts == nil:
			case !last && in[i+1].Role == chat.RoleUser:
				in[i+1] = history.Join([]chat.Message{shown}, in[i+1])[0]
			default:
				out = append(out, user(shown))
			}
		}
	}
	return out
}

func (f *format) assistant(m chat.Message, t thoughts, model string) sdk.ChatCompletionMessageParamUnion {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	if m.Text != "" {
		a.Content.OfString = param.NewOpt(m.Text)
	}
	if extra := t.fields(m); len(extra) > 0 {
		a.SetExtraFields(extra)
	}
	for i, c := range m.Calls {
		call := &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID:       c.ID,
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: history.Arguments(c)},
		}
		extra := t.ofCall(m, i)
		if extra == nil && i == 0 && f.Refuses(noUnsigned+model) {
			extra = unsigned
		}
		if extra != nil {
			call.SetExtraFields(map[string]any{"extra_content": extra})
		}
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: a}
}

func user(m chat.Message) sdk.ChatCompletionMessageParamUnion {
	text := history.UserText(m)
	pictures, documents := history.Images(m.Parts), history.Documents(m.Parts)
	if pictures == nil && documents == nil {
		return sdk.UserMessage(text)
	}
	content := []sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(text)}
	for _, p := range pictures {
		content = append(content, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
			URL: dataURL(p),
		}))
	}
	for _, p := range documents {
		content = append(content, sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{
			Filename: param.NewOpt(p.Name), FileData: param.NewOpt(dataURL(p)),
		}))
	}
	return sdk.UserMessage(content)
}

func dataURL(p chat.Part) string {
	return "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
