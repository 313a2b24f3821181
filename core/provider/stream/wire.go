package stream

import (
	"context"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"hermes/core/provider"
)

// Wire is where a format is spoken, and by whom.
type Wire struct {
	Kind   string   // the name of the format
	Call   string   // the path of a call, below the base URL
	Bare   string   // the path of a base URL that has none
	Cut    []string // what base URLs may end with beside that, and lose
	Models string   // the path of the list of models, below the base URL

	Header func(key, host string) http.Header // nil: Bearer
	Post   func(*Client) Post
	Format func(*Client) Format
}

// Post sends a request to a path below the base URL with a vendor's client library. The answer has
// its body unread.
type Post func(ctx context.Context, path string, body any, accept string) (*http.Response, error)

// Make is a provider.Maker. It does not use the network.
func (w Wire) Make(e provider.Endpoint) (provider.Provider, error) {
	base, err := BaseURL(e.BaseURL, w.Bare, w.Cut...)
	if err != nil {
		return nil, err
	}
	header := Bearer(e.Key)
	if w.Header != nil {
		header = w.Header(e.Key, base.Hostname())
	}
	c := newClient(e, base, header)
	c.wire, c.post = w, w.Post(c)
	c.format = w.Format(c)
	return c, nil
}

// PostByOpenAISDK posts with the client library of OpenAI.
func PostByOpenAISDK(c *Client) Post {
	client := openai.Client{Options: []option.RequestOption{
		option.WithBaseURL(c.Base.String()), option.WithHTTPClient(c), option.WithMaxRetries(0),
	}}
	return func(ctx context.Context, path string, body any, accept string) (res *http.Response, err error) {
		err = client.Post(ctx, path, body, &res, option.WithHeader("Accept", accept))
		return res, err
	}
}

// WriterOf names who may get back what a model wrote for itself: this server, in this format, and
// that model.
func (c *Client) WriterOf(model string) string { return c.Writer() + " " + c.wire.Kind + " " + model }
