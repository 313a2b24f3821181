package skill

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"hermes/core/chat"
	"hermes/core/secret"
	"hermes/skills"
	"hermes/skills/procedure"
)

// RefusedError says why a text may not become part of a skill.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Plan checks a change: the format, orders to the agent, secrets. Nothing is written.
func (l *Library) Plan(ctx context.Context, r skills.Request) (*skills.Change, error) {
	c, err := l.planText(ctx, r)
	if err != nil {
		return nil, err
	}
	if c.After == nil {
		return c, nil
	}
	text := string(c.After)
	if hits := Scan(c.Rel, text, 1); len(hits) > 0 {
		h := hits[0]
		return nil, &RefusedError{fmt.Sprintf("refused: the text %s (%s, line %d, bytes %d to %d: %q). A skill says how a thing is done; it gives no such orders. "+
			"Do not look for another way to keep it.", h.Reason, h.File, h.Line, h.Span[0], h.Span[1], h.Excerpt)}
	}
	if secret.Redact(text) != text {
		return nil, &RefusedError{fmt.Sprintf("refused: there is a secret in the text of %s. Name the environment variable that holds it "+
			"(required_environment_variables) instead of its value", c.Rel)}
	}
	return c, nil
}

// planText checks that what would be there is a skill or procedure of its name.
func (l *Library) planText(ctx context.Context, r skills.Request) (*skills.Change, error) {
	name, isProcedure := skills.SplitKey(r.Name)
	if !isProcedure {
		return l.Edits.Plan(l.Catalog(ctx, ""), r)
	}
	c, err := l.planProcedure(ctx, name, r)
	if err != nil || c.After == nil {
		return c, err
	}
	after := procedure.Parse(c.Path(), c.After)
	for _, x := range after.Problems {
		if x.Fatal {
			return nil, x
		}
	}
	if after.Name != name {
		return nil, fmt.Errorf("the text says name: %s, but the procedure is %s; give both the same name", after.Name, name)
	}
	return c, nil
}

// planProcedure plans a change of a procedure of the person's own folder.
func (l *Library) planProcedure(ctx context.Context, name string, r skills.Request) (*skills.Change, error) {
	switch p := l.OwnProcedure(ctx, name); {
	case p == nil && r.Op == skills.Create:
		return l.Edits.PlanNewProcedure(r)
	case p == nil:
		return nil, fmt.Errorf("there is no procedure %s in the person's own folder", name)
	case r.Op == skills.Create:
		return nil, fmt.Errorf("there is a procedure %s already (%s)", name, p.File)
	default:
		return l.Edits.PlanProcedure(p.file, r)
	}
}

// Apply carries out a change; by is "agent", "user" or "learned". That it could not be counted is
// no error: see Usage.Problem.
func (l *Library) Apply(c *skills.Change, by string) error {
	_, err := l.Make(c, by)
	return err
}

// Make is Apply that returns the version that it made.
func (l *Library) Make(c *skills.Change, by string) (skills.Version, error) {
	c.From.By = by
	v, err := l.Edits.Apply(c)
	if err != nil {
		return v, err
	}
	switch c.Op {
	case skills.Create:
		_ = l.Usage.Created(c.Name, by)
	case skills.Delete:
		_ = l.Usage.Archived(c.Name)
	default:
		_ = l.Usage.Patched(c.Name)
	}
	l.tellVersion(v)
	return v, nil
}

// Undo takes back the last change of a skill and says what it was.
func (l *Library) Undo(name string) (string, error) {
	e, err := l.editorOf(name)
	if err != nil {
		return "", err
	}
	v, what, err := e.Undo(name, skills.Provenance{By: "user"})
	if err != nil {
		return "", err
	}
	l.wentBack(v)
	return what, nil
}

// Rollback makes a skill what it was after a version.
func (l *Library) Rollback(name string, to int, from skills.Provenance) (skills.Version, error) {
	e, err := l.editorOf(name)
	if err != nil {
		return skills.Version{}, err
	}
	v, err := e.Rollback(name, to, from)
	if err == nil {
		l.wentBack(v)
	}
	return v, err
}

