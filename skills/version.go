package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// History is every version of a skill, the oldest first.
type History struct {
	Name     string
	Versions []Version
	now      string // the file of a procedure as it lies by now, "" when nobody knows
}

func (h History) lastVersion() int { return len(h.Versions) }

// Files are the files that were ever changed as they were after a version, and whether there was a
// skill at all. A file that is not in it was never changed.
func (h History) Files(n int) (files map[string][]byte, there bool) {
	files = map[string][]byte{}
	switch {
	case n > 0:
		there = !h.Versions[n-1].Gone
	case len(h.Versions) > 0:
		there = h.Versions[0].Op != Create
	}
	from := n
	for from > 0 && h.Versions[from-1].Op != Undo && h.Versions[from-1].Op != Rollback {
		from--
	}
	if from > 0 { // the newest step back: it is as it was there
		files, _ = h.Files(h.Versions[from-1].To)
		from--
	}
	for i := from; i < n; i++ {
		v := h.Versions[i]
		if i > 0 && h.Versions[i-1].Gone && !v.Gone && v.Restore == "" && v.Op != Undo && v.Op != Rollback {
			for _, p := range h.partsUpTo(i) {
				files[p.Rel] = nil // a new skill under the old name
			}
		}
		for _, p := range v.Parts() {
			files[p.Rel] = p.After
		}
	}
	for i := n; i < len(h.Versions); i++ {
		for _, p := range h.Versions[i].Parts() {
			if _, known := files[p.Rel]; !known {
				files[p.Rel] = p.Before
			}
		}
		if h.Versions[i].Gone {
			break // what comes is another skill
		}
	}
	return files, there
}

// partsUpTo are those of the first n versions.
func (h History) partsUpTo(n int) (out []Part) {
	for _, v := range h.Versions[:n] {
		out = append(out, v.Parts()...)
	}
	return out
}

// MainFile is the file whose text counts after a version.
func (h History) MainFile(n int) string {
	if len(h.Versions) == 0 {
		return File
	}
	return h.Versions[max(n, 1)-1].mainFile()
}

// isFile reports whether only one file has versions: that of a procedure.
func (h History) isFile() bool { return h.MainFile(h.lastVersion()) != File }

// stands reports whether a skill or procedure is there: a folder alone may be that of another one.
func (h History) stands(root *os.Root, dir, main string) bool {
	_, err := root.Lstat(path.Join(dir, cmp.Or(main, File)))
	return err == nil
}

// place is where the text lies by now: its folder, and the file of a procedure.
func (h History) place() (dir, main string) {
	if h.isFile() && h.now != "" {
		return path.Dir(h.now), path.Base(h.now)
	}
	last := h.Versions[h.lastVersion()-1]
	return last.Dir, last.Main
}

// Text is SKILL.md, or the file of a procedure, after a version; nil when there was none.
func (h History) Text(n int) []byte {
	files, there := h.Files(n)
	if text, changed := files[h.MainFile(n)]; changed && there {
		return text
	}
	return nil
}

// At is the version whose text stands where undone steps end: the one that an undo takes back.
func (h History) At() int {
	n := h.lastVersion()
	for n > 0 && h.Versions[n-1].Op == Undo {
		n = h.Versions[n-1].To
	}
	return n
}

// Find is the newest version with a text, 0 when none is known to have it.
func (h History) Find(hash string) int {
	for i, v := range slices.Backward(h.Versions) {
		if v.Hash == hash && hash != "" {
			return i + 1
		}
	}
	return 0
}

// History returns the versions of a skill that are kept.
func (e Editor) History(name string) (History, error) {
	if err := CheckKey(name); err != nil {
		return History{}, err
	}
	root, err := os.OpenRoot(e.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return History{Name: name}, nil
	}
	if err != nil {
		return History{}, plainError(err)
	}
	defer func() { _ = root.Close() }()
	return readHistory(root, name)
}

// Undo takes the last change of a skill back and says what that was. What somebody changed outside
// of the program is the last change, and is kept like every other one.
func (e Editor) Undo(name string, from Provenance) (Version, string, error) {
	var what string
	v, err := e.goBack(name, from, func(h History) (Op, int, error) {
		n := h.At()
		if n == 0 {
			return "", 0, fmt.Errorf("no change of %s is kept", DescribeKey(name))
		}
		last := h.Versions[n-1]
		what = fmt.Sprintf("%s of %s", last.Op, last.label())
		return Undo, n - 1, nil
	})
	return v, what, err
}

// Rollback makes a skill what it was after a version; that is a new version.
func (e Editor) Rollback(name string, to int, from Provenance) (Version, error) {
	return e.goBack(name, from, func(h History) (Op, int, error) {
		if to < 0 || to > h.lastVersion() {
			return "", 0, fmt.Errorf("there is no version %d of %s; it has 0 to %d", to, DescribeKey(name), h.lastVersion())
		}
		if _, there := h.Files(to); !there {
			return "", 0, fmt.Errorf("%[2]s was not there at version %[1]d", to, DescribeKey(name))
		}
		return Rollback, to, nil
	})
}

