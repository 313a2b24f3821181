package run

import (
	"context"
	"errors"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/session"
	"hermes/ui/cli/base"
)

// turn follows one turn of a session to its end.
type turn struct {
	app     client.Client
	box     *event.Mailbox
	session string
	yes     bool
	printer printer
	release func() // gives ctrl+c back to the system, so that a second one ends the program

	refused   bool            // for want of somebody to ask
	forbidden bool            // by the floor or approvals.deny: no flag helps
	own       map[string]bool // calls that the person ran
	exit      int             // of the last of them that failed
	ended     *event.TurnEnded
	id        string       // of the turn that ended
	last      chat.Message // newest sealed answer
}

// printer shows a turn as it goes.
type printer interface {
	showEvent(e event.Envelope)
	// pause is called when no more events are there for now.
	drawPending()
	// end is called once, after the last event.
	endTurn(t *turn)
}

func (t *turn) runTurn(ctx context.Context, in agent.Input) error {
	if err := t.app.Submit(ctx, t.session, in); err != nil {
		return err
	}
	stopped := ctx.Done()
	for t.ended == nil {
		select {
		case <-stopped:
			stopped = nil // what follows are the events of the end
			t.release()
			t.app.Interrupt(t.session)
		case <-t.box.Ready():
			for _, e := range t.box.Drain() {
				t.takeEvent(ctx, e)
			}
			t.printer.drawPending()
		}
	}
	t.printer.endTurn(t)
	return t.exitOf(ctx)
}

func (t *turn) takeEvent(ctx context.Context, e event.Envelope) {
	if e.Session != "" && e.Session != t.session {
		return
	}
	t.printer.showEvent(e)
	switch x := e.Event.(type) {
	case event.ApprovalAsked:
		t.settleApproval(x)
	case event.ApprovalSettled:
		switch {
		case x.Decision != event.DecisionDeny || x.By == event.ByInterrupt:
		case x.By == event.ByFloor || x.By == event.BySettings:
			t.forbidden = true
		default:
			t.refused = true
		}
	case event.QuestionAsked:
		answerNobody(t.app, x.ID)
	case event.MessageSealed:
		if x.Message.Role == chat.RoleAssistant {
			t.last = x.Message
			t.own = ownCalls(t.own, x.Message)
		}
	case event.ToolEnded:
		t.ownEnded(x.Result)
	case event.TurnEnded:
		t.ended, t.id = &x, e.Turn
	case event.Resync:
		t.catchUp(ctx)
	}
}

// answerNobody tells the model that it must decide alone. A question that is closed meanwhile needs
// no answer: it timed out, or its turn was stopped, and that is how the turn goes on.
func answerNobody(c client.Client, question string) {
	_ = c.AnswerQuestion(question, "Nobody is here to answer: choose what is safest and say what you assumed.")
}

// settleApproval settles an approval; as with a question, one that is closed meanwhile needs no
// answer.
func (t *turn) settleApproval(ask event.ApprovalAsked) {
	if !t.yes {
		t.refused = true
		_ = t.app.Answer(ask.ID, event.DecisionDeny)
		return
	}
	_ = t.app.Answer(ask.ID, event.DecisionOnce)
}

// catchUp takes the outcome from the store when so much happened that events were given up. An
// interrupt is passed on while it waits for the turn.
func (t *turn) catchUp(ctx context.Context) {
	defer context.AfterFunc(ctx, func() { t.app.Interrupt(t.session) })()
	err := t.app.Wait(context.WithoutCancel(ctx), t.session)
	var messages []chat.Message
	if err == nil {
		messages, _, err = t.app.History().Messages(context.WithoutCancel(ctx), t.session, session.Page{Limit: 1})
	}
	end := event.TurnEnded{Reason: event.TurnDone}
	if err != nil {
		end = event.TurnEnded{Reason: event.TurnFailed, Err: "how the turn ended is not known: " + err.Error()}
	}
	if len(messages) == 1 {
		t.last = messages[0]
		switch t.last.Status {
		case chat.StatusError:
			end = event.TurnEnded{Reason: event.TurnFailed, Err: "the answer broke off"}
		case chat.StatusCancelled:
			end.Reason = event.TurnInterrupted
		default:
		}
	}
	t.ended = &end
}

// exitOf turns the end of the turn into an exit code.
func (t *turn) exitOf(ctx context.Context) error {
	e := t.ended
	text := e.Err
	if h := base.HintWords(e.Hint, e.Do); h != "" {
		text += "; " + h
	}
	switch {
	case e.Reason == event.TurnInterrupted && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return base.Failed(base.ExitFailed, "the turn took longer than --timeout; what was done is kept: go on with `hermes run -r %s`", t.session)
	case e.Reason == event.TurnInterrupted:
		return base.Failed(base.ExitInterrupted, "stopped; go on with `hermes run -r %s`", t.session)
	case e.Reason == event.TurnFailed && e.Class != "":
		return base.Failed(base.ExitProvider, "%s", text)
	case e.Reason == event.TurnFailed:
		return base.Failed(base.ExitFailed, "%s", text)
	case t.refused:
		return base.Failed(base.ExitRefused, "something needed approval and was refused; allow it with --yes, or do it in the workbench: hermes -r %s", t.session)
	case t.forbidden:
		return base.Failed(base.ExitRefused, "something that never runs here was refused: a command that destroys, or one that approvals.deny forbids; see hermes sessions show %s", t.session)
	case e.Reason == event.TurnBudget:
		return base.Failed(base.ExitFailed, "the turn used up its steps (agent.max_turns); go on with `hermes run -r %s \"continue\"`", t.session)
	case t.exit != 0:
		return base.Failed(base.Exit(t.exit), "the command ended with exit code %d", t.exit)
	}
	return nil
}

// The words of `hermes run` for what core tells in codes.
