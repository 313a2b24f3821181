package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"

	"hermes/core/realpath"
)

// How much is kept of each file.
const (
	maxVersions = 20
	maxKept     = 1 << 20 // bytes of all versions
)

// version is a file as it was before a write.
type version struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Before string    `json:"before"`
	Raw    []byte    `json:"raw,omitempty"` // instead of Before, of a file that was no text: an editor mended it
	After  string    `json:"after"`         // hash of what was written
}

func newVersion(by string, before, after []byte) version {
	v := version{At: time.Now().UTC(), By: by, After: hashOf(after)}
	if utf8.Valid(before) {
		v.Before = string(before)
	} else {
		v.Raw = before
	}
	return v
}

func (v version) textBefore() []byte {
	if v.Raw != nil {
		return v.Raw
	}
	return []byte(v.Before)
}

func historyName(t Target) string { return "." + t.File() + ".history" }

func hashOf(raw []byte) string {
	s := sha256.Sum256(raw)
	return hex.EncodeToString(s[:16])
}

// readHistory returns the kept versions, the oldest first. A damaged list is none: it only ever
// serves to go back.
func readHistory(d *realpath.Dir, t Target) []version {
	raw, err := readFile(d, historyName(t))
	if err != nil {
		return nil
	}
	var out []version
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func writeHistory(d *realpath.Dir, t Target, list []version) error {
	for {
		if over := len(list) - maxVersions; over > 0 {
			list = list[over:]
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return err
		}
		if len(raw) <= maxKept || len(list) == 0 {
			return replaceFile(d, historyName(t), raw)
		}
		list = list[1:]
	}
}

func addVersion(d *realpath.Dir, t Target, v version) error {
	if err := writeHistory(d, t, append(readHistory(d, t), v)); err != nil {
		return fmt.Errorf("the version before cannot be kept: %w", err)
	}
	return nil
}

// ErrNothingToUndo says that no version before is kept.
var ErrNothingToUndo = errors.New("nothing to take back: no earlier version is kept")

// Undo takes the last write of a target back; "" means the newest of both. Undoing again goes one
// write further back. A file that somebody changed since is left alone unless force is set: the
// Refusal is Stale then.
func (s *Store) Undo(t Target, force bool) (Change, error) {
	if t == "" {
		var err error
		if t, err = s.lastWritten(); err != nil {
			return Change{}, err
		}
	}
	var c Change
	err := s.withLock(t, func(d *realpath.Dir) error {
		now, err := readFile(d, t.File())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.unusableFile(t, err)
		}
		list := readHistory(d, t)
		for n := len(list); n > 0 && bytes.Equal(list[n-1].textBefore(), now); n-- {
			list = list[:n-1] // kept, but the program was ended before it wrote
		}
		if len(list) == 0 {
			return ErrNothingToUndo
		}
		last := list[len(list)-1]
		if last.After != hashOf(now) && !force {
			return newRefusal(Stale, "%s was changed by somebody else since that write (%s, by the %s): undoing it would lose that", t.File(), last.At.Local().Format("2 January 15:04"), last.By)
		}
		c = Change{Target: t, Before: s.newDocument(t, now), After: s.newDocument(t, last.textBefore())}
		c.compareEntries()
		if err := replaceFile(d, t.File(), c.After.raw); err != nil {
			return err
		}
		return writeHistory(d, t, list[:len(list)-1])
	})
	return c, err
}

// lastWritten is the target that was written last.
func (s *Store) lastWritten() (Target, error) {
	d, err := s.openFolder(false)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", ErrNothingToUndo
		}
		return "", err
	}
	defer d.Close()
	var out Target
	var at time.Time
	for _, t := range Targets() {
		if list := readHistory(d, t); len(list) > 0 && list[len(list)-1].At.After(at) {
			out, at = t, list[len(list)-1].At
		}
	}
	if out == "" {
		return "", ErrNothingToUndo
	}
	return out, nil
}
