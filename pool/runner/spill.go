package runner

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"hermes/core/secret"
)

// maxSpill is how much of an output a file keeps.
const maxSpill = 64 << 20

// spill is the file that gets the whole output of one call. It is made when the first byte is
// written, for its owner only, and never through a link that somebody else put there.
type spill struct {
	path string
	file *os.File
	size int64
	full bool
	err  error

	clean secret.Stream // the file is kept: what goes in is without secrets
}

func newSpill(dir, tag string) *spill {
	if dir == "" {
		return nil
	}
	return &spill{path: filepath.Join(dir, "output-"+tag+".log")}
}

func (s *spill) write(data []byte) { s.writeClean(s.clean.Write(data)) }

func (s *spill) writeClean(data []byte) {
	if len(data) == 0 || s.err != nil || s.full {
		return
	}
	if s.file == nil {
		if s.err = s.createFile(); s.err != nil {
			return
		}
	}
	if room := maxSpill - s.size; int64(len(data)) > room {
		data, s.full = data[:room], true
	}
	var n int
	n, s.err = s.file.Write(data)
	s.size += int64(n)
}

func (s *spill) createFile() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	s.file = f
	return err
}

// isCut says whether the file lacks some of the output; call it after close.
func (s *spill) isCut() bool { return s != nil && (s.full || s.err != nil) }

// close returns the file's path, "" when there is none, and warnings with what went wrong added.
func (s *spill) close(warnings []string) (string, []string) {
	if s == nil {
		return "", warnings
	}
	s.writeClean(s.clean.Flush())
	if s.err != nil {
		warnings = append(warnings, fmt.Sprintf("the full output could not be kept: %v", s.err))
	}
	if s.file == nil {
		return "", warnings
	}
	_ = s.file.Close()
	if s.full {
		warnings = append(warnings, fmt.Sprintf("%s holds only the first %d MB of the output", s.path, maxSpill>>20))
	}
	return s.path, warnings
}
