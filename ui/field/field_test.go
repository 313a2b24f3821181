package field_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"hermes/ui/field"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

func press(f *field.Field, keys ...string) {
	for _, k := range keys {
		f.Update(uitest.Key(k))
	}
}

func TestEditing(t *testing.T) {
	tests := []struct {
		start string
		keys  []string
		want  string
		at    int
	}{
		{"", []string{"a", "b"}, "ab", 2},
		{"ac", []string{"left", "b"}, "abc", 2},
		{"容器", []string{"backspace"}, "容", 2},
		{"a👨‍👩‍👧b", []string{"left", "backspace"}, "ab", 1},
		{"abc", []string{"home", "delete"}, "bc", 0},
		{"abc", []string{"ctrl+a", "backspace", "left"}, "abc", 0},
		{"abc", []string{"end", "delete", "right"}, "abc", 3},
		{"two words ", []string{"ctrl+w"}, "two ", 4},
		{"two words", []string{"ctrl+u"}, "", 0},
		{"ab\x1b[31m\ncd", nil, "ab cd", 5},
		{"", []string{"a", "space", "b"}, "a b", 3},
	}
	s := uitest.Styles(t, style.None)
	for _, tt := range tests {
		f := field.New(tt.start)
		press(&f, tt.keys...)
		_, x := f.View(s, "/", "", 40)
		if f.String() != tt.want || x-2 != tt.at {
			t.Errorf("%q then %v: %q, cursor at %d, want %q at %d", tt.start, tt.keys, f.String(), x-2, tt.want, tt.at)
		}
	}
}

func TestUpdateReportsChangesOnly(t *testing.T) {
	f := field.New("ab")
	if f.Update(uitest.Key("left")) || f.Update(uitest.Key("enter")) || f.Update(uitest.Key("alt+x")) {
		t.Error("moving the cursor changed the text")
	}
	if !f.Update(uitest.Key("x")) || f.String() != "axb" {
		t.Errorf("typing x: %q", f.String())
	}
}

func TestATextIsNoLine(t *testing.T) {
	f := field.New("ab")
	for size, want := range map[int]string{10 << 20: "ab", 20 << 10: "ab" + strings.Repeat("x", 20<<10)} {
		f := f
		f.Update(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("x", size))})
		if f.String() != want {
			t.Errorf("a paste of %d bytes makes a line of %d", size, len(f.String()))
		}
	}
}

func TestViewShowsTheCursor(t *testing.T) {
	s := uitest.Styles(t, style.None)
	rapid.Check(t, func(t *rapid.T) {
		f := field.New(rapid.StringMatching(`[a容👨‍👩‍👧e\x{301}\t ]{0,40}`).Draw(t, "text"))
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"left", "right", "home", "end", "backspace", "delete", "x", "器", "ctrl+w", "ctrl+u"}), 0, 20).Draw(t, "keys") {
			f.Update(uitest.Key(k))
		}
		w := rapid.IntRange(1, 50).Draw(t, "w")
		line, x := f.View(s, "/", "search", w)
		if text.Width(line) != w || x < 0 || x >= w {
			t.Fatalf("%q in %d cells: %q, cursor %d", f.String(), w, line, x)
		}
		if !utf8.ValidString(f.String()) {
			t.Fatalf("a character was cut: %q", f.String())
		}
	})
}
