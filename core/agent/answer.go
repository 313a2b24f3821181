package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/store"
)

// maxOverflows is how often one answer is asked for again with less before it.
const maxOverflows = 4

// askModel gets one answer from the model, over failures that may pass. The answer is stored and
// sealed when it returns. An instruction is shown to the model after the history and kept nowhere.
func (t *turn) askModel(specs []provider.ToolSpec, instruction string) (chat.Message, error) {
	t.steps++
	t.whole = false
	empty, overflows, hungUp := false, 0, 0
	for {
		t.publishPhase(event.TurnPhase{Kind: event.PhaseWaiting, Model: t.model.ID})
		began := time.Now()
		d, err := t.streamAnswer(t.buildRequest(specs, instruction, t.whole))
		failed := (*provider.Error)(nil)
		if err == nil && d.saysNothing() {
			err = t.noAnswer(d)
		}
		t.recordAttempt(d, began, err)
		switch {
		case err == nil:
			return t.sealAnswer(d)
		case t.ctx.Err() != nil:
			return t.sealInterrupted(d)
		case !errors.As(err, &failed):
			return t.giveUp(d, err) // the store failed, not the model
		case failed.Class == provider.ClassContextOverflow:
			overflows++
			err = t.handleOverflow(d, failed, overflows)
		case t.maybeTooLong(d, failed, &hungUp):
			err = t.handleHungUp(d, failed)
		case d.ended && !empty && failed.Class == provider.ClassMalformed:
			empty = true
			err = t.discardDraft(d, nil) // an empty answer is no failure of the line
		case d.ended && failed.Class == provider.ClassMalformed:
			failed.Message += ", twice"
			err = t.followStep(d, t.route.Leave(t.ctx, failed))
		default:
			err = t.tryAgain(d, failed)
		}
		if err != nil {
			return chat.Message{}, err
		}
	}
}

// sealAnswer seals an answer that came whole.
func (t *turn) sealAnswer(d *draft) (chat.Message, error) {
	t.route.Worked()
	if err := t.replaceHeld(d); err != nil {
		return chat.Message{}, err
	}
	return t.sealMessage(d, chat.StatusFinal)
}

// noAnswer is what is wrong with an answer that says nothing.
func (t *turn) noAnswer(d *draft) error {
	if wasFiltered(d) {
		return t.errFiltered()
	}
	return &provider.Error{
		Class: provider.ClassMalformed, Provider: t.via.Name(), Model: t.model.ID, Message: "the model answered with nothing",
	}
}

// handleOverflow makes room when the model finds the context too long, the times-th time; at last
// it looks for a larger one.
func (t *turn) handleOverflow(d *draft, failed *provider.Error, times int) error {
	if times <= maxOverflows {
		err := t.makeRoom(d, failed)
		if !errors.Is(err, failed) {
			return err
		}
		d = &draft{} // which is discarded
	}
	return t.followStep(d, t.route.Larger(t.ctx, failed))
}

// Some servers close the connection on a request that is too long for them. That is what a second
// one in a row may mean, without a byte of an answer, from longShare of the window on.
const (
	hungUpTimes = 2
	longShare   = 0.6
)

// maybeTooLong counts such ends of a connection, and reports whether to make room, once for an
// answer.
func (t *turn) maybeTooLong(d *draft, failed *provider.Error, hungUp *int) bool {
	if !failed.HungUp() || d.countBytes() > 0 {
		return false
	}
	*hungUp++
	window, _ := t.contextWindow()
	return *hungUp == hungUpTimes && float64(t.requestTokens()) > longShare*float64(window)
}

// handleHungUp asks with less. Where nothing can be left out it is a failure of the line.
func (t *turn) handleHungUp(d *draft, failed *provider.Error) error {
	err := t.makeRoom(d, failed)
	if errors.Is(err, failed) {
		return t.tryAgain(&draft{}, failed) // the draft is discarded
	}
	return err
}

// remediesFor are what a person can do after a failure of this class, beside what its hint says.
func remediesFor(c provider.Class) []event.Remedy {
	switch c {
	case provider.ClassContextOverflow:
		return []event.Remedy{event.RemedyCompress, event.RemedyChooseModel}
	case provider.ClassAuth:
		return []event.Remedy{event.RemedyConnect, event.RemedyChooseModel}
	case provider.ClassCancelled:
		return nil
	case provider.ClassNetwork, provider.ClassFormat:
		return []event.Remedy{event.RemedyRetry}
	case provider.ClassBilling, provider.ClassModelNotFound, provider.ClassContentFilter, provider.ClassTooLarge:
		return []event.Remedy{event.RemedyChooseModel}
	default:
		return []event.Remedy{event.RemedyRetry, event.RemedyChooseModel}
	}
}

