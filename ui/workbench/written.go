package workbench

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"
)

// written are the files that were exported in this run, by what is in them: a person can take an
// export back, and a file that somebody has changed since is theirs.
type written struct {
	mu    sync.Mutex
	files map[string][sha256.Size]byte
}

func (w *written) noteWritten(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return // then it cannot be taken back
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files == nil {
		w.files = map[string][sha256.Size]byte{}
	}
	w.files[path] = sha256.Sum256(data)
}

// removeWritten takes a file away that was exported in this run and is as it was written.
func (w *written) removeWritten(path string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum, ours := w.files[path]
	if !ours {
		return fmt.Errorf("%s was not written by this hermes", path)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if sha256.Sum256(data) != sum {
		return fmt.Errorf("%s was changed since: it stays", path)
	}
	delete(w.files, path)
	return os.Remove(path)
}
