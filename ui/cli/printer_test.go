package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/text"
)

// However an answer is cut into deltas, what is printed has no control characters, and plain text arrives whole.
func FuzzStream(f *testing.F) {
	f.Add("red \x1b[31mtext", 5, 7)
	f.Add("\x1b]0;title\x07done", 1, 4)
	f.Add("日本\n\ttext", 3, 1)
	f.Add("\x1b", 1, 1)
	f.Fuzz(func(t *testing.T, s string, a, b int) {
		s = strings.ToValidUTF8(s, "?")
		runes := []rune(s)
		i, j := clamp(a, len(runes)), clamp(b, len(runes))
		if i > j {
			i, j = j, i
		}
		var out bytes.Buffer
		p := &textPrinter{out: &out, err: io.Discard}
		offset := 0
		for _, part := range []string{string(runes[:i]), string(runes[i:j]), string(runes[j:])} {
			p.event(event.Envelope{Event: event.TextDelta{MessageID: 1, Offset: offset, Text: part}})
			offset += len(part)
		}
		p.event(event.Envelope{Event: event.MessageSealed{Message: chat.Message{ID: 1, Role: chat.RoleAssistant, Text: s}}})
		got := out.String()
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q printed as %q", s, got)
			}
		}
		if text.Sanitize(s) == s && s != "" && strings.TrimSuffix(got, "\n") != strings.TrimSuffix(s, "\n") && plain(s) {
			t.Fatalf("%q printed as %q", s, got)
		}
	})
}

// plain leaves out text whose characters combine over the cut.
func plain(s string) bool {
	for _, r := range s {
		if r > 0x7f {
			return false
		}
	}
	return true
}

func clamp(n, most int) int {
	if n < 0 {
		n = -(n + 1)
	}
	return n % (most + 1)
}

func FuzzJSONHasNoControls(f *testing.F) {
	f.Add("a\u009b31m\x7f\x1b日本")
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := writeJSON(&out, map[string]string{"x": s}, false); err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.TrimSuffix(out.String(), "\n") {
			if unicode.IsControl(r) {
				t.Fatalf("%q has a control character", out.String())
			}
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["x"] != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Fatalf("%q came back as %q: %v", s, back["x"], err)
		}
	})
}

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		in   string
		want time.Time
	}{
		{"", time.Time{}},
		{"2026-11-01", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{"7d", now.AddDate(0, 0, -7)},
		{"12h", now.Add(-12 * time.Hour)},
	} {
		if got, err := parseWhen(tc.in, now); err != nil || !got.Equal(tc.want) {
			t.Errorf("%q: %v %v", tc.in, got, err)
		}
	}
	for _, bad := range []string{"soon", "-3h", "99999999d", "2026-13-01"} {
		if _, err := parseWhen(bad, now); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestTableMeasuresCells(t *testing.T) {
	var out bytes.Buffer
	tab := table{head: []string{"A", "B"}}
	tab.row("日本", "x\x1b[2J\ny")
	tab.row("abc", "z")
	if err := tab.write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "A     B\n日本  x y\nabc   z\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestReadPromptLimits(t *testing.T) {
	if _, err := readPrompt(nil, strings.NewReader(strings.Repeat("x", maxPrompt+1))); err == nil {
		t.Error("a prompt over the limit was taken")
	}
	if got, err := readPrompt([]string{"a", "-", "b"}, strings.NewReader("in\n")); err != nil || got != "a\n\nin\n\nb" {
		t.Errorf("%q %v", got, err)
	}
	if got, _ := readPrompt([]string{"-"}, strings.NewReader("caf\xe9")); got != "caf\ufffd" {
		t.Errorf("%q", got)
	}
}

func TestAWaitForTheModelIsSaid(t *testing.T) {
	var out, err bytes.Buffer
	p := &textPrinter{out: &out, err: &err}
	for _, phase := range []string{"waiting for big", "retrying in 40 s (429 rate_limit), esc stops", "streaming"} {
		p.event(event.Envelope{Event: event.TurnPhase{Phase: phase}})
	}
	if got := err.String(); got != "retrying in 40 s (429 rate_limit)\n" || out.Len() > 0 {
		t.Errorf("said %q, printed %q", got, out.String())
	}
}
