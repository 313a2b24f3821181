package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/config"
	"hermes/core/trust"
)

// ProjectFile is where projects name servers, as other programs read it too.
const ProjectFile = ".mcp.json"

const maxProjectFile = 1 << 20

// Trust is what the person said about the servers of a project.
type Trust = trust.State

// Answers of the person.
const (
	Unasked  = trust.Unasked
	Trusted  = trust.Trusted
	Refused  = trust.Refused
	Outdated = trust.Outdated // they trusted another content
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
type Projects struct{ book *trust.Book }

// NewProjects returns what is kept in a data folder.
func NewProjects(home string) *Projects {
	return &Projects{trust.New(filepath.Join(home, "mcp_trust.json"))}
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
	b.State, err = p.book.State(folder, b.Hash)
	return b, err
}

// Answer remembers what the person said about what they were shown.
func (p *Projects) Answer(shown *Brought, yes bool) error {
	return p.book.Answer(shown.Folder, shown.Hash, yes)
}
