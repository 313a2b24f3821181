package screen_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hermes/ui/screen"
	"hermes/ui/text"
	"hermes/ui/uitest/vt"
)

var pieces = []string{
	"a", "b", "word", " ", "          ", "│", "容", "器", "👩‍👩‍👧", "❤️", "e\u0301", "\x1b[31m", "\x1b[m", "\x1b[1;48;5;20m", "\x1b[7m", "\x1b[38;2;9;8;7m",
}

// frames draws frames that differ from their predecessor in a few lines, as real ones do.
func frames(t *rapid.T, w, h int) []string {
	line := rapid.Custom(func(t *rapid.T) string {
		return text.Fit(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "line"), ""), w)
	})
	lines := make([]string, h)
	for y := range lines {
		lines[y] = line.Draw(t, "first")
	}
	var out []string
	for range rapid.IntRange(1, 8).Draw(t, "frames") {
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			lines[rapid.IntRange(0, h-1).Draw(t, "y")] = line.Draw(t, "line")
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return out
}

func TestTerminalShowsTheFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 6).Draw(t, "h")
		canvas := text.Pen{}
		if rapid.Bool().Draw(t, "painted") {
			canvas.Scan("\x1b[38;2;1;1;1;48;2;250;250;250m")
		}
		term := vt.New(w, h)
		s := screen.New(term)
		s.SetCanvas(canvas)
		s.Resize(w, h)
		if err := s.Enter(); err != nil {
			t.Fatal(err)
		}
		for _, frame := range frames(t, w, h) {
			cur := screen.Cursor{X: rapid.IntRange(-1, w).Draw(t, "x"), Y: 0, Show: rapid.Bool().Draw(t, "show")}
			if rapid.IntRange(0, 9).Draw(t, "again") == 0 {
				s.Invalidate()
			}
			if _, err := s.Paint(frame, cur); err != nil {
				t.Fatal(err)
			}
			check(t, term, frame, canvas)
			x, y, shown := term.Cursor()
			want := cur.Show && cur.X >= 0 && cur.X < w
			if shown != want || shown && (x != cur.X || y != cur.Y) {
				t.Fatalf("the cursor is at %d,%d (%v), want %+v", x, y, shown, cur)
			}
			if n, _ := s.Paint(frame, cur); n != 0 {
				t.Fatalf("the same frame again wrote %d bytes", n)
			}
		}
	})
}

// check compares the picture with the frame, cell by cell.
func check(t *rapid.T, term *vt.Terminal, frame string, canvas text.Pen) {
	if f := term.Stats().Faults; len(f) > 0 {
		t.Fatalf("the terminal did not understand: %v", f)
	}
	rows := term.Rows()
	for y, line := range strings.Split(frame, "\n") {
		var pen text.Pen
		x := 0
		for line != "" {
			if line[0] == 0x1b {
				n := text.Sequence(line)
				pen.Scan(line[:n])
				line = line[n:]
				continue
			}
			c, width := text.Cluster(line)
			line = line[len(c):]
			want := pen
			if want.Fg == 0 {
				want.Fg = canvas.Fg
			}
			if want.Bg == 0 {
				want.Bg = canvas.Bg
			}
			got := rows[y][x]
			if c == " " { // blanks may be erased instead of written: only what can be seen counts
				if got.Text != " " || got.Pen.Bg != want.Bg || (got.Pen.Attr^want.Attr)&(text.Reverse|text.Underline|text.Strike) != 0 {
					t.Fatalf("cell %d,%d is %+v, want a blank in %+v", x, y, got, want)
				}
			} else if got.Text != c || got.Pen != want {
				t.Fatalf("cell %d,%d is %+v, want %q in %+v\n%s", x, y, got, c, want, term.Text())
			}
			x += width
		}
	}
}

