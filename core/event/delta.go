package event

import "fmt"

// deltaKey names what a delta belongs to; deltas of equal keys merge.
type deltaKey struct {
	kind byte
	id   string
	num  int64
}

const (
	keyText byte = iota
	keyReasoning
	keyOutput
	keyUsage
	keyPhase
	keyActivity
	keyStats
	keyProgress
)

func (d TextDelta) key() deltaKey      { return deltaKey{kind: keyText, num: d.MessageID} }
func (d ReasoningDelta) key() deltaKey { return deltaKey{kind: keyReasoning, num: d.MessageID} }
func (d ToolOutput) key() deltaKey {
	return deltaKey{kind: keyOutput, id: d.CallID + "/" + string(d.Stream)}
}
func (d UsageTick) key() deltaKey       { return deltaKey{kind: keyUsage, id: d.Session} }
func (d TurnPhase) key() deltaKey       { return deltaKey{kind: keyPhase, id: d.Turn} }
func (d BackendActivity) key() deltaKey { return deltaKey{kind: keyActivity, id: d.Name} }
func (d BackendStats) key() deltaKey    { return deltaKey{kind: keyStats, id: d.Name} }
func (d Progress) key() deltaKey        { return deltaKey{kind: keyProgress, id: d.ID} }

// content returns the bytes and the offset of an appending delta; ok is false for latest-wins deltas.
func content(e Event) (offset int64, data []byte, ok bool) {
	switch d := e.(type) {
	case TextDelta:
		return int64(d.Offset), []byte(d.Text), true
	case ReasoningDelta:
		return int64(d.Offset), []byte(d.Text), true
	case ToolOutput:
		return d.Offset, d.Data, true
	default:
		return 0, nil, false
	}
}

func newPending(env Envelope) pending {
	_, data, ok := content(env.Event)
	if !ok {
		return pending{env: env}
	}
	// A copy: the publisher keeps its slice, and later deltas append to ours.
	return pending{env: env, buf: append(make([]byte, 0, max(64, len(data))), data...)}
}

// merge folds env, a delta of the same key, into p. It refuses bytes that do not follow p's,
// so that a gap stays visible to the subscriber.
func (p *pending) merge(env Envelope, outputCap int) bool {
	offset, data, appends := content(env.Event)
	if !appends {
		seq := p.env.Seq
		p.env = env
		p.env.Seq = seq // its place in the queue
		return true
	}
	start, _, _ := content(p.env.Event)
	if offset != start+int64(len(p.buf)) {
		return false
	}
	p.buf = append(p.buf, data...)
	if out, ok := p.env.Event.(ToolOutput); ok && len(p.buf) > outputCap {
		// Keep the tail; cut to half so that a flood costs amortised O(1) a byte.
		cut := len(p.buf) - outputCap/2
		p.buf = append(p.buf[:0], p.buf[cut:]...)
		out.Offset += int64(cut)
		p.env.Event = out
	}
	return true
}

// envelope returns p as the subscriber gets it.
func (p *pending) envelope() Envelope {
	switch d := p.env.Event.(type) {
	case TextDelta:
		d.Text = string(p.buf)
		p.env.Event = d
	case ReasoningDelta:
		d.Text = string(p.buf)
		p.env.Event = d
	case ToolOutput:
		d.Data = p.buf
		p.env.Event = d
	}
	return p.env
}

// String names the key in test failures.
func (k deltaKey) String() string { return fmt.Sprintf("%d/%s/%d", k.kind, k.id, k.num) }
