package ui_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui"
	"hermes/ui/style"
	"hermes/ui/text"
	"hermes/ui/uitest"
)

// texted is a fake whose text can be selected.
type texted struct {
	*fake
	rows   []string
	clicks *int
}

func (*texted) SelectsText() {}

func (p *texted) View() string { return text.Block(p.rows, p.w, p.h) }

func (p *texted) Update(msg tea.Msg) tea.Cmd {
	if m, ok := msg.(tea.MouseMsg); ok && m.Action == tea.MouseActionPress {
		*p.clicks++
	}
	return nil
}

// drawn is a program of one conversation with these rows, and what it sent to the clipboard.
type drawn struct {
	*driven
	now    time.Time
	out    strings.Builder
	clicks int
}

func selecting(t *testing.T, rows ...string) *drawn {
	t.Helper()
	opt, _ := options(t)
	none := style.None
	d := &drawn{now: time.Unix(1_700_000_000, 0)}
	opt.Level = &none
	opt.Now = func() time.Time { return d.now }
	opt.Conversation = func(uid string) ui.Pane {
		return &texted{fake: &fake{id: "conversation:x", uid: "x"}, rows: rows, clicks: &d.clicks}
	}
	opt.W, opt.H, opt.Output, opt.Input = 80, 24, &d.out, strings.NewReader("")
	opt.Getenv = func(string) string { return "" }
	p := ui.New(opt)
	t.Cleanup(p.Close)
	d.driven = &driven{m: p.Model()}
	d.run(d.m.Init())
	return d
}

func (d *drawn) mouse(action tea.MouseAction, x, y int) {
	d.send(tea.MouseMsg{X: x + 1, Y: y + 2, Button: tea.MouseButtonLeft, Action: action}) // a row of tabs and a border
}

var osc52 = regexp.MustCompile("\x1b\\]52;c;([^\x07]*)\x07")

// copied is what was sent to the clipboard last, "" for nothing.
func (d *drawn) copied(t *testing.T) string {
	all := osc52.FindAllStringSubmatch(d.out.String(), -1)
	if len(all) == 0 {
		return ""
	}
	data, err := base64.StdEncoding.DecodeString(all[len(all)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDraggingSelectsAndCopies: what is marked is what is copied, without the margin; a click is
// still a click.
func TestDraggingSelectsAndCopies(t *testing.T) {
	t.Setenv("PATH", "")
	for _, tt := range []struct {
		from, to [2]int
		want     string
	}{
		{[2]int{2, 0}, [2]int{6, 0}, "first"},
		{[2]int{8, 0}, [2]int{7, 1}, "line\nsecond"},
		{[2]int{7, 1}, [2]int{8, 0}, "line\nsecond"},
		{[2]int{0, 0}, [2]int{70, 2}, "first line\nsecond 容器 line\n  indented"},
		{[2]int{9, 1}, [2]int{12, 1}, "容器"},
		{[2]int{4, 2}, [2]int{200, 200}, "indented"},
	} {
		d := selecting(t, "  first line", "  second 容器 line", "    indented")
		d.mouse(tea.MouseActionPress, tt.from[0], tt.from[1])
		d.mouse(tea.MouseActionMotion, tt.to[0], tt.to[1])
		uitest.CheckBlock(t, d.m.View(), 80, 24)
		if !strings.Contains(d.m.View(), "\x1b[7m") {
			t.Errorf("%v: nothing is marked", tt.from)
		}
		d.mouse(tea.MouseActionRelease, tt.to[0], tt.to[1])
		if got := d.copied(t); got != tt.want || d.clicks != 0 {
			t.Errorf("%v to %v copied %q, want %q; %d clicks", tt.from, tt.to, got, tt.want, d.clicks)
		}
		if v := text.Sanitize(d.m.View()); !strings.Contains(v, "clipboard") {
			t.Errorf("nothing is said:\n%s", v)
		}
	}
}

func TestAClickIsAClickAndTwoCopyAWord(t *testing.T) {
	t.Setenv("PATH", "")
	d := selecting(t, "  see (core/main.go:12), or 容器.", "")
	click := func(x int) {
		d.mouse(tea.MouseActionPress, x, 0)
		d.mouse(tea.MouseActionRelease, x, 0)
	}
	if click(10); d.clicks != 1 || d.copied(t) != "" {
		t.Fatalf("a click: %d, copied %q", d.clicks, d.copied(t))
	}
	if click(10); d.copied(t) != "core/main.go:12" {
		t.Errorf("two clicks copied %q", d.copied(t))
	}
	if click(28); d.copied(t) != "core/main.go:12" {
		t.Errorf("a click elsewhere copied %q", d.copied(t))
	}
	if click(28); d.copied(t) != "容器" {
		t.Errorf("two clicks copied %q", d.copied(t))
	}
	click(10)
	d.now = d.now.Add(time.Second)
	if click(10); d.copied(t) != "容器" {
		t.Errorf("two slow clicks copied %q", d.copied(t))
	}
	if click(1); d.copied(t) != "容器" {
		t.Error("a blank is a word")
	}
}
