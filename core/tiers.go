package core

import (
	"context"

	"hermes/core/agent"
	"hermes/core/approval"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/tier"
)

// TierModel is the model that the settings name for an estimate; "" when they name none. Without
// one for code its complexity counts.
func TierModel(m config.ModelTiers, e tier.Estimate) (tier.Tier, string) {
	t := e.Tier()
	if t == tier.Code && m.Code == "" {
		e.Code = false
		t = e.Tier()
	}
	return t, map[tier.Tier]string{tier.Small: m.Small, tier.Standard: m.Standard, tier.Strong: m.Strong, tier.Code: m.Code}[t]
}

// beginTier gives a new session a model that is enough for its first request, when the settings
// want that. A model that the person chose stays. It is the session's model from then on: to change
// it by the turn would lose the provider's cache, which costs more than a small model saves.
func (a *App) beginTier(ctx context.Context, uid string, in agent.Input) {
	tiers := a.Config().ModelTiers
	if !tiers.Enabled || a.opts.Model != "" || !in.From.IsPerson() || approval.OnlyCommands(in.Text) {
		return
	}
	if chosen, err := a.Agent.Chosen(ctx, uid); err != nil || chosen != "" {
		return
	}
	e := tier.Judge(in.Text)
	name, ref := TierModel(tiers, e)
	if ref == "" {
		return
	}
	if err := a.Agent.SetModel(ctx, uid, ref); err != nil {
		a.Bus.Publish(event.Header{Session: uid}, event.Notice{
			Level: event.Warn, Text: "the " + string(name) + " model " + ref + " cannot be had, the usual one answers: " + err.Error(),
			Hint: "model_tiers in the settings names it",
		})
		return
	}
	a.Bus.Publish(event.Header{Session: uid}, event.Notice{
		Level: event.Info, Text: "This session begins with the " + string(name) + " model " + ref + " (" + e.Words() + ")",
		Hint: "model_tiers.enabled in the settings ends this", Do: []event.Remedy{event.RemedyChooseModel},
	})
}
