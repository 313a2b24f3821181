package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// monthFile is the file of a month.
func monthFile(dir string, at time.Time) string {
	return filepath.Join(dir, at.UTC().Format("2006-01")+".jsonl")
}

// appendTo writes entries to the file at path, chained to what is there.
func appendTo(path string, entries []Entry) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := lockFile(file); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	last, whole, err := lastLine(file)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if !whole {
		out.WriteByte('\n') // a crash in the middle of a line: it stays as it is, and Verify names it
	}
	prev := hashLine(last)
	for _, e := range entries {
		e.Prev = prev
		line, err := e.encodeLine()
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
		prev = hashLine(line)
	}
	_, err = file.Write(out.Bytes())
	return err
}

func lockFile(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// hashLine is "" of nothing: the first line of a file.
func hashLine(line []byte) string {
	if len(line) == 0 {
		return ""
	}
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:12])
}

// lastLine returns the last line, and whether it is whole.
func lastLine(file *os.File) (line []byte, whole bool, err error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return nil, true, err
	}
	var data []byte
	for at := size; at > 0; {
		step := min(int64(16<<10), at)
		at -= step
		block := make([]byte, step)
		if _, err := file.ReadAt(block, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		data = append(block, data...)
		whole = data[len(data)-1] == '\n'
		if i := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n'); i >= 0 {
			return bytes.TrimSuffix(data[i+1:], []byte("\n")), whole, nil
		}
	}
	return bytes.TrimSuffix(data, []byte("\n")), whole, nil
}
