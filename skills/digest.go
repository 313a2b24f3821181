package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Digest is one hash over every file in the skill's folder, those that no model reads too: a
// command may run them. A folder that cannot be read whole has none.
func (s *Skill) Digest() (string, error) {
	if s.body == nil {
		return "", errors.New("the skill has no folder")
	}
	return s.body.contentHash()
}

func (i inside) contentHash() (string, error) {
	return hashTree(i.fsys, func(name string) ([]byte, error) { return fs.ReadFile(i.fsys, name) })
}

func (d disk) contentHash() (string, error) {
	dir, err := d.openFolder()
	if err != nil {
		return "", err
	}
	defer func() { _ = dir.Close() }()
	return hashTree(dir.FS(), func(name string) ([]byte, error) { return readTrusted(d, dir, name) })
}

// readTrusted reads a file of a folder; of a project's only what was trusted.
func readTrusted(d disk, dir *os.Root, name string) ([]byte, error) {
	if d.table != nil {
		return d.readFile(name)
	}
	return readIn(dir, name)
}

// hashTree is one hash over names and contents.
func hashTree(fsys fs.FS, read func(name string) ([]byte, error)) (string, error) {
	h, files, size := sha256.New(), 0, 0
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", cleanName(name), plainError(err))
		case e.IsDir():
			return nil
		case files == maxProjectFiles:
			return fmt.Errorf("there are more than %d files", maxProjectFiles)
		}
		data, err := read(name)
		if err != nil {
			return fmt.Errorf("%s: %w", cleanName(name), err)
		}
		files++
		if size += len(data); size > maxProjectBytes {
			return fmt.Errorf("the files have more than %d MiB", maxProjectBytes>>20)
		}
		fmt.Fprintf(h, "%d:%s=%x\n", len(name), name, sha256.Sum256(data))
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
