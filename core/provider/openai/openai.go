// Package openai talks chat completions to any compatible server: the vendor's own API, resellers, gateways, and local
// servers such as Ollama, LM Studio, llama.cpp and vLLM.
//
// Requests are built and sent with the official client library; events are split by its ssestream decoder. The typed
// stream on top of that is not used, for four reasons: it cannot tell a stream that ended from one that was cut (it
// forgets whether [DONE] came), it has no fields for reasoning text, it refuses calls without an index, and it reads
// keep-alive comments like content, so no watchdog can tell silence from work. The library's retries are off: whoever
// calls Stream decides. Its reading of OPENAI_* variables is off too, because a key must only go to its own host.
//
// A request that a server rejects because of an optional field (stream_options, reasoning_effort, the name of the token
// limit) is sent once more without that field, and the provider remembers.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"hermes/core/provider"
)

// Provider is one endpoint. It is safe for concurrent use.
type Provider struct {
	endpoint provider.Endpoint
	base     *url.URL
	http     *http.Client
	chat     sdk.ChatCompletionService
	times    times

	noOptions   atomic.Bool // the server rejects stream_options
	noEffort    atomic.Bool // the server rejects reasoning_effort
	otherLimit  atomic.Bool // the server wants the other name of the token limit
	noThoughts  atomic.Bool // the server rejects its own reasoning_content
	ownPlatform bool        // the vendor's own host, which has newer names for some fields
}

// times are the endpoint's timeouts, resolved for calls that answer at once and for calls that think first.
type times struct {
	connect              time.Duration
	first, firstThinking time.Duration // until the headers
	idle, idleThinking   time.Duration // between content; the second one until the first content
}

// Make is a provider.Maker.
func Make(e provider.Endpoint) (provider.Provider, error) { return New(e) }

// New makes a provider for the endpoint. It does not use the network.
func New(e provider.Endpoint) (*Provider, error) {
	base, err := baseURL(e.BaseURL)
	if err != nil {
		return nil, err
	}
	p := &Provider{endpoint: e, base: base, times: resolve(e), ownPlatform: base.Host == "api.openai.com"}
	p.http = &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: p.times.connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: p.times.connect,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     60 * time.Second,
		},
		// A redirect would carry the conversation to a place that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	opts := []option.RequestOption{
		option.WithBaseURL(base.String()), option.WithHTTPClient(p.http), option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "hermes"), option.WithMiddleware(refuse),
	}
	if e.Key != "" {
		opts = append(opts, option.WithAPIKey(e.Key))
	}
	for k, v := range e.Headers {
		opts = append(opts, option.WithHeader(k, v))
	}
	p.chat = sdk.NewChatCompletionService(opts...)
	return p, nil
}

// baseURL checks the address and gives it the path that servers expect when it has none.
func baseURL(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, fmt.Errorf("the base URL %q cannot be read: %w", s, err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the base URL %q must look like https://host/v1", s)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	if u.Path == "" {
		u.Path = "/v1"
	}
	u.Path += "/"
	u.RawPath = ""
	return u, nil
}

// resolve applies the rule that what is configured wins, and that the defaults are longer for whoever thinks first.
func resolve(e provider.Endpoint) times {
	set, full := e.Timeouts, e.Timeouts.WithDefaults()
	return times{
		connect: full.Connect, first: full.FirstByte, idle: full.Idle,
		firstThinking: cmp.Or(set.FirstByte, full.Thinking), idleThinking: cmp.Or(set.Idle, full.Thinking),
	}
}

// Name returns the endpoint's name.
func (p *Provider) Name() string { return p.endpoint.Name }

// Close drops idle connections. Running streams go on.
func (p *Provider) Close() error {
	p.http.CloseIdleConnections()
	return nil
}

// errStopped ends a stream whose consumer left the loop.
var errStopped = errors.New("the consumer left")

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		err := p.stream(ctx, r, func(c provider.Chunk) error {
			if !yield(c, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(provider.Chunk{}, err)
		}
	}
}

func (p *Provider) stream(parent context.Context, r provider.Request, emit func(provider.Chunk) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	dog := newWatchdog(cancel)
	defer dog.stop()
	s := &answer{
		dog: dog, emit: emit, times: p.times, thinking: p.thinks(r),
		parts: newAssembler(provider.Known(p.endpoint, r.Model)),
	}
	err := s.run(func() (*http.Response, error) { return p.send(ctx, r) })
	if err == nil || errors.Is(err, errStopped) {
		return err
	}
	return p.explain(parent, ctx, r.Model, err)
}

// thinks reports whether a long silence before the answer is normal: a server on this machine may have to load the model,
// and reads the prompt slowly.
func (p *Provider) thinks(r provider.Request) bool {
	return p.endpoint.Local() || (r.Effort != "" && r.Effort != "none")
}

// explain turns whatever ended a call into the one kind of error that leaves this package.
func (p *Provider) explain(parent, ctx context.Context, model string, err error) error {
	var (
		bad     *badAnswer
		refused *refusal
		ours    *provider.Error
		quiet   *silence
	)
	out := &provider.Error{Provider: p.Name(), Model: model, Err: err}
	switch {
	case errors.As(err, &ours):
		return ours
	case parent.Err() != nil:
		return provider.Transport(p.Name(), model, parent.Err())
	case errors.As(context.Cause(ctx), &quiet):
		out.Class, out.Message, out.Hint = provider.ClassTimeout, quiet.Error(), "try again, or choose another model with /model"
	case errors.As(err, &refused):
		return p.classify(refused, model)
	case errors.As(err, &bad):
		if bad.event != nil {
			return p.classify(&refusal{body: bad.event}, model)
		}
		out.Class, out.Message, out.Hint = provider.ClassMalformed, bad.Error(), bad.hint
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		out.Class, out.Message, out.Hint = provider.ClassNetwork, "the connection closed in the middle of the answer", "try again"
	default:
		p.http.CloseIdleConnections() // whoever tries again gets a new connection
		return provider.Transport(p.Name(), model, err)
	}
	return out
}

func (p *Provider) classify(r *refusal, model string) *provider.Error {
	e := provider.Classify(provider.Answer{
		Provider: p.Name(), Model: model, Status: r.status, Header: r.header, Body: r.body, Key: p.endpoint.Key,
	}, time.Now())
	e.Err = r
	return e
}
