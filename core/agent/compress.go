package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/secret"
)

const (
	minGain    = 20     // percent of the tokens that a compression must save to be worth it
	minOld     = 200    // tokens: a summary of less is as long as what it stands for
	maxUseless = 2      // compressions in a row without a gain: then no more by themselves
	tailTokens = 15_000 // that stay at least, where the window has room for them

	coolDown = 10 * time.Minute // without a summary of the model's after one that failed
)

// ErrNothingToCompress says that there is no cut, or nothing before it.
var ErrNothingToCompress = errors.New("nothing to compress: the conversation is short")

// Compress replaces the older part of a session, in what the model sees, by a summary. Focus says
// what must not get lost; it may be empty. The replaced messages stay in the store and are still
// found; Undo brings them back. It waits until the work is done; an interrupt or ctx ends it with
// the old context in place. A session with a running turn is refused.
func (a *Agent) Compress(ctx context.Context, session, focus string) error {
	failed := make(chan error, 1)
	err := a.whenIdle(ctx, session, func(w *worker) error {
		return w.startJob(func(t *turn) outcome {
			stop := context.AfterFunc(ctx, t.cancel)
			defer stop()
			failed <- t.compressOnRequest(focus)
			return outcome{reason: event.TurnDone, silent: true}
		})
	})
	if err != nil {
		return err
	}
	return <-failed
}

func (t *turn) compressOnRequest(focus string) error {
	if err := t.prepareRequests(); err != nil {
		return err
	}
	all := estimateTokens(t.history)
	t.w.coolUntil = time.Time{}
	err := t.compactHistory(stage{
		focus: focus, strict: t.settings.KeepOnFailure, gain: minGain,
		keep: tail{tokens: min(tailTokens, all/4), most: all * 3 / 4},
	})
	if err == nil {
		t.w.useless, t.w.tryAt = 0, 0
	}
	return err
}

// makeRoomAhead makes room before a model call that would fill the window too far: old images and
// results become lines, then older messages become a summary. What cannot be compressed now is sent
// as it is, and tried again when there is more of it; only what would not fit at all goes in any
// case.
func (t *turn) makeRoomAhead() error {
	if !t.settings.Compress {
		return nil
	}
	at := t.windowLimits()
	load := t.requestTokens()
	for range 2 { // images, then texts
		if load >= at.prune {
			load -= int(float64(load) * t.pruneResults(at.prune))
		}
	}
	if load >= at.sum && (load >= at.hard || load >= t.w.tryAt && t.w.useless < maxUseless) {
		if err := t.compressAndTell(at, load); err != nil {
			return err
		}
		load = t.requestTokens()
	}
	if load < at.hard {
		return nil
	}
	_, err := t.shrinkWithoutModel(at.sum, load)
	return err
}

// compressAndTell compresses and notes how that went. Its error ends the turn.
func (t *turn) compressAndTell(at limits, load int) error {
	kept := int(float64(at.sum) * t.settings.KeepShare)
	err := t.compactHistory(stage{
		strict: t.settings.KeepOnFailure, gain: minGain,
		keep: tail{messages: t.settings.ProtectLast, tokens: max(kept, min(tailTokens, at.sum/3)), most: at.sum / 2},
	})
	switch {
	case t.ctx.Err() != nil:
		return errInterrupted
	case err == nil:
		t.w.tryAt, t.w.useless = 0, 0
		return nil
	}
	window, _ := t.contextWindow()
	t.w.tryAt = load + window/10
	t.a.d.Log.Info("the context is large and was not compressed", "session", t.w.uid, "tokens", load, "window", window, "err", err)
	if errors.Is(err, errTooLittle) {
		t.w.useless++
	}
	if t.w.useless == maxUseless {
		t.sayOnce("This conversation is not compressed by itself any more: twice that saved too little.",
			"it can be compressed on request; a new session begins without what is in this one")
	}
	return nil
}

// shrinkWithoutModel brings a call of load tokens below most without asking a model, whatever it
// costs: everything that was answered becomes a line, then whatever is oldest goes, ever more of
// it. It reports whether there is less than before.
func (t *turn) shrinkWithoutModel(most, load int) (less bool, err error) {
	before := t.measureRequest()
	most = int(float64(most) * float64(before) / float64(max(load, before))) // as we count
	for keep := most / 2; ; keep /= 2 {
		if t.measureRequest() > most {
			t.pruneAll(keep)
		}
		if t.measureRequest() <= most {
			break
		}
		err := t.compactHistory(stage{plain: true, gain: 1, keep: tail{tokens: keep, most: keep}})
		if t.ctx.Err() != nil {
			return false, errInterrupted
		}
		if err != nil && keep == 0 {
			t.capResults(most)
			break
		}
	}
	return t.measureRequest() < before*9/10, nil
}

// stage is how one compression goes about it.
type stage struct {
	focus  string
	strict bool // without a summary of the model nothing changes
	plain  bool // an extract at once
	gain   int  // percent that must be saved
	keep   tail
}