func TestAKeyCostsAFewBytes(t *testing.T) {
	term := vt.New(120, 40)
	s := screen.New(term)
	s.Resize(120, 40)
	before, after := picture(0, ""), picture(0, "h")
	paint(t, s, before, screen.Cursor{X: 5, Y: 39, Show: true})
	if n := paint(t, s, after, screen.Cursor{X: 6, Y: 39, Show: true}); n > 12 {
		t.Errorf("one typed character wrote %d bytes", n)
	}
	if n := paint(t, s, after, screen.Cursor{X: 6, Y: 39, Show: true}); n != 0 {
		t.Errorf("an unchanged frame wrote %d bytes", n)
	}
}

func TestOneFrameIsOneWriteInsideASynchronizedUpdate(t *testing.T) {
	var out strings.Builder
	s := screen.New(&out)
	s.Resize(120, 40)
	paint(t, s, picture(0, ""), screen.Cursor{})
	if got := out.String(); !strings.HasPrefix(got, "\x1b[?2026h") || !strings.HasSuffix(got, "\x1b[?2026l") {
		t.Errorf("%q ... %q", got[:20], got[len(got)-20:])
	}
}

func TestEnterAndLeaveAreInverse(t *testing.T) {
	term := vt.New(20, 5)
	s := screen.New(term)
	modes := []string{"1049", "7", "25", "2004", "1004", "1002", "1006", "2026"}
	before := map[string]bool{}
	for _, m := range modes {
		before[m] = term.Mode(m)
	}
	for range 2 {
		if err := s.Enter(); err != nil {
			t.Fatal(err)
		}
		if !term.Mode("1049") || !term.Mode("1006") || !term.Mode("2004") || term.Mode("25") {
			t.Fatal("Enter did not switch the terminal over")
		}
		s.Resize(20, 5)
		paint(t, s, "hello", screen.Cursor{Show: true})
		if err := s.Leave(); err != nil {
			t.Fatal(err)
		}
		for _, m := range modes {
			if term.Mode(m) != before[m] {
				t.Errorf("mode %s is %v after Leave", m, term.Mode(m))
			}
		}
	}
	if err := errors.Join(s.SetMouse(false), s.Enter()); err != nil || term.Mode("1002") {
		t.Errorf("a switched-off mouse came back: %v", err)
	}
}

func paint(t testing.TB, s *screen.Screen, frame string, cur screen.Cursor) int {
	t.Helper()
	n, err := s.Paint(frame, cur)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// picture is a frame of 120x40 with four styled columns, and typed at the start of the last line.
func picture(n int, typed string) string {
	var b strings.Builder
	for y := range 40 {
		if y > 0 {
			b.WriteByte('\n')
		}
		if y == 39 {
			b.WriteString(text.Fit("\x1b[1m❯\x1b[m    "+typed, 120))
			continue
		}
		for range 4 {
			b.WriteString(text.Fit(fmt.Sprintf("\x1b[38;2;70;80;90m│\x1b[m text %d of \x1b[1mline\x1b[m %02d 容", n, y), 30))
		}
	}
	return b.String()
}

func BenchmarkPaint120x40(b *testing.B) {
	for _, bm := range []struct {
		name string
		next func(i int) string
	}{
		{"same", func(int) string { return "" }},
		{"key", func(i int) string { return []string{"x", "xy"}[i%2] }},
		{"all", nil},
	} {
		b.Run(bm.name, func(b *testing.B) {
			s := screen.New(io.Discard)
			s.Resize(120, 40)
			var two [2]string
			for i := range two {
				if bm.next == nil {
					two[i] = picture(i, "")
				} else {
					two[i] = picture(0, bm.next(i))
				}
			}
			paint(b, s, two[0], screen.Cursor{})
			b.ReportAllocs()
			bytes := 0
			for i := 0; b.Loop(); i++ {
				bytes += paint(b, s, two[(i+1)%2], screen.Cursor{X: 3, Y: 39, Show: true})
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "bytes/frame")
		})
	}
}
