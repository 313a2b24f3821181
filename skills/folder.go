package skills

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// folder is where a skill's files lie: on disk or in the program.
type folder interface {
	// readFile returns a regular file inside of the folder, at most MaxFile bytes.
	readFile(rel string) ([]byte, error)
	// listFiles returns the regular files in the folders of the format, sorted.
	listFiles() []string
	// hash is one over all that lies in the folder.
	contentHash() (string, error)
}

// maxListed bounds how many files of a skill are listed.
const maxListed = 200

// Read returns the text of a file of the skill, "" meaning SKILL.md without its front matter.
// Binary files are an error that says how large they are.
func (s *Skill) Read(rel string) (string, error) {
	if rel == "" {
		data, err := s.readFile(File)
		if err != nil {
			return "", err
		}
		_, body := Parse(File, data)
		return body, nil
	}
	clean, err := CheckPath(rel)
	if err != nil {
		return "", err
	}
	data, err := s.readFile(clean)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", fmt.Errorf("%s is a binary file of %d bytes: only text can be shown", clean, len(data))
	}
	return string(data), nil
}

// Files lists the files beside SKILL.md.
func (s *Skill) Files() []string {
	if s.body == nil {
		return nil
	}
	return s.body.listFiles()
}

// BodyLine is the line of SKILL.md in which its text begins.
func (s *Skill) BodyLine() int { return s.line }

// Raw returns SKILL.md as it stands.
func (s *Skill) Raw() ([]byte, error) { return s.readFile(File) }

func (s *Skill) readFile(rel string) ([]byte, error) {
	if s.body == nil {
		return nil, errors.New("the skill has no folder")
	}
	return s.body.readFile(rel)
}

// disk is a folder below a root that was opened; what it reads is checked against the table of a
// trusted project, if there is one.
type disk struct {
	root  string            // absolute
	rel   string            // of the skill, below root
	table map[string]digest // of a project; nil elsewhere
	base  string            // prefix of the table's names
}

type digest [sha256.Size]byte

// nonblock keeps a named pipe with a promising name from stopping the program.
const nonblock = os.O_RDONLY | syscall.O_NONBLOCK

// openFolder returns the skill's folder. Neither it nor a folder above it, below the root, is a
// link.
func (d disk) openFolder() (*os.Root, error) {
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return nil, plainError(err)
	}
	defer func() { _ = root.Close() }()
	for dir := d.rel; dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is not a folder (links are not followed)", filepath.Join(d.root, dir))
		}
	}
	sub, err := root.OpenRoot(d.rel)
	return sub, plainError(err)
}

func (d disk) readFile(rel string) ([]byte, error) {
	dir, err := d.openFolder()
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	data, err := readIn(dir, rel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rel, err)
	}
	if d.table != nil && d.table[path.Join(d.base, d.rel, rel)] != sha256.Sum256(data) {
		return nil, fmt.Errorf("%s: %w", rel, ErrChanged)
	}
	return data, nil
}

// readIn reads a regular file. A link is followed inside of the folder only; one that leaves it is
// an error.
func readIn(dir *os.Root, rel string) ([]byte, error) {
	f, err := dir.OpenFile(rel, nonblock, 0)
	if err != nil {
		return nil, plainError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, plainError(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", info.Size(), MaxFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if len(data) > MaxFile {
		return nil, fmt.Errorf("it has more than %d bytes", MaxFile)
	}
	return data, plainError(err)
}

func (d disk) listFiles() []string {
	dir, err := d.openFolder()
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	out := listIn(dir.FS())
	if d.table == nil {
		return out
	}
	return slices.DeleteFunc(out, func(f string) bool { // what came after the trust
		_, known := d.table[path.Join(d.base, d.rel, f)]
		return !known
	})
}

// listIn lists what CheckPath allows.
func listIn(fsys fs.FS) []string {
	var out []string
	for _, top := range folders {
		_ = fs.WalkDir(fsys, top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read is not listed
			case e.IsDir():
				if strings.HasPrefix(e.Name(), ".") || strings.Count(name, "/") > maxDepth {
					return fs.SkipDir
				}
			case len(out) >= maxListed:
				return fs.SkipAll
			case e.Type().IsRegular():
				if clean, err := CheckPath(name); err == nil {
					out = append(out, clean)
				}
			}
			return nil
		})
	}
	slices.Sort(out)
	return out
}

// inside is a folder in the program.
type inside struct{ fsys fs.FS }

func (i inside) readFile(rel string) ([]byte, error) {
	data, err := fs.ReadFile(i.fsys, rel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rel, plainError(err))
	}
	return data, nil
}

func (i inside) listFiles() []string { return listIn(i.fsys) }

// plainError says what people understand in place of the words of the system.
func plainError(err error) error {
	var pe *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it is not there: %w", fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return errors.New("it may not be read")
	case strings.Contains(err.Error(), "escapes from parent"):
		return errors.New("it is a link that leads out of the folder, which is not followed")
	case errors.As(err, &pe):
		return pe.Err
	default:
		return err
	}
}
