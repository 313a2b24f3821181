package skills

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Where versions and deleted skills are kept, below the skills folder; folders with a dot hold no
// skills.
const (
	historyDir  = ".history"
	archiveDir  = ".archive"
	pendingFile = historyDir + "/.pending.json" // the one change that is being made
)

// More operations, of versions that no tool asks for.
const (
	Undo     Op = "undo"     // went back by one version
	Rollback Op = "rollback" // went back to a version
	Outside  Op = "outside"  // somebody changed the files, not this program
)

// Provenance says who made a version, and why.
type Provenance struct {
	By      string `json:"by,omitempty"` // "agent", "user", "learned"; "" for outside
	Why     string `json:"why,omitempty"`
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Source  string `json:"source,omitempty"`  // the proposal that it comes from
	Tainted bool   `json:"tainted,omitempty"` // made from a turn that had read strangers' words
}

// Part is what a version did to one file. Nil means that it is not there.
type Part struct {
	Rel    string `json:"file"`
	Before []byte `json:"before"`
	After  []byte `json:"after"`
}

// Version is a change of a skill or procedure as it is kept, whole and for good. Versions count
// from 1; version 0 is the text before this program changed it. Of a procedure only its file is
// kept: the folder around it is nobody's.
type Version struct {
	Number int       `json:"version"`
	At     time.Time `json:"at"`
	Op     Op        `json:"op"`
	Name   string    `json:"name"`
	Dir    string    `json:"dir"`
	Hash   string    `json:"hash,omitempty"` // of its main file, sha256; "" when there is none
	Main   string    `json:"main,omitempty"` // the file of a procedure; "" is SKILL.md
	To     int       `json:"to,omitempty"`   // of Undo and Rollback
	Provenance
	Part
	More    []Part `json:"more,omitempty"`
	Restore string `json:"restore,omitempty"` // from where the skill's folder came back
	Archive string `json:"archive,omitempty"` // where the skill's folder went
	Gone    bool   `json:"gone,omitempty"`    // there is no skill after it
}

// Parts are the files that the version touched.
func (v Version) Parts() []Part { return append([]Part{v.Part}, v.More...) }

// mainFile is the file whose text the version is known by.
func (v Version) mainFile() string { return cmp.Or(v.Main, File) }

