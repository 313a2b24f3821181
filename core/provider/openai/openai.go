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
	"sync/atomic"

	"hermes/core/provider"
	"hermes/core/provider/stream"
)

// Kind is the name of the wire format.
const Kind = provider.ModeChat

// Make is a provider.Maker.
func Make(e provider.Endpoint) (provider.Provider, error) { return wire().Make(e) }

func wire() stream.Wire {
	return stream.Wire{
		Kind: Kind, Call: "chat/completions", Bare: "/v1", Cut: []string{"/chat/completions"}, Models: "models",
		Post: stream.PostByOpenAISDK,
		Format: func(c *stream.Client) stream.Format {
			return &format{Client: c, ownPlatform: c.Base.Host == "api.openai.com"}
		},
	}
}

// format is chat completions at one endpoint.
type format struct {
	*stream.Client

	noOptions   atomic.Bool // the server rejects stream_options
	noEffort    atomic.Bool // the server rejects reasoning_effort
	otherLimit  atomic.Bool // the server wants the other name of the token limit
	ownPlatform bool        // the vendor's own host, which has newer names for some fields
}

// Reader implements stream.Format.
func (f *format) Reader(r provider.Request) stream.Reader {
	return newAssembler(r.Model, f.Writer())
}
