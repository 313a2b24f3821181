package picture

import (
	"bytes"
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
	"hermes/ui/text"
)

func sample(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: 99, A: 255})
		}
	}
	return m
}

// What terminals answer decides, never their name alone, and in tmux only what tmux draws.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		said string
		tmux bool
		want Protocol
	}{
		"kitty":            {"\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.26)\x1b\\\x1b[6;20;10t\x1b[?62;c", false, Kitty},
		"kitty says no":    {"\x1b_Gi=31;ENOTSUPPORTED\x1b\\\x1b[?62;4;c", false, Sixel},
		"iTerm2":           {"\x1bP>|iTerm2 3.5\x1b\\\x1b[?62;4;22c", false, ITerm},
		"xterm with sixel": {"\x1bP>|XTerm(379)\x1b\\\x1b[6;13;6t\x1b[?63;1;2;4;6c", false, Sixel},
		"plain xterm":      {"\x1b[?64;1;2;6;9;14c", false, Blocks},
		"tmux in kitty":    {"\x1b_Gi=31;OK\x1b\\\x1b[?1;2;4c", true, Sixel},
		"old tmux":         {"\x1b[?1;2c", true, Blocks},
		"nothing":          {"", false, Blocks},
		"noise":            {"\x1b[6;99999999;1t\x1b[?;;;c", false, Blocks},
	} {
		best, w, h := Read(c.said, c.tmux)
		if best != c.want {
			t.Errorf("%s: %s, want %s", name, best, c.want)
		}
		if name == "xterm with sixel" && (w != 6 || h != 13) {
			t.Errorf("cell of %dx%d", w, h)
		}
	}
}

// Answers that come in pieces are joined, and a closed terminal ends the wait.
func TestAsk(t *testing.T) {
	keys := make(chan []byte, 3)
	keys <- []byte("\x1b_Gi=31;O")
	keys <- []byte("K\x1b\\\x1b[?6")
	keys <- []byte("2;c")
	var asked bytes.Buffer
	if best, _, _ := Ask(&asked, keys, false); best != Kitty || !strings.HasSuffix(asked.String(), "\x1b[c") {
		t.Errorf("%s after %q", best, asked.String())
	}
	gone := make(chan []byte)
	close(gone)
	began := time.Now()
	if best, _, _ := Ask(&asked, gone, false); best != Blocks || time.Since(began) > testwait.Within(patience) {
		t.Error("a closed terminal is waited for")
	}
}

// Tmux would show the question for kitty's graphics as the title of its window.
func TestTmuxIsNotAskedWhatItTakesForATitle(t *testing.T) {
	keys := make(chan []byte, 1)
	keys <- []byte("\x1b[?1;2;4c")
	var asked bytes.Buffer
	if best, _, _ := Ask(&asked, keys, true); best != Sixel || strings.Contains(asked.String(), "\x1b_") {
		t.Errorf("%s after %q", best, asked.String())
	}
}

func TestFit(t *testing.T) {
	r := Room{Cols: 80, Rows: 20, CellWidth: 10, CellHeight: 20}
	for _, c := range [][4]int{{800, 400, 80, 20}, {100, 100, 10, 5}, {10_000, 10, 80, 1}, {10, 10_000, 1, 20}, {1, 1, 1, 1}, {0, 5, 0, 0}} {
		if cols, rows := r.Fit(c[0], c[1]); cols != c[2] || rows != c[3] {
			t.Errorf("%dx%d: %dx%d", c[0], c[1], cols, rows)
		}
	}
}

// Each protocol writes its own sequences, whole, and half blocks are exactly as wide as they say.
func TestDraw(t *testing.T) {
	room := Room{Cols: 40, Rows: 10}
	for p, want := range map[Protocol][2]string{
		Kitty: {"\x1b_Ga=T,f=100,i=7341,c=", "\x1b\\\r\n"}, ITerm: {"\x1b]1337;File=", "\x07\r\n"}, Sixel: {"\x1bP0;1q", "\x1b\\\r\n"},
		Blocks: {"\x1b[38;2;", "\x1b[0m\r\n"},
	} {
		var out bytes.Buffer
		rows, err := Draw(&out, sample(300, 200), p, room)
		s := out.String()
		if err != nil || rows < 5 || rows > 10 || !strings.HasPrefix(s, want[0]) || !strings.HasSuffix(s, want[1]) {
			t.Errorf("%s: %d rows, %v: %.60q ... %q", p, rows, err, s, s[max(0, len(s)-20):])
		}
		if p == Kitty {
			for _, c := range strings.Split(s, "\x1b_G")[1:] {
				if len(c) > chunk+100 {
					t.Errorf("a command of %d bytes", len(c))
				}
			}
		}
	}
	for _, l := range HalfBlocks(sample(30, 30), 17, 4) {
		if text.Width(l) != 17 {
			t.Errorf("%d cells", text.Width(l))
		}
	}
	if _, err := Draw(&bytes.Buffer{}, sample(3, 3), "smoke", room); err == nil {
		t.Error("an unknown protocol is taken")
	}
	if _, err := Draw(&bytes.Buffer{}, sample(3, 3), Kitty, Room{}); err == nil {
		t.Error("a picture is drawn where there is no room")
	}
}
