package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"hermes/core/nearest"
	"hermes/skills"
	"hermes/skills/procedure"
)

// Procedure is a procedure with where it comes from.
type Procedure struct {
	*procedure.Procedure
	Source skills.Source
	Digest string // of its bytes
	Text   string // the file
	Hits   []Hit  // orders to the agent: it does not run then

	file skills.ProcedureFile
}

// Key names the procedure among the texts that have versions.
func (p Procedure) Key() string { return skills.ProcedureKey(p.Name) }

// Read returns the file as it stands now.
func (p Procedure) Read() ([]byte, error) { return p.file.Read() }

// OwnProcedure returns a procedure of the person's own folder, broken or not; nil when the one that
// counts is another's.
func (l *Library) OwnProcedure(ctx context.Context, name string) *Procedure {
	for _, p := range l.Procedures(ctx, "") {
		if p.Name == name && p.Source == skills.User {
			return &p
		}
	}
	return nil
}

// Procedures are those for a project's root, by name, broken ones too. Of two with one name the
// first source counts, as with skills.
func (l *Library) Procedures(ctx context.Context, project string) []Procedure {
	return l.shelfFor(ctx, project).procedures
}

// KeptProcedures are those that were read already and can run. It reads nothing.
func (l *Library) KeptProcedures(project string) []Procedure {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.kept[project]
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.procedures), func(p Procedure) bool { return !p.Usable() || len(p.Hits) > 0 })
}

// readProcedures reads what a catalog has found, and those of the program.
func (l *Library) readProcedures(c *skills.Catalog) []Procedure {
	var out []Procedure
	add := func(f skills.ProcedureFile, data []byte) {
		file, source := f.Path, f.Source
		p := procedure.Parse(file, data)
		if p.Name == "" || slices.ContainsFunc(out, func(o Procedure) bool { return o.Name == p.Name }) {
			return
		}
		sum := sha256.Sum256(data)
		x := Procedure{Procedure: p, Source: source, Digest: hex.EncodeToString(sum[:8]), Text: string(data), file: f}
		if source != skills.Builtin {
			x.Hits = l.scanOnce(file, string(data), 1)
		}
		out = append(out, x)
	}
	for _, f := range c.Procedures {
		if data, err := f.Read(); err == nil {
			add(f, data)
		}
	}
	for file, data := range procedure.Builtin() {
		add(skills.ProcedureFile{Path: file, Source: skills.Builtin}, data)
	}
	slices.SortFunc(out, func(a, b Procedure) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Procedure returns one that can run. The error says what there is, or what is wrong with it.
func (l *Library) Procedure(ctx context.Context, project, name string) (Procedure, error) {
	var names []string
	for _, p := range l.Procedures(ctx, project) {
		names = append(names, p.Name)
		switch {
		case p.Name != name:
		case slices.Contains(l.Settings().Disabled, name):
			return p, fmt.Errorf("the procedure %s is switched off; `hermes skills enable %s` switches it on", name, name)
		case len(p.Hits) > 0:
			return p, fmt.Errorf("the procedure %s is blocked: %s", name, p.Hits[0])
		case !p.Usable():
			i := slices.IndexFunc(p.Problems, func(x skills.Problem) bool { return x.Fatal })
			return p, fmt.Errorf("the procedure %s is broken: %w", name, p.Problems[i])
		default:
			return p, nil
		}
	}
	if near, ok := nearest.Name(name, names); ok {
		return Procedure{}, fmt.Errorf("there is no procedure %s; did you mean %s?", name, near)
	}
	return Procedure{}, fmt.Errorf("there is no procedure %s; there are %s", name, strings.Join(names, ", "))
}
