package provider

import (
	"context"
	"errors"
	"time"

	"hermes/core/chat"
)

// Place is a model server that is known by name.
type Place struct {
	Name, BaseURL, KeyEnv string
	Local                 bool // it is looked for on this machine, and wants no key
}

// Places are the model servers that can be connected without knowing their address.
func Places() []Place {
	var out []Place
	for _, v := range Shipped().Vendors {
		if v.Closed == "" && v.BaseURL != "" {
			out = append(out, Place{Name: v.Name, BaseURL: v.BaseURL, KeyEnv: v.KeyEnv, Local: v.Local})
		}
	}
	return out
}

// setOfOne is a Set of one endpoint only.
func (e Endpoint) setOfOne(kinds map[string]Maker) *Set {
	return NewSet(Settings{Providers: map[string]Endpoint{e.Name: e}, Default: e.Name, Explicit: true, NoDetect: true, Kinds: kinds})
}

// Probe asks an endpoint for its models: what it has, or an *Error that says what is wrong with the
// address or the key.
func (e Endpoint) Probe(ctx context.Context, kinds map[string]Maker) ([]Model, error) {
	s := e.setOfOne(kinds)
	defer s.Close()
	e, p, err := s.resolveProvider(e.Name, "", anyKey)
	if err != nil {
		return nil, err
	}
	list, err := s.listModels(ctx, p)
	if err != nil {
		return nil, err
	}
	for i, m := range list {
		list[i] = s.describeModel(e, m.ID)
	}
	return list, nil
}

// tryTime is how long a model may think about one word.
const tryTime = 60 * time.Second

// Try has a model begin an answer, and stops it there: some servers show their models to anybody,
// and only this proves a key. Nil when it answers.
func (e Endpoint) Try(ctx context.Context, kinds map[string]Maker, model string) error {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	s := e.setOfOne(kinds)
	defer s.Close()
	_, p, err := s.resolveProvider(e.Name, model, anyKey)
	if err != nil {
		return err
	}
	ask := Request{Model: model, Messages: []chat.Message{{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "Say hi."}}}
	for _, err := range p.Stream(ctx, ask) {
		return err
	}
	return errors.New("it answered with nothing")
}