// HashOf is the hash of a text, as versions have it.
func HashOf(text []byte) string {
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// workLocked works in the skills folder while no other process does. What a crash left half done is
// settled first.
func (e Editor) workLocked(work func(root *os.Root) error) error {
	root, err := e.openRoot()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(historyDir, 0o700); err != nil {
		return writeError(root, historyDir, err)
	}
	f, err := root.OpenFile(path.Join(historyDir, ".lock"), os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return writeError(root, historyDir, err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if err := settlePending(root); err != nil {
		return fmt.Errorf("a change that was cut off cannot be settled: %w", err)
	}
	return work(root)
}

// Recover settles what a crash left half done. It writes nothing where there is nothing to settle.
func (e Editor) Recover() error {
	if _, err := os.Lstat(path.Join(e.Dir, pendingFile)); err != nil {
		return nil //nolint:nilerr // there is nothing
	}
	return e.workLocked(func(*os.Root) error { return nil })
}

// commitVersion makes a change and keeps it. The record is written first, then the change is made,
// then the record counts; what is found in between after a crash is settled by settlePending.
func (h History) commitVersion(root *os.Root, v Version) (Version, error) {
	v.Number, v.At = h.lastVersion()+1, time.Now().UTC()
	if v.Hash = ""; !v.Gone {
		v.Hash = HashOf(v.textOf(root))
	}
	data, err := json.Marshal(v)
	if err != nil {
		return v, err
	}
	if err := root.MkdirAll(path.Join(historyDir, v.Name), 0o700); err != nil {
		return v, writeError(root, historyDir, err)
	}
	if err := replaceIn(root, pendingFile, data); err != nil {
		return v, fmt.Errorf("nothing was changed, because what is there could not be kept: %w", err)
	}
	if err := v.carryOut(root); err != nil {
		if untouched := v.clearUnfinished(root); untouched {
			_ = root.Remove(pendingFile)
		}
		return v, writeError(root, v.Dir, err)
	}
	return v, plainError(v.commitPending(root))
}

// textOf is the main file as the version has it.
func (v Version) textOf(root *os.Root) []byte {
	for _, p := range v.Parts() {
		if p.Rel == v.mainFile() {
			return p.After
		}
	}
	from := v.Dir
	if v.Restore != "" {
		from = v.Restore
	}
	text, err := readIn(root, path.Join(from, v.mainFile()))
	if err != nil {
		return nil
	}
	return text
}

// commitPending makes the pending record a version.
func (v Version) commitPending(root *os.Root) error {
	dir := path.Join(historyDir, v.Name)
	if err := root.Rename(pendingFile, path.Join(dir, formatTime(v.At)+".json")); err != nil {
		return err
	}
	if d, err := root.Open(dir); err == nil {
		_ = d.Sync() // some file systems cannot
		_ = d.Close()
	}
	return nil
}

// carryOut makes the change, or what is left of it. Whatever needs room on the disk comes first, so
// that a full one leaves everything as it was.
func (v Version) carryOut(root *os.Root) error {
	at := v.Dir
	if v.Restore != "" && !isDir(root, v.Dir) {
		at = v.Restore
	}
	ready, err := v.prepareParts(root, at)
	if err != nil {
		return err
	}
	if at != v.Dir {
		if err := root.MkdirAll(path.Dir(v.Dir), 0o700); err != nil {
			return err
		}
		if err := root.Rename(at, v.Dir); err != nil {
			return err
		}
	}
	for _, p := range ready {
		full := path.Join(v.Dir, p.Rel)
		if p.After == nil {
			if err := root.Remove(full); err != nil {
				return err
			}
		} else if err := root.Rename(besideName(full), full); err != nil {
			return err
		}
	}
	if v.Archive != "" && isDir(root, v.Dir) {
		if err := root.MkdirAll(archiveDir, 0o700); err != nil {
			return err
		}
		return root.Rename(v.Dir, v.Archive)
	}
	return nil
}

// prepareParts writes the new contents beside the files below at, and returns what is to be put in
// place.
func (v Version) prepareParts(root *os.Root, at string) (ready []Part, err error) {
	if (v.Op == Delete || v.Gone) && v.Main == "" {
		return nil, nil // the folder goes as a whole
	}
	for _, p := range v.Parts() {
		full := path.Join(at, p.Rel)
		now, err := readIn(root, full)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if sameFile(now, p.After) || v.Restore == "" && !sameFile(now, p.Before) {
			continue // it is made, or was and somebody has changed it since
		}
		if p.After != nil {
			if _, err := writeBeside(root, full, p.After); err != nil {
				return nil, err
			}
		}
		ready = append(ready, p)
	}
	return ready, nil
}

func isDir(root *os.Root, rel string) bool {
	info, err := root.Lstat(rel)
	return err == nil && info.IsDir()
}

// sameFile compares files; nil is one that is not there.
func sameFile(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// clearUnfinished clears away what a change wrote beside files. It reports whether nothing of the
// change was made.
func (v Version) clearUnfinished(root *os.Root) bool {
	at := v.Dir
	if v.Restore != "" {
		if isDir(root, v.Dir) {
			return false
		}
		at = v.Restore
	}
	if v.Archive != "" {
		return isDir(root, v.Dir)
	}
	for _, p := range v.Parts() {
		_ = root.Remove(path.Join(at, besideName(p.Rel)))
	}
	for _, p := range v.Parts() {
		now, err := readIn(root, path.Join(at, p.Rel))
		if (err == nil || errors.Is(err, fs.ErrNotExist)) && !sameFile(now, p.Before) && v.Restore == "" {
			return false
		}
	}
	if v.Op == Create && v.Main == "" {
		_ = root.Remove(v.Dir) // only if it is empty
	}
	return true
}

// settlePending ends a change that a crash cut off: nothing of it was made, or all of it is.
func settlePending(root *os.Root) error {
	data, err := root.ReadFile(pendingFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var v Version
	if err := json.Unmarshal(data, &v); err != nil || CheckKey(v.Name) != nil {
		return root.Remove(pendingFile) // it is written as a whole: this is no record of ours
	}
	if v.clearUnfinished(root) {
		return root.Remove(pendingFile)
	}
	if err := v.carryOut(root); err != nil {
		return err
	}
	return v.commitPending(root)
}

func formatTime(t time.Time) string { return t.Format("20060102T150405.000000000") }

func archiveName(name string) string {
	return path.Join(archiveDir, name+"-"+formatTime(time.Now().UTC()))
}

// readHistory reads the versions of a skill.
func readHistory(root *os.Root, name string) (History, error) {
	h := History{Name: name}
	dir := path.Join(historyDir, name)
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return h, nil //nolint:nilerr // there is none yet
	}
	var names []string
	for _, x := range entries {
		if strings.HasSuffix(x.Name(), ".json") && !strings.HasPrefix(x.Name(), ".") {
			names = append(names, x.Name())
		}
	}
	slices.Sort(names)
	for i, file := range names {
		data, err := root.ReadFile(path.Join(dir, file))
		if err != nil {
			return h, plainError(err)
		}
		var v Version
		if err := json.Unmarshal(data, &v); err != nil {
			return h, fmt.Errorf("what was kept of %s cannot be read: %s: %w; move that file away", name, path.Join(root.Name(), dir, file), err)
		}
		v.Number = i + 1
		v.Gone = v.Gone || v.Op == Delete // records of older programs do not say it
		h.Versions = append(h.Versions, v)
	}
	return h, nil
}
