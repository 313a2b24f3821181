package compose

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"hermes/core/chat"
	"hermes/ui/style"
	"hermes/ui/text"
)

func field(s string) *Composer {
	c := New()
	c.Styles = &style.Styles{}
	c.Resize(20)
	c.SetText(s)
	return c
}

func key(name string) tea.KeyMsg {
	for t := tea.KeyType(-120); t < 128; t++ {
		for _, alt := range []bool{false, true} {
			if k := (tea.KeyMsg{Type: t, Alt: alt}); k.String() == name && t != tea.KeyRunes {
				return k
			}
		}
	}
	if r, ok := strings.CutPrefix(name, "alt+"); ok {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(r), Alt: true}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func press(c *Composer, keys ...string) (last Result) {
	for _, k := range keys {
		last = c.Key(key(k))
	}
	return last
}

func TestEditing(t *testing.T) {
	tests := []struct {
		name, start string
		keys        []string
		want        string
		at          int
	}{
		{"type", "", []string{"a", " ", "b"}, "a b", 3},
		{"whole emoji goes at once", "a👩‍👩‍👧", []string{"backspace"}, "a", 1},
		{"flag", "🇯🇵🇩🇪", []string{"left", "backspace"}, "🇩🇪", 0},
		{"accent is part of its letter", "e\u0301x", []string{"left", "backspace"}, "x", 0},
		{"cjk", "容器网络", []string{"left", "left", "delete"}, "容器络", 6},
		{"word back", "go test it", []string{"alt+b", "ctrl+w"}, "go it", 3},
		{"kill to end", "ab\ncd", []string{"up", "ctrl+k"}, "abcd", 2},
		{"newline keys", "a", []string{"alt+enter", "b", "ctrl+j"}, "a\nb\n", 4},
		{"home and end", "ab\ncd", []string{"home", "x", "end", "y"}, "ab\nxcdy", 7},
		{"ctrl+u clears all", "ab\ncd", []string{"ctrl+u"}, "", 0},
		{"backslash enter", `ab\`, []string{"enter", "c"}, "ab\nc", 4},
		{"vertical keeps the column", "abcd\nx\nabcd", []string{"up", "up", "y"}, "abcdy\nx\nabcd", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := field(tt.start)
			press(c, tt.keys...)
			if c.Text() != tt.want || c.buf.at != tt.at {
				t.Errorf("%q at %d, want %q at %d", c.Text(), c.buf.at, tt.want, tt.at)
			}
		})
	}
}

func TestEnterSendsOnlySomething(t *testing.T) {
	if r := press(field("  "), "enter"); r == Submit {
		t.Error("blanks were sent")
	}
	if r := press(field("hi"), "enter"); r != Submit {
		t.Errorf("got %v", r)
	}
}

func TestHistoryKeepsTheDraft(t *testing.T) {
	c := field("")
	c.SetHistory([]Prompt{{Text: "one"}, {Text: "two"}})
	press(c, "d", "up", "up", "up")
	if c.Text() != "one" {
		t.Fatalf("got %q", c.Text())
	}
	press(c, "down", "down")
	if c.Text() != "d" {
		t.Fatalf("the draft is %q", c.Text())
	}
	if c.Remember(Prompt{Text: "two"}) || !c.Remember(Prompt{Text: "three"}) || c.Remember(Prompt{}) {
		t.Error("repeats and blanks are not worth keeping")
	}
}

func TestPastes(t *testing.T) {
	c := field("")
	c.Key(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("a\r\nb\tc\x1b[31m")})
	if c.Text() != "a\nb   c" {
		t.Errorf("short paste: %q", c.Text())
	}
	c.Key(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("x\n", 30))})
	a := c.Parts()
	if len(a) != 1 || a[0].Name != "paste 1: 30 lines" || c.Text() != "a\nb   c" {
		t.Fatalf("long paste: %+v, text %q", a, c.Text())
	}
	press(c, "ctrl+u")
	if !c.Empty() {
		t.Error("ctrl+u leaves something")
	}
}

func TestMouseReportsAreNotText(t *testing.T) {
	c := field("")
	c.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("[<64;10;5M")})
	if c.Text() != "" {
		t.Fatalf("got %q", c.Text())
	}
}

func TestCompletion(t *testing.T) {
	c := field("")
	press(c, "/", "r", "e")
	tok := c.Token()
	if tok.Kind != '/' || tok.Text != "re" {
		t.Fatalf("token %+v", tok)
	}
	c.Offer(tok, []Item{{Text: "/retry "}, {Text: "/resume "}, {Text: "/rename ", Off: true}})
	press(c, "down", "tab")
	if c.Text() != "/resume " || c.Completing() {
		t.Fatalf("got %q", c.Text())
	}
	c.SetText("see @ui/l")
	tok = c.Token()
	c.Offer(tok, []Item{{Text: "@ui/list/list.go "}})
	press(c, "enter")
	if c.Text() != "see @ui/list/list.go " {
		t.Fatalf("got %q", c.Text())
	}
	c.SetText("/model so")
	if tok = c.Token(); tok.Kind != ' ' || tok.Command != "model" || tok.Text != "so" {
		t.Fatalf("token %+v", tok)
	}
	c.Offer(tok, []Item{{Text: "sonnet"}})
	press(c, "esc")
	c.Offer(tok, []Item{{Text: "sonnet"}})
	if c.Completing() {
		t.Error("esc does not hold")
	}
	c.Offer(Token{Kind: '@', Text: "old"}, []Item{{Text: "x"}})
	if c.Completing() {
		t.Error("an offer for what is gone was taken")
	}
}

// TestEnterTakesNoGuess: what somebody typed stays what it is, unless they choose something else.
func TestEnterTakesNoGuess(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{{[]string{"enter"}, "/cmpr"}, {[]string{"down", "enter"}, "/compare-models "}, {[]string{"down", "down", "enter"}, "/model-card "}, {[]string{"tab"}, "/compare-models "}} {
		f := field("/cmpr")
		f.Styles = &style.Styles{Glyphs: style.Unicode()}
		f.Offer(f.Token(), []Item{{Text: "/compare-models ", Guess: true}, {Text: "/model-card ", Guess: true}})
		lines, _, _ := f.View(10)
		if marked := strings.Contains(strings.Join(lines, ""), f.Styles.Glyphs.Closed); marked {
			t.Error("a guess looks chosen")
		}
		if press(f, c.keys...); f.Text() != c.want || f.Completing() {
			t.Errorf("%v: %q, want %q", c.keys, f.Text(), c.want)
		}
	}
}

func TestAnyKeysKeepTheFieldWhole(t *testing.T) {
	keys := []string{"a", " ", "容", "👩‍👩‍👧", "🇯🇵", "e", "\u0301", "left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+k", "alt+b", "alt+f", "ctrl+j", "tab", "esc", "ctrl+d"}
	rapid.Check(t, func(t *rapid.T) {
		c := field("")
		c.SetHistory([]Prompt{{Text: "old 容器\nprompt"}, {Text: "x"}})
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			w, h := rapid.IntRange(3, 40).Draw(t, "w"), rapid.IntRange(1, 8).Draw(t, "h")
			c.Resize(w)
			press(c, rapid.SampledFrom(keys).Draw(t, "key"))
			if at := c.buf.at; at < 0 || at > len(c.buf.s) || c.buf.characterAfter(c.buf.characterBefore(at)) != at && at != 0 {
				t.Fatalf("the cursor %d is inside a character of %q", at, c.buf.s)
			}
			lines, x, y := c.View(h)
			if len(lines) > h || y >= len(lines) || y < 0 || x >= w || x < 0 {
				t.Fatalf("%d lines of %d, cursor %d,%d in %d cells", len(lines), h, x, y, w)
			}
			for _, l := range lines {
				if text.Width(l) != w {
					t.Fatalf("%q is not %d cells", l, w)
				}
			}
		}
	})
}

func BenchmarkKey(b *testing.B) {
	c := field(strings.Repeat("some words and 容器 ", 50))
	c.Resize(80)
	for b.Loop() {
		press(c, "x")
		c.View(10)
		c.Key(tea.KeyMsg{Type: tea.KeyBackspace})
	}
}

func TestAPopupSaysHowManyMoreThereAre(t *testing.T) {
	c := field("")
	c.Styles.Glyphs = style.Unicode()
	press(c, "/")
	var items []Item
	for i := range 20 {
		items = append(items, Item{Text: fmt.Sprintf("/command%d ", i), Hint: strings.Repeat("does something ", 8)})
	}
	c.Offer(c.Token(), items)
	view := func() string { return strings.Join(c.popupView(60, 20), "\n") }
	if v := view(); !strings.Contains(v, "12 more") || strings.Count(v, "\n") != maxPopup-1 {
		t.Errorf("the first of 20:\n%s", v)
	}
	for range 19 {
		c.popupKey("down")
	}
	if v := view(); strings.Contains(v, "more") || !strings.Contains(v, "command19") {
		t.Errorf("the last:\n%s", v)
	}
	for _, l := range c.popupView(60, 20) {
		if text.Width(l) != 60 {
			t.Errorf("%d cells: %q", text.Width(l), l)
		}
	}
}

// TestAPastedChipComesBackWhole: from the history as it was sent, and the draft with its own.
func TestAPastedChipComesBackWhole(t *testing.T) {
	c := field("")
	paste := chat.Part{Kind: chat.PartPaste, Name: "paste 1: 30 lines", Text: strings.Repeat("x\n", 30)}
	c.SetHistory([]Prompt{{Text: "look", Parts: []chat.Part{paste}}})
	c.Attach(chat.Part{Kind: chat.PartPaste, Name: "draft", Text: "y"})
	press(c, "d", "up")
	if got := c.Parts(); c.Text() != "look" || len(got) != 1 || got[0].Text != paste.Text {
		t.Fatalf("%q with %+v", c.Text(), got)
	}
	press(c, "down")
	if got := c.Parts(); c.Text() != "d" || len(got) != 1 || got[0].Name != "draft" {
		t.Errorf("the draft is %q with %+v", c.Text(), got)
	}
	if !c.Remember(Prompt{Parts: []chat.Part{paste}}) {
		t.Error("a paste alone is worth keeping")
	}
}
