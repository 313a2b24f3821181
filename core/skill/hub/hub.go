// Package hub brings skills in from elsewhere, by way of a quarantine (core/quarantine), and gives
// them away: a skill becomes an archive. What was installed from where stands in a lock file, as in
// hermes-agent.
//
// The contract: whoever installs shows what was found and asks; the copy is then made through the
// library, which checks and keeps each file.
package hub

import (
	"archive/zip"
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/quarantine"
	"hermes/skills"
)

// Folders below the skills folder; names that begin with a dot hold no skills.
const (
	folder = ".hub"
	waits  = "quarantine"
)

// Limits of what is fetched.
const (
	maxFiles  = 2000
	maxBytes  = 20 << 20
	maxDepth  = 8
	maxSkills = 200
)

// Fetched is what came, in quarantine.
type Fetched struct{ *quarantine.Fetched }

// Fetch copies what r names into the quarantine of a skills folder.
func Fetch(ctx context.Context, skillsDir string, r quarantine.Request) (*Fetched, error) {
	most := quarantine.Limits{What: "skill", Files: maxFiles, Bytes: maxBytes, Depth: maxDepth, Leave: []string{"node_modules"}}
	f, err := quarantine.Fetch(ctx, filepath.Join(skillsDir, folder, waits), r, most)
	if err != nil {
		return nil, err
	}
	return &Fetched{f}, nil
}

// LockPath is the lock file of a skills folder.
func LockPath(skillsDir string) string { return filepath.Join(skillsDir, folder, "lock.json") }

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

// Pack writes a skill as a zip archive: its folder, with SKILL.md first. Files that are no text are
// left out and named.
func Pack(w io.Writer, s *skills.Skill) (left []string, err error) {
	z := zip.NewWriter(w)
	head, err := s.Raw()
	if err != nil {
		return nil, err
	}
	if err := addEntry(z, s.Name+"/"+skills.File, head); err != nil {
		return nil, err
	}
	for _, rel := range s.Files() {
		text, err := s.Read(rel)
		if err != nil {
			left = append(left, rel)
			continue
		}
		if err := addEntry(z, s.Name+"/"+rel, []byte(text)); err != nil {
			return left, err
		}
	}
	return left, z.Close()
}

// addEntry writes one file: without a time, so that the same skill is the same archive.
func addEntry(z *zip.Writer, name string, data []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
