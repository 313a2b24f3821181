// Package atomicfile replaces a file as a whole: a reader, and whoever comes after a crash or a
// power cut, finds the old content or the new one, never a part. Files in folders that others may
// change are written through a held folder (core/realpath) or an os.Root instead: here the path is
// trusted.
package atomicfile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// TempPrefix begins the names of files that are being written. A killed process leaves one behind.
const TempPrefix = ".new-"

// Write makes data the content of the file at path, with the mode given, and its folder if that is
// missing. A symbolic link at path is replaced, not followed.
func Write(path string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, TempPrefix+"*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return SyncDir(dir)
}

// WriteJSON makes v, as indented JSON, the content of a file that only its owner reads.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(data, '\n'), 0o600)
}

// SyncDir makes what was created, renamed or removed in a folder safe. Some file systems cannot do
// that with a folder, and say so; the contents are safe there all the same.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