// goBack makes the skill what it was at the version that choose names.
func (e Editor) goBack(name string, from Provenance, choose func(History) (Op, int, error)) (Version, error) {
	var out Version
	if err := CheckKey(name); err != nil {
		return out, err
	}
	err := e.workLocked(func(root *os.Root) error {
		h, err := readHistory(root, name)
		if err != nil {
			return err
		}
		if len(h.Versions) == 0 {
			return fmt.Errorf("no change of %s is kept", DescribeKey(name))
		}
		if e.now != "" {
			h.now = e.pathBelow(e.now)
		}
		if h, err = h.noteOutside(root); err != nil {
			return err
		}
		op, to, err := choose(h)
		if err != nil {
			return err
		}
		v, err := h.versionLike(root, to)
		if err != nil {
			return err
		}
		v.Op, v.To, v.Provenance = op, to, from
		if out, err = h.commitVersion(root, v); err != nil {
			return err
		}
		return out.checkMade(root)
	})
	return out, err
}

// checkMade returns an error when the text is not the one that the version has.
func (v Version) checkMade(root *os.Root) error {
	if v.Gone {
		return nil
	}
	file := path.Join(v.Dir, v.mainFile())
	text, err := readIn(root, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if HashOf(text) != v.Hash {
		return fmt.Errorf("%s is not as it was at version %d: somebody changed it meanwhile; do it again", file, v.To)
	}
	return nil
}

// label is the changed file of a version, for people.
func (v Version) label() string {
	name, _ := SplitKey(v.Name)
	return path.Join(name, v.Rel)
}

// versionLike is the change that makes the skill what it was after a version.
func (h History) versionLike(root *os.Root, to int) (Version, error) {
	dir, main := h.place()
	v := Version{Name: h.Name, Dir: dir, Main: main}
	v.Rel = v.mainFile()
	files, there := h.Files(to)
	if h.isFile() { // wherever it lies by now
		files = map[string][]byte{v.Rel: files[h.MainFile(to)]}
	}
	exists := h.stands(root, v.Dir, v.Main)
	switch {
	case !there:
		v.Gone = true
		if exists && !h.isFile() {
			v.Archive = archiveName(h.Name)
		}
	case !exists:
		if v.Restore = h.archivedFolder(root, to); v.Restore != "" && isDir(root, v.Dir) {
			return v, fmt.Errorf("the folder %s is in the way of the skill's files, which are in %s: move it away, do this again, and move its files back", v.Dir, v.Restore)
		}
	}
	at := v.Dir
	if v.Restore != "" {
		at = v.Restore
	}
	parts, err := v.partsLike(root, at, files, there)
	if err != nil {
		return v, err
	}
	if len(parts) > 0 {
		v.Part, v.More = parts[0], parts[1:]
		return v, nil
	}
	text, err := readIn(root, path.Join(at, v.mainFile()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	v.Before, v.After = text, text // only the record is new
	return v, nil
}

// partsLike are the changes that make the files below at what they were.
func (v Version) partsLike(root *os.Root, at string, files map[string][]byte, there bool) (parts []Part, err error) {
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		now, err := readIn(root, path.Join(at, rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		p := Part{Rel: rel, Before: now, After: files[rel]}
		switch {
		case !there && rel == v.mainFile():
			p.After = nil
		case !there:
			continue // it goes with the folder
		case v.Restore != "" && rel == v.mainFile():
			p.Before = nil
		}
		if !sameFile(p.Before, p.After) {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// archivedFolder is where the folder of a version went, "" when it is not there any more.
func (h History) archivedFolder(root *os.Root, n int) string {
	for _, v := range h.Versions[n:] {
		if v.Archive != "" && isDir(root, v.Archive) {
			return v.Archive
		}
	}
	return ""
}

// noteOutside keeps what somebody changed since the last version as a version of its own, so that
// nothing is lost that is written over.
func (h History) noteOutside(root *os.Root) (History, error) {
	if len(h.Versions) == 0 {
		return h, nil
	}
	dir, main := h.place()
	v := Version{Op: Outside, Name: h.Name, Dir: dir, Main: main}
	files, there := h.Files(h.lastVersion())
	if h.isFile() {
		files = map[string][]byte{v.mainFile(): files[h.MainFile(h.lastVersion())]}
	}
	exists := h.stands(root, v.Dir, v.Main)
	if !exists && !there {
		return h, nil // what lies there is not the skill's
	}
	v.Gone = !exists
	var parts []Part
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		now, err := readIn(root, path.Join(v.Dir, rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return h, err
		}
		was := files[rel]
		if !there {
			was = nil
		}
		if rel != v.mainFile() && exists != there {
			continue // it came or went with the folder
		}
		if !sameFile(was, now) {
			parts = append(parts, Part{Rel: rel, Before: was, After: now})
		}
	}
	if len(parts) == 0 {
		return h, nil
	}
	v.Part, v.More = parts[0], parts[1:]
	v, err := h.commitVersion(root, v)
	if err != nil {
		return h, err
	}
	h.Versions = append(h.Versions, v)
	return h, nil
}
