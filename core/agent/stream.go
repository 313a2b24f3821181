package agent

import (
	"context"
	"iter"
	"time"

	"hermes/core/chat"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/provider"
)

const (
	// A streaming message reaches the store after saveEvery, or after saveBytes; of a long one,
	// after an eighth more of it, because each time all of its text is written again. The stream
	// waits for the disk meanwhile, so there is a rest between.
	saveEvery = 500 * time.Millisecond
	saveRest  = 50 * time.Millisecond
	saveBytes = 4 << 10
	// grace is how long something that was told to stop may take before it is left behind.
	grace = 800 * time.Millisecond
)

// piece is a chunk or the error that ended the stream.
type piece struct {
	chunk provider.Chunk
	err   error
}

// streamAnswer runs one model call into a draft. The draft holds what came, whatever the error is.
func (t *turn) streamAnswer(r provider.Request) (*draft, error) {
	d := &draft{model: t.model.ID, provider: t.via.Name()}
	left := make(chan struct{})
	defer close(left)
	defer t.showHeldBack(d)
	pieces := pumpStream(t.ctx, t.via, r, left)
	var patience <-chan time.Time
	interrupted := t.ctx.Done()
	for {
		select {
		case p, open := <-pieces:
			if !open || d.ended {
				return d, checkFinished(d, t.via.Name(), t.model.ID)
			}
			if p.err != nil {
				return d, p.err
			}
			if err := t.takeChunk(d, p.chunk); err != nil {
				return d, err
			}
		case <-interrupted:
			interrupted = nil
			patience = time.After(grace)
		case <-patience:
			return d, errInterrupted
		}
	}
}

// pumpStream moves the stream out of its own goroutine, so that a provider which ignores its
// context cannot hang a turn.
func pumpStream(ctx context.Context, p provider.Provider, r provider.Request, left <-chan struct{}) <-chan piece {
	out := make(chan piece, 16)
	crash.Go("stream "+p.Name(), func() {
		defer close(out)
		sendChunks(p.Stream(ctx, r), out, left)
	})
	return out
}

func sendChunks(chunks iter.Seq2[provider.Chunk, error], out chan<- piece, left <-chan struct{}) {
	for c, err := range chunks {
		select {
		case out <- piece{c, err}:
		case <-left:
			return
		}
		if err != nil {
			return
		}
	}
}

// checkFinished tells a stream that just stopped from one that reached its end.
func checkFinished(d *draft, name, model string) error {
	if d.ended {
		return nil
	}
	return &provider.Error{
		Class: provider.ClassMalformed, Provider: name, Model: model, Message: "the answer stopped without an end",
	}
}

// takeChunk adds a chunk to the draft and shows it. The first one makes the message's row.
func (t *turn) takeChunk(d *draft, c provider.Chunk) error {
	if d.msg.ID == 0 {
		if err := t.beginMessage(d); err != nil {
			return err
		}
	}
	d.timeThinking(c.Kind == provider.ChunkReasoning, time.Now())
	switch c.Kind {
	case provider.ChunkText:
		if t.own { // nobody speaks: the person ran it
			break
		}
		t.addText(d, d.say.Write([]byte(c.Text)))
	case provider.ChunkReasoning:
		t.addReasoning(d, d.think.Write([]byte(c.Text)))
	case provider.ChunkToolStart:
		t.publishPhase(event.TurnPhase{Kind: event.PhaseWritingCall, Tool: c.Name})
		d.callAt(c.Index, c.CallID, c.Name)
	case provider.ChunkToolArgs:
		d.callAt(c.Index, "", "").args.WriteString(c.Text)
	case provider.ChunkEnd:
		d.noteEnd(c)
		return nil
	}
	if err := t.replaceHeld(d); err != nil {
		return err
	}
	return t.saveDraft(d)
}

// addText adds text to the draft and shows it; what may be the beginning of a secret is held back
// before.
func (t *turn) addText(d *draft, text []byte) {
	if len(text) > 0 {
		t.publish(event.TextDelta{MessageID: d.msg.ID, Offset: d.text.Len(), Text: string(text)})
		d.text.Write(text)
	}
}

func (t *turn) addReasoning(d *draft, text []byte) {
	if len(text) > 0 {
		t.publish(event.ReasoningDelta{MessageID: d.msg.ID, Offset: d.reasoning.Len(), Text: string(text)})
		d.reasoning.Write(text)
	}
}

// showHeldBack shows what was held back: the answer has ended, however it did.
func (t *turn) showHeldBack(d *draft) {
	t.addText(d, d.say.Flush())
	t.addReasoning(d, d.think.Flush())
}

func (t *turn) beginMessage(d *draft) error {
	d.msg = chat.Message{Role: chat.RoleAssistant, Status: chat.StatusPartial, Model: d.model}
	if t.own {
		d.msg.From, d.msg.Model, d.model = chat.Person(), "", ""
	}
	ctx, cancel := t.storingContext()
	defer cancel()
	err := t.a.d.Sessions.Append(ctx, t.w.uid, &d.msg)
	if keptInSpillFile(err) {
		return diskFull("what was said so far is safe", err)
	}
	if err != nil {
		return err
	}
	d.savedAt = time.Now()
	t.publish(event.MessageStarted{MessageID: d.msg.ID, Model: d.model, From: d.msg.From})
	t.publishPhase(event.TurnPhase{Kind: event.PhaseStreaming})
	return nil
}

// saveDraft keeps the stored row near what is on the screen. A failure is not the end: Seal writes
// everything again.
func (t *turn) saveDraft(d *draft) error {
	size, rested := d.text.Len()+d.reasoning.Len(), time.Since(d.savedAt)
	if d.ended || size == d.saved || rested < saveRest || size-d.saved < max(saveBytes, d.saved/8) && rested < saveEvery {
		return nil
	}
	ctx, cancel := t.storingContext()
	defer cancel()
	if err := t.a.d.Sessions.UpdatePartial(ctx, d.msg.ID, d.text.String(), d.reasoning.String()); err != nil {
		t.a.d.Log.Warn("a partial answer could not be saved", "session", t.w.uid, "message", d.msg.ID, "err", err)
	}
	d.saved, d.savedAt = size, time.Now()
	return nil
}
