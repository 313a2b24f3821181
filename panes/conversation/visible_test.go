package conversation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
)

func TestThinkingLeavesHowLongItTookAndOpensOnDemand(t *testing.T) {
	w := &world{now: start}
	p := open(t, w)
	p.env.now = func() time.Time { return w.now }
	say(p, event.MessageStarted{MessageID: 2, Model: "sonnet"}, event.ReasoningDelta{MessageID: 2, Text: "The suite first.\nThen the fix."})
	if v := seen(p); !strings.Contains(v, "▸ thinking") || !strings.Contains(v, "Then the fix.") {
		t.Errorf("while it thinks:\n%s", v)
	}
	w.now = start.Add(4200 * time.Millisecond)
	say(p, event.TextDelta{MessageID: 2, Text: "Done."})
	if v := seen(p); !strings.Contains(v, "▸ thought 4.2 s") || strings.Contains(v, "Then the fix.") {
		t.Errorf("what it leaves:\n%s", v)
	}
	say(p, event.MessageSealed{Message: assistant(2, "Done.")})
	press(p, "ctrl+up", "k", "enter")
	if v := seen(p); !strings.Contains(v, "▾ thought 4.2 s") || !strings.Contains(v, "Then the fix.") {
		t.Errorf("opened:\n%s", v)
	}
}

// Without display.show_reasoning, as it is by default, thoughts do not run by; the line stays.
func TestThinkingLeavesItsLineWithoutRunningBy(t *testing.T) {
	p := open(t, &world{now: start})
	p.deps.Display = func() Display { return Display{} }
	p.Apply([]event.Envelope{{Event: event.ConfigReloaded{}}})
	say(p, event.MessageStarted{MessageID: 2, Model: "sonnet"}, event.ReasoningDelta{MessageID: 2, Text: "Then the fix."})
	if v := seen(p); !strings.Contains(v, "▸ thinking") || strings.Contains(v, "Then the fix.") {
		t.Errorf("while it thinks:\n%s", v)
	}
	say(p, event.TextDelta{MessageID: 2, Text: "Done."}, event.MessageSealed{Message: assistant(2, "Done.")})
	press(p, "ctrl+up", "k", "enter")
	if v := seen(p); !strings.Contains(v, "▾ thought") || !strings.Contains(v, "Then the fix.") {
		t.Errorf("opened:\n%s", v)
	}
}

func TestTheLastLinesOfAFinishedCommandStandInTheConversation(t *testing.T) {
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "line %d\n\n", i)
	}
	zero, one := 0, 1
	for name, tt := range map[string]struct {
		result      chat.ToolResult
		has, hasNot []string
	}{
		"short":  {chat.ToolResult{ExitCode: &zero, Text: "first\n\tsecond\x1b[2J\nthird"}, []string{"↳ first", "     second", "third"}, []string{"above"}},
		"long":   {chat.ToolResult{ExitCode: &zero, Text: long.String()}, []string{"37 lines above", "line 37", "line 39"}, []string{"line 36"}},
		"failed": {chat.ToolResult{ExitCode: &one, Text: "a\nb\nc\nd\ne\n\n[exit code 1]"}, []string{"↳ 2 lines above", "c", "e"}, []string{"[exit code"}},
		"warned": {
			chat.ToolResult{
				ExitCode: &one, Text: "gh: log in first\n[exit code 1]\n[ran in box]\n[warning: no GITHUB_TOKEN for it]", Backend: "box",
				Warnings: []string{strings.Repeat("no GITHUB_TOKEN for it, because it looks like a secret; ", 3) + "terminal.env_passthrough: [GITHUB_TOKEN]"},
			},
			[]string{"↳ gh: log in first", "! no GITHUB_TOKEN", "terminal.env_passthrough:"},
			[]string{"[warning", "[ran in", "[exit code"},
		},
		"silent": {chat.ToolResult{ExitCode: &zero, Text: "\n[no output, exit code 0]\n[ran in box]", Backend: "box"}, nil, []string{"↳"}},
		"not run": {
			chat.ToolResult{IsError: true, Text: "The command could not be run: backend 'far' is not available: " + strings.Repeat("nobody listens there; ", 4) + "is the port right?\nmore"},
			[]string{"↳ The command could not be run", "is the port right?"},
			[]string{"more"},
		},
		"not a shell": {chat.ToolResult{Text: "package main\nfunc main"}, nil, []string{"package main"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, &world{})
			say(p, event.MessageAdded{Message: assistant(2, "", toolCall("c", "make"))}, event.ToolStarted{Call: toolCall("c", "make")})
			tt.result.CallID = "c"
			say(p, event.ToolEnded{Result: tt.result})
			v := seen(p)
			for _, want := range tt.has {
				if !strings.Contains(v, want) {
					t.Errorf("%q is missing:\n%s", want, v)
				}
			}
			for _, not := range tt.hasNot {
				if strings.Contains(v, not) {
					t.Errorf("%q is there:\n%s", not, v)
				}
			}
		})
	}
}
