package skill

import (
	"cmp"
	"context"
	"slices"

	"hermes/core/trust"
	"hermes/skills"
)

// State is how a skill stands.
type State string

// States of a skill.
const (
	On      State = "on"
	Off     State = "off"      // switched off in the settings
	Blocked State = "blocked"  // it gives orders to the agent
	NotHere State = "not here" // for another system
	Broken  State = "broken"   // its problems say why
	Hidden  State = "hidden"   // another one of its name counts
)

// Row is a skill as people see it in lists.
type Row struct {
	Name        string           `json:"name"`
	Category    string           `json:"category,omitempty"`
	Description string           `json:"description"`
	Version     string           `json:"version,omitempty"`
	Source      skills.Source    `json:"source"`
	State       State            `json:"state"`
	File        string           `json:"file"`
	Problems    []skills.Problem `json:"problems,omitempty"`
	Hits        []Hit            `json:"hits,omitempty"`
	Uses        int              `json:"uses"`
	Views       int              `json:"views"`
	CreatedBy   string           `json:"created_by,omitempty"`

	// Asks is what it wants to be passed to commands, with the person's answer.
	Asks *Wish `json:"asks,omitempty"`

	// One of them is set.
	Skill     *skills.Skill `json:"-"`
	Procedure *Procedure    `json:"-"`
}

// Kind is "procedure", or "" for a skill.
func (r Row) Kind() string {
	if r.Procedure != nil {
		return procedureKind
	}
	return ""
}

// Key names the row among the texts that have versions.
func (r Row) Key() string {
	if r.Procedure != nil {
		return r.Procedure.Key()
	}
	return r.Name
}

// procedureKind stands where a skill has its category.
const procedureKind = "procedure"

// Rows lists every skill that is there, the unusable ones too, with everything that is wrong with
// them. It reads and scans all files, which takes about 10 ms a skill the first time.
func (l *Library) Rows(ctx context.Context, project string) []Row {
	return l.rowsFor(ctx, project, true)
}

// Glance is Rows without what stands in texts and files: only descriptions have been scanned.
func (l *Library) Glance(ctx context.Context, project string) []Row {
	return l.rowsFor(ctx, project, false)
}

func (l *Library) rowsFor(ctx context.Context, project string, deep bool) []Row {
	c := l.Catalog(ctx, project)
	used := l.Usage.All()
	rows := make([]Row, 0, len(c.Skills)+len(c.Broken))
	list := slices.Concat(c.Skills, c.Broken)
	hits := make([][]Hit, len(list))
	for i, s := range list {
		hits[i] = l.Hits(ctx, project, s.Name)
	}
	if deep {
		hits = l.checkEach(list)
	}
	for i, s := range list {
		r := Row{
			Name: cmp.Or(s.Name, s.Folder()), Category: s.Category, Description: s.Description, Version: s.Version, Source: s.Source,
			File: s.Path(skills.File), Problems: s.Problems, State: On, Skill: s,
		}
		if n := used[s.Name]; s.Usable() {
			r.Uses, r.Views, r.CreatedBy = n.Uses, n.Views, n.CreatedBy
			r.Hits = hits[i]
			r.Asks = l.asksOf(s)
		}
		_, fits := s.Fits(l.o.System, s.Requires.Toolsets, s.Requires.Tools)
		switch {
		case !s.Usable():
			r.State = Broken
		case c.Find(s.Name) != s:
			r.State = Hidden
		case s.Disabled:
			r.State = Off
		case len(r.Hits) > 0:
			r.State = Blocked
		case !fits:
			r.State = NotHere
		}
		rows = append(rows, r)
	}
	for _, p := range l.Procedures(ctx, project) {
		rows = append(rows, l.procedureRow(p))
	}
	slices.SortStableFunc(rows, compareRows)
	return rows
}

// asksOf is what a skill asks for, for a list: one that cannot be read whole is Unasked.
func (l *Library) asksOf(s *skills.Skill) *Wish {
	w, err := l.WishOf(s)
	if err != nil && w != nil {
		w.State = trust.Unasked
	}
	return w
}

func (l *Library) procedureRow(p Procedure) Row {
	r := Row{
		Name: p.Name, Category: procedureKind, Description: p.Description, Version: p.Version, Source: p.Source, File: p.File,
		Problems: p.Problems, Hits: p.Hits, State: On, Procedure: &p,
	}
	switch {
	case len(p.Hits) > 0:
		r.State = Blocked
	case !p.Usable():
		r.State = Broken
	case slices.Contains(l.Settings().Disabled, p.Name):
		r.State = Off
	}
	return r
}

// compareRows puts the person's skills first, by name, and then the program's, by category.
func compareRows(a, b Row) int {
	if mine := cmp.Compare(programs(a), programs(b)); mine != 0 {
		return mine
	}
	if a.Source == skills.Builtin {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name))
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
}

// programs is 1 for what comes with the program, 0 for the person's.
func programs(r Row) int {
	if r.Source == skills.Builtin {
		return 1
	}
	return 0
}
