// Package field is one line of input with a cursor: search fields, filters, names. It moves by what
// a person sees as one character, keeps only what is safe to show, and scrolls sideways when it is
// too long for its place.
package field

import (
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/style"
	"hermes/ui/text"
)

// Field is the line. The zero Field is empty and ready.
type Field struct {
	Secret bool // what it holds is not shown

	text string
	at   int // bytes before the cursor
}

// New returns a field that holds s, with the cursor behind it.
func New(s string) Field {
	s = cleanLine(s)
	return Field{text: s, at: len(s)}
}

// String returns what the line holds.
func (f *Field) String() string { return f.text }

// Takes reports whether a key, by its name, edits the line or moves its cursor, printable keys
// apart.
func Takes(key string) bool {
	switch key {
	case "left", "right", "home", "end", "ctrl+a", "ctrl+e", "backspace", "delete", "ctrl+u", "ctrl+w":
		return true
	default:
		return false
	}
}

// Update takes a key and reports whether the text changed.
func (f *Field) Update(msg tea.KeyMsg) bool {
	before := f.text
	switch msg.String() {
	case "left":
		f.at = f.characterBefore()
	case "right":
		f.at = f.characterAfter()
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.text)
	case "backspace":
		f.cutBytes(f.characterBefore(), f.at)
	case "delete":
		f.cutBytes(f.at, f.characterAfter())
	case "ctrl+u":
		f.cutBytes(0, f.at)
	case "ctrl+w":
		f.cutBytes(f.wordBefore(), f.at)
	default:
		switch {
		case msg.Alt:
		case msg.Type == tea.KeySpace:
			f.insertText(" ")
		case msg.Type == tea.KeyRunes:
			f.insertText(cleanLine(string(msg.Runes)))
		}
	}
	return f.text != before
}

// maxLine is how much a line holds, in bytes: more than a key or an address has. A paste that does
// not fit is a text, and none of it is taken.
const maxLine = 32 << 10

func (f *Field) insertText(s string) {
	if len(f.text)+len(s) > maxLine {
		return
	}
	f.text = f.text[:f.at] + s + f.text[f.at:]
	f.at += len(s)
}

// cutBytes removes the bytes from a up to b and leaves the cursor at a.
func (f *Field) cutBytes(a, b int) { f.text, f.at = f.text[:a]+f.text[b:], a }

// characterBefore is the start of the character at the left of the cursor.
func (f *Field) characterBefore() int {
	i := 0
	for i < f.at {
		c, _ := text.Cluster(f.text[i:])
		if i+len(c) >= f.at {
			return i
		}
		i += len(c)
	}
	return i
}

// characterAfter is the end of the character at the cursor.
func (f *Field) characterAfter() int {
	c, _ := text.Cluster(f.text[f.at:])
	return f.at + len(c)
}

// wordBefore is the start of the word at the left of the cursor.
func (f *Field) wordBefore() int {
	s := strings.TrimRightFunc(f.text[:f.at], unicode.IsSpace)
	return strings.LastIndexFunc(s, unicode.IsSpace) + 1
}

// View draws prefix and field in exactly w cells and returns the column of the cursor. What is too
// long is cut at its start, so that the cursor is always seen.
func (f *Field) View(s *style.Styles, prefix, placeholder string, w int) (line string, x int) {
	if w <= 0 {
		return "", 0
	}
	lead := s.Prompt.Render(prefix) + " "
	width := text.Width(prefix) + 1
	if f.text == "" {
		return text.Fit(lead+s.Placeholder.Render(placeholder), w), min(width, w-1)
	}
	shown, at := f.text, f.at
	if f.Secret {
		shown, at = stars(f.text), len(stars(f.text[:f.at]))
	}
	before, space := text.Width(shown[:at]), max(w-width-1, 1)
	for at > 0 && before > space {
		c, cells := text.Cluster(shown)
		shown, at, before = shown[len(c):], max(at-len(c), 0), before-cells
	}
	return text.Fit(lead+s.Text.Render(shown), w), min(width+text.Width(shown[:at]), w-1)
}

// cleanLine keeps what can stand on one line.
func cleanLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case unicode.IsPrint(r), r == '\u200d', r == '\ufe0f': // the joiners of emoji
			return r
		default:
			return -1
		}
	}, text.Sanitize(s))
}

// stars is a star for each character.
func stars(s string) string {
	n := 0
	for s != "" {
		c, _ := text.Cluster(s)
		s, n = s[len(c):], n+1
	}
	return strings.Repeat("*", n)
}
