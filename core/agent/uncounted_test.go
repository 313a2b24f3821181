package agent

import (
	"testing"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
)

// A server that counts no tokens: how full the window is gets estimated.
func TestAServerThatDoesNotCount(t *testing.T) {
	r := newRig(t, chunks(textChunk("some words"), provider.Chunk{Kind: provider.ChunkEnd, Finish: chat.FinishStop}))
	r.submit("go", "")
	r.ended(1)
	ticks := each[event.UsageTick](r.sink)
	if len(ticks) != 1 || ticks[0].Context < 5 || ticks[0].Total.Input != 0 {
		t.Errorf("%+v", ticks)
	}
}
