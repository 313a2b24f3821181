package core

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"hermes/core/atomicfile"
	"hermes/core/secret"
)

// credentialsName is the variable that says where the copies of a skill's credential files are.
const credentialsName = "HERMES_CREDENTIALS"

// maxCredential bounds a credential file.
const maxCredential = 1 << 20

// copies are copies of credential files in a temporary folder of their own. Commands may write
// there, even those in a sandbox: all is done below the folder that was made, and no link is
// followed.
type copies struct {
	mu    sync.Mutex // never held while a person is asked
	gone  bool       // the session ended
	root  *os.Root
	dir   string   // "" when there are none yet
	files []string // of which there are copies
}

// putCopy copies a file of the data folder to where commands may read it, and has what is in it
// hidden in all that is shown.
func (c *copies) putCopy(home, file string) error {
	data, err := readCredential(home, file)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return errors.New("the session has ended")
	}
	if err := c.makeFolder(); err != nil {
		return err
	}
	secret.Add(secretsIn(data)...)
	if !c.isIntact(file, data) {
		if err := c.writeCopy(file, data); err != nil {
			return err
		}
	}
	if !slices.Contains(c.files, file) {
		c.files = append(c.files, file)
	}
	return nil
}

// keepOnly removes the copies of all but these files, and returns the folder when a copy is left.
func (c *copies) keepOnly(files []string) (dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = slices.DeleteFunc(c.files, func(file string) bool {
		if slices.Contains(files, file) {
			return false
		}
		_ = c.root.RemoveAll(file) // what cannot go ends with the folder
		return true
	})
	if len(c.files) == 0 {
		c.removeAll()
	}
	return c.dir
}

// removeForGood removes the copies for good: a late command makes none.
func (c *copies) removeForGood() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.removeAll()
}

// makeFolder makes the folder, anew when something else is in its place.
func (c *copies) makeFolder() error {
	if c.root != nil && isAt(c.root, c.dir) {
		return nil
	}
	c.removeAll()
	dir, err := os.MkdirTemp("", "hermes-credentials-") // mode 0700
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	if !isAt(root, dir) { // then it is not ours to empty either
		return errors.Join(fmt.Errorf("something else was put in the place of %s", dir), root.Close())
	}
	c.root, c.dir = root, dir
	return nil
}

// isAt reports whether a name leads to a folder, and not by a link.
func isAt(root *os.Root, name string) bool {
	named, err := os.Lstat(name)
	if err != nil || !named.IsDir() {
		return false
	}
	held, err := root.Stat(".")
	return err == nil && os.SameFile(named, held)
}

// isIntact reports whether a copy is as it should be.
func (c *copies) isIntact(file string, data []byte) bool {
	info, err := c.root.Lstat(file)
	if err != nil || info.Mode() != 0o600 || info.Size() != int64(len(data)) {
		return false
	}
	f, err := c.root.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // no waiting for a pipe
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	now, err := f.Stat()
	if err != nil || !os.SameFile(info, now) {
		return false
	}
	got, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	return err == nil && bytes.Equal(got, data)
}

// writeCopy puts a copy in its place by a rename.
func (c *copies) writeCopy(file string, data []byte) error {
	if err := c.clearWay(file); err != nil {
		return err
	}
	if err := c.root.MkdirAll(path.Dir(file), 0o700); err != nil {
		return err
	}
	temp := atomicfile.TempPrefix + rand.Text()
	f, err := c.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.root.Rename(temp, file)
	}
	if err != nil {
		_ = c.root.Remove(temp)
	}
	return err
}

// clearWay removes what is in the way of a copy: no folder in the place of a file, nothing else in
// that of its folders.
func (c *copies) clearWay(file string) error {
	if info, err := c.root.Lstat(file); err == nil && info.IsDir() {
		return c.root.RemoveAll(file)
	}
	for at := range len(file) {
		if file[at] != '/' {
			continue
		}
		if info, err := c.root.Lstat(file[:at]); err == nil && !info.IsDir() {
			return c.root.Remove(file[:at])
		}
	}
	return nil
}

// removeAll removes the copies and their folder. What was put in its place is not looked into.
func (c *copies) removeAll() {
	if c.root == nil {
		return
	}
	entries, _ := fs.ReadDir(c.root.FS(), ".")
	for _, e := range entries {
		_ = c.root.RemoveAll(e.Name()) // the folder is temporary: what cannot go ends with it
	}
	_ = c.root.Close()
	_ = os.Remove(c.dir) // when it is empty, or a link
	c.root, c.dir, c.files = nil, "", nil
}

// readCredential reads a regular file of the data folder; a link does not lead out of it.
func readCredential(home, file string) ([]byte, error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(filepath.FromSlash(file))
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("it is not in %s", home)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxCredential:
		return nil, fmt.Errorf("it is no file of at most %d bytes", maxCredential)
	}
	return root.ReadFile(filepath.FromSlash(file))
}

// leastSecret is from how many bytes on a value in a credential file is hidden.
const leastSecret = 16

// secretsIn are the values of a credential file: texts of JSON, else lines.
func secretsIn(data []byte) (out []string) {
	var doc any
	if json.Unmarshal(data, &doc) != nil {
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); len(line) >= leastSecret {
				out = append(out, line)
			}
		}
		return out
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) >= leastSecret && !strings.HasPrefix(v, "https://") {
				out = append(out, v)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
	return out
}
