package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// filterInput drops what is left of mouse reports when a report was cut in two between reads: it
// would be typed as text.
func filterInput(_ tea.Model, msg tea.Msg) tea.Msg {
	key, ok := msg.(tea.KeyMsg)
	if ok && key.Type == tea.KeyRunes && !key.Paste && leakedReport(key.Runes) {
		return nil
	}
	return msg
}

// leakedReport recognises the body, or the end, of an SGR mouse report: "[<35;12;5M" or "<64;3;9M"
// or "5;12;7m".
func leakedReport(runes []rune) bool {
	if len(runes) < 5 {
		return false
	}
	s := string(runes)
	last := s[len(s)-1]
	return (last == 'M' || last == 'm') && strings.Count(s, ";") >= 2 && strings.Trim(s, "[<;0123456789Mm") == ""
}
