package run

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui/emulator"
	"hermes/ui/style"
	"hermes/ui/text"
)

// However an answer is cut into deltas, what is printed has no control characters, plain text
// arrives whole, and a terminal shows at the end what a file would hold.
func FuzzStream(f *testing.F) {
	f.Add("red \x1b[31mtext", 5, 7)
	f.Add("\x1b]0;title\x07done", 1, 4)
	f.Add("日本\n\ttext", 3, 1)
	f.Add("\x1b", 1, 1)
	f.Add(strings.Repeat("a line that is longer than the window\n", 30), 90, 500)
	f.Fuzz(func(t *testing.T, s string, a, b int) {
		s = strings.ToValidUTF8(s, "?")
		runes := []rune(s)
		i, j := clamp(a, len(runes)), clamp(b, len(runes))
		if i > j {
			i, j = j, i
		}
		var out bytes.Buffer
		screen, direct := newWindow(), newWindow()
		defer screen.Close()
		defer direct.Close()
		parts := []string{string(runes[:i]), string(runes[i:j]), string(runes[j:])}
		answer := chat.Message{ID: 2, Role: chat.RoleAssistant, Text: s}
		printAttempts(&textPrinter{out: &out, err: io.Discard}, parts, answer)
		printAttempts(&textPrinter{out: screen, err: io.Discard, live: screen.preview()}, parts, answer)
		got := out.String()
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q printed as %q", s, got)
			}
		}
		if text.Sanitize(s) == s && s != "" && strings.TrimSuffix(got, "\n") != strings.TrimSuffix(s, "\n") {
			t.Fatalf("%q printed as %q", s, got)
		}
		_, _ = io.WriteString(direct, got)
		if want, is := direct.text(), screen.text(); ascii(got) && is != want {
			t.Fatalf("the screen shows\n%s\nand not\n%s", is, want)
		}
	})
}

// printAttempts prints an answer that is taken back and tried again.
func printAttempts(p *textPrinter, parts []string, answer chat.Message) {
	for id := range answer.ID {
		offset := 0
		for _, part := range parts {
			p.showEvent(event.Envelope{Event: event.TextDelta{
				MessageID: id + 1, Offset: offset,
				Text: part,
			}})
			p.drawPending()
			offset += len(part)
		}
		if id+1 < answer.ID {
			p.showEvent(event.Envelope{Event: event.MessageDiscarded{MessageID: id + 1, Why: event.DiscardFailed, Err: "cut"}})
		}
	}
	p.showEvent(event.Envelope{Event: event.MessageSealed{Message: answer}})
	p.endTurn(&turn{last: answer})
}

// window is a terminal in memory whose line ends go to the first column, as a person's does.
type window struct{ *emulator.Terminal }

const windowColumns, windowRows = 20, 6

func newWindow() window { return window{emulator.New(windowColumns, windowRows, nil)} }

func (w window) Write(p []byte) (int, error) {
	w.Terminal.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), nil
}

func (w window) preview() *preview {
	return &preview{out: w, size: func() (int, int) { return windowColumns, windowRows }}
}

// text is all that was shown and is still there, in the window or above it.
func (w window) text() string {
	var lines []string
	for back := w.History(); back > 0; back -= windowRows {
		lines = append(lines, w.Rows(style.None, back)[:min(back, windowRows)]...)
	}
	lines = append(lines, w.Rows(style.None, 0)...)
	for i := range lines {
		lines[i] = strings.TrimRight(text.Sanitize(lines[i]), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func TestAnAnswerThatIsTakenBackIsPrintedOnce(t *testing.T) {
	long := strings.Repeat("one two three four five six\n", 20)
	for name, parts := range map[string][]string{"short": {"The first", " half"}, "long": {long, long, "end"}} {
		screen := newWindow()
		defer screen.Close()
		var out, notes bytes.Buffer
		answer := chat.Message{ID: 2, Role: chat.RoleAssistant, Text: "All of it.\nTwice?"}
		printAttempts(&textPrinter{out: &out, err: &notes}, parts, answer)
		if out.String() != answer.Text+"\n" || !strings.Contains(notes.String(), "answer discarded") {
			t.Errorf("%s: printed %q, said %q", name, &out, &notes)
		}
		printAttempts(&textPrinter{out: screen, err: screen, live: screen.preview()}, parts, answer)
		if got := strings.TrimSpace(screen.text()); got != "answer discarded, t\nrying again: cut\nAll of it.\nTwice?" &&
			!strings.HasPrefix(got, "answer discarded, tr\nying again: cut\nAll of it.\nTwice?") {
			t.Errorf("%s: the screen shows %q", name, got)
		}
	}
}

func TestTheScreenShowsAnAnswerWhileItComes(t *testing.T) {
	screen := newWindow()
	defer screen.Close()
	p := &textPrinter{out: screen, err: screen, live: screen.preview()}
	for _, s := range []string{"first\nsecond\n", "third\nfourth\nfi", "fth\nsixth\nsev"} {
		p.showEvent(event.Envelope{Event: event.TextDelta{MessageID: 1, Text: s}})
		p.drawPending()
	}
	if got := screen.text(); !strings.Contains(got, "fifth") || !strings.Contains(got, "sev") || strings.Contains(got, "second") {
		t.Errorf("the screen shows %q", got)
	}
	p.showEvent(event.Envelope{Event: event.Notice{Level: event.Warn, Text: "look"}})
	p.drawPending()
	if got := screen.text(); strings.Count(got, "look") != 1 || strings.Count(got, "sixth") != 1 {
		t.Errorf("with a notice it shows %q", got)
	}
}

// A session's last answer is printed even when its event was given up.
func TestAnAnswerWhoseEventWasLostIsPrinted(t *testing.T) {
	var out bytes.Buffer
	p := &textPrinter{out: &out, err: io.Discard}
	p.showEvent(event.Envelope{Event: event.Resync{}})
	p.endTurn(&turn{last: chat.Message{ID: 7, Role: chat.RoleAssistant, Text: "Here."}})
	if out.String() != "Here.\n" {
		t.Errorf("printed %q", &out)
	}
}

// ascii leaves out text whose width terminals do not agree on.
func ascii(s string) bool {
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
	now := time.Now()
	for _, phase := range []event.TurnPhase{
		{Kind: event.PhaseWaiting, Model: "big"},
		{Kind: event.PhaseStreaming},
		{Kind: event.PhaseRetrying, Until: now.Add(100 * time.Second), Cause: &event.Cause{Class: "rate_limit", HTTP: 429}},
	} {
		p.showEvent(event.Envelope{Header: event.Header{At: now}, Event: phase})
	}
	if got := err.String(); got != "retrying in 1m40s (429 rate limit)\n" || out.Len() > 0 {
		t.Errorf("said %q, printed %q", got, out.String())
	}
}
