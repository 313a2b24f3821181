package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"hermes/core/provider"
)

// maxErrorBody bounds what is read of an error, in bytes.
const maxErrorBody = 64 << 10

// refusal is an answer that is not a success.
type refusal struct {
	status int
	header http.Header
	body   []byte
}

// Error says the status only: the body may hold what should not be logged.
func (r *refusal) Error() string { return fmt.Sprintf("HTTP %d", r.status) }

// refuse is a middleware that turns a status outside of 2xx into a refusal, before the library reads the body (it would
// read all of it, and give up on a body that is not JSON).
func refuse(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil || res.StatusCode/100 == 2 {
		return res, err
	}
	defer res.Body.Close()
	if to := res.Header.Get("Location"); res.StatusCode/100 == 3 {
		return nil, &badAnswer{
			what: fmt.Sprintf("the server answers with a redirect (HTTP %d) to %q", res.StatusCode, to),
			hint: "put the final address into the base URL",
		}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		return nil, err
	}
	return nil, &refusal{status: res.StatusCode, header: res.Header, body: body}
}

// send posts the request, and once more without an optional field that the server does not take.
func (p *Provider) send(ctx context.Context, r provider.Request) (*http.Response, error) {
	res, err := p.post(ctx, r)
	var refused *refusal
	if errors.As(err, &refused) && p.learn(refused, r) {
		return p.post(ctx, r)
	}
	return res, err
}

func (p *Provider) post(ctx context.Context, r provider.Request) (*http.Response, error) {
	params, err := p.params(r)
	if err != nil {
		return nil, err
	}
	var res *http.Response
	_, err = p.chat.New(ctx, params, option.WithResponseBodyInto(&res), option.WithHeader("Accept", accept(r)))
	return res, err
}

func accept(r provider.Request) string {
	if r.NoStream {
		return "application/json"
	}
	return "text/event-stream"
}

// learn reports whether the refusal is about an optional field that was sent, and leaves it out from then on.
func (p *Provider) learn(r *refusal, req provider.Request) bool {
	if r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
		return false
	}
	body := strings.ToLower(string(r.body))
	switch {
	case !req.NoStream && strings.Contains(body, "stream_options"):
		return p.noOptions.CompareAndSwap(false, true)
	case req.Effort != "" && strings.Contains(body, "reasoning_effort"):
		return p.noEffort.CompareAndSwap(false, true)
	case req.MaxTokens > 0 && (strings.Contains(body, "max_completion_tokens") || strings.Contains(body, "'max_tokens'")):
		return p.otherLimit.CompareAndSwap(false, true)
	case strings.Contains(body, "reasoning_content") && !strings.Contains(body, "missing"):
		return p.noThoughts.CompareAndSwap(false, true)
	default:
		return false
	}
}

// params builds the body of the request.
func (p *Provider) params(r provider.Request) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{Model: r.Model, Messages: p.messages(r.System, r.Messages)}
	tools, err := p.tools(r)
	if err != nil {
		return params, err
	}
	params.Tools = tools
	if r.Effort != "" && !p.noEffort.Load() {
		params.ReasoningEffort = shared.ReasoningEffort(r.Effort)
	}
	if r.MaxTokens > 0 {
		if p.ownPlatform != p.otherLimit.Load() {
			params.MaxCompletionTokens = param.NewOpt(int64(r.MaxTokens))
		} else {
			params.MaxTokens = param.NewOpt(int64(r.MaxTokens))
		}
	}
	if !r.NoStream {
		params.SetExtraFields(map[string]any{"stream": true})
		if !p.noOptions.Load() {
			params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
		}
	}
	return params, nil
}
