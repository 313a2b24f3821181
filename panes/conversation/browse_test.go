package conversation

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/compose"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func TestHighlight(t *testing.T) {
	mark := uitest.Styles(t, style.True).Match
	in := func(s string) string { return mark.Inline(true).Render(s) }
	for _, tt := range []struct{ line, query, want string }{
		{"one two one", "ONE", in("one") + " two " + in("one")},
		{"容器 网络", "网络", "容器 " + in("网络")},
		{"Ärger", "är", in("Är") + "ger"},
		{"nothing", "x", "nothing"},
		{"any", "", "any"},
	} {
		if got := markHits(tt.line, tt.query, mark); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.query, tt.line, got, tt.want)
		}
	}
	styled := "a \x1b[31mred\x1b[0m one"
	if got := markHits(styled, "d on", mark); ansi.Strip(got) != "a red one" || !strings.Contains(got, in("d on")) {
		t.Errorf("over a colour: %q", got)
	}
}

func TestHighlightKeepsTheText(t *testing.T) {
	mark := uitest.Styles(t, style.True).Match
	rapid.Check(t, func(rt *rapid.T) {
		line := text.Sanitize(rapid.StringN(0, 60, -1).Draw(rt, "line"))
		line = strings.ReplaceAll(strings.ReplaceAll(line, "\n", " "), "\t", " ")
		query := rapid.StringN(1, 3, -1).Draw(rt, "query")
		if rapid.Bool().Draw(rt, "inside") && line != "" {
			r := []rune(line)
			i := rapid.IntRange(0, len(r)-1).Draw(rt, "at")
			query = string(r[i:min(len(r), i+2)])
		}
		got := markHits(line, query, mark)
		if ansi.Strip(got) != line || text.Width(got) != text.Width(line) {
			rt.Fatalf("%q in %q became %q", query, line, got)
		}
	})
}

func TestSearchShowsThePlace(t *testing.T) {
	long := assistant(2, strings.Repeat("words of no use\n\n", 80)+"the needle is here\n\n"+strings.Repeat("more words\n\n", 80))
	w := &world{messages: append([]chat.Message{user(1, "go"), long}, history(40)[2:]...)}
	p := open(t, w)
	p.Restyle(uitest.Styles(t, style.True))
	if n := p.Search("Needle"); n != 1 {
		t.Fatalf("%d hits", n)
	}
	if want := p.env.s.Match.Inline(true).Render("needle"); !strings.Contains(p.View(), want) {
		t.Errorf("the hit is not marked, or not in sight:\n%s", seen(p))
	}
	press(p, "esc")
	if strings.Contains(p.View(), p.env.s.Match.Inline(true).Render("needle")) {
		t.Error("the mark stays when the search is over")
	}
}

func TestAHitInAClosedCallOpensIt(t *testing.T) {
	c := toolCall("c", "make")
	w := &world{messages: []chat.Message{user(1, "go"), assistant(2, "", c), {ID: 3, Seq: 3, Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "c", Text: "first\nneedle\nlast"}}}}
	p := open(t, w)
	if n := p.Search("needle"); n != 1 || !strings.Contains(seen(p), "needle") {
		t.Errorf("%d hits:\n%s", n, seen(p))
	}
	say(p, event.TurnEnded{})
}

// Somebody who types without seeing that the keys browse must not run a command again by its first
// letter.
func TestWhatTakesAnAnswerAwayAsks(t *testing.T) {
	deps := (&world{}).deps()
	deps.Undo = func(context.Context, string) (compose.Prompt, error) { return compose.Prompt{}, nil }
	p := New(deps, "s")
	asked := 0
	for _, a := range p.Actions() {
		if a.ID == "conversation.retry" || a.ID == "conversation.undo" {
			asked++
			if !a.Dangerous {
				t.Errorf("%s does not ask", a.ID)
			}
		}
	}
	if asked != 2 {
		t.Errorf("%d of 2 are there", asked)
	}
}

func TestUndoGivesThePromptBack(t *testing.T) {
	w := &world{messages: history(4)}
	p := open(t, w)
	var prompt string
	var fail error
	p.deps.Undo = func(_ context.Context, session string) (compose.Prompt, error) {
		return compose.Prompt{Text: prompt + " of " + session, Parts: []chat.Part{{Kind: chat.PartPaste, Name: "paste", Text: "whole"}}}, fail
	}
	prompt = "the prompt"
	drain(p, p.undoTurn())
	if got := p.composer.Text(); got != "the prompt of s" {
		t.Fatalf("the line holds %q", got)
	}
	if got := p.composer.Parts(); len(got) != 1 || got[0].Text != "whole" {
		t.Errorf("what was pasted is lost: %+v", got)
	}
	prompt = "another"
	drain(p, p.undoTurn())
	if got := p.composer.Text(); got != "the prompt of s" {
		t.Errorf("what stood in the line was replaced by %q", got)
	}
	p.composer.Clear()
	fail = errors.New("no prompt")
	drain(p, p.undoTurn())
	if got := p.composer.Text(); got != "" {
		t.Errorf("a failed undo wrote %q", got)
	}
}

func TestBrowsingBeginsWhereAPersonReads(t *testing.T) {
	p := open(t, &world{messages: history(100)})
	p.View()
	press(p, "pgup", "pgup", "pgup")
	before := p.View()
	if !strings.Contains(seen(p), "more below · end") {
		t.Errorf("nothing says that there is more:\n%s", seen(p))
	}
	press(p, "ctrl+up")
	if top := strings.Split(p.View(), "\n")[0]; top != strings.Split(before, "\n")[0] {
		t.Errorf("the window moved to\n%s", seen(p))
	}
	if v := seen(p); !strings.Contains(v, "▸") {
		t.Errorf("nothing is selected:\n%s", v)
	}
	press(p, "esc", "end")
	if strings.Contains(seen(p), "more below") {
		t.Error("the end is below the end")
	}
}

func TestNothingIsBelowWhatFits(t *testing.T) {
	p := open(t, &world{messages: history(2)})
	p.View()
	press(p, "pgup", "ctrl+home")
	if strings.Contains(seen(p), "more below") {
		t.Errorf("everything is in sight:\n%s", seen(p))
	}
}
