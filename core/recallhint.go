package core

import (
	"context"
	"os"
	"time"

	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/recall"
	"hermes/core/tool/longterm"
)

// unaskedTime bounds what a message waits for memory.
const unaskedTime = 200 * time.Millisecond

// recallUnasked is what long-term memory knows about a person's message: one item at most, once a
// session, as a part that stands with the message.
func (p *longTermPart) recallUnasked(ctx context.Context, uid string, in agent.Input) []chat.Part {
	m := p.a.Config().Memory
	if !m.Recall || !m.Unasked || !in.From.IsPerson() || in.Text == "" {
		return nil
	}
	if _, err := os.Stat(recallPath(p.a.opts.Config)); err != nil {
		return nil // nothing was ever stored
	}
	s, err := p.openStore()
	if err != nil {
		return nil // memory_recall tells of it
	}
	ctx, cancel := context.WithTimeout(ctx, unaskedTime)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok, err := s.Unasked(ctx, in.Text, func(id int64) bool { return p.told[uid][id] })
	if err != nil || !ok {
		return nil
	}
	if p.told == nil {
		p.told = map[string]map[int64]bool{}
	}
	if p.told[uid] == nil {
		p.told[uid] = map[int64]bool{}
	}
	p.told[uid][h.ID] = true
	return []chat.Part{{
		Kind: chat.PartResource, Name: "recalled: " + h.Key, Media: "text/plain", URI: "memory:recall",
		Text: longterm.Fenced(recall.Found{Hits: []recall.Hit{h}, ByWords: true}, time.Now()),
	}}
}

// Forget implements part.
func (p *longTermPart) Forget(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.told, session)
}
