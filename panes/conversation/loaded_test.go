package conversation

import (
	"strings"
	"testing"

	"hermes/core/chat"
)

// TestAResumedMessageKeepsTimeModelAndTokens: what stood in its name line while it was said stands
// there when it is read again, in a fork too.
func TestAResumedMessageKeepsTimeModelAndTokens(t *testing.T) {
	first, last := assistant(2, "", toolCall("a", "ls")), assistant(4, "done")
	first.Usage, last.Usage = chat.Usage{Output: 12, Cost: 2000, CostKnown: true}, chat.Usage{Output: 30, Cost: 5000, CostKnown: true}
	zero := 0
	p := open(t, &world{messages: []chat.Message{user(1, "go"), first, {ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", ExitCode: &zero}}, last}})
	p.env.display.Timestamps = true
	p.list.Invalidate()
	p.memoOK = false
	line := ""
	for l := range strings.SplitSeq(seen(p), "\n") {
		if strings.Contains(l, "Hermes") {
			line = l
		}
	}
	for _, want := range []string{"sonnet", "42 tokens", "$0.0070", start.Format("15:04")} {
		if !strings.Contains(line, want) {
			t.Errorf("%q lacks %q", line, want)
		}
	}
}

// TestAnAnswerToAQuestionStandsInTheConversation, also when it is read again.
func TestAnAnswerToAQuestionStandsInTheConversation(t *testing.T) {
	ask := chat.ToolCall{ID: "q", Name: "clarify", Args: []byte(`{"question":"Which one?"}`)}
	p := open(t, &world{messages: []chat.Message{user(1, "go"), assistant(2, "", ask), {
		ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "q", Name: "clarify", Text: "The person answered: the green one"},
	}}})
	if v := seen(p); !strings.Contains(v, "Which one?") || !strings.Contains(v, "The person answered: the green one") {
		t.Errorf("it does not:\n%s", v)
	}
}

// TestAPersonsCommandIsOneBlock: "you ran", the command once, what it printed.
func TestAPersonsCommandIsOneBlock(t *testing.T) {
	ran := assistant(2, "", toolCall("a", "echo hi"))
	ran.From, ran.Model = chat.Person(), ""
	zero := 0
	p := open(t, &world{messages: []chat.Message{user(1, "$ echo hi"), ran, {
		ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", Name: "terminal", Text: "hi there", ExitCode: &zero},
	}}})
	v := seen(p)
	if !strings.Contains(v, "You ran") || strings.Contains(v, "Hermes") || strings.Count(v, "echo hi") != 1 || !strings.Contains(v, "hi there") {
		t.Errorf("not one block:\n%s", v)
	}
}
