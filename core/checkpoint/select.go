package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Find returns the record of a session that a number or the start of an id names; "" names the newest one that was not taken back
// and took nothing back itself. nil: there is none, or more than one.
func Find(records []*Record, ref string) *Record {
	if ref == "" {
		for _, r := range slices.Backward(records) {
			if r.Kind == Turn && r.Undone == "" {
				return r
			}
		}
		return nil
	}
	var found *Record
	for _, r := range records {
		if strconv.Itoa(r.Number) == ref || r.ID == ref {
			return r
		}
		if len(ref) >= 4 && strings.HasPrefix(r.ID, ref) {
			if found != nil {
				return nil
			}
			found = r
		}
	}
	return found
}

// Since returns the ids of a record and of all after it.
func Since(records []*Record, first *Record) []string {
	var out []string
	for _, r := range records {
		if r.Number >= first.Number {
			out = append(out, r.ID)
		}
	}
	return out
}

// Only keeps the diffs of files, and of what is in them when they are folders.
func Only(diffs []Diff, files []string) []Diff {
	return slices.DeleteFunc(diffs, func(d Diff) bool {
		return !slices.ContainsFunc(files, func(f string) bool { return under(string(d.Path), f) })
	})
}

// Title is what a record is about, in a line.
func (r *Record) Title() string {
	if r.Kind == Undo {
		return fmt.Sprintf("undo of %s", strings.Join(r.Of, ", "))
	}
	if r.Prompt == "" {
		return "turn " + r.Turn
	}
	return r.Prompt
}

// Standing is how a record stands, in a word or two.
func (r *Record) Standing() string {
	switch {
	case r.Undone != "":
		return "taken back"
	case r.Partly != "":
		return "partly taken back"
	case r.Ended.IsZero():
		return "running or cut off"
	case len(r.Notes) > 0:
		return "not complete"
	}
	return "done"
}
