package skills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds on what a place can make us look at.
const (
	maxDepth   = 4    // folders from a place down to a skill
	maxSkills  = 1000 // of a place
	maxEntries = 20_000
)

// Options say where skills are.
type Options struct {
	Home     string   // the skills folder of the home; "" for none
	External []string // absolute folders
	Project  string   // root of the project; "" for none
	Trust    *Trust   // which projects may bring skills; nil: none
	Disabled []string // names
	// NoBuiltin leaves out those of the program.
	NoBuiltin bool
}

// Catalog is what was found.
type Catalog struct {
	Skills   []*Skill  // those that count, by name
	Broken   []*Skill  // those that cannot be used, and those that another one of the same name hides
	Problems []Problem // of places, and every problem of every skill
	Project  *Brought  // what the project brings, nil when it brings nothing

	Procedures []ProcedureFile // YAML files beside skills
}

// Find returns the skill of that name that counts.
func (c *Catalog) Find(name string) *Skill {
	for _, s := range c.Skills {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Places are the folders that a Load with these options looks at, for watching.
func (o Options) Places() []string {
	out := slices.Clone(o.External)
	if o.Home != "" {
		out = append(out, o.Home)
	}
	return append(out, o.projectPlaces()...)
}

func (o Options) projectPlaces() []string {
	if o.Project == "" {
		return nil
	}
	var out []string
	for _, rel := range projectDirs {
		if dir := filepath.Join(o.Project, rel); !sameName(dir, o.Home) {
			out = append(out, dir)
		}
	}
	return out
}

// projectDirs are where a project keeps skills.
var projectDirs = []string{".hermes/skills", ".agents/skills"}

func sameName(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Load finds all skills. It never fails: what cannot be read is a Problem. ctx ends a long search
// early.
func Load(ctx context.Context, o Options) *Catalog {
	l := loader{ctx: ctx, options: o, catalog: &Catalog{}, first: map[string]*Skill{}}
	if o.Home != "" {
		l.walkPlace(o.Home, User, nil, "", true)
	}
	for _, dir := range o.External {
		l.walkPlace(dir, External, nil, "", false)
	}
	l.addProject()
	if !o.NoBuiltin {
		l.addBuiltin()
	}
	slices.SortFunc(l.catalog.Skills, func(a, b *Skill) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range append(slices.Clone(l.catalog.Skills), l.catalog.Broken...) {
		l.catalog.Problems = append(l.catalog.Problems, s.Problems...)
	}
	return l.catalog
}

type loader struct {
	ctx     context.Context
	options Options
	catalog *Catalog
	first   map[string]*Skill
	seen    int
	place   placeOf // that is walked
}

func (l *loader) addProblem(file, why, fix string) {
	l.catalog.Problems = append(l.catalog.Problems, Problem{File: file, Why: why, Fix: fix, Fatal: true})
}

// walkPlace walks a folder of skills. One that is not there is no problem when it may be missing.
func (l *loader) walkPlace(dir string, source Source, table map[string]digest, base string, mayMiss bool) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && mayMiss:
		return
	case err != nil:
		l.addProblem(dir, plainError(err).Error(), "mend skills.external_dirs, or make the folder")
		return
	case !info.IsDir():
		l.addProblem(dir, "it is not a folder", "")
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.addProblem(dir, plainError(err).Error(), "")
		return
	}
	defer func() { _ = root.Close() }()
	found := 0
	l.seen, l.place = 0, placeOf{source: source, table: table, base: base}
	l.walkSkills(root, ".", 0, func(rel string) bool {
		if found++; found > maxSkills {
			l.addProblem(dir, fmt.Sprintf("it holds more than %d skills; the rest is left out", maxSkills), "split it")
			return false
		}
		l.takeSkill(disk{root: dir, rel: rel, table: table, base: base}, source, filepath.Join(dir, rel), path.Dir(rel))
		return true
	})
}

// walkSkills calls f for every folder with a SKILL.md, in the order of names. Below a skill nothing
// is searched.
func (l *loader) walkSkills(root *os.Root, rel string, depth int, f func(rel string) bool) bool {
	entries, err := fs.ReadDir(root.FS(), rel)
	if err != nil {
		l.addProblem(filepath.Join(root.Name(), rel), plainError(err).Error(), "")
		return true
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		if l.seen++; l.seen > maxEntries || l.ctx.Err() != nil {
			return false
		}
		switch {
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
		case e.Type()&fs.ModeSymlink != 0:
			l.reportLink(root, name)
		case !e.IsDir():
			if IsProcedureFile(e.Name()) {
				l.addProcedure(root, name)
			}
		default:
			if _, err := root.Lstat(path.Join(name, File)); err == nil {
				if !f(name) {
					return false
				}
				l.addProcedure(root, path.Join(name, ProcedureName))
			} else if depth < maxDepth && !l.walkSkills(root, name, depth+1, f) {
				return false
			}
		}
	}
	return true
}

// reportLink tells of a link where a skill could be. Links are not followed: whoever can make one
// could put any folder there.
func (l *loader) reportLink(root *os.Root, rel string) {
	full := filepath.Join(root.Name(), rel)
	if info, err := os.Stat(full); err == nil && info.IsDir() {
		l.addProblem(full, "it is a link, which is not followed", "name the folder that it leads to in skills.external_dirs")
	}
}

// takeSkill reads one skill and puts it where it belongs.
func (l *loader) takeSkill(body folder, source Source, dir, category string) {
	file := filepath.Join(dir, File)
	s := Skill{}
	data, err := body.readFile(File)
	if err != nil {
		s.Problems = []Problem{{File: file, Why: strings.TrimPrefix(err.Error(), File+": "), Fatal: true}}
	} else {
		s, _ = Parse(file, data)
		s.nameFromFolder(path.Base(filepath.ToSlash(dir)))
		s.cutDescription()
	}
	s.Source, s.Dir, s.body = source, dir, body
	if s.Category == "" && category != "." && CheckCategory(category) == nil {
		s.Category = category
	}
	l.addSkill(&s)
}

func (l *loader) addSkill(s *Skill) {
	file := s.Path(File)
	if folder := s.Folder(); s.Name != "" && s.Name != folder {
		s.Problems = append(s.Problems, Problem{File: file, Key: "name", Why: fmt.Sprintf("the name is %s, but the folder is %s", s.Name, folder), Fix: "give both the same name"})
	}
	if s.Name != "" && Reserved(s.Name) {
		s.Problems = append(s.Problems, Problem{File: file, Key: "name", Why: "/" + s.Name + " is a command of the program, and stays that", Fix: "give the skill another name to have it as a slash command"})
	}
	if !s.Usable() {
		l.catalog.Broken = append(l.catalog.Broken, s)
		return
	}
	if other := l.first[s.Name]; other != nil && s.Source == Builtin { // as it is meant to be: the person has a better one
		l.catalog.Broken = append(l.catalog.Broken, s)
		return
	} else if other != nil {
		s.Problems = append(s.Problems, Problem{File: file, Key: "name", Why: fmt.Sprintf("another skill of this name counts: %s (%s)", other.Path(File), other.Source), Fix: "rename or remove one of them"})
		l.catalog.Broken = append(l.catalog.Broken, s)
		return
	}
	l.first[s.Name] = s
	s.Disabled = slices.Contains(l.options.Disabled, s.Name)
	l.catalog.Skills = append(l.catalog.Skills, s)
}

// cleanName keeps a folder's name from playing tricks in a message.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		if isUnsafeRune(r) {
			return '?'
		}
		return r
	}, s)
}

