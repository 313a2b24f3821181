package core

import (
	"context"
	"errors"
	"slices"
	"time"

	"hermes/core/connect"
	"hermes/core/event"
	"hermes/core/provider"
)

// appliedTime bounds how long written settings may take until they count.
const appliedTime = 10 * time.Second

// ModelsAt asks a server that may not be in the settings for its models.
func (a *App) ModelsAt(ctx context.Context, c *connect.Choice) ([]provider.Model, error) {
	return c.Models(ctx, a.Config(), Kinds())
}

// TryModel has a model of such a server begin an answer, and notes in which format it did.
func (a *App) TryModel(ctx context.Context, c *connect.Choice) error {
	return c.Try(ctx, a.Config(), Kinds())
}

// Connect writes a choice down, waits until it counts, and has a session use it. A session that is
// not stored yet takes it when it begins.
func (a *App) Connect(ctx context.Context, uid string, c connect.Choice) error {
	ctx, stop := context.WithTimeout(ctx, appliedTime)
	defer stop()
	news := a.Bus.Subscribe(event.Limits{})
	defer news.Close()
	already := a.isInEffect(c)
	if err := c.Save(a.Config()); err != nil {
		return err
	}
	ref := c.Server.Name + "/" + c.Model
	for applied := already; !applied; {
		all, err := news.Next(ctx)
		if err != nil {
			return errors.New("it is written down, and counts from the next start on: the settings were not read again")
		}
		applied = slices.ContainsFunc(all, isReload) && a.isInEffect(c)
	}
	p, m, err := a.Models.Resolve(ctx, "")
	if err != nil {
		return err
	}
	a.Bus.Publish(event.Header{}, event.ModelChanged{Provider: p.Name(), Model: m.ID, Window: m.Window}) // what new sessions have
	_, fresh := a.Sessions.Get(ctx, uid)
	if fresh == nil || p.Name()+"/"+m.ID != ref { // or another one is the default, by HERMES_MODEL
		if err := a.Ensure(ctx, uid); err != nil {
			return err
		}
		return a.SetModel(ctx, uid, ref)
	}
	return nil
}

func isReload(e event.Envelope) bool {
	_, ok := e.Event.(event.ConfigReloaded)
	return ok
}

// isInEffect reports whether the settings in effect are the chosen ones.
func (a *App) isInEffect(c connect.Choice) bool {
	now := a.Config()
	if c.Key != "" && connect.Key(now, c.Server) != c.Key {
		return false
	}
	return now.Model.Provider == c.Server.Name && now.Providers[c.Server.Name].BaseURL == c.Server.BaseURL &&
		(now.Model.Default == c.Model || now.Exported("HERMES_MODEL"))
}