// makeRoom compresses a context that the model finds too long, as often as that makes it shorter.
// When nothing can be left out the model's own error is what the person gets.
func (t *turn) makeRoom(d *draft, failed *provider.Error) error {
	t.learnWindow(failed)
	if err := t.discardDraft(d, failed); err != nil {
		return err
	}
	sent := t.measureRequest()
	at := t.windowLimits()
	most := min(at.sum, sent*6/10) // the server counts more than we do, or we would not be here
	if err := t.compressAndTell(limits{sum: most, hard: most}, sent); err != nil {
		return err
	}
	less, err := t.shrinkWithoutModel(most, t.measureRequest())
	if err != nil {
		return err
	}
	if !less && t.measureRequest() >= sent*9/10 {
		t.a.d.Log.Warn("the context could not be compressed", "session", t.w.uid, "tokens", sent)
		return failed
	}
	return nil
}

// giveUp keeps what came of a failed answer, marked, and returns cause.
func (t *turn) giveUp(d *draft, cause error) (chat.Message, error) {
	return chat.Message{}, t.sealUnfinished(d, cause, chat.FinishError, chat.StatusError)
}

// sealInterrupted keeps what came before the interrupt. Calls that were complete stay, each with a
// result that says so.
func (t *turn) sealInterrupted(d *draft) (chat.Message, error) {
	d.dropBroken()
	return chat.Message{}, t.sealUnfinished(d, errInterrupted, chat.FinishInterrupted, chat.StatusCancelled)
}

// sealUnfinished seals the longest of the drafts of an answer that does not end well; one that says
// nothing goes. It returns cause, with what else failed.
func (t *turn) sealUnfinished(d *draft, cause error, f chat.Finish, s chat.Status) error {
	d, err := t.longestDraft(d)
	if err != nil {
		return errors.Join(cause, err)
	}
	if d.msg.ID == 0 {
		return cause
	}
	if d.saysNothing() {
		return errors.Join(cause, t.discardDraft(d, cause))
	}
	if s == chat.StatusError {
		d.calls = nil // a call that is cut is not run, and nothing answers it
	}
	d.finish = f
	msg, err := t.sealMessage(d, s)
	if err == nil {
		err = t.closeCalls(msg.Calls, "[interrupted before it ran]")
	}
	return errors.Join(cause, err)
}

// discardDraft takes back a message that another attempt replaces; without a cause it was empty.
func (t *turn) discardDraft(d *draft, cause error) error {
	if d.msg.ID == 0 {
		return nil
	}
	ctx, cancel := t.storingContext()
	defer cancel()
	if err := t.a.d.Sessions.Discard(ctx, d.msg.ID); err != nil {
		return err
	}
	e := event.MessageDiscarded{MessageID: d.msg.ID, Why: event.DiscardEmpty}
	switch {
	case errors.Is(cause, errInterrupted):
		e.Why = event.DiscardInterrupted
	case cause != nil:
		e.Why, e.Err = event.DiscardFailed, cause.Error()
	}
	t.publish(e)
	return nil
}

// sealMessage writes the final state of a streamed message, then publishes it and counts its
// tokens.
func (t *turn) sealMessage(d *draft, status chat.Status) (chat.Message, error) {
	ctx, cancel := t.storingContext()
	defer cancel()
	m := d.toMessage(t.used)
	m.Took = time.Since(t.began)
	m.Status = status
	m.Usage = t.model.Charge(m.Usage)
	calls := m.Calls
	err := t.a.d.Sessions.Seal(ctx, &m) // and without secrets then
	if err != nil && !keptInSpillFile(err) {
		return m, fmt.Errorf("the answer could not be saved: %w", err)
	}
	t.history = append(t.history, m)
	t.publish(event.MessageSealed{Message: m})
	m.Calls = calls // which run as the model made them
	if err != nil {
		return m, diskFull("the answer is safe", err)
	}
	return m, t.countAnswer(ctx, m.Usage)
}

// countAnswer adds the tokens of one answer to the session and shows how full they make the window.
func (t *turn) countAnswer(ctx context.Context, u chat.Usage) error {
	if err := t.addUsage(ctx, store.Spent{Provider: t.via.Name(), Model: t.model.ID, Usage: u}); err != nil {
		return err
	}
	used := u.Input + u.Output
	if u.Input == 0 { // the server does not count
		used = t.measureRequest()
	}
	t.showContext(used)
	return nil
}

// countAside adds the tokens of an answer that is none of the conversation's.
func (t *turn) countAside(s store.Spent) error {
	ctx, cancel := t.storingContext()
	defer cancel()
	return t.addUsage(ctx, s)
}

func (t *turn) addUsage(ctx context.Context, s store.Spent) error {
	u := s.Usage
	if u.Empty() {
		return nil
	}
	s.Prompt = t.prompt
	if err := t.a.d.Sessions.CountUsage(ctx, t.w.uid, s); err != nil {
		return err
	}
	t.usage = t.usage.Add(u)
	t.info.Usage = t.info.Usage.Add(u)
	return nil
}
