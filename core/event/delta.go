package event

import "fmt"

// deltaKey names what a delta belongs to; deltas of equal keys merge.
type deltaKey struct {
	kind   byte
	id     string
	stream Stream
	num    int64
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
	keyTerminal
)

func (d TextDelta) key() deltaKey      { return deltaKey{kind: keyText, num: d.MessageID} }
func (d ReasoningDelta) key() deltaKey { return deltaKey{kind: keyReasoning, num: d.MessageID} }
func (d ToolOutput) key() deltaKey {
	return deltaKey{kind: keyOutput, id: d.CallID, stream: d.Stream}
}
func (d UsageTick) key() deltaKey       { return deltaKey{kind: keyUsage, id: d.Session} }
func (d TurnPhase) key() deltaKey       { return deltaKey{kind: keyPhase, id: d.Turn} }
func (d BackendActivity) key() deltaKey { return deltaKey{kind: keyActivity, id: d.Name} }
func (d BackendStats) key() deltaKey    { return deltaKey{kind: keyStats, id: d.Name} }
func (d Progress) key() deltaKey        { return deltaKey{kind: keyProgress, id: d.ID} }
func (d TerminalChanged) key() deltaKey { return deltaKey{kind: keyTerminal, id: d.ID} }

// deltaSpan returns where the bytes of an appending delta begin and how many they are; ok is false
// for latest-wins deltas.
func deltaSpan(e Event) (offset int64, size int, ok bool) {
	switch d := e.(type) {
	case TextDelta:
		return int64(d.Offset), len(d.Text), true
	case ReasoningDelta:
		return int64(d.Offset), len(d.Text), true
	case ToolOutput:
		return d.Offset, len(d.Data), true
	default:
		return 0, 0, false
	}
}

// appendDelta appends the bytes of e to buf. It copies: the publisher keeps its slice, and every
// mailbox grows its own.
func appendDelta(buf []byte, e Event) []byte {
	switch d := e.(type) {
	case TextDelta:
		return append(buf, d.Text...)
	case ReasoningDelta:
		return append(buf, d.Text...)
	case ToolOutput:
		return append(buf, d.Data...)
	default:
		return buf
	}
}

func newPending(env Envelope, outputCap int) pending {
	p := pending{env: env}
	if _, size, ok := deltaSpan(env.Event); ok {
		p.buf = appendDelta(make([]byte, 0, max(64, size)), env.Event)
		p.cutToTail(outputCap)
	}
	return p
}

// mergeDelta folds env, a delta of the same key, into p. It refuses bytes that do not follow p's,
// so that a gap stays visible to the subscriber.
func (p *pending) mergeDelta(env Envelope, outputCap int) bool {
	offset, _, appends := deltaSpan(env.Event)
	if !appends {
		seq := p.env.Seq
		p.env = env
		p.env.Seq = seq // its place in the queue
		return true
	}
	start, _, _ := deltaSpan(p.env.Event)
	if offset != start+int64(len(p.buf)) {
		return false
	}
	p.buf = appendDelta(p.buf, env.Event)
	p.cutToTail(outputCap)
	return true
}

// cutToTail keeps the tail of tool output that outgrew its ring: half of it, so that a flood costs
// amortised O(1) a byte.
func (p *pending) cutToTail(outputCap int) {
	out, ok := p.env.Event.(ToolOutput)
	if !ok || len(p.buf) <= outputCap {
		return
	}
	gone := len(p.buf) - (outputCap+1)/2
	tail := p.buf[gone:]
	if cap(p.buf) > 4*outputCap { // one huge chunk must not stay alive behind its tail
		p.buf = make([]byte, 0, outputCap)
	}
	p.buf = append(p.buf[:0], tail...)
	out.Offset += int64(gone)
	p.env.Event = out
}

// toEnvelope returns p as the subscriber gets it.
func (p *pending) toEnvelope() Envelope {
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
func (k deltaKey) String() string { return fmt.Sprintf("%d/%s/%s/%d", k.kind, k.id, k.stream, k.num) }
