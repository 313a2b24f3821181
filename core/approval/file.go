package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// File keeps rules in a JSON file that only its owner can read. It is read again at every use, because questions are
// rare and another workbench may have written it.
type File struct {
	path string
	mu   sync.Mutex
}

// NewFile returns the rules in path; the file appears with the first rule.
func NewFile(path string) *File { return &File{path: path} }

type document struct {
	Version int    `json:"version"`
	Allowed []Rule `json:"allowed"`
}

// Has implements Rules.
func (f *File) Has(r Rule) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.read()
	return slices.Contains(doc.Allowed, r), err
}

// Add implements Rules. The file is replaced as a whole, so that a crash leaves the old one or the new one.
func (f *File) Add(r Rule) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.read()
	if err != nil || slices.Contains(doc.Allowed, r) {
		return err
	}
	doc.Allowed = append(doc.Allowed, r)
	doc.Version = 1
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return replace(f.path, append(b, '\n'))
}

func (f *File) read() (document, error) {
	var doc document
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err != nil {
		return doc, fmt.Errorf("cannot read what was always allowed, so it is asked again: %w", err)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return document{}, fmt.Errorf("%s is not valid JSON, so what it allows is asked again; mend or delete it: %w", f.path, err)
	}
	return doc, nil
}

func replace(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".approvals-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("cannot remember what is always allowed: %w", err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone already when all went well
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot remember what is always allowed: %w", err)
	}
	return nil
}
