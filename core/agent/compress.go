package agent

import (
	"context"
	"errors"
	"fmt"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/secret"
)

const (
	keepTurns = 2  // the newest exchanges stay word for word
	minGain   = 20 // percent of the tokens that a compression must save to be worth it
)

// Compress replaces the older part of a session, in what the model sees, by a summary. Focus says what must not get
// lost; it may be empty. The replaced messages stay in the store and are still found. It waits until the work is done;
// an interrupt or ctx ends it with the old context in place. A session with a running turn is refused.
func (a *Agent) Compress(ctx context.Context, session, focus string) error {
	failed := make(chan error, 1)
	err := a.whenIdle(ctx, session, func(w *worker) error {
		return w.start(func(t *turn) outcome {
			stop := context.AfterFunc(ctx, t.cancel)
			defer stop()
			failed <- t.compress(focus)
			return outcome{reason: event.TurnDone, silent: true}
		})
	})
	if err != nil {
		return err
	}
	return <-failed
}

func (t *turn) compress(focus string) error {
	if err := t.prepare(); err != nil {
		return err
	}
	return t.compact(focus, t.settings.KeepOnFailure, tail{})
}

// relieve makes room before a model call that would fill the window beyond the share of the settings, when the window is known:
// old results of tools first, then, once a turn, a summary. What cannot be compressed now is sent as it is, and tried again when
// there is more of it.
func (t *turn) relieve() error {
	limit := int(t.settings.CompressAt * float64(t.model.Window))
	if limit <= 0 {
		return nil
	}
	load := t.load()
	if load >= limit {
		load -= int(float64(load) * t.prune(limit))
	}
	if t.relieved || load < max(limit, t.w.tryAt) {
		return nil
	}
	t.relieved = true
	err := t.compact("", true, tail{
		messages: t.settings.ProtectLast, most: limit / 2, tokens: int(float64(limit) * t.settings.KeepShare),
	})
	switch {
	case t.ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		t.w.tryAt = load + t.model.Window/10
		t.a.d.Log.Info("the context is large and was not compressed", "session", t.w.uid, "tokens", load, "window", t.model.Window, "err", err)
		return nil
	}
	t.w.tryAt = 0
	return t.reload()
}

// load is the tokens of the next model call: what the provider counted at the last one, and an estimate of what came since.
func (t *turn) load() int {
	for i := len(t.history) - 1; i >= 0; i-- {
		m := t.history[i]
		if m.ID < t.history[0].ID {
			break // older than the summary before it: counted with what that replaced
		}
		if m.Role == chat.RoleAssistant && m.Usage.Input > 0 {
			return m.Usage.Input + m.Usage.Output + estimate(t.history[i+1:])
		}
	}
	bytes := len(t.system)
	for _, s := range t.specs {
		bytes += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	return bytes/4 + estimate(t.shown())
}

// compact does the work on the history that the turn has. A summary that fails is replaced by an extract, unless strict.
func (t *turn) compact(focus string, strict bool, keep tail) error {
	cut := keep.begin(t.history)
	if cut == 0 {
		return fmt.Errorf("nothing to compress: only what is older than the last %d exchanges can be", keepTurns)
	}
	sent := t.shown()
	before := estimate(sent)
	if old := estimate(sent[:cut]); old*100 < before*minGain {
		return tooLittle(old, before)
	}
	t.phase("compressing %s", plural(cut, "message"))
	text, err := t.summary(t.history[:cut], focus)
	if t.ctx.Err() != nil {
		return errors.New("the compression was stopped; nothing has changed")
	}
	if err != nil && strict {
		return fmt.Errorf("the model could not summarise, nothing has changed: %w", err)
	}
	if err != nil {
		text = digest(t.history[:cut], digestBytes)
		t.w.publish(event.Notice{
			Level: event.Warn, Text: "The model could not summarise (" + err.Error() + "); a plain extract is used instead.",
			Hint: "every message is still there to be read and searched",
		})
	}
	text = t.harmless(text)
	sum := chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: summaryHead + t.opening(t.history[:cut]) + text + summaryTail}
	after := estimate(sent[cut:]) + estimate([]chat.Message{sum})
	if after*100 > before*(100-minGain) {
		return tooLittle(max(0, before-after), before)
	}
	ctx, cancel := t.keep()
	defer cancel()
	if err := t.a.d.Sessions.Compact(ctx, t.w.uid, t.history[cut-1].ID, &sum); err != nil {
		return err
	}
	t.publish(event.Compressed{Before: before, After: after})
	t.renew(ctx)
	return nil
}

// renew builds the system prompt again: the server's copy of the prefix is gone anyhow, and what was remembered meanwhile gets in.
func (t *turn) renew(ctx context.Context) {
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

func tooLittle(saved, before int) error {
	return fmt.Errorf("not compressed: it would save less than %d %% (%d of %d tokens)", minGain, saved, before)
}

// tail is what stays word for word beside the last keepTurns exchanges.
type tail struct {
	messages int // at least so many, while they have no more than most tokens
	most     int
	tokens   int // as many exchanges as these hold
}

// begin is the index of the first message that stays: a prompt, so that no call is parted from its results. 0 means that all do.
func (k tail) begin(history []chat.Message) int {
	cut, turns, size := 0, 0, 0
	stays := func(n int) bool { return size <= k.tokens || n < k.messages && size <= k.most }
	for i := len(history) - 1; i > 0; i-- {
		size += estimate(history[i : i+1])
		if history[i].Role != chat.RoleUser || history[i-1].Role == chat.RoleTool {
			continue
		}
		if turns++; turns < keepTurns {
			continue
		}
		if turns > keepTurns && !stays(len(history)-cut) {
			return cut
		}
		cut = i
	}
	if len(history) == 0 {
		return 0
	}
	if size += estimate(history[:1]); stays(len(history) - cut) {
		return 0
	}
	return cut
}

// estimate counts tokens, four bytes each, envelopes and reasoning included.
func estimate(messages []chat.Message) int {
	const envelope = 16
	bytes := 0
	for _, m := range messages {
		bytes += envelope + len(m.Text) + len(m.Reasoning)
		for _, c := range m.Calls {
			bytes += envelope + len(c.Name) + len(c.Args) + len(c.Invalid)
		}
		for _, a := range m.Attachments {
			bytes += len(a.Text)
		}
		if m.Result != nil {
			bytes += len(m.Result.Text)
		}
	}
	return bytes / 4
}
