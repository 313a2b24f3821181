// Package hub brings skills and procedures in from elsewhere, by way of a quarantine
// (core/quarantine), and gives them away: each becomes an archive. What was installed from where
// stands in a lock file, as in hermes-agent.
//
// The contract: whoever installs shows what was found and asks; the copy is then made through the
// library, which checks and keeps each file.
package hub

import (
	"archive/zip"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/quarantine"
	"hermes/skills"
	"hermes/skills/procedure"
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

// Items finds the skills and procedures in what came, those that are broken too: skills first, by
// name.
func (f *Fetched) Items() ([]Item, error) {
	var out, procedures []Item
	err := filepath.WalkDir(f.Dir, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() || len(out)+len(procedures) == maxSkills:
			return err
		case d.Name() == skills.File:
			if s := skills.One(filepath.Dir(at)); s != nil {
				out = append(out, itemOfSkill(s))
			}
		case skills.IsProcedureFile(d.Name()):
			data, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			if p := procedure.Parse(at, data); p.Name != "" || d.Name() == skills.ProcedureName {
				procedures = append(procedures, itemOfProcedure(p, string(data)))
			}
		}
		return nil
	})
	for _, list := range [][]Item{out, procedures} {
		slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.Key, b.Key) })
	}
	return append(out, procedures...), err
}

// Pack writes an item as a zip archive: a folder of its name, with its text first. Files that are
// no text are left out and named.
func Pack(w io.Writer, i Item) (left []string, err error) {
	z := zip.NewWriter(w)
	text, err := i.Text()
	if err != nil {
		return nil, err
	}
	if err := addEntry(z, i.Name()+"/"+i.Main, text); err != nil {
		return nil, err
	}
	for _, rel := range i.Files {
		text, err := i.Read(rel)
		if err != nil {
			left = append(left, rel)
			continue
		}
		if err := addEntry(z, i.Name()+"/"+rel, []byte(text)); err != nil {
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
