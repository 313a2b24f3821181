package agent

import (
	"context"

	"hermes/core/chat"
)

// A model that takes no images, or whose server refuses them, is told what another model sees in
// them. It is asked once an image; what it said is kept with the session, so that the bytes that
// are sent stay the same.

// metaSeen and the beginning of a blob are the key of what a model saw in an image.
const metaSeen = "seen "

// maxLooks is how many images one turn has described: more would keep the person waiting.
const maxLooks = 8

const lookQuestion = "Describe this image for somebody who has to work with it and cannot see it: what it is, what it shows, all text and " +
	"numbers in it, and what stands out. At most 300 words."

// unseenText is what stands for an image that the model is not shown.
func (t *turn) unseenText(p *chat.Part, why string) string {
	if text := t.describedText(p); text != "" {
		return p.Instead(why + "; " + text)
	}
	return p.Instead(why)
}

// describedText is what a model that sees said of an image; "" when none did.
func (t *turn) describedText(p *chat.Part) string {
	if t.a.d.See == nil || p.Handle() == "" {
		return ""
	}
	key := metaSeen + p.Handle()
	text, err := t.a.d.Sessions.Meta(t.ctx, t.w.uid, key)
	if err != nil || text != "" {
		return text
	}
	if _, failed := t.w.warned.Load(key); failed || t.looks >= maxLooks {
		return ""
	}
	t.looks++
	said, model, err := t.a.d.See(t.ctx, t.w.uid, chat.Part{Kind: p.Kind, Name: p.Name, Blob: p.Blob, Media: p.Media}, lookQuestion)
	if err != nil {
		if t.ctx.Err() == nil {
			t.w.warned.Store(key, true)
			t.a.d.Log.Info("an image is not described", "session", t.w.uid, "image", p.Handle(), "err", err)
		}
		return ""
	}
	t.sayOnce("Images are described by another model, because "+t.modelRef()+" is not shown them.", "")
	text = model + " describes it, and may err: " + said
	ctx, cancel := t.storingContext()
	defer cancel()
	if err := t.a.d.Sessions.SetMeta(ctx, t.w.uid, key, text); err != nil {
		t.a.d.Log.Warn("what a model saw was not kept", "session", t.w.uid, "err", err)
	}
	return text
}

// refusedText is what stands for an image or a document that the server of the model refuses.
func (t *turn) refusedText(p chat.Part) string {
	if p.IsDocument() {
		return p.Instead("the server refuses it; this is its text") + "\n" + p.Text
	}
	return t.unseenText(&p, "you cannot see it, because the server refuses it")
}

// Sight asks a model that sees about an image that is kept; model is who answered.
type Sight func(ctx context.Context, session string, p chat.Part, question string) (text, model string, err error)
