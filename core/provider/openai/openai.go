// Package openai talks chat completions to any compatible server: the vendor's own API, resellers,
// gateways, and local servers such as Ollama, LM Studio, llama.cpp and vLLM.
//
// Requests are built and sent with the official client library; package stream tells why its typed
// stream is not used.
//
// A request that a server rejects because of an optional field (stream_options, reasoning_effort,
// the name of the token limit) or of images is sent once more without them, and the provider
// remembers.
package openai

import (
	"context"
	"iter"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// Kind is the name of the wire format.
const Kind = provider.ModeChat

// Provider is one endpoint. It is safe for concurrent use.
type Provider struct {
	*stream.Client
	sdk sdk.Client

	noOptions   atomic.Bool // the server rejects stream_options
	noEffort    atomic.Bool // the server rejects reasoning_effort
	otherLimit  atomic.Bool // the server wants the other name of the token limit
	noThoughts  atomic.Bool // the server rejects its own reasoning_content
	ownPlatform bool        // the vendor's own host, which has newer names for some fields
}

// Make is a provider.Maker.
func Make(e provider.Endpoint) (provider.Provider, error) { return New(e) }

// New makes a provider for the endpoint. It does not use the network.
func New(e provider.Endpoint) (*Provider, error) {
	base, err := stream.BaseURL(e.BaseURL, "/v1", "/chat/completions")
	if err != nil {
		return nil, err
	}
	p := &Provider{Client: stream.New(e, base, stream.Bearer(e.Key)), ownPlatform: base.Host == "api.openai.com"}
	p.sdk = sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(base.String()), option.WithHTTPClient(p.Client), option.WithMaxRetries(0),
	}}
	return p, nil
}

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	return p.Client.Stream(ctx, r, format{p})
}

// Models implements provider.Provider.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	return p.List(ctx, "models")
}

// format is the provider as stream.Format.
type format struct{ *Provider }

func (f format) Reader(r provider.Request) stream.Reader {
	return newAssembler(provider.Known(f.Endpoint, r.Model), f.Writer())
}
