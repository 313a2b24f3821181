package checkpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/core/atomicfile"
	"hermes/core/realpath"
)

const version = 1

// What a record is about.
const (
	Turn = "turn"
	Undo = "undo"
)

// Path is bytes, as paths are. In JSON it is text, or {"base64": ...} when it is none.
type Path string

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(p))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*p = Path(s)
		return nil
	}
	var raw struct {
		Base64 []byte `json:"base64"`
	}
	err := json.Unmarshal(data, &raw)
	*p = Path(raw.Base64)
	return err
}

// Kind is what stands at a path.
type Kind string

// The kinds. Other is a device, a pipe or a socket: it is never touched. Unknown could not be
// looked at.
const (
	None    Kind = "none"
	Regular Kind = "file"
	Folder  Kind = "dir"
	Link    Kind = "link"
	Other   Kind = "other"
	Unknown Kind = "unknown"
)

// State is a path at one moment.
type State struct {
	Kind   Kind   `json:"kind"`
	Mode   uint32 `json:"mode,omitempty"` // 0o7777
	Size   int64  `json:"size,omitempty"`
	Hash   string `json:"sha256,omitempty"` // of a file's content
	Target Path   `json:"target,omitempty"` // of a link
	UID    uint32 `json:"uid,omitempty"`
	GID    uint32 `json:"gid,omitempty"`
	// Lost says why the content is not kept. Mtime (nanoseconds) then stands for it.
	Lost  string `json:"lost,omitempty"`
	Mtime int64  `json:"mtime,omitempty"`
}

// Same reports whether two states are the same for an undo. Owners do not count: only root can give
// files away.
func (s State) Same(o State) bool {
	switch {
	case s.Kind != o.Kind || s.Kind == Unknown:
		return false
	case s.Kind == Link:
		return s.Target == o.Target
	case s.Kind == None || s.Kind == Other:
		return true
	case s.Mode != o.Mode || s.Size != o.Size && s.Kind == Regular:
		return false
	case s.Hash == "" || o.Hash == "":
		return s.Kind != Regular || s.Hash == o.Hash && s.Mtime == o.Mtime
	}
	return s.Hash == o.Hash
}

// File is one path of a record.
type File struct {
	Path   Path   `json:"path"`
	Before State  `json:"before"`
	After  *State `json:"after,omitempty"` // nil while the turn runs
	Tool   string `json:"tool,omitempty"`
	Order  int    `json:"order"` // what came first, in the turn
}

// Tree is a work tree as it was before the first command of a turn.
type Tree struct {
	Root     Path   `json:"root"`
	Manifest string `json:"manifest"` // sha256 of the list of its files
	Order    int    `json:"order"`
}

// Record is what one turn, or one undo, changed.
type Record struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Session string    `json:"session"`
	Turn    string    `json:"turn,omitempty"`
	Prompt  string    `json:"prompt,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"` // zero: it runs, or it was cut off
	Of      []string  `json:"of,omitempty"`   // of an undo: the records that it took back
	Part    bool      `json:"part,omitempty"` // of an undo: only some of their files, or some could not be put back
	Files   []File    `json:"files"`
	Trees   []Tree    `json:"trees,omitempty"` // gone once the turn has ended
	Notes   []string  `json:"notes,omitempty"` // what is not recorded

	Number int    `json:"number,omitempty"` // of a session's records, the oldest is 1; set by List
	Turns  []int  `json:"turns,omitempty"`  // of an undo: the numbers of what it took back; set by List
	Undone string `json:"undone,omitempty"` // id of the undo that took it back; set by List
	Partly string `json:"partly,omitempty"` // id of one that took some of its files back; set by List
}

func (r *Record) nextOrder() int { return len(r.Files) + len(r.Trees) }

// settleFiles notes the state after for what has none and drops what ended as it began.
func (r *Record) settleFiles(settle func(*File)) {
	for i := range r.Files {
		if r.Files[i].After == nil {
			settle(&r.Files[i])
		}
	}
	r.Files = slices.DeleteFunc(r.Files, func(f File) bool { return f.Before.Same(*f.After) })
	slices.SortFunc(r.Files, func(a, b File) int { return strings.Compare(string(a.Path), string(b.Path)) })
}

// recordID names the record of a turn. The session is a part of it so that copies of sessions do
// not meet.
func recordID(session, turn string) string {
	sum := sha256.Sum256([]byte(session + "\x00" + turn))
	return hex.EncodeToString(sum[:6])
}

const gistLength = 120

func firstWords(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > gistLength {
		return string(r[:gistLength-1]) + "…"
	}
	return s
}

func (s *Store) recordPathOf(id string) string { return filepath.Join(s.o.Dir, "records", id+".json") }

// saveRecord writes a record in place of its former self.
func (s *Store) saveRecord(r *Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.recordPathOf(r.ID), data, 0o600)
}

func (s *Store) removeRecord(id string) error {
	err := os.Remove(s.recordPathOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) loadRecord(id string) (*Record, error) {
	data, err := os.ReadFile(s.recordPathOf(id))
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s is damaged, delete it: %w", s.recordPathOf(id), err)
	}
	if r.Version > version || r.ID != id {
		return nil, fmt.Errorf("%s is of a newer program, or not what its name says", s.recordPathOf(id))
	}
	return &r, nil
}

// loadRecords loads every record that can be read, the oldest first.
func (s *Store) loadRecords() ([]*Record, error) {
	entries, err := os.ReadDir(filepath.Join(s.o.Dir, "records"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []*Record
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(id, ".") {
			continue
		}
		r, err := s.loadRecord(id)
		if err != nil {
			s.o.Log.Warn("a checkpoint cannot be read", "err", err)
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Record) int { return a.Began.Compare(b.Began) })
	return out, nil
}

// List returns the records of a session, the oldest first and numbered; "" means those of every
// session.
func (s *Store) List(session string) ([]*Record, error) {
	all, err := s.loadRecords()
	if err != nil {
		return nil, err
	}
	byID := map[string]*Record{}
	numbers := map[string]int{}
	for _, r := range all {
		byID[r.ID], r.Undone, r.Partly = r, "", ""
		numbers[r.Session]++
		r.Number = numbers[r.Session]
	}
	for _, u := range slices.Backward(all) { // the newest first: an undo that was undone takes nothing back
		u.Turns = nil
		for _, id := range u.Of {
			if r := byID[id]; r != nil {
				u.Turns = append(u.Turns, r.Number)
			}
		}
		if u.Kind == Undo && u.Undone == "" {
			for _, id := range u.Of {
				switch r := byID[id]; {
				case r == nil:
				case u.Part:
					r.Partly = u.ID
				default:
					r.Undone = u.ID
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(r *Record) bool { return session != "" && r.Session != session }), nil
}

// Forget removes what a session left. Contents go with the next sweep.
func (s *Store) Forget(session string) error {
	all, err := s.loadRecords()
	for _, r := range all {
		if r.Session == session {
			err = errors.Join(err, s.removeRecord(r.ID))
		}
	}
	return err
}

func kindOf(k realpath.Kind) Kind {
	switch k {
	case realpath.Regular:
		return Regular
	case realpath.Folder:
		return Folder
	case realpath.Link:
		return Link
	case realpath.Other:
	}
	return Other
}
