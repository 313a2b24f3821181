package style

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"hermes/themes"
	"hermes/ui/text"
)

func styles(t *testing.T, name string, level Level, ascii bool) *Styles {
	t.Helper()
	th, err := themes.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return New(th, level, ascii)
}

// each calls f with every lipgloss style of s.
func each(s *Styles, f func(field string, st lipgloss.Style)) {
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if st, ok := v.Field(i).Interface().(lipgloss.Style); ok {
			f(v.Type().Field(i).Name, st)
		}
	}
}

func TestLevelsKeepToTheirColours(t *testing.T) {
	for _, name := range themes.Builtin() {
		for level := None; level <= True; level++ {
			each(styles(t, name, level, false), func(field string, st lipgloss.Style) {
				got := st.Render("x")
				indexed, rgb := strings.Contains(got, "8;5;"), strings.Contains(got, "8;2;")
				var pen text.Pen
				pen.Scan(strings.TrimSuffix(got, "\x1b[0m"))
				if level == None && (pen.Fg != 0 || pen.Bg != 0) || indexed && level != Indexed || rgb && level != True {
					t.Errorf("%s at level %v: %s renders as %q", name, level, field, got)
				}
			})
		}
	}
}

func TestWithoutColourStatesStillDiffer(t *testing.T) {
	s := styles(t, "hermes", None, true)
	for _, pair := range [][2]lipgloss.Style{
		{s.Selection, s.Text},
		{s.SelectionBlur, s.Text},
		{s.Selection, s.SelectionBlur},
		{s.BorderFocus, s.Border},
		{s.Match, s.Text},
		{s.Bad, s.Good},
		{s.Key, s.Hint},
		{s.User, s.Text},
		{s.DiffAddMark, s.DiffAdd},
	} {
		if a, b := pair[0].Render("x"), pair[1].Render("x"); a == b {
			t.Errorf("two styles look alike without colour: %q", a)
		}
	}
}

func TestGlyphsAreOneCell(t *testing.T) {
	for _, g := range []Glyphs{Unicode(), ASCII()} {
		v := reflect.ValueOf(g)
		for i := range v.NumField() {
			all := []string{}
			switch x := v.Field(i).Interface().(type) {
			case string:
				all = append(all, x)
			case []string:
				all = x
			}
			for _, s := range all {
				if text.Width(s) != 1 {
					t.Errorf("%s is %q: %d cells", v.Type().Field(i).Name, s, text.Width(s))
				}
			}
		}
	}
	v := reflect.ValueOf(ASCII())
	for i := range v.NumField() {
		if s, ok := v.Field(i).Interface().(string); ok && (len(s) != 1 || s[0] >= 0x7f) {
			t.Errorf("%s is not ASCII: %q", v.Type().Field(i).Name, s)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want Level
	}{
		{map[string]string{"TERM": "xterm-256color"}, Indexed},
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, True},
		{map[string]string{"TERM": "xterm-kitty"}, True},
		{map[string]string{"TERM": "xterm"}, Basic},
		{map[string]string{"TERM": "dumb", "COLORTERM": "truecolor"}, None},
		{map[string]string{"TERM": "xterm-kitty", "NO_COLOR": "1"}, None},
		{map[string]string{"TERM": "xterm", "NO_COLOR": ""}, Basic},
	} {
		if got := Detect(func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
	env := func(k, v string) func(string) string {
		return func(name string) string {
			if name == k {
				return v
			}
			return ""
		}
	}
	if DarkBackground(env("COLORFGBG", "0;15")) || !DarkBackground(env("COLORFGBG", "15;0")) || !DarkBackground(env("", "")) {
		t.Error("DarkBackground misreads COLORFGBG")
	}
	if !DetectASCII(env("LANG", "C")) || DetectASCII(env("LANG", "de_DE.UTF-8")) || !DetectASCII(env("TERM", "linux")) {
		t.Error("DetectASCII misreads the locale")
	}
}

func TestCanvas(t *testing.T) {
	var want text.Pen
	want.Scan("\x1b[38;2;216;222;233;48;2;46;52;64m")
	if got := styles(t, "fjord", True, false).Canvas(); got != want {
		t.Errorf("a painted theme has the canvas %+v", got)
	}
	for name, level := range map[string]Level{"fjord": Basic, "hermes": True} {
		if got := styles(t, name, level, false).Canvas(); got != (text.Pen{}) {
			t.Errorf("%s at %v paints %+v", name, level, got)
		}
	}
}