// compactHistory puts a summary in the place of what is before the tail, in the store and in the
// turn's history.
func (t *turn) compactHistory(s stage) error {
	cut := s.keep.tailStart(t.history)
	if cut == 0 || cut == 1 && t.history[0].From.IsSummary() {
		return ErrNothingToCompress
	}
	sent := t.shownHistory()
	before, old := estimateTokens(sent), estimateTokens(sent[:cut])
	if old < minOld && !s.plain {
		return ErrNothingToCompress
	}
	if old*100 < before*s.gain {
		return tooLittle(old, before, s.gain)
	}
	t.runHooks(t.ctx, hook.Input{Event: hook.Compress, Tokens: before})
	t.publishPhase(event.TurnPhase{Kind: event.PhaseCompressing, Count: cut})
	t.summer = ""
	sum, err := t.replaceBySummary(t.history[:cut], s)
	if err != nil {
		return err
	}
	after := estimateTokens(sent[cut:]) + estimateTokens([]chat.Message{sum})
	if after*100 > before*(100-s.gain) {
		return tooLittle(max(0, before-after), before, s.gain)
	}
	ctx, cancel := t.storingContext()
	defer cancel()
	if err := t.a.d.Sessions.Compact(ctx, t.w.uid, t.history[cut-1].ID, &sum); err != nil {
		return err
	}
	t.publish(event.Compressed{Before: before, After: after, By: t.summer})
	t.rebuildPrompt(ctx)
	if err := t.reloadHistory(); err != nil {
		return err
	}
	t.showContext(t.measureRequest())
	return nil
}

// replaceBySummary is the message that stands for old ones: what the model or an extract says of
// them, and the person's words.
func (t *turn) replaceBySummary(old []chat.Message, s stage) (chat.Message, error) {
	sum := chat.Message{Role: chat.RoleUser, From: chat.Summary(), Status: chat.StatusFinal}
	text, err := "", error(nil)
	if !s.plain {
		text = t.askEngine(old, s.focus)
	}
	cool := text == "" && time.Until(t.w.coolUntil) > 0
	if text == "" && !s.plain && !cool {
		text, err = t.askForSummary(old, s.focus)
	}
	switch {
	case t.ctx.Err() != nil:
		return sum, errors.New("the compression was stopped; nothing has changed")
	case err != nil:
		t.coolDown(err, s.strict)
	}
	if s.strict && (err != nil || cool) {
		return sum, errors.Join(errors.New("the model could not summarise, nothing has changed"), err)
	}
	window, _ := t.contextWindow()
	if text == "" {
		text = summaryWithoutModel(old, min(extractBytes, window/2))
	}
	sum.Text = t.blockOrders(text)
	sum.Parts = quotePerson(old, t.settings.ProtectFirst, min(quoteTokens, window/5))
	if t.scanPages(t.history); t.w.strange.Load() != nil { // what says so goes: it stands with the summary, over restarts
		sum.Parts = append(sum.Parts, chat.Part{Kind: chat.PartResource, Name: *t.w.strange.Load(), Foreign: true})
	}
	return sum, nil
}

// coolDown tells why there is no summary, and until when the model is not asked for another one.
func (t *turn) coolDown(err error, strict bool) {
	t.w.coolUntil = time.Now().Add(coolDown)
	instead := "a plain extract is used instead"
	if strict {
		instead = "nothing has changed"
	}
	t.w.publish(event.Notice{
		Level: event.Warn, Text: "The model could not summarise (" + err.Error() + "); " + instead + ".",
		Hint: "it is asked again at " + t.w.coolUntil.Format("15:04") + ", or when you ask for it; every message is still " +
			"there to be read and searched",
	})
}

// showContext tells how full the window is, without an answer that says so.
func (t *turn) showContext(tokens int) {
	window, known := t.contextWindow()
	if !known {
		window = 0
	}
	t.publish(event.UsageTick{Session: t.w.uid, Context: tokens, Window: window, Total: t.info.Usage})
}

// rebuildPrompt builds the system prompt again: the server's copy of the prefix is gone anyhow, and
// what was remembered meanwhile gets in.
func (t *turn) rebuildPrompt(ctx context.Context) {
	if t.a.d.Prompt == nil {
		return
	}
	text, err := t.a.d.Prompt(ctx, t.info, t.specs)
	if err == nil && text != "" {
		text = secret.Clean(text)
		err = t.a.d.Sessions.SetPrompt(ctx, t.w.uid, text)
	}
	if err != nil {
		t.a.d.Log.Warn("the system prompt stays as it was", "session", t.w.uid, "err", err)
		return
	}
	if text != "" {
		t.system = text
	}
}

var errTooLittle = errors.New("not compressed")

func tooLittle(saved, before, gain int) error {
	return fmt.Errorf("%w: it would save less than %d %% (%d of %d tokens)", errTooLittle, gain, saved, before)
}
