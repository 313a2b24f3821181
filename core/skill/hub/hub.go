// Package hub brings skills in from elsewhere, and gives them away: a folder, an archive or a git
// repository becomes a folder in quarantine, in which skills are found; a skill becomes an archive.
// What was installed from where stands in a lock file, as in hermes-agent.
//
// The contract: nothing that is fetched is run, linked or read by a model. Whoever installs shows
// what was found and asks; the copy is then made through the library, which checks and keeps each
// file. A fetched folder is removed by Fetched.Close.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/skills"
)

// Folders below the skills folder; names that begin with a dot hold no skills.
const (
	folder     = ".hub"
	quarantine = "quarantine"
)

// Limits of what is fetched.
const (
	maxFiles  = 2000
	maxBytes  = 20 << 20
	maxDepth  = 8
	maxSkills = 200
)

// Request says what to fetch.
type Request struct {
	Source string // a folder, an archive (.zip, .tar, .tar.gz, .tgz), or the address of a git repository
	Ref    string // of a repository: a branch or a tag
	Path   string // the folder in it to look in
}

// Fetched is what came, in quarantine.
type Fetched struct {
	Kind   string // "folder", "archive", "git"
	Source string // as it stands in the lock file
	Commit string // of a repository
	Dir    string // where skills are looked for
	Notes  []string

	remove string
}

// Close removes the copy.
func (f *Fetched) Close() error {
	if f.remove == "" {
		return nil
	}
	return os.RemoveAll(f.remove)
}

// Fetch copies what r names into the quarantine of a skills folder.
func Fetch(ctx context.Context, skillsDir string, r Request) (*Fetched, error) {
	base := filepath.Join(skillsDir, folder, quarantine)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return nil, err
	}
	f := &Fetched{Dir: filepath.Join(dir, "copy"), remove: dir}
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
		f.Kind, f.Source = "git", r.Source
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
	files int
	bytes int64
}

func (r *room) countFile(n int64) error {
	r.files++
	r.bytes += n
	switch {
	case r.files > maxFiles:
		return fmt.Errorf("it holds more than %d files: name the folder of the skill", maxFiles)
	case r.bytes > maxBytes:
		return fmt.Errorf("it holds more than %d MB: name the folder of the skill", maxBytes>>20)
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
	var have room
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() && strings.Count(rel, "/") >= maxDepth:
			f.note("%s: too deep, left out", rel)
			return fs.SkipDir
		case d.IsDir():
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
		return os.WriteFile(filepath.Join(f.Dir, filepath.FromSlash(rel)), data, 0o600)
	})
}

func (f *Fetched) note(format string, args ...any) {
	const most = 20
	if len(f.Notes) < most {
		f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
	}
}

// Skills finds the skills in what came, those that are broken too.
func (f *Fetched) Skills() ([]*skills.Skill, error) {
	var out []*skills.Skill
	err := filepath.WalkDir(f.Dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != skills.File || len(out) == maxSkills {
			return err
		}
		if s := skills.One(filepath.Dir(at)); s != nil {
			out = append(out, s)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *skills.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}
