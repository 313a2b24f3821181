// Package embed asks a server for vectors of texts: in the format of OpenAI (POST /embeddings),
// which most servers speak, or in that of Ollama (POST /api/embed).
//
// The contract:
//
//   - Secrets are hidden in every text before it is sent.
//   - The key goes to the endpoint's own host; a redirect is an error.
//   - Many texts are several requests. What fails for a while is tried again; a text that is too
//     long for the model is cut.
//   - An answer with the wrong number of vectors, or with vectors of several lengths, is an error.
package embed

import (
	"context"
	_ "embed" // the prefixes
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/core/clip"
	"hermes/core/deadline"
	"hermes/core/provider"
	"hermes/core/provider/stream"
	"hermes/core/secret"
)

// The formats.
const (
	OpenAI = "openai"
	Ollama = "ollama"
)

// Prefix is what stands before texts, for models that want to be told what a text is.
type Prefix struct {
	Query    string `json:"query"`
	Document string `json:"document"`
}

//go:embed prefixes.json
var prefixData []byte

// known is what models whose names hold Model want.
type known struct {
	Model string `json:"model"`
	Prefix
}

var prefixes = sync.OnceValue(func() (all []known) {
	if err := json.Unmarshal(prefixData, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
})

// PrefixOf is what a model is known to want.
func PrefixOf(model string) Prefix {
	model = strings.ToLower(model)
	for _, p := range prefixes() {
		if strings.Contains(model, p.Model) {
			return p.Prefix
		}
	}
	return Prefix{}
}

// Options say which model answers, and where.
type Options struct {
	Endpoint   provider.Endpoint
	Model      string
	Dimensions int           // that are asked for; 0: as many as the model has
	API        string        // OpenAI or Ollama; "": by the endpoint
	Prefix     Prefix        // before texts
	Timeout    time.Duration // of one request; 0: 30 s
}

// Client asks one model. It is safe for concurrent use.
type Client struct {
	o     Options
	http  *stream.Client
	pause func(ctx context.Context, d time.Duration)
}

// New makes a Client. It does not use the network.
func New(o Options) (*Client, error) {
	switch {
	case o.Model == "":
		return nil, errors.New("no embedding model is named")
	case o.Endpoint.Kind == provider.ModeMessages || o.Endpoint.Kind == provider.Offline:
		return nil, fmt.Errorf("%s has no embeddings: name a model of another provider", o.Endpoint.Name)
	}
	if o.API == "" {
		o.API = OpenAI
		if o.Endpoint.Name == Ollama {
			o.API = Ollama
		}
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	bare, cut := "/v1", []string{"/embeddings"}
	if o.API == Ollama { // its own paths lie beside /v1
		bare, cut = "", []string{"/v1", "/api/embed", "/api"}
	}
	client, err := stream.NewJSONClient(o.Endpoint, bare, cut...)
	if err != nil {
		return nil, err
	}
	return &Client{o: o, http: client, pause: deadline.Sleep}, nil
}

// Close drops idle connections.
func (c *Client) Close() error { return c.http.Close() }

const (
	maxRequest = 64      // texts in one request
	maxChars   = 100_000 // characters in one request
	maxText    = 8_000   // characters of one text that are sent
	minText    = 64      // shorter texts are not cut when a server calls them too long
)

// Embed returns a vector for each text. query says that they are questions: whoever asks waits, so
// they are tried once.
func (c *Client) Embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	before := c.o.Prefix.Document
	if query {
		before = c.o.Prefix.Query
	}
	out := make([][]float32, 0, len(texts))
	var part []string
	chars := 0
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		vectors, err := c.fit(ctx, part, query)
		out, part, chars = append(out, vectors...), part[:0], 0
		return err
	}
	for _, t := range texts {
		t = before + clip.Runes(secret.Redact(t), maxText, "")
		n := len([]rune(t))
		if len(part) == maxRequest || len(part) > 0 && chars+n > maxChars {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		part, chars = append(part, t), chars+n
	}
	if err := flush(); err != nil {
		return nil, err
	}
	for _, v := range out {
		if len(v) != len(out[0]) {
			return nil, c.malformed(fmt.Sprintf("it answered with vectors of %d and of %d numbers", len(out[0]), len(v)))
		}
	}
	return out, nil
}

// fit embeds texts that may be too long for the model: it halves the request, then the text.
func (c *Client) fit(ctx context.Context, texts []string, once bool) ([][]float32, error) {
	vectors, err := c.again(ctx, texts, once)
	var failed *provider.Error
	if err == nil || !errors.As(err, &failed) || !tooLong(failed) {
		return vectors, err
	}
	half := len(texts) / 2
	if half == 0 {
		n := len([]rune(texts[0]))
		if n <= minText {
			return nil, err
		}
		return c.fit(ctx, []string{clip.Runes(texts[0], n/2, "")}, once)
	}
	vectors, err = c.fit(ctx, texts[:half], once)
	if err != nil {
		return nil, err
	}
	rest, err := c.fit(ctx, texts[half:], once)
	return append(vectors, rest...), err
}

// tooLong reports whether a request was refused for the length of its texts.
func tooLong(err *provider.Error) bool {
	if err.Class == provider.ClassContextOverflow {
		return true
	}
	words := strings.ToLower(err.Message)
	return err.Class == provider.ClassFormat && (strings.Contains(words, "length") || strings.Contains(words, "too l"))
}

// again embeds, and tries once more what may pass.
func (c *Client) again(ctx context.Context, texts []string, once bool) ([][]float32, error) {
	for attempt := 1; ; attempt++ {
		vectors, err := c.requestVectors(ctx, texts)
		if err == nil {
			return vectors, nil
		}
		var failed *provider.Error
		if once || ctx.Err() != nil || !errors.As(err, &failed) {
			return nil, err
		}
		wait, again := provider.Next(failed, attempt)
		if !again {
			return nil, err
		}
		c.pause(ctx, wait)
	}
}

func (c *Client) requestVectors(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	path, body := c.request(texts)
	answer, err := c.http.PostJSON(ctx, path, c.o.Model, body, maxAnswer)
	if err != nil {
		return nil, err
	}
	vectors, err := c.readVectors(answer, len(texts))
	if err != nil {
		return nil, c.malformed(err.Error())
	}
	return vectors, nil
}

func (c *Client) malformed(what string) error {
	return &provider.Error{
		Class: provider.ClassMalformed, Provider: c.http.Name(), Model: c.o.Model, Message: what,
		Hint: "check memory.embedding: the model must be one for embeddings",
	}
}
