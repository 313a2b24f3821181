package atomicfile

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReadPlain reads a file of at most so many bytes that somebody else may have put there. A link, a
// device, a pipe or a larger file is an error, and is not read: a folder that a person has only
// cloned cannot hold the program up, or have it read another file.
func ReadPlain(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is no plain file of at most %d KiB: it is not read", name, most>>10)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s grew beyond %d KiB while it was read", name, most>>10)
	}
	return data, err
}
