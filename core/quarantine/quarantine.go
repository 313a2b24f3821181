// Package quarantine brings folders in from elsewhere: a folder, an archive or a git repository
// becomes a copy in a folder of its own, which holds nothing but regular files within limits. What
// was installed of it stands in a lock file.
//
// The contract: nothing that is fetched is run, linked or read by a model. Whoever installs shows
// what was found and asks. A fetched folder is removed by Fetched.Close.
package quarantine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits bound what is fetched.
type Limits struct {
	What  string // is installed, in a word: "skill"
	Files int    // and as many folders
	Bytes int64
	Depth int
	Leave []string // folders that are left out, by name
}

// Request says what to fetch.
type Request struct {
	Source string // a folder, an archive (.zip, .tar, .tar.gz, .tgz), or the address of a git repository
	Ref    string // of a repository: a branch or a tag
	Path   string // the folder in it to look in
}

// Fetched is what came, in quarantine.
type Fetched struct {
	Kind   string // "folder", "archive", "git"
	Source string // as it stands in the lock file: an address without a login
	Commit string // of a repository
	Dir    string // what came
	Notes  []string

	remove string
	limits Limits
}

// Close removes the copy.
func (f *Fetched) Close() error {
	if f.remove == "" {
		return nil
	}
	return os.RemoveAll(f.remove)
}

// Fetch copies what r names into a new folder below base.
func Fetch(ctx context.Context, base string, r Request, most Limits) (*Fetched, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return nil, err
	}
	f := &Fetched{Dir: filepath.Join(dir, "copy"), remove: dir, limits: most}
	if err := f.fetchInto(ctx, r); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if r.Path != "" {
		if !filepath.IsLocal(r.Path) {
			return nil, errors.Join(fmt.Errorf("the path %q leads out of the source", r.Path), f.Close())
		}
		f.Dir = filepath.Join(f.Dir, r.Path)
		if info, err := os.Lstat(f.Dir); err != nil || !info.IsDir() {
			return nil, errors.Join(fmt.Errorf("there is no folder %q in it", r.Path), f.Close())
		}
	}
	return f, nil
}

func (f *Fetched) fetchInto(ctx context.Context, r Request) error {
	if isRepository(r.Source) {
		f.Kind, f.Source = "git", withoutLogin(r.Source)
		if f.Source != r.Source {
			f.note("the login or query in the address is not kept: an update needs it again, or a credential helper of git")
		}
		return f.clone(ctx, r)
	}
	if r.Ref != "" {
		return errors.New("--ref is for git repositories")
	}
	full, err := filepath.Abs(r.Source)
	if err != nil {
		return err
	}
	f.Source = full
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s; name a folder, an archive, or the address of a git repository", r.Source)
	case err != nil:
		return err
	case info.IsDir():
		f.Kind = "folder"
		return f.copyFolder(ctx, full)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a folder nor a file", r.Source)
	default:
		f.Kind = "archive"
		return f.unpack(ctx, full)
	}
}

// room counts what has come in.
type room struct {
	most    Limits
	files   int
	bytes   int64
	folders map[string]bool
}

// countFolders counts a folder and those above it, each once.
func (r *room) countFolders(rel string) error {
	if r.folders == nil {
		r.folders = map[string]bool{}
	}
	for at := filepath.Clean(rel); at != "." && !r.folders[at]; at = filepath.Dir(at) {
		r.folders[at] = true
		if len(r.folders) > r.most.Files {
			return fmt.Errorf("it holds more than %d folders: name the folder of the %s", r.most.Files, r.most.What)
		}
	}
	return nil
}

func (r *room) countFile(n int64) error {
	r.files++
	r.bytes += n
	switch {
	case r.files > r.most.Files:
		return fmt.Errorf("it holds more than %d files: name the folder of the %s", r.most.Files, r.most.What)
	case r.bytes > r.most.Bytes:
		return fmt.Errorf("it holds more than %d MB: name the folder of the %s", r.most.Bytes>>20, r.most.What)
	}
	return nil
}

// copyFolder copies regular files; links and the rest are left out, and so is what git keeps.
func (f *Fetched) copyFolder(ctx context.Context, from string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	have := room{most: f.limits}
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && (d.Name() == ".git" || slices.Contains(f.limits.Leave, d.Name())):
			return fs.SkipDir
		case d.IsDir() && strings.Count(rel, "/") >= f.limits.Depth:
			f.note("%s: too deep, left out", rel)
			return fs.SkipDir
		case d.IsDir():
			if err := have.countFolders(filepath.FromSlash(rel)); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(f.Dir, filepath.FromSlash(rel)), 0o700)
		case !d.Type().IsRegular():
			f.note("%s: no regular file, left out", rel)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := have.countFile(info.Size()); err != nil {
			return err
		}
		data, err := root.ReadFile(rel)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(f.Dir, filepath.FromSlash(rel)), data, rights(info.Mode()))
	})
}

func (f *Fetched) note(format string, args ...any) {
	const most = 20
	if len(f.Notes) < most {
		f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
	}
}

// rights are those of a file's copy: its owner's, to run it only where the original may be run.
func rights(mode fs.FileMode) fs.FileMode {
	if mode&0o111 != 0 {
		return 0o700
	}
	return 0o600
}
