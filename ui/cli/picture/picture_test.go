package picture

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"hermes/ui/cli/base"
)

// terminal is the far side of a pseudo-terminal: what was written to it, up to a mark.
type terminal struct {
	t    *testing.T
	far  *os.File
	said bytes.Buffer
}

// until reads until mark was written, and returns what came since the last one.
func (x *terminal) until(mark string) string {
	x.t.Helper()
	b := make([]byte, 4096)
	for !strings.Contains(x.said.String(), mark) {
		n, err := x.far.Read(b)
		if err != nil {
			x.t.Fatalf("%v before %q in %.200q", err, mark, x.said.String())
		}
		x.said.Write(b[:n])
	}
	before, after, _ := strings.Cut(x.said.String(), mark)
	x.said.Reset()
	x.said.WriteString(after)
	return before
}

// A picture on the whole screen is drawn anew when the terminal has another size, as large as it
// fits then; nothing of it is left, neither of the old size nor at the end.
func TestAPictureFollowsTheSizeOfTheTerminal(t *testing.T) {
	far, near, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	defer near.Close()
	resize := func(cols, rows uint16) {
		if err := pty.Setsize(far, &pty.Winsize{Cols: cols, Rows: rows, X: cols * 8, Y: rows * 16}); err != nil {
			t.Fatal(err)
		}
	}
	resize(80, 24)
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewRGBA(image.Rect(0, 0, 640, 320))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(file, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := Command(&base.Command{Streams: base.Streams{In: near, Out: near, Err: near}, Env: []string{}})
	cmd.SetArgs([]string{"--wait", file})
	done := make(chan error, 1)
	go func() { done <- cmd.Execute() }()

	const shown, gone = "\x1b_Ga=T,f=100,i=7341,", "\x1b_Ga=d,d=I,i=7341,q=2\x1b\\"
	x := &terminal{t: t, far: far}
	x.until("\x1b[c")
	if _, err := far.WriteString("\x1b_Gi=31;OK\x1b\\\x1b[?62;c"); err != nil {
		t.Fatal(err)
	}
	x.until("\x1b[H\x1b[2J" + shown)
	if s := x.until("any key goes back"); !strings.HasPrefix(s, "c=80,r=20,") {
		t.Errorf("at 80x24: %.40q", s)
	}
	resize(40, 12)
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if s := x.until("\x1b[H\x1b[2J" + shown); !strings.Contains(s, gone) {
		t.Errorf("the old picture stays: %q", s)
	}
	if s := x.until("any key goes back"); !strings.HasPrefix(s, "c=40,r=10,") {
		t.Errorf("at 40x12: %.40q", s)
	}
	if _, err := far.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if s := x.until("\x1b[?1049l"); !strings.Contains(s, gone) {
		t.Errorf("the picture stays at the end: %q", s)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
