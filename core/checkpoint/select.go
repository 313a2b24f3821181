package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hermes/core/realpath"
)

// Find returns the record of a session that a number or the start of an id names; "" names the
// newest one that was not taken back and took nothing back itself. nil: there is none, or more than
// one.
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
		return !slices.ContainsFunc(files, func(f string) bool { return realpath.Within(string(d.Path), f) })
	})
}

// Title is what a record is about, in a line.
func (r *Record) Title() string {
	if r.Kind == Undo {
		if len(r.Turns) == 0 {
			return "undo of what is not kept any more"
		}
		return "undo of " + nameTurns(r.Turns)
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

// nameTurns names turns: "turn 3", "turns 3 to 7", "turns 3, 5 to 7".
func nameTurns(numbers []int) string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			out = append(out, strconv.Itoa(numbers[i]))
		case 1:
			out = append(out, strconv.Itoa(numbers[i]), strconv.Itoa(numbers[j]))
		default:
			out = append(out, fmt.Sprintf("%d to %d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	word := "turns "
	if len(numbers) == 1 {
		word = "turn "
	}
	return word + strings.Join(out, ", ")
}
