package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile writes data beside path and moves it there, so that a reader sees the old text or the new one and a crash
// costs nothing. A symbolic link stays one: its target is replaced. The file is readable by its owner only.
func replaceFile(path string, data []byte) error {
	target, err := realPath(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder %s: %w", dir, err)
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // fails once it was renamed
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), target)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	syncFolder(dir)
	return nil
}

// syncFolder makes the rename durable where the file system can; the data is safe without it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// realPath follows symbolic links, one that points to nothing yet included.
func realPath(path string) (string, error) {
	for range 16 {
		link, err := os.Readlink(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, nil
		case err != nil:
			return filepath.EvalSymlinks(path)
		case filepath.IsAbs(link):
			path = link
		default:
			path = filepath.Join(filepath.Dir(path), link)
		}
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}
