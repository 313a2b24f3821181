package base

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// EachLine hands over the lines of r without their ends. Of one with more than most bytes it hands
// over the beginning, and says that it is not whole: one bad line spoils no other.
func EachLine(r io.Reader, most int, do func(line []byte, whole bool) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	size := 0 // of the line, as far as it is read
	for {
		part, err := in.ReadSlice('\n')
		ended := err == nil
		part = bytes.TrimSuffix(part, []byte("\n"))
		size += len(part)
		line = append(line, part[:min(len(part), most-len(line))]...)
		if ended || errors.Is(err, io.EOF) && size > 0 {
			if doErr := do(bytes.TrimSuffix(line, []byte("\r")), size <= most); doErr != nil {
				return doErr
			}
			line, size = line[:0], 0
		}
		switch {
		case ended, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}
