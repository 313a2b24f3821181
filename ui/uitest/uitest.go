// Package uitest helps to test what a person sees: panes drawn at a size, golden pictures, and the
// whole program driven without a terminal. Nothing here sleeps: it waits for the screen to change,
// or for the program to be idle.
package uitest

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/core/testwait"
	"hermes/themes"
	"hermes/ui"
	"hermes/ui/highlight"
	"hermes/ui/style"
	"hermes/ui/text"
)

// teatest brings the flag as well; whoever comes first defines it.
func init() {
	highlight.Budget = testwait.Hang // what is coloured is not judged by the clock
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write the golden files anew")
	}
}

// updating is asked by -update, or by UPDATE_GOLDEN=1 where some packages do not know the flag.
func updating() bool {
	return flag.Lookup("update").Value.String() == "true" || os.Getenv("UPDATE_GOLDEN") == "1"
}

// Styles returns the default theme at a level: style.True for pictures in colour, style.None
// without.
func Styles(t testing.TB, level style.Level) *style.Styles {
	t.Helper()
	th, err := themes.Load(themes.DefaultDark)
	if err != nil {
		t.Fatal(err)
	}
	return style.New(th, level, false)
}

// Size is a size of the screen in cells.
type Size struct{ W, H int }

// Sizes are the four that every golden picture is made at.
func Sizes() []Size { return []Size{{40, 12}, {80, 24}, {120, 40}, {200, 60}} }

// Render draws a pane at a size and checks the picture's shape.
func Render(t testing.TB, p ui.Pane, s *style.Styles, w, h int) string {
	t.Helper()
	p.Restyle(s)
	p.Resize(w, h)
	view := p.View()
	CheckBlock(t, view, w, h)
	return view
}

// CheckBlock fails unless view is exactly h lines of exactly w cells, without control characters,
// each line's styles closed.
func CheckBlock(t testing.TB, view string, w, h int) {
	t.Helper()
	if why := BlockProblem(view, w, h); why != "" {
		t.Errorf("%dx%d: %s", w, h, why)
	}
}

// BlockProblem says what is wrong with the shape of view, or "".
func BlockProblem(view string, w, h int) string {
	if w <= 0 || h <= 0 {
		if view != "" {
			return "a hidden pane draws something"
		}
		return ""
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		return "it has " + strconv.Itoa(len(lines)) + " lines"
	}
	for y, line := range lines {
		if n := text.Width(line); n != w {
			return "line " + strconv.Itoa(y) + " has " + strconv.Itoa(n) + " cells: " + strings.ReplaceAll(line, "\x1b", "␛")
		}
		var pen text.Pen
		if pen.Scan(line); pen != (text.Pen{}) {
			return "line " + strconv.Itoa(y) + " leaves a style open: " + strings.ReplaceAll(line, "\x1b", "␛")
		}
		if plain := text.Sanitize(line); strings.ContainsAny(plain, "\t") || len(plain) == 0 && w > 0 {
			return "line " + strconv.Itoa(y) + " holds a tab"
		}
	}
	return ""
}

// Golden compares got with testdata/NAME.golden; -update writes it.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	// Escapes are made visible, so that a golden file is plain text for people and diffs.
	got = strings.ReplaceAll(got, "\x1b", "␛") + "\n"
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update makes it", err)
	}
	if string(want) != got {
		t.Errorf("%s changed; -update accepts it\n%s", path, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "line " + strconv.Itoa(i+1) + "\nwant " + a[i] + "\ngot  " + b[i]
		}
	}
	return "want " + strconv.Itoa(len(a)) + " lines, got " + strconv.Itoa(len(b))
}

// Key makes the message of a key from its name as bubbletea writes it: "enter", "ctrl+p", "alt+1",
// "a", "space".
func Key(name string) tea.KeyMsg {
	if k, ok := keyNames()[name]; ok {
		return k
	}
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		k := Key(rest)
		k.Alt = true
		return k
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// keyNames asks bubbletea itself for the names of its keys.
func keyNames() map[string]tea.KeyMsg {
	m := map[string]tea.KeyMsg{"space": {Type: tea.KeySpace, Runes: []rune{' '}}}
	for k := tea.KeyType(-100); k < 128; k++ {
		if msg := (tea.KeyMsg{Type: k}); k != tea.KeyRunes && msg.String() != "" {
			m[msg.String()] = msg
		}
	}
	return m
}

// Press sends keys to a pane and runs the commands that come back, one after the other, until none
// is left. It returns the FrameMsgs that the pane sent.
func Press(p ui.Pane, names ...string) []tea.Msg {
	var asked []tea.Msg
	for _, n := range names {
		asked = append(asked, Pump(p, p.Update(Key(n)))...)
	}
	return asked
}

// Pump runs cmd and feeds what it brings back into the pane, until nothing more comes. FrameMsgs
// and messages of bubbletea are returned.
func Pump(p ui.Pane, cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			out = append(out, Pump(p, c)...)
		}
		return out
	case ui.FrameMsg, tea.QuitMsg:
		return []tea.Msg{msg}
	default:
		return Pump(p, p.Update(msg))
	}
}

// Envelopes gives events the sequence numbers and header that the bus would.
func Envelopes(h event.Header, events ...event.Event) []event.Envelope {
	bus := event.NewBus()
	box := bus.Subscribe(event.Limits{})
	for _, e := range events {
		bus.Publish(h, e)
	}
	return box.Drain()
}

// Click clicks where an overlay of w x h cells shows a text, as the frame does, and reports whether
// it is done then. The messages of commands come back to it.
func Click(t *testing.T, o ui.Overlay, w, h int, on string) (done bool) {
	t.Helper()
	for y, line := range strings.Split(text.Sanitize(o.View(w, h)), "\n") {
		if before, _, ok := strings.Cut(line, on); ok {
			cmd, left := ui.PointAt(o, tea.MouseMsg{X: text.Width(before), Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			if left != nil {
				cmd, done = o.Update(left)
			}
			if cmd != nil {
				o.Update(cmd())
			}
			return done
		}
	}
	t.Fatalf("%q is not shown:\n%s", on, text.Sanitize(o.View(w, h)))
	return false
}
