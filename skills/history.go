package skills

import (
	"bytes"
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

// Where changed and deleted skills are kept, below the skills folder; folders with a dot hold no
// skills.
const (
	historyDir = ".history"
	archiveDir = ".archive"
	keepBack   = 20 // changes of a skill that can be undone
)

// version is a change as it is kept.
type version struct {
	At      time.Time `json:"at"`
	Op      Op        `json:"op"`
	Name    string    `json:"name"`
	Dir     string    `json:"dir"`
	Rel     string    `json:"file"`
	Before  []byte    `json:"before"` // null: it was not there
	After   []byte    `json:"after"`
	Archive string    `json:"archive,omitempty"` // where a deleted skill lies
}

// lockSkills keeps other processes from changing skills meanwhile.
func lockSkills(root *os.Root) (unlock func(), err error) {
	if err := root.MkdirAll(historyDir, 0o700); err != nil {
		return nil, writeError(root, historyDir, err)
	}
	f, err := root.OpenFile(path.Join(historyDir, ".lock"), os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, writeError(root, historyDir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// keepDuring keeps a version while f makes its change; when that fails it is not kept.
func (v *version) keepDuring(root *os.Root, f func() error) error {
	file, err := v.writeVersion(root)
	if err != nil {
		return fmt.Errorf("nothing was changed, because what is there could not be kept: %w", err)
	}
	if err := f(); err != nil {
		_ = root.Remove(file)
		return writeError(root, v.Dir, err)
	}
	return nil
}

// writeVersion writes a version and drops the oldest.
func (v *version) writeVersion(root *os.Root) (file string, err error) {
	v.At = time.Now().UTC()
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	dir := path.Join(historyDir, v.Name)
	file = path.Join(dir, timestamp(v.At)+".json")
	if err := replaceIn(root, file, data); err != nil {
		return "", err
	}
	names := versionFiles(root, v.Name)
	for _, old := range names[:max(len(names)-keepBack, 0)] {
		_ = root.Remove(path.Join(dir, old)) // it is dropped at the next change
	}
	return file, nil
}

func timestamp(t time.Time) string { return t.Format("20060102T150405.000000000") }

// versionFiles are the files of kept changes of a skill, oldest first.
func versionFiles(root *os.Root, name string) []string {
	entries, err := fs.ReadDir(root.FS(), path.Join(historyDir, name))
	if err != nil {
		return nil
	}
	var out []string
	for _, x := range entries {
		if strings.HasSuffix(x.Name(), ".json") && !strings.HasPrefix(x.Name(), ".") {
			out = append(out, x.Name())
		}
	}
	slices.Sort(out)
	return out
}

// archiveSkill moves a skill out of the way. Nothing is deleted.
func (v *version) archiveSkill(root *os.Root) error {
	if info, err := root.Lstat(v.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", v.Dir)
	}
	if err := root.MkdirAll(archiveDir, 0o700); err != nil {
		return writeError(root, archiveDir, err)
	}
	v.Archive = path.Join(archiveDir, v.Name+"-"+timestamp(time.Now().UTC()))
	return v.keepDuring(root, func() error { return root.Rename(v.Dir, v.Archive) })
}

// Undo takes the last change of a skill back and says what that was. It refuses when somebody has
// changed the file since.
func (e Editor) Undo(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	root, err := e.openRoot()
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	unlock, err := lockSkills(root)
	if err != nil {
		return "", err
	}
	defer unlock()
	names := versionFiles(root, name)
	if len(names) == 0 {
		return "", fmt.Errorf("no change of the skill %s is kept", name)
	}
	file := path.Join(historyDir, name, names[len(names)-1])
	data, err := root.ReadFile(file)
	if err != nil {
		return "", plainError(err)
	}
	var v version
	if err := json.Unmarshal(data, &v); err != nil {
		return "", fmt.Errorf("what was kept of %s cannot be read: %w", name, err)
	}
	if err := v.undoChange(root); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s of %s", v.Op, path.Join(v.Name, v.Rel)), plainError(root.Remove(file))
}

func (v *version) undoChange(root *os.Root) error {
	full := path.Join(v.Dir, v.Rel)
	if v.Op == Delete {
		if _, err := root.Lstat(v.Dir); err == nil {
			return fmt.Errorf("%s is there again; move it away first", v.Dir)
		}
		if err := root.MkdirAll(path.Dir(v.Dir), 0o700); err != nil {
			return plainError(err)
		}
		return plainError(root.Rename(v.Archive, v.Dir))
	}
	now, err := readIn(root, full)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, v.After) {
		return fmt.Errorf("%s has been changed since; look at it before you take it back", full)
	}
	switch {
	case v.Op == Create:
		if err := root.MkdirAll(archiveDir, 0o700); err != nil {
			return plainError(err)
		}
		return plainError(root.Rename(v.Dir, path.Join(archiveDir, v.Name+"-"+timestamp(time.Now().UTC()))))
	case v.Before == nil:
		return plainError(root.Remove(full))
	default:
		return replaceIn(root, full, v.Before)
	}
}
