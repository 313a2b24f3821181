package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"hermes/core/atomicfile"
	"hermes/core/event"
)

// File keeps rules in a JSON file that only its owner can read. It is read again at every use,
// because questions are rare and another workbench may have written it.
type File struct {
	path string
	mu   sync.Mutex
}

// NewFile returns the rules in path; the file appears with the first rule.
func NewFile(path string) *File { return &File{path: path} }

type document struct {
	Version int     `json:"version"`
	Allowed []Entry `json:"allowed"`
}

// maxEntries bounds the file; the oldest go first.
const maxEntries = 1000

// Entries implements Rules.
func (f *File) Entries() ([]Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.readDocument()
	return doc.Allowed, err
}

// Add implements Rules. The file is replaced as a whole, so that a crash leaves the old one or the
// new one. What has expired goes.
func (f *File) Add(e Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.readDocument()
	if err != nil {
		return err
	}
	e.ID = e.id()
	doc.Allowed = slices.DeleteFunc(doc.Allowed, func(x Entry) bool { return x.ID == e.ID || x.Expired(e.Added) })
	doc.Allowed = append(doc.Allowed, e)
	if over := len(doc.Allowed) - maxEntries; over > 0 {
		doc.Allowed = doc.Allowed[over:]
	}
	return f.writeDocument(doc)
}

// Revoke implements Rules.
func (f *File) Revoke(all bool, ids ...string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc, err := f.readDocument()
	if err != nil {
		return 0, err
	}
	before := len(doc.Allowed)
	doc.Allowed = slices.DeleteFunc(doc.Allowed, func(e Entry) bool { return all || slices.Contains(ids, e.ID) })
	gone := before - len(doc.Allowed)
	if !all && gone < len(ids) && gone == 0 {
		return 0, fmt.Errorf("no remembered approval has the id %s; `hermes approvals list` shows them", strings.Join(ids, ", "))
	}
	if gone == 0 {
		return 0, nil
	}
	return gone, f.writeDocument(doc)
}

func (f *File) writeDocument(doc document) error {
	doc.Version = 2
	if err := atomicfile.WriteJSON(f.path, doc); err != nil {
		return fmt.Errorf("cannot remember what is always allowed: %w", err)
	}
	return nil
}

func (f *File) readDocument() (document, error) {
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
	for i := range doc.Allowed { // version 1 had neither ids nor scopes
		e := &doc.Allowed[i]
		e.ID = e.id()
		if e.Scope == "" {
			e.Scope = event.DecisionProject
		}
	}
	return doc, nil
}
