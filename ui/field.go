package ui

import (
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/style"
	"hermes/ui/text"
)

// field is a line of input for overlays: it is edited at its end only, as filters and names are.
type field struct{ text string }

// update takes a key and reports whether the text changed.
func (f *field) update(msg tea.KeyMsg) bool {
	before := f.text
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		if !msg.Alt {
			f.text += oneLine(text.Sanitize(string(msg.Runes)))
		}
	case tea.KeyBackspace:
		_, n := utf8.DecodeLastRuneInString(f.text)
		f.text = f.text[:len(f.text)-n]
	case tea.KeyCtrlU:
		f.text = ""
	case tea.KeyCtrlW:
		f.text = trimWord(f.text)
	default:
		return false
	}
	return f.text != before
}

func trimWord(s string) string {
	i := len(s)
	for i > 0 && s[i-1] == ' ' {
		i--
	}
	for i > 0 && s[i-1] != ' ' {
		i--
	}
	return s[:i]
}

// view draws the field in w cells and returns the column of its cursor. What is too long shows its end.
func (f *field) view(s *style.Styles, placeholder string, w int) (line string, x int) {
	prompt := s.Prompt.Render(s.Glyphs.Prompt) + " "
	shown, space := f.text, max(w-3, 1)
	for text.Width(shown) > space {
		c, _ := text.Cluster(shown)
		shown = shown[len(c):]
	}
	x = min(2+text.Width(shown), w-1)
	if f.text == "" {
		return text.Fit(prompt+s.Placeholder.Render(placeholder), w), x
	}
	return text.Fit(prompt+s.Text.Render(shown), w), x
}
