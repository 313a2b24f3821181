package skill

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"hermes/core/chat"
	"hermes/core/secret"
	"hermes/skills"
)

// RefusedError says why a text may not become part of a skill.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Plan checks a change: the format, orders to the agent, secrets. Nothing is written.
func (l *Library) Plan(ctx context.Context, r skills.Request) (*skills.Change, error) {
	c, err := l.Edits.Plan(l.Catalog(ctx, ""), r)
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

// Apply carries out a change; by is "agent", "user" or "learned". That it could not be counted is
// no
// error: see Usage.Problem.
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
	v, what, err := l.Edits.Undo(name, skills.Provenance{By: "user"})
	if err != nil {
		return "", err
	}
	l.wentBack(v)
	return what, nil
}

// Rollback makes a skill what it was after a version.
func (l *Library) Rollback(name string, to int, from skills.Provenance) (skills.Version, error) {
	v, err := l.Edits.Rollback(name, to, from)
	if err == nil {
		l.wentBack(v)
	}
	return v, err
}

// wentBack counts what came back or went; a count that is lost harms nobody.
func (l *Library) wentBack(v skills.Version) {
	switch {
	case v.Gone:
		_ = l.Usage.Archived(v.Name)
	case v.Restore != "":
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
	from, to := "a/"+c.Name+"/"+c.Rel, "b/"+c.Name+"/"+c.Rel
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
