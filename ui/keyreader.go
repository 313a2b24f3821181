package ui

import (
	"errors"
	"io"
	"os"
	"unicode/utf8"
)

// wholeKeys reads from a terminal so that no read ends inside of a character. bubbletea reads 256
// bytes at a time and drops what is left of a character on either side. What is pasted is taken
// out, see pastes.
type wholeKeys struct {
	*os.File
	read func([]byte) (int, error)
	held []byte // the beginning of a character, or of an answer, whose rest has not come yet

	answer backgroundAnswer
	pastes pastes
}

// wholeCharacters makes in a reader of whole characters, if it is a file.
func wholeCharacters(in io.Reader) io.Reader {
	if f, ok := in.(*os.File); ok {
		return &wholeKeys{File: f, read: readTerminal(f)}
	}
	return in
}

// errHungUp ends the program: bubbletea would go on without keys at the end of its input. Without a
// controlling terminal no SIGHUP says that the terminal is gone.
var errHungUp = errors.New("the terminal is gone")

func readTerminal(f *os.File) func([]byte) (int, error) {
	return func(p []byte) (int, error) {
		n, err := f.Read(p)
		if errors.Is(err, io.EOF) {
			err = errHungUp
		}
		return n, err
	}
}

// Read implements io.Reader. It returns 0 bytes when only a part of a character is there: the
// caller waits for more, and may be cancelled while it does.
func (w *wholeKeys) Read(p []byte) (int, error) {
	n, room := copy(p, w.held), len(p)
	if w.pastes.inside {
		room -= len(pasteEnds)
	}
	got, err := w.read(p[n:room])
	if n > 0 && (errors.Is(err, io.EOF) || errors.Is(err, errHungUp)) { // nothing more comes: what was held is what it is
		w.held = w.held[:0]
		return n, nil
	}
	if err != nil {
		return got, err
	}
	left, begun := w.pastes.takeFrom(p[:n+got], n+got == room)
	n, open := w.answer.takeFrom(p[:copy(p, left)]) // of the keys: what is pasted is no answer
	w.held = append(w.held[:0], p[n-max(open, begun, incompleteBytes(p[:n])):n]...)
	return n - len(w.held), nil
}

// incompleteBytes is how many bytes at the end of b are the beginning of a character that is not
// complete.
func incompleteBytes(b []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(b); k++ {
		if c := b[len(b)-k]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-k:]) {
				return k
			}
			return 0
		}
	}
	return 0
}
