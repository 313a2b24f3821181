package openai

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// What models of one server may refuse, each for itself.
const (
	noThoughts = "reasoning of "      // its own reasoning
	noUnsigned = "unsigned calls of " // calls without a signature
	noAsking   = "thoughts of "       // to be asked for thoughts in the vendor's own field
)

// Learn reports whether the refusal is about an optional field that was sent, and leaves it out
// from then on.
func (f *format) Learn(refused *stream.Refusal, r provider.Request) bool {
	switch {
	case !refused.Invalid():
		return false
	case !r.NoStream && refused.Says("stream_options"):
		return f.noOptions.CompareAndSwap(false, true)
	case f.asks(r) && refused.Says("thinking", "include_thoughts", "extra_body"):
		return f.Refuse(noAsking + r.Model)
	case r.Effort != "" && refused.Says("reasoning_effort"):
		return f.noEffort.CompareAndSwap(false, true)
	case r.MaxTokens > 0 && refused.Says("max_completion_tokens", "'max_tokens'"):
		return f.otherLimit.CompareAndSwap(false, true)
	case refused.Says("reasoning_content", "reasoning_details") && !refused.Says("missing"):
		return f.Refuse(noThoughts + r.Model)
	case refused.Says("thought_signature"):
		return f.Refuse(noUnsigned + r.Model)
	default:
		return false
	}
}

// Body implements stream.Format.
func (f *format) Body(r provider.Request) (any, error) {
	params := sdk.ChatCompletionNewParams{Model: r.Model, Messages: f.messages(r)}
	tools, err := f.tools(r)
	if err != nil {
		return params, err
	}
	params.Tools = tools
	extra := map[string]any{}
	switch {
	case f.asks(r):
		extra["extra_body"] = f.asked(r)
	case r.Effort != "" && !f.noEffort.Load():
		params.ReasoningEffort = shared.ReasoningEffort(r.Effort)
	}
	if r.MaxTokens > 0 {
		if f.ownPlatform != f.otherLimit.Load() {
			params.MaxCompletionTokens = param.NewOpt(int64(r.MaxTokens))
		} else {
			params.MaxTokens = param.NewOpt(int64(r.MaxTokens))
		}
	}
	if !r.NoStream {
		extra["stream"] = true
		if !f.noOptions.Load() {
			params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
		}
	}
	if len(extra) > 0 {
		params.SetExtraFields(extra)
	}
	return params, nil
}
