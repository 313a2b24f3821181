package agent

import (
	"context"
	"fmt"

	"hermes/core/event"
)

// metaModel is the key under which a session keeps its model as "provider/model"; empty means the
// default.
const metaModel = "model_ref"

// modelRef is the model that a session uses, as Models.Resolve takes it. A failure means the
// default.
func (a *Agent) modelRef(ctx context.Context, info event.SessionInfo) string {
	ref, err := a.d.Sessions.Meta(ctx, info.UID, metaModel)
	if err != nil {
		a.d.Log.Warn("the session's model is not known, the default is used", "session", info.UID, "err", err)
	}
	return ref
}

// Chosen returns the model that was chosen for a session, "" when the settings decide.
func (a *Agent) Chosen(ctx context.Context, session string) (string, error) {
	return a.d.Sessions.Meta(ctx, session, metaModel)
}

// SetModel makes a session use another model from its next turn on. Nothing changes when the model
// cannot be found.
func (a *Agent) SetModel(ctx context.Context, session, ref string) error {
	p, m, err := a.d.Models.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	if err := a.d.Sessions.SetMeta(ctx, session, metaModel, p.Name()+"/"+m.ID); err != nil {
		return err
	}
	if err := a.d.Sessions.SetModel(ctx, session, p.Name(), m.ID); err != nil {
		return err
	}
	a.d.Bus.Publish(event.Header{Session: session}, event.ModelChanged{Provider: p.Name(), Model: m.ID, Window: m.Window})
	return nil
}

// Model returns the model that a session uses, as "provider/model".
func (a *Agent) Model(ctx context.Context, session string) (string, error) {
	info, err := a.d.Sessions.Get(ctx, session)
	if err != nil {
		return "", err
	}
	p, m, err := a.d.Models.Resolve(ctx, a.modelRef(ctx, info))
	if err != nil {
		return "", fmt.Errorf("the model of the session is not available: %w", err)
	}
	return p.Name() + "/" + m.ID, nil
}
