package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/core/atomicfile"
)

// replaceFile makes data the content of the file at path. A symbolic link stays one: its target is
// replaced. The file is readable by its owner only.
func replaceFile(path string, data []byte) error {
	target, err := realPath(path)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(target, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	return nil
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
