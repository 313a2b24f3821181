// Package stream is what the wire formats share: requests that go to one host only, watchdogs that
// tell silence from work, events within bounds, and one kind of error for whatever goes wrong.
//
// The formats build and send their requests with the vendors' official client libraries, whose
// retries and whose reading of variables are off: whoever calls Stream decides, and a key must only
// go to its own host. Their typed streams are not used. They cannot tell a stream that ended from
// one that was cut, they refuse what many compatible servers send, and they read keep-alive events
// like content, so no watchdog could tell silence from work.
package stream

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/provider/history"
)

// Format is what is special to one wire format.
type Format interface {
	// Body is the request as the vendor's client library writes it.
	Body(r provider.Request) (any, error)
	// Learn reports whether to send the request once more, because the format leaves out from now
	// on what the server refused.
	Learn(refused *Refusal, r provider.Request) bool
	// Reader reads one answer.
	Reader(r provider.Request) Reader
}

// Client talks to one endpoint in one format. It is safe for concurrent use.
type Client struct {
	Endpoint provider.Endpoint
	Base     *url.URL // ends with a slash

	wire   Wire
	post   Post
	format Format

	http   *http.Client
	header http.Header
	times  times
	blind  sync.Map // models for which the server refused images

	refused sync.Map // what else it does not take: provider state, and what models have no choice of
}

// newClient makes a client without a format. The header goes with every request.
func newClient(e provider.Endpoint, base *url.URL, header http.Header) *Client {
	c := &Client{Endpoint: e, Base: base, times: resolve(e), header: header.Clone()}
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set("User-Agent", "hermes")
	for k, v := range e.Headers {
		c.header.Set(k, v)
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: c.times.connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: c.times.connect,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     60 * time.Second,
		},
		// A redirect would carry the conversation to a place that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Bearer is the header that carries a key; without one it is empty.
func Bearer(key string) http.Header {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

// BaseURL checks an address. It cuts the path of a call off its end, if it has one, and gives a
// bare host the path bare.
func BaseURL(s, bare string, calls ...string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, fmt.Errorf("the base URL %q cannot be read: %w", s, err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the base URL %q must look like https://host/v1", s)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	for _, call := range calls {
		u.Path = strings.TrimSuffix(u.Path, call)
	}
	if u.Path == "" {
		u.Path = bare
	}
	u.Path += "/"
	u.RawPath = ""
	return u, nil
}

// Name returns the endpoint's name.
func (c *Client) Name() string { return c.Endpoint.Name }

// Writer names the server for what only it may get back: the same name may mean another one later.
func (c *Client) Writer() string { return c.Endpoint.Name + " " + c.Base.Host }

// NewID names a call of a server that does not: unique over a session, which a counter would not
// be.
func NewID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "call_" + hex.EncodeToString(b[:])
}

// Close drops idle connections. Running streams go on.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Do sends one request with the client's header. An answer that is not a success is a *Refusal.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	maps.Copy(req.Header, c.header)
	res, err := c.http.Do(req)
	if err != nil || res.StatusCode/100 == 2 {
		return res, err
	}
	defer res.Body.Close()
	if to := res.Header.Get("Location"); res.StatusCode/100 == 3 {
		return nil, &BadAnswer{
			What: fmt.Sprintf("the server answers with a redirect (HTTP %d) to %q", res.StatusCode, to),
			Hint: "put the final address into the base URL",
		}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		return nil, err
	}
	return nil, &Refusal{Status: res.StatusCode, Body: body, header: res.Header}
}

// errStopped ends a stream whose consumer left the loop.
var errStopped = errors.New("the consumer left")

// Stream implements provider.Provider.
func (c *Client) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		err := c.streamWatched(ctx, r, func(chunk provider.Chunk) error {
			if !yield(chunk, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(provider.Chunk{}, err)
		}
	}
}

func (c *Client) streamWatched(parent context.Context, r provider.Request, emit func(provider.Chunk) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	dog := newWatchdog(cancel)
	defer dog.stop()
	if c.times.total > 0 {
		late := &silence{
			c.times.total, "the answer took longer than",
			"raise request_timeout_seconds of this provider",
		}
		defer time.AfterFunc(c.times.total, func() { cancel(late) }).Stop()
	}
	a := &answer{dog: dog, emit: emit, times: c.times, thinking: c.thinks(r), parts: c.format.Reader(r)}
	err := a.run(func() (*http.Response, error) { return c.postOrWithout(ctx, r) })
	if err == nil || errors.Is(err, errStopped) {
		return err
	}
	return c.explain(parent, ctx, r.Model, err)
}

// postOrWithout posts the request, and once more without what the server does not take.
func (c *Client) postOrWithout(ctx context.Context, r provider.Request) (*http.Response, error) {
	res, err := c.postRequest(ctx, r)
	var refused *Refusal
	if errors.As(err, &refused) && (c.losesImages(refused, r) || c.format.Learn(refused, r)) {
		return c.postRequest(ctx, r)
	}
	return res, err
}

func (c *Client) postRequest(ctx context.Context, r provider.Request) (*http.Response, error) {
	body, err := c.format.Body(c.visible(r))
	if err != nil {
		return nil, err
	}
	return c.post(ctx, c.wire.Call, body, accept(r))
}

// Refuses reports whether the server refused what the key stands for.
func (c *Client) Refuses(key string) bool {
	_, known := c.refused.Load(key)
	return known
}

// Refuse remembers that the server does not take what the key stands for, and reports whether that
// is new.
func (c *Client) Refuse(key string) bool {
	_, known := c.refused.LoadOrStore(key, true)
	return !known
}

// RefuseState remembers that the server does not take back its own state of the messages for which
// it was sent, and reports whether there was any.
func (c *Client) RefuseState(messages []chat.Message, sent func(chat.Message) bool) bool {
	found := false
	for _, m := range messages {
		if sent(m) {
			c.refused.Store(string(m.Opaque), true)
			found = true
		}
	}
	return found
}

// visible is the request without images and documents, if the server refused those for the model.
func (c *Client) visible(r provider.Request) provider.Request {
	if _, blind := c.blind.Load(r.Model); blind {
		r.Messages = history.WithoutAttached(r.Messages, r.Refused)
	}
	return r
}

// attachedWords are how vendors call what is attached, in the refusals of it.
var attachedWords = []string{"image", "document", "pdf", "input_file", "file_data", "`file`", "'file'", `"file"`}

// losesImages reports whether the refusal is about the images or documents of the request, which
// are left out from then on.
func (c *Client) losesImages(refused *Refusal, r provider.Request) bool {
	switch refused.Status {
	case http.StatusRequestEntityTooLarge:
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		if !refused.Says(attachedWords...) {
			return false
		}
	default:
		return false
	}
	if !history.HasAttached(r.Messages) {
		return false
	}
	_, known := c.blind.LoadOrStore(r.Model, true)
	return !known
}

// thinks reports whether a long silence before the answer is normal: a server on this machine may
// have to load the model, and reads the prompt slowly.
func (c *Client) thinks(r provider.Request) bool {
	return c.Endpoint.Local() || (r.Effort != "" && r.Effort != "none")
}

// accept is the header that asks for a stream, or for an answer in one piece.
func accept(r provider.Request) string {
	if r.NoStream {
		return "application/json"
	}
	return "text/event-stream"
}
