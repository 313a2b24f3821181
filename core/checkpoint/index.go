package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hermes/core/atomicfile"
	"hermes/core/realpath"
)

// index is what the last scan of a work tree found, so that the next one reads only what changed.
// It also keeps the contents of that scan in the store.
type index struct {
	Root Path         `json:"root"`
	At   time.Time    `json:"at"` // before any file was read
	List []indexEntry `json:"list"`

	byPath map[Path]*indexEntry
}

type indexEntry struct {
	Path  Path          `json:"path"`
	Hash  string        `json:"sha256"`
	State realpath.Stat `json:"stat"`
}

// settled is how long before a scan a file must have been left alone for its times to tell of any
// later change: file systems count time in steps.
const settled = 2 * time.Second

func (s *Store) indexPath(root string) string {
	return filepath.Join(s.o.Dir, "trees", hashOf([]byte(root))[:32])
}

func (s *Store) loadIndex(root string) *index {
	x, err := s.readIndex(s.indexPath(root))
	if err != nil || string(x.Root) != root {
		return &index{}
	}
	x.byPath = make(map[Path]*indexEntry, len(x.List))
	for i := range x.List {
		x.byPath[x.List[i].Path] = &x.List[i]
	}
	return x
}

func (s *Store) readIndex(path string) (*index, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec, err := s.blobs.dec()
	if err != nil {
		return nil, err
	}
	data, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	x := &index{}
	if err := json.Unmarshal(data, x); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

func (s *Store) saveIndex(root string, at time.Time, m *manifest) error {
	x := index{Root: Path(root), At: at}
	for _, e := range m.Entries {
		if e.State.Kind == Regular && e.State.Hash != "" {
			x.List = append(x.List, indexEntry{e.Path, e.State.Hash, e.stat})
		}
	}
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	enc, err := s.blobs.enc()
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Write(s.indexPath(root), enc.EncodeAll(data, nil), 0o600))
}

// fillFromIndex completes an entry from the index, if the file was not touched since.
func (x *index) fillFromIndex(e *entry) bool {
	k := x.byPath[e.Path]
	if k == nil || k.State != e.stat || x.At.UnixNano()-e.stat.Ctime < int64(settled) {
		return false
	}
	e.State.Hash = k.Hash
	return true
}
