package core

import (
	"context"
	"fmt"

	"hermes/core/backend"
	"hermes/core/config"
	"hermes/core/event"
)

// Pool is a backend.Pool that takes edited settings and ends.
type Pool interface {
	backend.Pool
	Reconfigure(c *config.Config) error
	Close(ctx context.Context) error
}

// poolPart is where commands run.
type poolPart struct {
	quiet
	a *App
}

func (p *poolPart) Start(context.Context) (err error) {
	if p.a.Pool, err = p.a.opts.Pool(p.a.Bus, p.a.opts.Config); err != nil {
		return fmt.Errorf("back ends: %w", err)
	}
	return nil
}

func (p *poolPart) Changed(c config.Change) {
	if err := p.a.Pool.Reconfigure(c.Config); err != nil {
		p.a.publishNotice(event.Warn, "back ends stay as they were: "+err.Error(), "")
	}
}

func (p *poolPart) Close(ctx context.Context) error {
	if p.a.Pool == nil {
		return nil
	}
	return p.a.Pool.Close(ctx)
}
