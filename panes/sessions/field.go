package sessions

import (
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/text"
)

// field is one line of input with a cursor.
type field struct {
	runes []rune
	at    int
}

func newField(s string) *field { return &field{runes: []rune(s), at: len([]rune(s))} }

// String returns what was typed.
func (f *field) String() string { return string(f.runes) }

// cells is the cursor's distance from the start.
func (f *field) cells() int { return text.Width(string(f.runes[:f.at])) }

// key edits and reports whether the key was for the field.
func (f *field) key(k tea.KeyMsg) bool {
	switch k.String() {
	case "left":
		f.at = max(0, f.at-1)
	case "right":
		f.at = min(len(f.runes), f.at+1)
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.runes)
	case "backspace":
		f.cut(f.at-1, f.at)
	case "delete":
		f.cut(f.at, f.at+1)
	case "ctrl+u":
		f.cut(0, f.at)
	case "ctrl+w":
		f.cut(f.wordStart(), f.at)
	default:
		return f.insert(k)
	}
	return true
}

func (f *field) insert(k tea.KeyMsg) bool {
	if k.Type != tea.KeyRunes && k.Type != tea.KeySpace || k.Alt {
		return false
	}
	var in []rune
	for _, r := range k.Runes {
		if unicode.IsPrint(r) {
			in = append(in, r)
		}
	}
	f.runes = append(f.runes[:f.at:f.at], append(in, f.runes[f.at:]...)...)
	f.at += len(in)
	return true
}

// cut removes runes from a up to b and leaves the cursor at a.
func (f *field) cut(a, b int) {
	a, b = max(0, a), min(len(f.runes), b)
	if a >= b {
		return
	}
	f.runes = append(f.runes[:a:a], f.runes[b:]...)
	f.at = a
}

func (f *field) wordStart() int {
	i := f.at
	for i > 0 && unicode.IsSpace(f.runes[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(f.runes[i-1]) {
		i--
	}
	return i
}
