package core

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"hermes/core/config"
	"hermes/core/provider"
	"hermes/core/provider/embed"
)

// embedder makes vectors with the model that the settings name now.
type embedder struct {
	config func() *config.Config
	models func() *provider.Set

	mu   sync.Mutex
	made *embed.Client // nil: none yet
	from string        // what it was made from
}

// Model implements recall.Embedder. It does not use the network.
func (e *embedder) Model() string {
	s := e.config().Memory.Embedding
	if s.Model == "" {
		return ""
	}
	name := s.Ref()
	if s.Dimensions > 0 {
		name += fmt.Sprintf("@%d", s.Dimensions)
	}
	if p := prefixOf(s); p.Document != "" {
		name += fmt.Sprintf(" %q", p.Document) // it is part of what the vectors say
	}
	return name
}

func prefixOf(s config.Embedding) embed.Prefix {
	known := embed.PrefixOf(s.Model)
	return embed.Prefix{Query: cmp.Or(s.QueryPrefix, known.Query), Document: cmp.Or(s.DocumentPrefix, known.Document)}
}

// Embed implements recall.Embedder.
func (e *embedder) Embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	c, err := e.currentClient(ctx)
	if err != nil {
		return nil, err
	}
	return c.Embed(ctx, texts, query)
}

// currentClient is the one for the settings of now.
func (e *embedder) currentClient(ctx context.Context) (*embed.Client, error) {
	s := e.config().Memory.Embedding
	at, model, err := e.models().Endpoint(ctx, s.Ref())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	from := fmt.Sprint(at.Name, at.BaseURL, at.Key, at.Headers, model, s)
	if e.made != nil && e.from == from {
		return e.made, nil
	}
	api := s.API
	if api == "auto" {
		api = ""
	}
	c, err := embed.New(embed.Options{
		Endpoint: at, Model: model, Dimensions: s.Dimensions, API: api, Prefix: prefixOf(s), Timeout: s.Timeout,
	})
	if err != nil {
		return nil, err
	}
	e.closeClient()
	e.made, e.from = c, from
	return c, nil
}

func (e *embedder) closeClient() {
	if e.made != nil {
		_ = e.made.Close() // nothing is lost with an idle connection
	}
}

func (e *embedder) closeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closeClient()
	e.made = nil
}
