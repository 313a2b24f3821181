package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unicode/utf8"
)

const maxFile = 1 << 20 // bytes of config.yaml or .env

// readFile returns the text of a settings file without a byte order mark. A file that is not there
// is no problem and gives nil. Bytes that are not UTF-8 are replaced, and named in a problem.
func readFile(path, name string) ([]byte, []Problem) {
	fail := func(why, fix string) ([]byte, []Problem) {
		return nil, []Problem{{File: name, Why: why, Fix: fix}}
	}
	info, err := os.Stat(path)
	if _, link := os.Readlink(path); errors.Is(err, fs.ErrNotExist) && link == nil {
		return fail("is a link to nothing", "make what it leads to, or remove "+path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return fail("cannot be read: "+plainError(err), "check "+path)
	case info.IsDir():
		return fail("is a folder, not a file", "move "+path+" away")
	case !info.Mode().IsRegular():
		return fail("is not a plain file", "move "+path+" away")
	case info.Size() > maxFile:
		return fail(fmt.Sprintf("is too large (%d bytes)", info.Size()), fmt.Sprintf("the most is %d bytes", maxFile))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fail("cannot be read: "+plainError(err), "check the permissions of "+path)
	}
	return decodeText(data, name)
}

func decodeText(data []byte, name string) ([]byte, []Problem) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, []Problem{{File: name, Line: 1, Column: 1, Why: "is UTF-16 text", Fix: "save it as UTF-8"}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if utf8.Valid(data) {
		return data, nil
	}
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	problem := Problem{
		File: name, Line: 1 + bytes.Count(data[:at], []byte("\n")), Column: 1 + utf8.RuneCount(data[start:at]),
		Text: string(data[at : at+1]), Why: "not UTF-8 text:", Fix: "save the file as UTF-8",
	}
	return bytes.ToValidUTF8(data, []byte("\ufffd")), []Problem{problem}
}

// plainError is the cause without the operation and the path, which the caller says in its own
// words.
func plainError(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
