package workbench

import (
	"context"

	"hermes/core"
	"hermes/core/backend"
	"hermes/core/event"
	"hermes/panes/backends"
)

// places gives the back-ends pane the pool.
type places struct{ b *booting }

var _ backends.Pool = places{}

func (p places) List(uid string) []backends.Row {
	app, ok := p.b.appIfReady()
	if !ok {
		return nil
	}
	var rows []backends.Row
	for _, s := range app.Backends().List(uid) {
		rows = append(rows, backends.Row{
			Name: s.Name, Kind: s.Kind, Traits: s.Traits, Image: s.Image, State: s.State, Cause: s.Cause, Refs: s.Refs, Command: s.Command, User: s.User,
			Since: s.Since, IdleSince: s.IdleSince, IdleTTL: s.IdleTTL, Selected: s.Selected, Default: s.Default,
		})
	}
	return rows
}

func (p places) Select(uid, name string) error {
	return p.b.doQuickly(func(ctx context.Context, app *core.App) error { return app.SelectBackend(ctx, uid, name) })
}

// Can implements backends.Pool.
func (p places) Can() string {
	if _, ok := p.b.appIfReady(); !ok {
		return "Hermes is still starting"
	}
	return ""
}

// withPool waits for the program and runs f on its pool.
func (p places) withPool(ctx context.Context, f func(backend.Pool) error) error {
	return p.b.doInApp(ctx, func(app *core.App) error { return f(app.Backends()) })
}

// Up implements backends.Pool.
func (p places) Up(ctx context.Context, uid, name string) error {
	return p.withPool(ctx, func(m backend.Pool) error { return m.Up(ctx, uid, name) })
}

// Stop implements backends.Pool.
func (p places) Stop(ctx context.Context, uid, name string, force bool) error {
	return p.withPool(ctx, func(m backend.Pool) error { return m.Stop(ctx, uid, name, force) })
}

// Restart implements backends.Pool.
func (p places) Restart(ctx context.Context, uid, name string, force bool) error {
	return p.withPool(ctx, func(m backend.Pool) error { return m.Restart(ctx, uid, name, force) })
}

// Remove implements backends.Pool.
func (p places) Remove(ctx context.Context, uid, name string, force bool) error {
	return p.withPool(ctx, func(m backend.Pool) error { return m.Remove(ctx, uid, name, force) })
}

// Pull implements backends.Pool.
func (p places) Pull(ctx context.Context, uid, name string) error {
	return p.withPool(ctx, func(m backend.Pool) error { return m.Pull(ctx, uid, name) })
}

// Sample implements backends.Pool.
func (p places) Sample(ctx context.Context, uid, name string) (s event.BackendStats, err error) {
	err = p.withPool(ctx, func(m backend.Pool) error {
		s, err = m.Sample(ctx, uid, name)
		return err
	})
	return s, err
}
