package anthropic

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/history"
	"hermes/core/provider/stream"
)

// noThinking begins the key of a model whose thinking cannot be chosen. The other keys are thoughts
// that were refused.
const noThinking = "model "

// Learn reports whether the refusal is about thinking, and leaves out from then on what the server
// does not take: the thoughts of this history, or the choice how long to think.
func (f format) Learn(refused *stream.Refusal, r provider.Request) bool {
	if !refused.Invalid() || !refused.Says("thinking", "signature", "effort", "budget") {
		return false
	}
	if f.RefuseState(r.Messages, func(m chat.Message) bool { return f.thoughts(m, r.Model) != nil }) {
		return true
	}
	return r.Effort != "" && f.Refuse(noThinking+r.Model)
}

// Body implements stream.Format.
func (f format) Body(r provider.Request) (any, error) {
	known := provider.Known(f.Endpoint, r.Model)
	params := sdk.MessageNewParams{
		Model: r.Model, MaxTokens: int64(cmp.Or(r.MaxTokens, min(known.MaxOutput, mostOutput), leastOutput)),
		Messages: f.messages(r.Messages, r.Model),
	}
	if strings.TrimSpace(r.System) != "" {
		params.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, t := range r.Tools { // none: no list, which the format allows and an empty one not
		var o map[string]json.RawMessage
		if err := json.Unmarshal(t.Schema, &o); err != nil {
			return params, stream.BadSchema(f.Name(), r.Model, t.Name, err)
		}
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](t.Schema)}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	f.think(&params, r)
	f.mark(&params)
	if !r.NoStream {
		params.SetExtraFields(map[string]any{"stream": true})
	}
	return params, nil
}

// The format wants a limit on every answer. What is known of the model is cut to mostOutput,
// because the limit counts as used of the window.
const (
	mostOutput  = 32000
	leastOutput = 8192
)

// mark tells the server which begins of the request to keep: the tools, the system prompt, and the
// conversation up to the last message and the one before. Four marks are all that the format
// allows.
func (f format) mark(params *sdk.MessageNewParams) {
	keep := sdk.NewCacheControlEphemeralParam()
	if f.Endpoint.CacheTTL != "" {
		keep.TTL = sdk.CacheControlEphemeralTTL(f.Endpoint.CacheTTL)
	}
	if n := len(params.Tools); n > 0 {
		params.Tools[n-1].OfTool.CacheControl = keep
	}
	if n := len(params.System); n > 0 {
		params.System[n-1].CacheControl = keep
	}
	for _, m := range params.Messages[max(0, len(params.Messages)-2):] {
		if to := m.Content[len(m.Content)-1].GetCacheControl(); to != nil {
			*to = keep
		}
	}
}

// budgets are the tokens of thinking that stand for an effort, for models that want a number.
var budgets = map[string]int64{
	"minimal": 1024, "low": 4000, "medium": 8000, "high": 16000, "xhigh": 32000, "max": 32000,
}

// think asks for the effort of the request, in the way that the model takes.
func (f format) think(params *sdk.MessageNewParams, r provider.Request) {
	if r.Effort == "" || f.Refuses(noThinking+r.Model) {
		return
	}
	version := modelVersion(r.Model)
	switch {
	case version >= adaptive && r.Effort == "none":
		off := sdk.NewThinkingConfigDisabledParam()
		params.Thinking.OfDisabled = &off
	case version >= adaptive:
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{
			Display: sdk.ThinkingConfigAdaptiveDisplaySummarized,
		}
		params.OutputConfig.Effort = effort(r.Effort, version)
	default:
		f.budget(params, r)
	}
}

// budget asks for thinking by a number of tokens. It is left out where the format refuses it: in
// the middle of a turn that began without it, and where the limit leaves no room.
func (f format) budget(params *sdk.MessageNewParams, r provider.Request) {
	tokens, ok := budgets[r.Effort]
	if !ok || f.unthought(r) {
		return
	}
	if r.MaxTokens == 0 {
		params.MaxTokens += tokens
	}
	if tokens = min(tokens, params.MaxTokens/2); tokens >= budgets["minimal"] {
		params.Thinking = sdk.ThinkingConfigParamOfEnabled(tokens)
	}
}

// unthought reports whether the turn goes on after calls that this model did not think about.
func (f format) unthought(r provider.Request) bool {
	for _, m := range slices.Backward(r.Messages[history.LoopStart(r.Messages):]) {
		if len(m.Calls) > 0 {
			return f.thoughts(m, r.Model) == nil
		}
	}
	return false
}

// adaptive is the first version whose models decide themselves how long they think.
const adaptive = 406

func effort(s string, version int) sdk.OutputConfigEffort {
	switch {
	case s == "minimal":
		return sdk.OutputConfigEffortLow
	case s == "xhigh" && version == adaptive: // it came with the next one
		return sdk.OutputConfigEffortMax
	default:
		return sdk.OutputConfigEffort(s)
	}
}

var versions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)
})

// modelVersion is 100 times the main version and the second one, of a model of the vendor: 406 for
// claude-opus-4-6. A model of his without a version is newer than any with one; 0 is another
// vendor's.
func modelVersion(model string) int {
	name := strings.ToLower(model)
	if !strings.Contains(name, "claude") {
		return 0
	}
	m := versions().FindStringSubmatch(name)
	if m == nil {
		return 100 * adaptive
	}
	major, _ := strconv.Atoi(m[1]) // digits
	minor, _ := strconv.Atoi(m[2]) // digits, or nothing: 0
	return 100*major + minor
}
