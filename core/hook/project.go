package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"hermes/core/atomicfile"
	"hermes/core/config"
	"hermes/core/trust"
)

// ProjectFile is where projects name hooks, below their folder.
const ProjectFile = ".hermes/hooks.yaml"

const maxProjectFile = 1 << 20

// Brought is the hooks that a project names. None is run before the person trusted exactly this
// content, with the files of the project that the commands name.
type Brought struct {
	Folder   string      `json:"folder"`
	Hash     string      `json:"hash"`
	State    trust.State `json:"state"`
	Hooks    []Hook      `json:"hooks"`
	Problems []string    `json:"problems,omitempty"`
}

// Projects remembers which projects may bring hooks.
type Projects struct {
	book *trust.Book
	home string
	run  Commands
}

// NewProjects returns what is kept in a data folder.
func NewProjects(home string, run Commands) *Projects {
	return &Projects{trust.New(filepath.Join(home, "hook_trust.json")), home, run}
}

// Look reads what a project brings; nil when it brings nothing.
func (p *Projects) Look(folder string, c *config.Config) (*Brought, error) {
	name := filepath.Join(folder, ProjectFile)
	if folder == "" || filepath.Dir(name) == filepath.Clean(p.home) {
		return nil, nil
	}
	data, err := atomicfile.ReadPlain(name, maxProjectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	set, problems := c.ProjectHooks(ProjectFile, data)
	b := &Brought{Folder: folder, Hooks: []Hook{}}
	for _, one := range problems {
		b.Problems = append(b.Problems, one.String())
	}
	for _, h := range p.run.Of(set) {
		h.Owner = OwnerProject
		if h, err = h.withDefaults(); err != nil {
			b.Problems = append(b.Problems, err.Error())
		}
		b.Hooks = append(b.Hooks, h)
	}
	if len(b.Hooks) == 0 && len(b.Problems) == 0 {
		return nil, nil
	}
	b.Hash = hashOf(folder, data, b.Hooks)
	b.State, err = p.book.State(folder, b.Hash)
	return b, err
}

// Answer remembers what the person said about what they were shown.
func (p *Projects) Answer(shown *Brought, yes bool) error {
	return p.book.Answer(shown.Folder, shown.Hash, yes)
}

// hashOf is the hash of the file and of every file of the project that a command names.
func hashOf(folder string, data []byte, list []Hook) string {
	sum := sha256.New()
	_, _ = sum.Write(data) // it never fails
	for _, h := range list {
		for word := range strings.FieldsSeq(h.Command) {
			word = strings.Trim(word, `"';&|()`)
			for _, root := range []string{"$HERMES_PROJECT_DIR/", "${HERMES_PROJECT_DIR}/"} {
				word = strings.TrimPrefix(word, root)
			}
			if !filepath.IsAbs(word) {
				word = filepath.Join(folder, word)
			}
			if target, err := filepath.EvalSymlinks(word); err == nil { // what a link leads to is what runs
				text, _ := atomicfile.ReadPlain(target, maxProjectFile)
				_, _ = fmt.Fprintf(sum, "\x00%s\x00%s\x00%d\x00%s", word, target, len(text), text)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
