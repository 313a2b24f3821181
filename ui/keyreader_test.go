package ui

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNoReadEndsInsideOfACharacter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("a容é🚀日\x1b[")), 1, 400, -1).Draw(rt, "text")
		src := io.Reader(bytes.NewReader([]byte(text)))
		if rapid.Bool().Draw(rt, "slow") {
			src = iotest.OneByteReader(src)
		}
		w := &wholeKeys{read: src.Read}
		var got []byte
		buf := make([]byte, rapid.IntRange(8, 64).Draw(rt, "size"))
		for {
			n, err := w.Read(buf)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || !utf8.Valid(buf[:n]) {
				rt.Fatalf("%q, %v", buf[:n], err)
			}
			got = append(got, buf[:n]...)
		}
		got = append(got, w.held...) // an escape at the end of a full read may begin a paste
		if string(got) != text {
			rt.Fatalf("%q became %q", text, got)
		}
	})
}

// An escape that fills a read may begin a paste. It is a key when nothing follows.
func TestALastEscapeThatFillsAReadIsNotLost(t *testing.T) {
	w := &wholeKeys{read: bytes.NewReader([]byte("1234567\x1b")).Read}
	var got []byte
	for buf := make([]byte, 8); ; {
		n, err := w.Read(buf)
		if got = append(got, buf[:n]...); err != nil {
			break
		}
	}
	if string(got) != "1234567\x1b" {
		t.Errorf("%q", got)
	}
}

func TestWhatIsNoUTF8IsNotHeldForEver(t *testing.T) {
	w := &wholeKeys{read: bytes.NewReader([]byte("a\xe9b\x80\x80\x80\x80")).Read}
	got, err := io.ReadAll(struct{ io.Reader }{w})
	if err != nil || string(got) != "a\xe9b\x80\x80\x80\x80" {
		t.Errorf("%q %v", got, err)
	}
}

// A terminal that is gone ends the program, also where no signal tells of it.
func TestTheEndOfTheKeysIsAnError(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out.Close()
	if _, err := wholeCharacters(in).Read(make([]byte, 10)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%v would be taken for the end of the input only", err)
	}
}
