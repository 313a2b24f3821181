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

// Make is a provider.Maker. The base URL may end with /v1 or not.
func Make(e provider.Endpoint) (provider.Provider, error) { return wire().Make(e) }

func wire() stream.Wire {
	return stream.Wire{
		Kind: Kind, Call: "v1/messages", Cut: []string{"/messages", "/v1"}, Models: "v1/models?limit=1000",
		Header: header, Post: post, Format: func(c *stream.Client) stream.Format { return format{c} },
	}
}

// post posts with the vendor's client library.
func post(c *stream.Client) stream.Post {
	client := sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(c.Base.String()), option.WithHTTPClient(c), option.WithMaxRetries(0),
	}}
	return func(ctx context.Context, path string, body any, accept string) (res *http.Response, err error) {
		err = client.Post(ctx, path, body, &res, option.WithHeader("Accept", accept))
		return res, err
	}
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

// format is Anthropic Messages at one endpoint.
type format struct{ *stream.Client }

// Reader implements stream.Format.
func (f format) Reader(r provider.Request) stream.Reader {
	return newAssembler(r.Model, f.WriterOf(r.Model))
}
