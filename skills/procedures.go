package skills

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ProcedureName is the file that makes a folder a procedure, beside a SKILL.md or alone.
const ProcedureName = "procedure.yaml"

// maxProcedures bounds the procedures of all places.
const maxProcedures = 500

// IsProcedureFile reports whether a file of this name may be a procedure.
func IsProcedureFile(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(filepath.Base(name), ".")
}

// ProcedureFile is a YAML file where skills are. What it says is for package procedure.
type ProcedureFile struct {
	Path   string
	Source Source
	dir    disk
	rel    string
}

// Read returns what stands in it; of a project that is what was trusted.
func (f ProcedureFile) Read() ([]byte, error) { return f.dir.readFile(f.rel) }

// placeOf is what counts for everything in a place.
type placeOf struct {
	source Source
	table  map[string]digest
	base   string
}

// addProcedure notes a file that may be a procedure. rel is below root.
func (l *loader) addProcedure(root *os.Root, rel string) {
	info, err := root.Lstat(rel)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if len(l.catalog.Procedures) >= maxProcedures {
		if len(l.catalog.Procedures) == maxProcedures {
			l.addProblem(root.Name(), fmt.Sprintf("there are more than %d procedures; the rest is left out", maxProcedures), "remove some")
		}
		return
	}
	l.catalog.Procedures = append(l.catalog.Procedures, ProcedureFile{
		Path: filepath.Join(root.Name(), rel), Source: l.place.source, rel: path.Base(rel),
		dir: disk{root: root.Name(), rel: path.Dir(rel), table: l.place.table, base: l.place.base},
	})
}
