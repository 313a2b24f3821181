package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/core/atomicfile"
	"hermes/core/config"
)

// ProjectFile is where projects name servers, as other programs read it too.
const ProjectFile = ".mcp.json"

const maxProjectFile = 1 << 20

// Trust is what the person said about the servers of a project.
type Trust string

// Answers of the person.
const (
	Unasked  Trust = "not trusted"
	Trusted  Trust = "trusted"
	Refused  Trust = "refused"
	Outdated Trust = "changed" // they trusted another content
)

// Brought is what a project's file names. Nothing of it is started before the person trusted
// exactly this content.
type Brought struct {
	Folder   string     `json:"folder"`
	Hash     string     `json:"hash"`
	State    Trust      `json:"state"`
	Servers  []Settings `json:"servers"`
	Problems []string   `json:"problems,omitempty"`

	Config *config.Config `json:"-"` // what was read
}

// Projects remembers which projects may bring servers, in a file that only its owner can read.
type Projects struct{ path string }

// NewProjects returns what is kept in a data folder.
func NewProjects(home string) *Projects {
	return &Projects{path: filepath.Join(home, "mcp_trust.json")}
}

type answer struct {
	Hash   string    `json:"hash"`
	Denied bool      `json:"denied,omitempty"`
	At     time.Time `json:"at"`
}

// Look reads what a project brings; nil when it brings nothing.
func (p *Projects) Look(folder string, c *config.Config) (*Brought, error) {
	if folder == "" {
		return nil, nil
	}
	name := filepath.Join(folder, ProjectFile)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxProjectFile:
		return nil, fmt.Errorf("%s is a link, no plain file or larger than 1 MiB: it is not read", name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	b := &Brought{Folder: folder, Hash: hex.EncodeToString(sum[:]), State: Unasked}
	var problems []config.Problem
	b.Config, problems = c.ProjectServers(ProjectFile, data)
	for _, one := range problems {
		b.Problems = append(b.Problems, one.String())
	}
	all := FromConfig(b.Config)
	for _, s := range all {
		b.Servers = append(b.Servers, s)
	}
	slices.SortFunc(b.Servers, func(a, b Settings) int { return strings.Compare(a.Name, b.Name) })
	if len(b.Servers) == 0 && len(b.Problems) == 0 {
		return nil, nil
	}
	answers, err := p.read()
	if err != nil {
		return b, err
	}
	if a, ok := answers[folder]; ok {
		switch {
		case a.Hash != b.Hash:
			b.State = Outdated
		case a.Denied:
			b.State = Refused
		default:
			b.State = Trusted
		}
	}
	return b, nil
}

// Answer remembers what the person said about what they were shown.
func (p *Projects) Answer(shown *Brought, yes bool) error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	unlock, err := lockFile(p.path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	answers, err := p.read()
	if err != nil {
		return err
	}
	answers[shown.Folder] = answer{shown.Hash, !yes, time.Now().UTC().Truncate(time.Second)}
	data, err := json.MarshalIndent(map[string]any{"version": 1, "projects": answers}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(p.path, append(data, '\n'), 0o600)
}

func (p *Projects) read() (map[string]answer, error) {
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]answer{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what projects are trusted cannot be read, so none is: %w", err)
	}
	var doc struct {
		Projects map[string]answer `json:"projects"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON, so no project is trusted; mend or delete it: %w", p.path, err)
	}
	if doc.Projects == nil {
		doc.Projects = map[string]answer{}
	}
	return doc.Projects, nil
}
