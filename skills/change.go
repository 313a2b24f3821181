package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Op is what a change does.
type Op string

// Operations, as the tool skill_manage calls them.
const (
	Create     Op = "create"
	Edit       Op = "edit"
	Patch      Op = "patch"
	Delete     Op = "delete"
	WriteFile  Op = "write_file"
	RemoveFile Op = "remove_file"
)

// Request asks for a change of a skill in the home.
type Request struct {
	Op       Op
	Name     string
	Category string // of a new skill
	File     string // beside SKILL.md; "" is SKILL.md
	Content  string // of Create, Edit, WriteFile
	Old, New string // of Patch
	All      bool   // Patch replaces every place
}

// Change is a request that was checked and can be carried out. Nothing was written yet.
type Change struct {
	Request
	Dir           string // folder of the skill
	Rel           string // the file below it
	Main          string // the file of a procedure; "" is SKILL.md
	Before, After []byte // nil: not there
	Files         []string
	From          Provenance // kept with the version that it makes
}

// Editor changes the skills in a home's folder. All of its methods may be used from several
// goroutines and processes: files are replaced as a whole, and a change is refused when its file is
// not what it was planned on.
type Editor struct {
	Dir string // the skills folder of the home
	now string
}

// WithFile is an editor that knows where the file of the procedure lies by now whose versions it
// goes back through. It may have been moved since its last version.
func (e Editor) WithFile(file string) Editor {
	e.now = file
	return e
}

// ErrStale says that a file changed between plan and change.
var ErrStale = errors.New("the file has changed meanwhile; read it again")

// ErrSame says that a change would change nothing.
var ErrSame = errors.New("this changes nothing: the text is the same already")

