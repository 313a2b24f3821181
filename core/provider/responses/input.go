package responses

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	api "github.com/openai/openai-go/v3/responses"

	"hermes/core/chat"
	"hermes/core/provider/history"
)

// thought is a reasoning item of an answer, and how many calls came before it.
type thought struct {
	ID        string   `json:"id"`
	Summary   []string `json:"summary"`
	Encrypted string   `json:"encrypted"`
	Calls     int      `json:"calls,omitempty"`
	Text      bool     `json:"text,omitempty"` // the text came before it
}

// keep is the reasoning of an answer; nil when none of it can go back.
func keep(order []*item) []thought {
	var out []thought
	calls, text := 0, false
	for _, i := range order {
		switch i.Type {
		case "function_call":
			calls++
		case "message":
			text = true
		case "reasoning":
			if i.Encrypted == "" {
				continue
			}
			t := thought{ID: i.ID, Summary: []string{}, Encrypted: i.Encrypted, Calls: calls, Text: text}
			for _, w := range i.Summary {
				t.Summary = append(t.Summary, w.Text)
			}
			out = append(out, t)
		}
	}
	return out
}

func (t thought) item() api.ResponseInputItemUnionParam {
	summary := []api.ResponseReasoningItemSummaryParam{}
	for _, s := range t.Summary {
		summary = append(summary, api.ResponseReasoningItemSummaryParam{Text: s})
	}
	i := api.ResponseInputItemParamOfReasoning(t.ID, summary)
	i.OfReasoning.EncryptedContent = param.NewOpt(t.Encrypted)
	return i
}

// input converts a conversation. Whatever the history looks like, the result keeps the rules of the
// wire format.
func (f format) input(in []chat.Message, model string) api.ResponseInputParam {
	in = history.Mend(in)
	turn := history.LoopStart(in)
	out := api.ResponseInputParam{}
	for i, m := range in {
		switch m.Role {
		case chat.RoleSystem:
			out = append(out, api.ResponseInputItemParamOfMessage(m.Text, api.EasyInputMessageRoleDeveloper))
		case chat.RoleUser:
			out = append(out, user(m))
		case chat.RoleAssistant:
			var thoughts []thought
			if i >= turn {
				thoughts = f.thoughts(m, model)
			}
			out = append(out, assistant(m, thoughts)...)
		case chat.RoleTool:
			out = append(out, result(m.Result))
		}
	}
	return out
}

// thoughts is the reasoning of m, if this server wrote it with this model and takes it back.
func (f format) thoughts(m chat.Message, model string) []thought {
	var out []thought
	if f.Refuses(string(m.Opaque)) || !history.Open(f.WriterOf(model), m.Opaque, &out) {
		return nil
	}
	return out
}

// assistant is an answer with its reasoning where it was. Reasoning that nothing would follow is
// left out.
func assistant(m chat.Message, thoughts []thought) []api.ResponseInputItemUnionParam {
	var out []api.ResponseInputItemUnionParam
	reason := func(calls int, text bool) {
		for len(thoughts) > 0 && thoughts[0].Calls <= calls && (text || !thoughts[0].Text) {
			out, thoughts = append(out, thoughts[0].item()), thoughts[1:]
		}
	}
	if strings.TrimSpace(m.Text) != "" {
		reason(0, false)
		out = append(out, api.ResponseInputItemParamOfMessage(m.Text, api.EasyInputMessageRoleAssistant))
	}
	for n, c := range m.Calls {
		reason(n, true)
		out = append(out, api.ResponseInputItemParamOfFunctionCall(history.Arguments(c), history.CallID(c.ID), c.Name))
	}
	return out
}

func result(r *chat.ToolResult) api.ResponseInputItemUnionParam {
	images := history.Images(r.Parts)
	text := history.ResultText(r)
	id := param.NewOpt(history.CallID(r.CallID))
	if images == nil {
		out := api.ResponseInputItemParamOfFunctionCallOutput(text)
		out.OfFunctionCallOutput.CallID = id
		return out
	}
	list := api.ResponseFunctionCallOutputItemListParam{{OfInputText: &api.ResponseInputTextContentParam{Text: text}}}
	for _, p := range images {
		list = append(list, api.ResponseFunctionCallOutputItemUnionParam{
			OfInputImage: &api.ResponseInputImageContentParam{ImageURL: param.NewOpt(address(p))},
		})
	}
	out := api.ResponseInputItemParamOfFunctionCallOutput(list)
	out.OfFunctionCallOutput.CallID = id
	return out
}

func user(m chat.Message) api.ResponseInputItemUnionParam {
	text := history.UserText(m)
	images, documents := history.Images(m.Parts), history.Documents(m.Parts)
	if images == nil && documents == nil {
		return api.ResponseInputItemParamOfMessage(text, api.EasyInputMessageRoleUser)
	}
	list := api.ResponseInputMessageContentListParam{api.ResponseInputContentParamOfInputText(text)}
	for _, p := range images {
		list = append(list, api.ResponseInputContentUnionParam{OfInputImage: &api.ResponseInputImageParam{
			Detail: api.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(address(p)),
		}})
	}
	for _, p := range documents {
		list = append(list, api.ResponseInputContentUnionParam{OfInputFile: &api.ResponseInputFileParam{
			Filename: param.NewOpt(p.Name), FileData: param.NewOpt(address(p)),
		}})
	}
	return api.ResponseInputItemParamOfMessage(slices.Clip(list), api.EasyInputMessageRoleUser)
}

func address(p chat.Part) string {
	return "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
