package skills

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hermes/core/atomicfile"
)

// Trust remembers which projects may bring skills. An entry is a folder and the hash of all that
// lies in its skill folders: when one byte changes the person is asked again. It is a file that
// only its owner can read.
type Trust struct {
	path string
	mu   sync.Mutex
}

// TrustFile is the name of that file in the skills folder of a home; a Watch of the folder tells of
// its changes.
const TrustFile = ".trust.json"

// NewTrust returns the trust that is kept in a file; the file appears with the first answer.
func NewTrust(path string) *Trust { return &Trust{path: path} }

// Trusted is one answer of the person.
type Trusted struct {
	Folder string    `json:"folder"`
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
	// Denied says that the person does not want these skills and need not be asked about them again.
	Denied bool `json:"denied,omitempty"`
}

// Brought is what a project has in its skill folders.
type Brought struct {
	Folder string   // root of the project
	Hash   string   // "" when it cannot be trusted: Why says the reason
	Skills []string // names of the folders with a SKILL.md
	Files  int
	State  State
	Why    string

	table map[string]digest
}

// State is what the person said about a project.
type State string

// States of a project.
const (
	Unasked  State = "not trusted" // nobody has been asked
	Accepted State = "trusted"
	Denied   State = "refused"
	Changed  State = "changed" // it was trusted with other contents
)

// Limits of what a project may bring.
const (
	maxProjectFiles = 2000
	maxProjectBytes = 32 << 20
)

// Look reads what a project brings; nil when it brings nothing. It reads every byte of its skill
// folders.
func (o Options) Look() *Brought {
	b := &Brought{Folder: o.Project, State: Unasked, table: map[string]digest{}}
	there, size := false, 0
	for _, dir := range o.projectPlaces() {
		rel, err := filepath.Rel(o.Project, dir)
		if err != nil {
			continue
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			if err == nil {
				b.Why, there = filepath.ToSlash(rel)+" is a link or a file", true
			}
			continue
		}
		there = true
		if err := b.digestFolder(filepath.ToSlash(rel), &size); err != nil && b.Why == "" {
			b.Why = err.Error()
		}
	}
	if !there || len(b.table) == 0 && b.Why == "" {
		return nil
	}
	slices.Sort(b.Skills)
	b.Skills, b.Files = slices.Compact(b.Skills), len(b.table)
	if b.Why == "" {
		b.Hash = b.hashOf()
	}
	if o.Trust != nil {
		b.State = o.Trust.stateOf(b)
	}
	return b
}

// digestFolder hashes the files below a folder of the project.
func (b *Brought) digestFolder(rel string, size *int) error {
	root, err := os.OpenRoot(b.Folder)
	if err != nil {
		return plainError(err)
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), rel, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, plainError(err))
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is a link or no file, which no project's skills may hold", cleanName(name))
		case len(b.table) >= maxProjectFiles:
			return fmt.Errorf("there are more than %d files", maxProjectFiles)
		}
		data, err := readIn(root, name)
		if err != nil {
			return fmt.Errorf("%s: %w", cleanName(name), err)
		}
		if *size += len(data); *size > maxProjectBytes {
			return fmt.Errorf("the files have more than %d MiB", maxProjectBytes>>20)
		}
		b.table[name] = sha256.Sum256(data)
		if path.Base(name) == File {
			b.Skills = append(b.Skills, cleanName(path.Base(path.Dir(name))))
		}
		return nil
	})
}

// hashOf is one hash over names and contents.
func (b *Brought) hashOf() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(b.table)) {
		d := b.table[name]
		fmt.Fprintf(h, "%d:%s=%x\n", len(name), name, d[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// addProject adds the skills of a trusted project.
func (l *loader) addProject() {
	o := l.options
	if o.Project == "" {
		return
	}
	b := o.Look()
	if l.catalog.Project = b; b == nil || b.State != Accepted {
		return
	}
	for _, dir := range o.projectPlaces() {
		rel, err := filepath.Rel(o.Project, dir)
		if err != nil {
			continue
		}
		l.walkPlace(dir, Project, b.table, filepath.ToSlash(rel), true)
	}
}

func (t *Trust) stateOf(b *Brought) State {
	all, err := t.Entries()
	if err != nil {
		return Unasked
	}
	out := Unasked
	for _, e := range all {
		switch {
		case e.Folder != b.Folder:
		case e.Hash != b.Hash || b.Hash == "":
			out = Changed
		case e.Denied:
			return Denied
		default:
			return Accepted
		}
	}
	return out
}

// Entries returns what the person answered, sorted by folder.
func (t *Trust) Entries() ([]Trusted, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readTrusted()
}

func (t *Trust) readTrusted() ([]Trusted, error) {
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what projects are trusted cannot be read, so none is: %w", err)
	}
	var doc struct {
		Trusted []Trusted `json:"projects"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON, so no project is trusted; mend or delete it: %w", t.path, err)
	}
	return doc.Trusted, nil
}

// Accept lets the project bring what the person was shown. It fails when that has changed since.
func (t *Trust) Accept(o Options, shown *Brought) error { return t.recordAnswer(o, shown, false) }

// Refuse remembers that the person does not want what was shown.
func (t *Trust) Refuse(o Options, shown *Brought) error { return t.recordAnswer(o, shown, true) }

func (t *Trust) recordAnswer(o Options, shown *Brought, denied bool) error {
	now := o.Look()
	switch {
	case now == nil:
		return fmt.Errorf("%s brings no skills", o.Project)
	case now.Hash == "":
		return fmt.Errorf("the skills of %s cannot be trusted: %s", o.Project, now.Why)
	case now.Hash != shown.Hash:
		return fmt.Errorf("the skills of %s have changed since they were shown; look at them again", o.Project)
	}
	return t.changeFile(func(all []Trusted) []Trusted {
		all = slices.DeleteFunc(all, func(e Trusted) bool { return e.Folder == o.Project })
		return append(all, Trusted{Folder: o.Project, Hash: now.Hash, At: time.Now().UTC().Truncate(time.Second), Denied: denied})
	})
}

// Revoke forgets what was answered about a project; false when nothing was.
func (t *Trust) Revoke(folder string) (bool, error) {
	found := false
	err := t.changeFile(func(all []Trusted) []Trusted {
		n := len(all)
		all = slices.DeleteFunc(all, func(e Trusted) bool { return e.Folder == folder })
		found = len(all) < n
		return all
	})
	return found, err
}

func (t *Trust) changeFile(f func([]Trusted) []Trusted) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, err := t.readTrusted()
	if err != nil {
		return err
	}
	all = f(all)
	slices.SortFunc(all, func(a, b Trusted) int { return cmp.Compare(a.Folder, b.Folder) })
	return atomicfile.WriteJSON(t.path, map[string]any{"version": 1, "projects": all})
}
