package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBufferLinesDoNotDependOnChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "宽", "\n", "\r", "\r\n", "\t", "\x1b[31m", "\x1b]0;x\a", "\x00", "\xff", "end"}), 0, 60).Draw(t, "parts")
		all := strings.Join(parts, "")
		var whole, split buffer
		whole.writeRaw([]byte(all))
		for rest := []byte(all); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			split.writeRaw(rest[:n])
			rest = rest[n:]
		}
		if whole.endNumber() != split.endNumber() {
			t.Fatalf("%d lines at once, %d in pieces", whole.endNumber(), split.endNumber())
		}
		for n := whole.first; n < whole.endNumber(); n++ {
			if a, b := whole.line(n), split.line(n); a != b {
				t.Fatalf("line %d: %q at once, %q in pieces", n, a, b)
			}
		}
	})
}

func TestBufferStaysBounded(t *testing.T) {
	var b buffer
	flood := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	for range 1000 {
		b.writeRaw(flood) // 64 MB without one newline
	}
	if b.size > 2*maxBytes || len(b.partial) > maxPartial+len(flood) {
		t.Fatalf("keeps %d bytes of lines and %d of an open line", b.size, len(b.partial))
	}
	for i := range 100_000 {
		b.writeRaw(fmt.Appendf(nil, "line %d\n", i))
	}
	if len(b.lines) > maxLines+maxLines/4 {
		t.Fatalf("keeps %d lines", len(b.lines))
	}
	if got := b.line(b.endNumber() - 1); got != "line 99999" {
		t.Fatalf("newest line is %q", got)
	}
	if b.first == 0 {
		t.Fatal("old lines were dropped, yet numbering starts at 0")
	}
}

func TestCarriageReturnShowsTheNewest(t *testing.T) {
	var b buffer
	b.writeRaw([]byte("10%\r50%\r100%\ndone\r\n"))
	if b.line(0) != "100%" || b.line(1) != "done" {
		t.Fatalf("got %q and %q", b.line(0), b.line(1))
	}
}

func FuzzBuffer(f *testing.F) {
	f.Add([]byte("a\r\nb\x1b[2J\x1b[31mred\n\xf0\x9f"))
	f.Add([]byte("\x1b]52;c;aGk=\a\x9b31m\u202e"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b buffer
		b.writeRaw(data)
		for n := b.first; n < b.endNumber(); n++ {
			line := b.line(n)
			for i := 0; i < len(line); i++ {
				if c := line[i]; c < 0x20 && c != 0x1b || c == 0x7f {
					t.Fatalf("control byte %#x survives in %q", c, line)
				}
			}
			if i := strings.Index(line, "\x1b"); i >= 0 && !strings.HasPrefix(line[i:], "\x1b[") {
				t.Fatalf("an escape that is no colour survives in %q", line)
			}
		}
	})
}
