package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	maxFiles = 5000
	maxBytes = 100 << 20
)

// hashFolder is the hash of every file of a folder, with names and rights. Links are not taken:
// what they lead to could change unseen.
func hashFolder(folder string) (string, error) {
	sum := sha256.New()
	files, room := 0, int64(maxBytes)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if files++; files > maxFiles {
			return fmt.Errorf("%s has more than %d files", folder, maxFiles)
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is a link or no plain file: a plugin has plain files only", rel)
		}
		if room -= info.Size(); room < 0 {
			return fmt.Errorf("%s is larger than %d MiB", folder, maxBytes>>20)
		}
		_, _ = fmt.Fprintf(sum, "%q %o %d\n", rel, info.Mode().Perm()&0o111, info.Size()) // it never fails
		return addFile(sum, path)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func addFile(to io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(to, f)
	return err
}
