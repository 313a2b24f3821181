package conversation

import (
	"context"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// listed are commands whose values come when the test says so.
type listed struct {
	slash
	come chan []string
}

func (l listed) Complete(string) func(context.Context) []string {
	return func(context.Context) []string { return <-l.come }
}

// after is what a command brings beside the other ones of a batch.
func after(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch m := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range m {
			out = append(out, after(c)...)
		}
		return out
	default:
		return []tea.Msg{m}
	}
}

// What the argument of a command can be is offered at the first blank; as long as it does not come,
// a row says so, and what is typed meanwhile counts.
func TestTheListOfAnArgumentComesAtTheFirstBlankOrIsSaidToCome(t *testing.T) {
	w := &world{}
	p := open(t, w)
	press(p, "/", "r", "e", "d", "o", " ")
	if v := seen(p); !strings.Contains(v, "one") || !strings.Contains(v, "two") {
		t.Fatalf("at the first blank:\n%s", v)
	}
	press(p, "o")
	if v := seen(p); !strings.Contains(v, "▸ one") || strings.Contains(v, "▸ two") {
		t.Errorf("what fits better does not come first:\n%s", v)
	}

	come := make(chan []string)
	p.deps.Commands = listed{come: come}
	p.composer.SetText("")
	p.Update(keyMsg("/"))
	p.Update(keyMsg("model"))
	told := after(p.Update(keyMsg(" ")))
	if len(told) != 1 {
		t.Fatalf("%d messages", len(told))
	}
	rest := p.Update(told[0])
	if v := seen(p); !strings.Contains(v, "asking for the list") {
		t.Fatalf("nothing says that it comes:\n%s", v)
	}
	p.Update(keyMsg("sma"))
	if v := seen(p); !strings.Contains(v, "asking for the list") || !strings.Contains(v, "/model sma") {
		t.Errorf("while it comes:\n%s", v)
	}
	go func() { come <- []string{"lab/large", "lab/small"} }()
	for _, m := range after(rest) {
		p.Update(m)
	}
	if v := seen(p); !strings.Contains(v, "lab/small") || strings.Contains(v, "lab/large") || strings.Contains(v, "asking for") {
		t.Errorf("when it has come:\n%s", v)
	}
	press(p, "tab")
	if got := p.composer.Text(); got != "/model lab/small" {
		t.Errorf("the line is %q", got)
	}
}

// What comes when another thing stands in the line is offered to nobody.
func TestAListThatComesTooLateIsOfferedToNobody(t *testing.T) {
	p := open(t, &world{})
	come := make(chan []string)
	p.deps.Commands = listed{come: come}
	p.Update(keyMsg("/model"))
	told := after(p.Update(keyMsg(" ")))
	rest := p.Update(told[0])
	p.composer.SetText("why?")
	go func() { come <- []string{"lab/large"} }()
	for _, m := range after(rest) {
		p.Update(m)
	}
	if v := seen(p); strings.Contains(v, "lab/large") || p.composer.Completing() {
		t.Errorf("offered:\n%s", v)
	}
}
