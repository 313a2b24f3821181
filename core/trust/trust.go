// Package trust remembers what a person said about something that others brought: which content of
// it they trust. Content that changed is not trusted any more.
//
// The contract: a Book is a file that only its owner can read and that several programs may use at
// once. A file that cannot be read trusts nothing.
package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/core/atomicfile"
)

// State is what the person said.
type State string

// Answers of the person.
const (
	Unasked  State = "not trusted"
	Trusted  State = "trusted"
	Refused  State = "refused"
	Outdated State = "changed" // they trusted another content
)

// Book keeps the answers by what they are about: a folder, a name.
type Book struct{ path string }

// New returns the book that a file keeps.
func New(path string) *Book { return &Book{path} }

type answer struct {
	Hash   string    `json:"hash"`
	Denied bool      `json:"denied,omitempty"`
	At     time.Time `json:"at"`
}

// State is what the person said about the content of this hash.
func (b *Book) State(about, hash string) (State, error) {
	answers, err := b.readAnswers()
	if err != nil {
		return Unasked, err
	}
	switch a, ok := answers[about]; {
	case !ok:
		return Unasked, nil
	case a.Hash != hash:
		return Outdated, nil
	case a.Denied:
		return Refused, nil
	default:
		return Trusted, nil
	}
}

// Answer keeps what the person said about content that they were shown.
func (b *Book) Answer(about, hash string, yes bool) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return err
	}
	unlock, err := atomicfile.Lock(b.path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	answers, err := b.readAnswers()
	if err != nil {
		return err
	}
	answers[about] = answer{hash, !yes, time.Now().UTC().Truncate(time.Second)}
	return atomicfile.WriteJSON(b.path, map[string]any{"version": 1, "projects": answers})
}

func (b *Book) readAnswers() (map[string]answer, error) {
	data, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]answer{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what is trusted cannot be read, so nothing is: %w", err)
	}
	var doc struct {
		Projects map[string]answer `json:"projects"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON, so nothing of it is trusted; mend or delete it: %w", b.path, err)
	}
	if doc.Projects == nil {
		doc.Projects = map[string]answer{}
	}
	return doc.Projects, nil
}
