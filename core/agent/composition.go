package agent

import (
	"context"

	"hermes/core/chat"
	"hermes/core/prompt"
)

// Share is a part of what a model is sent, in tokens by our estimate.
type Share struct {
	Name   string `json:"name"` // a section of the prompt, "definitions", "summary", "messages", "calls", "results", "images", "documents"
	Tokens int    `json:"tokens"`
}

// Composition is what the next model call of a session is made of.
type Composition struct {
	Shares  []Share `json:"shares"` // none is empty
	Tokens  int     `json:"tokens"` // of all shares
	Counted int     `json:"counted,omitempty"`
	Window  int     `json:"window,omitempty"` // of the session's model; 0: not known
	Model   string  `json:"model,omitempty"`  // "provider/model"; "" when it cannot be found
}

// Composition tells what the next model call of a session is made of. Counted is what the provider
// counted at the last one.
func (a *Agent) Composition(ctx context.Context, session string) (Composition, error) {
	var c Composition
	info, err := a.d.Sessions.Get(ctx, session)
	if err != nil {
		return c, err
	}
	w, err := a.workerOf(ctx, session)
	if err != nil {
		return c, err
	}
	if via, m, err := a.d.Models.Resolve(ctx, a.modelRef(ctx, info)); err == nil {
		c.Model = via.Name() + "/" + m.ID
		c.Window = a.Window(c.Model, m.Window)
	}
	system, err := a.d.Sessions.Prompt(ctx, session)
	if err != nil {
		return c, err
	}
	for _, s := range prompt.Sections(system) {
		c.addShare(s.Name, countTokens(s.Text))
	}
	if g := w.loadGiven(ctx); g != nil {
		n := 0
		for _, s := range g.providerSpecs() {
			n += countTokens(s.Name) + countTokens(s.Description) + len(s.Schema)/4
		}
		c.addShare("definitions", n)
	}
	var t tally
	if p := w.sent.Load(); p == nil || p.isEmpty() {
		// Nothing is pruned, which would need the whole history at once.
		var v chat.Volume
		v, err = a.d.Sessions.Volume(ctx, session, t.addMessage)
		t.addVolume(v)
	} else {
		var history []chat.Message
		history, err = a.d.Sessions.History(ctx, session)
		for _, m := range pruneHistory(history, *p) {
			t.addMessage(&m)
		}
	}
	if err != nil {
		return c, err
	}
	c.addTally(t)
	return c, nil
}

func (c *Composition) addShare(name string, n int) {
	if n > 0 {
		c.Shares = append(c.Shares, Share{name, n})
		c.Tokens += n
	}
}

// tally is what the messages of a history cost, by what they are.
type tally struct {
	summary, said, calls, results, images, documents int
	counted                                          int // by the provider, with the newest answer
}

// envelopeTokens is what a message or a call costs beside its text.
const envelopeTokens = 4

func (t *tally) addVolume(v chat.Volume) {
	t.said += extentTokens(v.Said)
	t.calls += extentTokens(v.Calls)
	t.results += extentTokens(v.Results)
	t.counted = v.Counted
}

// extentTokens is about what countTokens and envelopes make of the texts.
func extentTokens(x chat.Extent) int {
	return envelopeTokens*x.Texts + (x.Bytes+(x.Bytes-x.Runes)/2+3)/4
}

func (t *tally) addMessage(m *chat.Message) {
	n := envelopeTokens + countTokens(m.Text) + countTokens(m.Reasoning)
	m.EachPart(func(p *chat.Part) {
		switch {
		case p.Kind == chat.PartImage:
			t.images += p.Tokens()
		case p.IsDocument():
			t.documents += p.Tokens()
		default:
			n += p.Tokens()
		}
	})
	switch {
	case m.Result != nil:
		t.results += n + countTokens(m.Result.Text)
	case m.From.IsSummary():
		t.summary += n
	default:
		t.said += n
	}
	if len(m.Calls) > 0 {
		t.calls += estimateTokens([]chat.Message{*m}) - estimateTokens([]chat.Message{withoutCalls(*m)})
	}
	if m.Role == chat.RoleAssistant && m.Usage.Input > 0 {
		t.counted = m.Usage.Input + m.Usage.Output
	}
}

func (c *Composition) addTally(t tally) {
	c.Counted = t.counted
	c.addShare("summary", t.summary)
	c.addShare("messages", t.said)
	c.addShare("calls", t.calls)
	c.addShare("results", t.results)
	c.addShare("images", t.images)
	c.addShare("documents", t.documents)
}

func withoutCalls(m chat.Message) chat.Message {
	m.Calls = nil
	return m
}
