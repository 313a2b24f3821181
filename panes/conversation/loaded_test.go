package conversation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
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

// TestTwoLinesOfACommandReadAsTwo, and not as one that is longer.
func TestTwoLinesOfACommandReadAsTwo(t *testing.T) {
	ran := assistant(2, "", toolCall("a", "echo one\npwd"))
	ran.From, ran.Model = chat.Person(), ""
	if v := seen(open(t, &world{messages: []chat.Message{user(1, "```sh\necho one\npwd\n```"), ran}})); !strings.Contains(v, "echo one ↵ pwd") {
		t.Errorf("they read as one:\n%s", v)
	}
}

// TestThoughtAndTurnTimesSurviveAReload: "thought 4 s" and the seconds of the turn, not those of a
// turn that was stopped.
func TestThoughtAndTurnTimesSurviveAReload(t *testing.T) {
	first, last := assistant(2, "", toolCall("a", "ls")), assistant(4, "done")
	first.Reasoning, first.Thought, first.Took = "hm", 4*time.Second, 5*time.Second
	last.Took = 12 * time.Second
	zero := 0
	all := []chat.Message{user(1, "go"), first, {ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", ExitCode: &zero}}, last}
	if v := seen(open(t, &world{messages: all})); !strings.Contains(v, "thought 4.0 s") || !strings.Contains(v, "sonnet · 12 s") {
		t.Errorf("they do not:\n%s", v)
	}
	all[3].Status = chat.StatusCancelled
	if v := seen(open(t, &world{messages: all})); strings.Contains(v, "12 s") || strings.Contains(v, "· 5.0 s") {
		t.Errorf("a turn that was stopped took no time:\n%s", v)
	}
}

// TestAnEditedCommandIsShownAfterAReload: what ran, not what was asked for.
func TestAnEditedCommandIsShownAfterAReload(t *testing.T) {
	zero := 0
	p := open(t, &world{messages: []chat.Message{user(1, "go"), assistant(2, "", toolCall("a", "rm -rf build")), {
		ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "a", Name: "terminal", ExitCode: &zero, Ran: []byte(`{"command":"rm -rf build/tmp"}`)},
	}}})
	if v := seen(p); !strings.Contains(v, "terminal  rm -rf build/tmp") {
		t.Errorf("the call shows another command:\n%s", v)
	}
}

// TestAPersonsCommandsAreSetOff: what is said next stands a row below, as it is said and when it is
// read again.
func TestAPersonsCommandsAreSetOff(t *testing.T) {
	ran := assistant(2, "", toolCall("a", "echo hi"))
	ran.From, ran.Model = chat.Person(), ""
	zero := 0
	result := chat.ToolResult{CallID: "a", Name: "terminal", Text: "hi there", ExitCode: &zero, Took: time.Second}
	all := []chat.Message{user(1, "$ echo hi"), ran, {ID: 3, Seq: 3, Role: chat.RoleTool, Result: &result}, user(4, "and now?")}
	live := open(t, &world{})
	say(live, event.TurnStarted{}, event.MessageAdded{Message: all[0]}, event.MessageStarted{MessageID: 2, From: chat.Person()},
		event.MessageSealed{Message: ran}, event.ToolStarted{Call: ran.Calls[0]}, event.ToolEnded{Result: result},
		event.MessageAdded{Message: all[2]}, event.TurnEnded{Reason: event.TurnDone}, event.TurnStarted{}, event.MessageAdded{Message: all[3]})
	for what, p := range map[string]*Pane{"live": live, "loaded": open(t, &world{messages: all})} {
		lines := strings.Split(seen(p), "\n")
		at := slices.IndexFunc(lines, func(l string) bool {
			return strings.HasPrefix(strings.TrimSpace(l), "You") && !strings.Contains(l, "You ran")
		})
		if at < 1 || strings.TrimSpace(lines[at-1]) != "" || strings.TrimSpace(lines[at-2]) == "" {
			t.Errorf("%s: not one blank row above it:\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// TestADeniedCallIsDeniedAfterAReload, and claims no time: it did not run.
func TestADeniedCallIsDeniedAfterAReload(t *testing.T) {
	no := chat.ToolResult{CallID: "a", Name: "terminal", Text: "Denied by the person.", IsError: true, Denied: true}
	all := []chat.Message{user(1, "go"), assistant(2, "", toolCall("a", "make")), {ID: 3, Seq: 3, Role: chat.RoleTool, At: start, Result: &no}}
	if v := seen(open(t, &world{messages: all})); !strings.Contains(v, "make") || !strings.Contains(v, " denied") || strings.Contains(v, "failed") || strings.Contains(v, " 0 ms") {
		t.Errorf("after a reload:\n%s", v)
	}
}

// TestACallThatACrashEndedClaimsNoTime: nobody measured it.
func TestACallThatACrashEndedClaimsNoTime(t *testing.T) {
	cut := chat.ToolResult{CallID: "a", Name: "terminal", Text: "The program ended.", IsError: true, Interrupted: true}
	all := []chat.Message{user(1, "go"), assistant(2, "", toolCall("a", "make")), {ID: 3, Seq: 3, Role: chat.RoleTool, At: start, Result: &cut}}
	if v := seen(open(t, &world{messages: all})); !strings.Contains(v, "interrupted") || strings.Contains(v, " 0 ms") {
		t.Errorf("after a crash:\n%s", v)
	}
	cut.Took = 4 * time.Second
	if v := seen(open(t, &world{messages: all})); !strings.Contains(v, "interrupted  ") || !strings.Contains(v, "4.0 s") {
		t.Errorf("after esc:\n%s", v)
	}
}

// TestABrokenAnswerGoesWhenAnotherHasReplacedIt: the next one begins first, because the broken one
// is kept if that fails too.
func TestABrokenAnswerGoesWhenAnotherHasReplacedIt(t *testing.T) {
	p := open(t, &world{})
	whole := assistant(3, "a whole answer")
	say(p, event.TurnStarted{}, event.MessageAdded{Message: user(1, "go")},
		event.MessageStarted{MessageID: 2}, event.ReasoningDelta{MessageID: 2, Text: "a broken thought"},
		event.TextDelta{MessageID: 2, Text: "a brok\n\n- and more"},
		event.MessageStarted{MessageID: 3}, event.TextDelta{MessageID: 3, Text: "a wh"},
		event.MessageDiscarded{MessageID: 2, Why: event.DiscardFailed}, event.TextDelta{MessageID: 3, Offset: 4, Text: "ole ans"},
		event.MessageSealed{Message: whole}, event.TurnEnded{})
	got := seen(p)
	if strings.Contains(got, "brok") || strings.Contains(got, "and more") || strings.Contains(got, "thought") {
		t.Errorf("what was replaced is still there:\n%s", got)
	}
	if strings.Count(got, "a whole answer") != 1 || !strings.Contains(got, "Hermes") {
		t.Errorf("got\n%s", got)
	}
}
