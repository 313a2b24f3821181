package program

import (
	"fmt"
	"strings"
	"testing"

	"hermes/core/provider/modeltest"
)

// After /compress nothing runs any more: the status row and the line to write in say so, in every
// pane.
func TestCompressLeavesTheSessionReady(t *testing.T) {
	t.Parallel()
	var turns []modeltest.Turn
	for i := range 6 {
		turns = append(turns, modeltest.Turn{Text: strings.Repeat("Many words of an answer. ", 400) + fmt.Sprintf("End %d.", i), Chunk: 4000})
	}
	h, _ := homeWith(t, append(turns, modeltest.Turn{Text: "They talked of many words."}, modeltest.Turn{Text: "Here I am."})...)
	s := h.open()
	for i := range 6 {
		say(s, fmt.Sprintf("question %d", i))
		s.WaitFor(fmt.Sprintf("End %d.", i))
		s.WaitFor("ready ")
	}
	say(s, "/compress focus on words")
	s.WaitFor("compressed")
	s.WaitGone("esc stop")
	s.WaitGone("enter interrupts and sends")
	say(s, "are you there?")
	s.WaitFor("Here I am.")
	leave(t, s)
}
