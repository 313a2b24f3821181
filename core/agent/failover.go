package agent

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/store"
)

// openRoute opens the route of the turn's model calls.
func (t *turn) openRoute(ref string) (err error) {
	if t.route, err = t.a.d.Models.Route(t.ctx, ref, t.settings.Retries); err == nil {
		t.via, t.model = t.route.Leg().Provider, t.route.Leg().Model
		t.askWindow()
	}
	return err
}

// tellSkipped says that the turn begins at a fallback, because the session's model rests.
func (t *turn) tellSkipped() {
	if step, skipped := t.route.Skipped(); skipped {
		t.tellMoved(step, time.Now().Add(step.Wait))
	}
}

func (t *turn) tellMoved(step provider.Step, rested time.Time) {
	leg := t.route.Leg()
	m := event.ModelMoved{From: step.From.Ref(), To: leg.Ref(), Key: leg.Key, Keys: leg.Keys, Cause: causeOf(step.Cause), Rested: rested}
	switch step.Cause.Class {
	case provider.ClassAuth, provider.ClassBilling, provider.ClassRateLimit:
		m.FromKey = step.From.KeyFrom
	default:
	}
	t.publish(m)
}

func causeOf(e *provider.Error) event.Cause { return event.Cause{Class: string(e.Class), HTTP: e.HTTP} }

// recordAttempt stores one call of the model, with the message that it was to answer, and tells of
// a failure.
func (t *turn) recordAttempt(d *draft, began time.Time, err error) {
	leg, took := t.route.Leg(), time.Since(began)
	a := store.Attempt{
		Provider: t.via.Name(), Model: t.model.ID, Started: began.UnixMilli(), Took: took.Milliseconds(), Bytes: d.countBytes(),
	}
	failed := (*provider.Error)(nil)
	switch {
	case errors.As(err, &failed):
		a.ErrorClass, a.HTTP = string(failed.Class), failed.HTTP
	case err != nil || t.ctx.Err() != nil:
		a.ErrorClass = string(provider.ClassCancelled)
	}
	ctx, cancel := t.storingContext()
	defer cancel()
	if n := len(t.history); n > 0 {
		if err := t.a.d.Sessions.AddAttempt(ctx, t.history[n-1].ID, a); err != nil {
			t.a.d.Log.Warn("a model call could not be noted", "session", t.w.uid, "err", err)
		}
	}
	if failed == nil || t.ctx.Err() != nil {
		return
	}
	t.a.d.Log.Warn("model call failed", "session", t.w.uid, "model", leg.Ref(), "key", leg.KeyFrom, "err", failed)
	t.publish(event.AttemptFailed{Ref: leg.Ref(), Key: leg.Key, Took: took, Bytes: a.Bytes, Cause: causeOf(failed), Err: failed.Error()})
}

// countBytes counts how much of an answer came.
func (d *draft) countBytes() int64 {
	n := d.text.Len() + d.reasoning.Len()
	for _, c := range d.calls {
		n += c.args.Len()
	}
	return int64(n)
}

// tryAgain goes where the route says after a failure: the same model after a wait, another key, a
// fallback. Else it gives up.
func (t *turn) tryAgain(d *draft, failed *provider.Error) error {
	return t.followStep(d, t.route.Failed(t.ctx, failed))
}

func (t *turn) followStep(d *draft, step provider.Step) error {
	if !step.Again {
		_, err := t.giveUp(d, step.Cause)
		return err
	}
	if err := t.holdDraft(d, step.Cause); err != nil {
		return err
	}
	if step.Moved {
		if err := t.moveToLeg(step); err != nil {
			return err
		}
	}
	t.whole = step.Whole
	return t.awaitRetry(step)
}

// moveToLeg makes the route's leg the model of the rest of the turn. One with a smaller window may
// need room first.
func (t *turn) moveToLeg(step provider.Step) error {
	before, _ := t.contextWindow()
	t.left = append(t.left, step)
	t.via, t.model = t.route.Leg().Provider, t.route.Leg().Model
	t.tellMoved(step, time.Time{})
	t.askWindow()
	if now, _ := t.contextWindow(); now < before {
		return t.makeRoomAhead()
	}
	return nil
}

// awaitRetry waits as long as a step says, visibly. Whoever has no patience ends the wait.
func (t *turn) awaitRetry(step provider.Step) error {
	if step.Wait <= 0 {
		return nil
	}
	why := causeOf(step.Cause)
	why.Offline = step.Offline
	t.publishPhase(event.TurnPhase{Kind: event.PhaseRetrying, Until: time.Now().Add(step.Wait), Model: t.model.ID, Cause: &why})
	timer := time.NewTimer(step.Wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.hurry:
		t.route.Hurried()
		return nil
	case <-t.ctx.Done():
		_, err := t.sealInterrupted(&draft{})
		return err
	}
}

// Hurry ends the wait of a session for its model, if it waits to ask it again, and reports whether
// it did.
func (a *Agent) Hurry(session string) bool {
	w := a.knownWorker(session)
	if w == nil {
		return false
	}
	w.mu.Lock()
	t := w.turn
	w.mu.Unlock()
	if t == nil {
		return false
	}
	select {
	case t.hurry <- struct{}{}:
		return true
	default:
		return false
	}
}

// holdDraft keeps what came of a failed call on the screen and in the store, until another call
// brought as much.
func (t *turn) holdDraft(d *draft, why error) error {
	if d.text.Len() == 0 {
		return t.discardDraft(d, why)
	}
	was := t.held
	t.held, d.why = d, why
	if was == nil {
		return nil
	}
	if was.text.Len() > d.text.Len() {
		was, t.held = d, was
	}
	return t.discardDraft(was, was.why)
}

// replaceHeld takes back what an earlier call brought once this one has as much.
func (t *turn) replaceHeld(d *draft) error {
	if t.held == nil || !d.ended && d.text.Len() < t.held.text.Len() {
		return nil
	}
	was := t.held
	t.held = nil
	return t.discardDraft(was, was.why)
}

// longestDraft is the draft that stays when no call brought the whole answer: the longest.
func (t *turn) longestDraft(d *draft) (*draft, error) {
	held := t.held
	if held == nil || d == held {
		return d, nil
	}
	t.held = nil
	if held.text.Len() > d.text.Len() && len(d.calls) == 0 {
		held, d = d, held
	}
	return d, t.discardDraft(held, held.why)
}

// failedModels names the models that were given up before the one that failed last.
func (t *turn) failedModels() string {
	out := ""
	for _, s := range t.left {
		out += fmt.Sprintf("; before that %s: %s", s.From.Ref(), causeOf(s.Cause))
		if s.From.Keys > 1 {
			out += fmt.Sprintf(" with key %d, %s", s.From.Key, cmp.Or(s.From.KeyFrom, "of the settings"))
		}
	}
	return out
}

// wasFiltered is an answer without a word that the provider's filter stopped.
func wasFiltered(d *draft) bool { return d.saysNothing() && d.finish == chat.FinishContentFilter }

func (t *turn) errFiltered() *provider.Error {
	return &provider.Error{
		Class: provider.ClassContentFilter, Provider: t.via.Name(), Model: t.model.ID,
		Message: "the provider's content filter stopped the answer", Hint: "ask in other words",
	}
}
