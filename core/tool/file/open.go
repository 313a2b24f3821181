package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"hermes/core/files"
	"hermes/core/realpath"
)

var errBinary = errors.New("it is a binary file")

// snapshot is a file as it was. A nil snapshot means that there was none.
type snapshot struct {
	data []byte
	stat realpath.Stat
}

// readSnapshot reads a whole file. A file that does not exist is (nil, nil).
func readSnapshot(ctx context.Context, at place) (*snapshot, error) {
	f, st, err := at.room.Files.Open(ctx, at.real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, files.Reason(err)
	}
	defer f.Close()
	if st.Size > files.MaxWrite {
		return nil, fmt.Errorf("it has %d bytes; files of up to %d MB are changed here", st.Size, files.MaxWrite>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, files.MaxWrite+1))
	if err != nil {
		return nil, files.Reason(err)
	}
	return &snapshot{data, st}, nil
}

// isBinary reports whether data, the start of a file, is no text.
func isBinary(data []byte) bool {
	data = data[:min(len(data), 8192)]
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	odd := 0
	for len(data) > 0 {
		r, w := utf8.DecodeRune(data)
		if r == utf8.RuneError && w == 1 && len(data) >= utf8.UTFMax || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != 0x1b {
			odd++
		}
		data = data[w:]
	}
	return odd > 800
}

const bom = "\ufeff"

// text is a decoded file: line ends are "\n" and there is no byte order mark; encode brings both
// back.
type text struct {
	body string
	bom  bool
	crlf bool // every line ended in "\r\n"
}

func decodeText(data []byte) (text, error) {
	if isBinary(data) {
		return text{}, errBinary
	}
	var t text
	s := string(data)
	if len(s) >= len(bom) && s[:len(bom)] == bom {
		t.bom, s = true, s[len(bom):]
	}
	if n := bytes.Count(data, []byte("\n")); n > 0 && n == bytes.Count(data, []byte("\r\n")) && n == bytes.Count(data, []byte("\r")) {
		t.crlf, s = true, unixNewlines(s)
	}
	t.body = s
	return t, nil
}

// unixNewlines turns "\r\n" into "\n".
func unixNewlines(s string) string {
	return string(bytes.ReplaceAll([]byte(s), []byte("\r\n"), []byte("\n")))
}

// encodeBody writes body the way the file was.
func (t text) encodeBody(body string) []byte {
	out := []byte(body)
	if t.crlf {
		out = bytes.ReplaceAll([]byte(unixNewlines(body)), []byte("\n"), []byte("\r\n"))
	}
	if t.bom && !bytes.HasPrefix(out, []byte(bom)) {
		out = append([]byte(bom), out...)
	}
	return out
}
