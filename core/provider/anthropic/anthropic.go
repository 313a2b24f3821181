// Package anthropic talks Anthropic Messages: to the vendor's own API, and to the servers that
// offer the same format.
//
// Requests are built and sent with the official client library; package stream tells why its typed
// stream is not used.
//
// Blocks of thinking are kept with their signature as provider state, and go back unchanged within
// their turn: to the server and the model that wrote them, to nobody else.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// Kind is the name of the wire format.
const Kind = provider.ModeMessages

// version is the one of the format that this package reads and writes.
const version = "2023-06-01"

// Provider is one endpoint. It is safe for concurrent use.
type Provider struct {
	*stream.Client
	sdk sdk.Client
}

// Make is a provider.Maker.
func Make(e provider.Endpoint) (provider.Provider, error) { return New(e) }

// New makes a provider for the endpoint. It does not use the network. The base URL may end with /v1
// or not.
func New(e provider.Endpoint) (*Provider, error) {
	base, err := stream.BaseURL(e.BaseURL, "", "/messages", "/v1")
	if err != nil {
		return nil, err
	}
	p := &Provider{Client: stream.New(e, base, header(e.Key, base.Hostname()))}
	p.sdk = sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(base.String()), option.WithHTTPClient(p.Client), option.WithMaxRetries(0),
	}}
	return p, nil
}

// header names the key as the vendor wants it, and to others also in the way that they may want.
func header(key, host string) http.Header {
	h := http.Header{}
	if key != "" && host != "anthropic.com" && !strings.HasSuffix(host, ".anthropic.com") {
		h = stream.Bearer(key)
	}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	h.Set("Anthropic-Version", version)
	return h
}

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	return p.Client.Stream(ctx, r, format{p})
}

// Models implements provider.Provider.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	return p.List(ctx, "v1/models?limit=1000")
}

// format is the provider as stream.Format.
type format struct{ *Provider }

func (f format) Reader(r provider.Request) stream.Reader {
	return newAssembler(r.Model, f.writer(r.Model))
}

// writer names who may get the thinking back.
func (p *Provider) writer(model string) string { return p.Writer() + " " + Kind + " " + model }
