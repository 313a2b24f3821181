package conversation

import (
	"strings"
	"testing"
)

// TestAMentionIsAChip: what the line names stands over it, with what it is, and goes with the word.
func TestAMentionIsAChip(t *testing.T) {
	w := &world{}
	p := open(t, w)
	press(p, "w", "h", "y", " ", "@", "m", "a", "i", "n", ".", "g", "o", " ")
	if v := p.View(); !strings.Contains(v, "[main.go · 2 kB]") || !strings.Contains(v, "why @main.go") {
		t.Errorf("no chip:\n%s", v)
	}
	press(p, "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace")
	if v := p.View(); strings.Contains(v, "2 kB") {
		t.Errorf("the chip stays:\n%s", v)
	}
	press(p, "ctrl+u", "$", " ", "@", "x", " ")
	if v := p.View(); strings.Contains(v, "2 kB") {
		t.Errorf("a command attaches nothing:\n%s", v)
	}
}

// TestDiffAndPagesAreOffered beside the files; enter on what stands there already sends it.
func TestDiffAndPagesAreOffered(t *testing.T) {
	w := &world{}
	p := open(t, w)
	press(p, "@")
	if v := p.View(); !strings.Contains(v, "diff") || !strings.Contains(v, "https://") || !strings.Contains(v, "main.go") {
		t.Errorf("offered:\n%s", v)
	}
	press(p, "d", "i", "f", "f", "enter")
	if got := strings.Join(w.log, "; "); !strings.Contains(got, `submit s "@diff"`) {
		t.Errorf("enter did not send it: %s", got)
	}
}

// TestACompletionNeverEatsWhatWasTypedSince: an offer for a shorter word is no offer any more.
func TestACompletionNeverEatsWhatWasTypedSince(t *testing.T) {
	p := open(t, &world{})
	drain(p, p.Update(keyMsg("@m")))
	if !p.composer.Completing() {
		t.Fatal("nothing is offered")
	}
	p.Update(keyMsg("ain.x")) // the list for it has not come yet
	p.Update(keyMsg("tab"))
	if got := p.composer.Text(); got != "@main.x" {
		t.Errorf("the line is %q", got)
	}
}

// TestAFileWithABlankIsNamedInQuotes: else the text would name another file, or none.
func TestAFileWithABlankIsNamedInQuotes(t *testing.T) {
	for name, want := range map[string]string{"größe 容.txt": `see @"größe 容.txt" `, "notes.": `see @"notes." `, "main.go": "see @main.go "} {
		p := open(t, &world{})
		p.composer.SetText("see @" + name[:1])
		p.tabbed = true // the only one is taken
		p.offerFiles(filesMsg{name[:1], []string{name}})
		if got := p.composer.Text(); got != want {
			t.Errorf("%q is named as %q", name, got)
		}
	}
}