// Plan checks a request against the catalog and says what it would change. The error is for whoever
// asked: what is wrong and what to do.
func (e Editor) Plan(c *Catalog, r Request) (*Change, error) {
	if err := CheckName(r.Name); err != nil {
		return nil, err
	}
	if r.Op == Create {
		return e.planNew(c, r)
	}
	s, err := e.ownSkill(c, r.Name)
	if err != nil {
		return nil, err
	}
	out := &Change{Request: r, Dir: s.Dir, Rel: File}
	if r.Op == Delete {
		out.Before, err = s.readFile(File)
		out.Files = s.Files()
		return out, err
	}
	if r.File != "" {
		if out.Rel, err = CheckPath(r.File); err != nil {
			return nil, err
		}
	}
	out.Before, err = s.readFile(out.Rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := out.computeAfter(); err != nil {
		return nil, err
	}
	return out, out.checkResult()
}

// Owns reports whether a skill of this name is in the home, a broken one too.
func (e Editor) Owns(c *Catalog, name string) bool {
	_, err := e.ownSkill(c, name)
	return err == nil
}

// ownSkill finds a skill that may be changed: one of the home. A broken one may be mended.
func (e Editor) ownSkill(c *Catalog, name string) (*Skill, error) {
	s := c.Find(name)
	if s == nil || s.Source != User {
		for _, b := range c.Broken {
			if b.Source == User && (b.Name == name || filepath.Base(b.Dir) == name) {
				s = b
				break
			}
		}
	}
	switch {
	case s == nil:
		return nil, fmt.Errorf("there is no skill %s; skills_list shows them, action create makes it", name)
	case s.Source != User:
		return nil, fmt.Errorf("%s is a %s skill, which is not changed here; action create makes one of this name in the person's own folder, which then counts", name, s.Source)
	default:
		return s, nil
	}
}

// PlanProcedure checks a change of a procedure of the home: a new text, or that it goes. Whether
// the text is one is for package procedure.
func (e Editor) PlanProcedure(f ProcedureFile, r Request) (*Change, error) {
	switch {
	case f.Source != User:
		return nil, fmt.Errorf("%s is not in the person's own folder: a %s procedure is not changed here", f.Path, f.Source)
	case r.Op != Edit && r.Op != Delete:
		return nil, fmt.Errorf("there is no action %q for a procedure", r.Op)
	}
	before, err := f.Read()
	if err != nil {
		return nil, err
	}
	name := filepath.Base(f.Path)
	out := &Change{Request: r, Dir: filepath.Dir(f.Path), Rel: name, Main: name, Before: before}
	if r.Op == Edit {
		out.After = []byte(r.Content)
	}
	return out, out.checkResult()
}

// PlanNewProcedure checks a procedure that is to be made in the home, as a file of its name.
func (e Editor) PlanNewProcedure(r Request) (*Change, error) {
	name, _ := SplitKey(r.Name)
	switch err := CheckName(name); {
	case err != nil:
		return nil, err
	case r.Category != "" && CheckCategory(r.Category) != nil:
		return nil, CheckCategory(r.Category)
	}
	file := name + ".yaml"
	out := &Change{Request: r, Dir: filepath.Join(e.Dir, filepath.FromSlash(r.Category)), Rel: file, Main: file, After: []byte(r.Content)}
	if _, err := os.Lstat(out.Path()); err == nil {
		return nil, fmt.Errorf("there is a file %s already; choose another name or category", out.Path())
	}
	return out, out.checkResult()
}

func (e Editor) planNew(c *Catalog, r Request) (*Change, error) {
	switch {
	case Reserved(r.Name):
		return nil, fmt.Errorf("%s is a command of the program; choose another name", r.Name)
	case r.Category != "" && CheckCategory(r.Category) != nil:
		return nil, CheckCategory(r.Category)
	}
	if s := c.Find(r.Name); s != nil && s.Source == User {
		return nil, fmt.Errorf("there is a skill %s already; change that one (action patch or edit)", r.Name)
	}
	out := &Change{Request: r, Dir: filepath.Join(e.Dir, filepath.FromSlash(r.Category), r.Name), Rel: File, After: []byte(r.Content)}
	if _, err := os.Lstat(out.Dir); err == nil {
		return nil, fmt.Errorf("there is a folder %s already; choose another name or category", out.Dir)
	}
	return out, out.checkResult()
}

// computeAfter fills After.
func (c *Change) computeAfter() error {
	switch c.Op {
	case Edit:
		c.Rel, c.After = File, []byte(c.Content)
	case WriteFile:
		if c.Rel == File {
			return fmt.Errorf("write_file is for files in %s; action edit replaces %s", joinWords(folders), File)
		}
		c.After = []byte(c.Content)
	case RemoveFile:
		if c.Rel == File {
			return fmt.Errorf("%s cannot be removed; action delete removes the skill", File)
		}
		if c.Before == nil {
			return fmt.Errorf("there is no file %s in the skill", c.Rel)
		}
	case Patch:
		return c.applyPatch()
	case Create, Delete:
	default:
		return fmt.Errorf("there is no action %q", c.Op)
	}
	return nil
}

func (c *Change) applyPatch() error {
	n := bytes.Count(c.Before, []byte(c.Old))
	switch {
	case c.Before == nil:
		return fmt.Errorf("there is no file %s in the skill", c.Rel)
	case c.Old == "":
		return errors.New("old_string is empty; say which text is replaced")
	case n == 0:
		return fmt.Errorf("old_string does not stand in %s; skill_view shows what does", c.Rel)
	case n > 1 && !c.All:
		return fmt.Errorf("old_string stands in %s %d times; give more of the text around it, or replace_all", c.Rel, n)
	}
	c.After = bytes.ReplaceAll(c.Before, []byte(c.Old), []byte(c.New))
	return nil
}

// checkResult refuses what would not be a skill any more.
func (c *Change) checkResult() error {
	if c.After == nil {
		return nil
	}
	switch {
	case bytes.Equal(c.After, c.Before):
		return ErrSame
	case len(c.After) > MaxFile:
		return fmt.Errorf("%s would have %d bytes, at most %d are allowed", c.Rel, len(c.After), MaxFile)
	case !utf8.Valid(c.After) || bytes.IndexByte(c.After, 0) >= 0:
		return fmt.Errorf("%s would not be text", c.Rel)
	case c.Rel != File:
		return nil
	}
	s, _ := Parse(File, c.After)
	for _, p := range s.Problems {
		if p.Fatal {
			return p
		}
	}
	if s.Name != c.Name {
		return Problem{File: File, Key: "name", Why: fmt.Sprintf("the front matter says %s, but the skill is %s", s.Name, c.Name), Fix: "give both the same name"}
	}
	return nil
}

// Code reports whether the change touches what runs rather than what is read.
func (c *Change) Code() bool { return strings.HasPrefix(c.Rel, "scripts/") }

// Path is the full name of the changed file.
func (c *Change) Path() string { return filepath.Join(c.Dir, filepath.FromSlash(c.Rel)) }

// Apply carries a change out and keeps it as a version of the skill, with what was there, for good.
func (e Editor) Apply(c *Change) (Version, error) {
	var out Version
	err := e.workLocked(func(root *os.Root) error {
		h, err := readHistory(root, c.Name)
		if err != nil {
			return err
		}
		v := Version{
			Op: c.Op, Name: c.Name, Dir: e.pathBelow(c.Dir), Main: c.Main, Provenance: c.From, Part: Part{c.Rel, c.Before, c.After},
		}
		switch {
		case c.Op != Delete:
		case c.Main != "": // its text is in the versions; the folder stays
			v.Gone = true
		default:
			if info, err := root.Lstat(v.Dir); err != nil || !info.IsDir() {
				return fmt.Errorf("%s is not a folder", v.Dir)
			}
			v.Archive, v.Gone = archiveName(v.Name), true
		}
		now, err := readIn(root, path.Join(v.Dir, c.Rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, c.Before) && (c.Op != Delete || c.Main != "") {
			return ErrStale
		}
		if c.Rel != v.mainFile() && !h.stands(root, v.Dir, v.Main) {
			return ErrStale // its skill went meanwhile: a file alone would be nobody's
		}
		if c.Main != "" { // it may have been moved since its last version
			h.now = path.Join(v.Dir, v.Main)
		}
		if h, err = h.noteOutside(root); err != nil {
			return err
		}
		if len(h.Versions) == 0 && c.Rel != v.mainFile() { // so that every version has its text
			text, err := readIn(root, path.Join(v.Dir, File))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			v.More = []Part{{File, text, text}}
		}
		out, err = h.commitVersion(root, v)
		return err
	})
	return out, err
}

func (e Editor) pathBelow(dir string) string {
	rel, err := filepath.Rel(e.Dir, dir)
	if err != nil {
		return dir
	}
	return filepath.ToSlash(rel)
}

// openRoot opens the skills folder; everything is written through it, so that no link leads out of
// it.
func (e Editor) openRoot() (*os.Root, error) {
	if err := os.MkdirAll(e.Dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(e.Dir)
}

// replaceIn replaces a file below root as a whole.
func replaceIn(root *os.Root, rel string, data []byte) error {
	tmp, err := writeBeside(root, rel, data)
	if err == nil {
		err = root.Rename(tmp, rel)
	}
	if err != nil {
		_ = root.Remove(besideName(rel))
	}
	return writeError(root, rel, err)
}

func besideName(rel string) string { return path.Join(path.Dir(rel), ".new-"+path.Base(rel)) }

// writeBeside writes what a file will hold next to it, synced; a rename puts it in place, which
// needs
// no room on the disk.
func writeBeside(root *os.Root, rel string, data []byte) (tmp string, err error) {
	if err := root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return "", writeError(root, rel, err)
	}
	mode := fs.FileMode(0o600)
	if info, err := root.Lstat(rel); err == nil {
		if !info.Mode().IsRegular() {
			return "", errors.New("it is a link or no file, which is not written through")
		}
		mode = info.Mode().Perm() // a script stays one that can be run
	}
	tmp = besideName(rel)
	_ = root.Remove(tmp) // of a crash
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", writeError(root, rel, err)
	}
	_, err = f.Write(data)
	return tmp, writeError(root, rel, errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()))
}

// writeError is plain with the name of what cannot be written.
func writeError(root *os.Root, rel string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%s may not be written; check who owns it and its folder, and whether the disk is read-only", filepath.Join(root.Name(), rel))
	}
	return plainError(err)
}