// One reads the skill in a folder, wherever that is.
func One(dir string) *Skill {
	l := loader{ctx: context.Background(), catalog: &Catalog{}, first: map[string]*Skill{}}
	l.takeSkill(disk{root: filepath.Dir(dir), rel: filepath.Base(dir)}, External, dir, ".")
	for _, s := range append(l.catalog.Skills, l.catalog.Broken...) {
		return s
	}
	return nil
}

// Preview reads what a project brings as if it were trusted: for the person who is asked. Nothing
// of it may go to a model.
func (o Options) Preview(ctx context.Context, b *Brought) []*Skill {
	l := loader{ctx: ctx, options: Options{}, catalog: &Catalog{}, first: map[string]*Skill{}}
	for _, dir := range o.projectPlaces() {
		if rel, err := filepath.Rel(o.Project, dir); err == nil {
			l.walkPlace(dir, Project, b.table, filepath.ToSlash(rel), true)
		}
	}
	return append(l.catalog.Skills, l.catalog.Broken...)
}

// Template is the beginning of a SKILL.md.
func Template(name, about string) string {
	if strings.TrimSpace(about) == "" {
		about = "Say in one sentence when this is of use."
	}
	return "---\nname: " + name + "\ndescription: " + quoteYAML(about) + "\nversion: 1.0.0\n---\n\n# " + name + "\n\n## When to use it\n\n## Steps\n\n1. \n\n## What goes wrong\n\n## How to check the result\n"
}

// quoteYAML makes any text fit for one YAML line.
func quoteYAML(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