// editorOf is an editor that goes back where a text lies by now. Where another procedure took the
// place of one that is gone, nothing is written over it.
func (l *Library) editorOf(key string) (skills.Editor, error) {
	name, isProcedure := skills.SplitKey(key)
	if !isProcedure {
		return l.Edits, nil
	}
	l.Changed() // the file may have been moved just now
	if p := l.OwnProcedure(context.Background(), name); p != nil {
		return l.Edits.WithFile(p.File), nil
	}
	h, err := l.Edits.History(key)
	if err != nil || len(h.Versions) == 0 {
		return l.Edits, err
	}
	last := filepath.Join(l.Edits.Dir, filepath.FromSlash(h.Versions[len(h.Versions)-1].Dir), h.MainFile(len(h.Versions)))
	for _, p := range l.Procedures(context.Background(), "") {
		if p.File == last {
			return l.Edits, fmt.Errorf("%s holds the procedure %s by now; move it away, then %s can come back there", last, p.Name, name)
		}
	}
	return l.Edits, nil
}

// KeyOf is what the versions of a name are kept under that a person wrote. What is there now comes
// before what was there once, and a skill before a procedure.
func (l *Library) KeyOf(ctx context.Context, name string) string {
	if _, is := skills.SplitKey(name); is {
		return name
	}
	key := skills.ProcedureKey(name)
	switch {
	case l.Edits.Owns(l.Catalog(ctx, ""), name):
		return name
	case l.OwnProcedure(ctx, name) != nil:
		return key
	case l.hasVersions(name):
		return name
	case l.hasVersions(key) || slices.ContainsFunc(l.Procedures(ctx, ""), func(p Procedure) bool { return p.Name == name }):
		return key
	}
	return name
}

func (l *Library) hasVersions(key string) bool {
	h, err := l.Edits.History(key)
	return err == nil && len(h.Versions) > 0
}

// wentBack counts what came back or went; a count that is lost harms nobody.
func (l *Library) wentBack(v skills.Version) {
	switch {
	case v.Gone:
		_ = l.Usage.Archived(v.Name)
	case v.Restore != "" || v.Main != "":
		_ = l.Usage.Restored(v.Name)
	}
	l.tellVersion(v)
}

// tellVersion says that there is a new version.
func (l *Library) tellVersion(v skills.Version) {
	l.Changed()
	if l.o.Told != nil {
		l.o.Told(v)
	}
}

// Compare shows what is different between two versions of a skill, a file after the other.
func Compare(h skills.History, from, to int) []chat.FileDiff {
	before, was := h.Files(from)
	after, is := h.Files(to)
	var out []chat.FileDiff
	for _, rel := range slices.Sorted(maps.Keys(after)) {
		c := skills.Change{Request: skills.Request{Op: skills.Edit, Name: h.Name}, Rel: rel}
		if was {
			c.Before = before[rel]
		}
		if is {
			c.After = after[rel]
		}
		if (c.Before != nil || c.After != nil) && !bytes.Equal(c.Before, c.After) {
			out = append(out, Diff(&c))
		}
	}
	return out
}

// Diff shows a change to people.
func Diff(c *skills.Change) chat.FileDiff {
	d := chat.FileDiff{Path: c.Path(), Op: chat.FileModified}
	name, _ := skills.SplitKey(c.Name)
	from, to := "a/"+name+"/"+c.Rel, "b/"+name+"/"+c.Rel
	switch {
	case c.Op == skills.Delete || c.After == nil:
		d.Op, to = chat.FileDeleted, "/dev/null"
	case c.Before == nil:
		d.Op, from = chat.FileCreated, "/dev/null"
	}
	before, after := string(c.Before), string(c.After)
	u, err := udiff.ToUnifiedDiff(from, to, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		return d // only for edits that do not fit the text; these were made from it
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				d.Added++
			case udiff.Delete:
				d.Removed++
			case udiff.Equal:
			}
		}
	}
	d.Unified = u.String()
	return d
}

// Summary says in one line what a change does, for a question.
func Summary(c *skills.Change) string {
	what := map[skills.Op]string{
		skills.Create: "make the skill %s", skills.Edit: "rewrite the skill %s", skills.Patch: "change the skill %s", skills.Delete: "remove the skill %s",
		skills.WriteFile: "write a file of the skill %s", skills.RemoveFile: "remove a file of the skill %s",
	}[c.Op]
	text := fmt.Sprintf(what, c.Name)
	if c.Rel != skills.File {
		text += " (" + c.Rel + ")"
	}
	switch {
	case c.Code():
		text += ": code that later sessions may run"
	case c.Op == skills.Delete:
		text += fmt.Sprintf(" with %d files beside it; it is kept below .archive", len(c.Files))
	case c.Op != skills.RemoveFile:
		text += ": later sessions are steered by it"
	}
	return text
}
