// Package responses talks OpenAI Responses: to the vendor's own API, and to the servers that offer
// the same format.
//
// Requests are built and sent with the official client library; package stream tells why its typed
// stream is not used. Nothing is stored at the server: each request has the whole conversation.
// Reasoning comes encrypted and is kept as provider state; it goes back within its turn to the
// server and the model that wrote it, to nobody else.
package responses

import (
	"context"
	"iter"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// Kind is the name of the wire format.
const Kind = provider.ModeResponses

// Provider is one endpoint. It is safe for concurrent use.
type Provider struct {
	*stream.Client
	sdk sdk.Client
}

// Make is a provider.Maker.
func Make(e provider.Endpoint) (provider.Provider, error) { return New(e) }

// New makes a provider for the endpoint. It does not use the network.
func New(e provider.Endpoint) (*Provider, error) {
	base, err := stream.BaseURL(e.BaseURL, "/v1", "/responses")
	if err != nil {
		return nil, err
	}
	p := &Provider{Client: stream.New(e, base, stream.Bearer(e.Key))}
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
	return newAssembler(r.Model, f.writer(r.Model))
}

// writer names who may get the reasoning back.
func (p *Provider) writer(model string) string { return p.Writer() + " " + Kind + " " + model }
