package agent

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/secret"
)

// draft is an answer while it streams.
type draft struct {
	msg       chat.Message // the row; ID 0 until the first chunk
	model     string
	provider  string
	text      strings.Builder
	reasoning strings.Builder
	say       secret.Stream // before text
	think     secret.Stream // before reasoning
	thinks    time.Time     // when it began to think; zero once it has ended
	thought   time.Duration
	calls     []*draftCall // by Index
	finish    chat.Finish
	usage     chat.Usage
	opaque    json.RawMessage
	ended     bool
	why       error // it is held: what failed

	saved   int // bytes in the store
	savedAt time.Time
}

type draftCall struct {
	index    int
	id, name string
	args     strings.Builder
}

// callAt returns the call of an index and fills in what was not known of it.
func (d *draft) callAt(index int, id, name string) *draftCall {
	i := slices.IndexFunc(d.calls, func(c *draftCall) bool { return c.index == index })
	if i < 0 {
		d.calls = append(d.calls, &draftCall{index: index})
		i = len(d.calls) - 1
	}
	c := d.calls[i]
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	return c
}

// timeThinking counts the time from the first thought to what follows the last one.
func (d *draft) timeThinking(on bool, now time.Time) {
	switch {
	case on && d.thinks.IsZero():
		d.thinks = now
	case !on && !d.thinks.IsZero():
		d.thought += now.Sub(d.thinks)
		d.thinks = time.Time{}
	}
}

func (d *draft) noteEnd(c provider.Chunk) {
	d.ended, d.finish, d.usage, d.opaque = true, c.Finish, c.Usage, c.Opaque
	if c.Model != "" {
		d.model = c.Model
	}
}

// saysNothing reports whether the answer says nothing and calls nothing. Reasoning alone is no
// answer.
func (d *draft) saysNothing() bool {
	return strings.TrimSpace(d.text.String()) == "" && len(d.calls) == 0
}

// dropBroken removes calls whose arguments were cut: they must never reach a model or a tool.
func (d *draft) dropBroken() {
	d.calls = slices.DeleteFunc(d.calls, func(c *draftCall) bool {
		return c.name == "" || !d.ended && !json.Valid([]byte(c.args.String()))
	})
}

// toMessage returns the answer as it is stored. Call ids become unique in the session: some servers
// repeat theirs.
func (d *draft) toMessage(used map[string]bool) chat.Message {
	m := d.msg
	m.Text, m.Reasoning, m.Model = d.text.String(), d.reasoning.String(), d.model
	d.timeThinking(false, time.Now())
	m.Thought = d.thought
	m.Finish, m.Usage, m.Opaque = d.finish, d.usage, sealOpaque(d.provider, d.opaque)
	slices.SortStableFunc(d.calls, func(a, b *draftCall) int { return a.index - b.index })
	for _, c := range d.calls {
		m.Calls = append(m.Calls, c.toolCall(used))
	}
	return m
}

func (c *draftCall) toolCall(used map[string]bool) chat.ToolCall {
	id := c.id
	for id == "" || used[id] {
		id = "call_" + rand.Text()[:16]
	}
	used[id] = true
	out := chat.ToolCall{ID: id, Name: c.name}
	raw := strings.TrimSpace(c.args.String())
	switch {
	case raw == "":
		out.Args = json.RawMessage("{}")
	case json.Valid([]byte(raw)):
		out.Args = json.RawMessage(raw)
	default:
		out.Invalid = raw
	}
	return out
}
