// Package responses talks OpenAI Responses: to the vendor's own API, and to the servers that offer
// the same format.
//
// Requests are built and sent with the official client library; package stream tells why its typed
// stream is not used. Nothing is stored at the server: each request has the whole conversation.
// Reasoning comes encrypted and is kept as provider state; it goes back within its turn to the
// server and the model that wrote it, to nobody else.
package responses

import (
	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// Kind is the name of the wire format.
const Kind = provider.ModeResponses

// Make is a provider.Maker.
func Make(e provider.Endpoint) (provider.Provider, error) { return wire().Make(e) }

func wire() stream.Wire {
	return stream.Wire{
		Kind: Kind, Call: "responses", Bare: "/v1", Cut: []string{"/responses"}, Models: "models", Post: stream.PostByOpenAISDK,
		Format: func(c *stream.Client) stream.Format { return format{c} },
	}
}

// format is Responses at one endpoint.
type format struct{ *stream.Client }

// Reader implements stream.Format.
func (f format) Reader(r provider.Request) stream.Reader {
	return newAssembler(r.Model, f.WriterOf(r.Model))
}
