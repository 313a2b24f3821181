package session

import "testing"

func TestOnlyFilters(t *testing.T) {
	for text, want := range map[string]bool{
		"since:2w": true, "in:app source:tui": true, " until:2026-01-01 ": true,
		"": false, " ": false, "word": false, "since:2w word": false, "since:nonsense": false, "tool:terminal": false, "since:2w tool:terminal": false, "role:user": false,
	} {
		f, ok := OnlyFilters(text)
		if ok != want {
			t.Errorf("%q: %v", text, ok)
		}
		if ok && f.Project == "" && f.Source == "" && f.Since.IsZero() && f.Until.IsZero() {
			t.Errorf("%q gives an empty filter: every session would be listed", text)
		}
	}
}
