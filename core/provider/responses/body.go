package responses

import (
	"encoding/json"

	"github.com/openai/openai-go/v3/packages/param"
	api "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// noReasoning begins the key of a model without a choice of effort. The other keys are reasoning
// that was refused.
const noReasoning = "model "

// Learn reports whether the refusal is about reasoning, and leaves out from then on what the server
// does not take: the reasoning of this history, or everything that asks for reasoning.
func (f format) Learn(refused *stream.Refusal, r provider.Request) bool {
	if !refused.Invalid() || !refused.Says("reasoning", "encrypted") {
		return false
	}
	if f.RefuseState(r.Messages, func(m chat.Message) bool { return f.thoughts(m, r.Model) != nil }) {
		return true
	}
	return f.Refuse(noReasoning + r.Model)
}

// Body implements stream.Format.
func (f format) Body(r provider.Request) (any, error) {
	params := api.ResponseNewParams{
		Model: r.Model, Store: param.NewOpt(false),
		Input: api.ResponseNewParamsInputUnion{OfInputItemList: f.input(r.Messages, r.Model)},
	}
	if r.System != "" {
		params.Instructions = param.NewOpt(r.System)
	}
	for _, t := range r.Tools { // none: no list, several vendors refuse an empty one
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return params, stream.BadSchema(f.Name(), r.Model, t.Name, err)
		}
		tool := &api.FunctionToolParam{Name: t.Name, Parameters: schema, Strict: param.NewOpt(false)}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		params.Tools = append(params.Tools, api.ToolUnionParam{OfFunction: tool})
	}
	if r.MaxTokens > 0 {
		params.MaxOutputTokens = param.NewOpt(int64(r.MaxTokens))
	}
	if !f.Refuses(noReasoning + r.Model) {
		params.Include = []api.ResponseIncludable{api.ResponseIncludableReasoningEncryptedContent}
		if r.Effort != "" {
			params.Reasoning.Effort = shared.ReasoningEffort(r.Effort)
			params.Reasoning.Summary = shared.ReasoningSummaryAuto
		}
	}
	if !r.NoStream {
		params.SetExtraFields(map[string]any{"stream": true})
	}
	return params, nil
}
