package themes

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
)

func TestEveryBuiltinIsCompleteAndReadable(t *testing.T) {
	light := 0
	for _, name := range Builtin() {
		data, err := builtin.ReadFile("palettes/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		th, err := parsePalette(name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, tok := range th.Colours.listTokens() {
			if *tok.value == "" {
				t.Errorf("%s has no %s", name, tok.name)
			}
		}
		if !th.Dark {
			light++
		}
		c := th.Colours
		for _, pair := range []struct {
			what, fg, bg string
			atLeast      float64
		}{
			{"text", c.Text, c.Background, 5.5},
			{"dim", c.Dim, c.Background, 4},
			{"accent", c.Accent, c.Background, 4.2},
			{"good", c.Good, c.Background, 4.2},
			{"warn", c.Warn, c.Background, 4.2},
			{"bad", c.Bad, c.Background, 4.2},
			{"info", c.Info, c.Background, 4.2},
			{"user", c.User, c.Background, 4.2},
			{"assistant", c.Assistant, c.Background, 4.2},
			{"code", c.Code, c.CodeBack, 4.5},
			{"selection", c.SelectionText, c.Selection, 4.5},
			{"match", c.MatchText, c.Match, 4.5},
			{"add", c.Add, c.AddBack, 4.5},
			{"del", c.Del, c.DelBack, 4.5},
			{"add mark", c.Add, c.AddMark, 3},
			{"del mark", c.Del, c.DelMark, 3},
		} {
			if got := contrast(pair.fg, pair.bg); got < pair.atLeast {
				t.Errorf("%s: contrast of %s is %.2f, want %.1f", name, pair.what, got, pair.atLeast)
			}
		}
	}
	if len(Builtin()) < 8 || light < 2 {
		t.Errorf("%d themes, %d light", len(Builtin()), light)
	}
}

func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestProblemsSayWhereAndWhatWasMeant(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"name: x\ncolours:\n  acent: \"#112233\"\n", `x.yaml:3:3: unknown colour "acent", did you mean "accent"?`},
		{"name: x\ncolours:\n  accent: red\n", `x.yaml:3:11: colour accent: "red" is not of the form "#rrggbb"`},
		{"name: x\ncolours:\n  accent: #112233\n", `an unquoted # starts a comment`},
		{"name: x\ndarc: true\n", `x.yaml:2:1: unknown key "darc", did you mean "dark"?`},
		{"name: x\ndark: yep\n", `x.yaml:2:7: true or false is wanted here, not "yep"`},
		{"name: x\ndark: true\ndark: false\n", `x.yaml:3:1: "dark" stands in line 2 already`},
		{"name: y\n", `name is "y", but the file is called x.yaml`},
		{"dark: true\n", "name is missing"},
		{"- a\n", "a theme is a mapping"},
		{"name: x\n\tdark: true", "x.yaml: "},
		{"name: x\nbase: nosuch\n", `there is no theme "nosuch"`},
		{"name: x\nbase: x\n", "its own base"},
	} {
		dir := t.TempDir()
		write(t, dir, "x", tt.in)
		if _, err := Load("x", dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q gives %v, want %s", tt.in, err, tt.want)
		}
	}
}

func write(t *testing.T, dir, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFewLinesMakeATheme(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "mine", "name: mine\nbase: fjord\ndark: true\ncolors:\n  accent: \"#AABBCC\"\n")
	th, err := Load("mine", dir)
	if err != nil {
		t.Fatal(err)
	}
	fjord, err := Load("fjord")
	if err != nil {
		t.Fatal(err)
	}
	if th.Colours.Accent != "#aabbcc" || th.Colours.Text != fjord.Colours.Text || th.Chroma != fjord.Chroma {
		t.Errorf("%+v", th)
	}
	write(t, dir, "a", "name: a\nbase: b\n")
	write(t, dir, "b", "name: b\nbase: a\n")
	if _, err := Load("a", dir); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("a circle of bases: %v", err)
	}
	if _, err := Load("../hermes", dir); err == nil {
		t.Error("a name must not leave the folder")
	}
	if _, err := Load("hermis"); err == nil || !strings.Contains(err.Error(), `did you mean "hermes"?`) {
		t.Errorf("%v", err)
	}
}

func TestWatchTellsOfEdits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ready", "name: ready\n")
	ctx, cancel := context.WithCancel(t.Context())
	names, done := make(chan string, 64), make(chan error, 1)
	go func() { done <- Watch(ctx, dir, func(n string) { names <- n }) }()
	// The watcher has no signal of its own: write until it hears.
	deadline := time.After(testwait.Hang)
	for heard := false; !heard; {
		write(t, dir, "mine", "name: mine\n")
		select {
		case n := <-names:
			if n != "mine" {
				t.Fatalf("heard of %q", n)
			}
			heard = true
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			t.Fatal("no word of an edited file")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := Watch(t.Context(), filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there cannot be watched")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: x\ncolours:\n  accent: \"#112233\"\n"))
	f.Add([]byte("name: [x]\ncolours: {a: {}, b}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		th, err := parsePalette("x.yaml", data)
		if err == nil && !validName(th.Name) {
			t.Errorf("a theme called %q", th.Name)
		}
	})
}
