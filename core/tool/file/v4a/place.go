package v4a

import (
	"errors"
	"fmt"
	"strings"

	"hermes/core/tool/file/fuzzy"
)

// search is the way of one hunk to its place.
type search struct {
	content string
	hunk    Hunk
	twins   int // hunks that look for the same place, this one among them
}

// placeHunk finds the hunk below "from", or below the lines that its @@ line means.
func (s search) placeHunk(from int, spots []spot) (edit, error) {
	old := s.hunk.Old()
	if len(old) == 0 {
		return s.placeInsertion(from, spots)
	}
	starts := []int{from}
	if len(spots) > 0 {
		// The line of the hint itself may be the hunk's first one.
		starts = []int{spots[0].end, max(from, spots[0].start)}
	}
	for _, start := range starts {
		e, ok, err := s.findExact(start, spots)
		if ok || err != nil {
			return e, err
		}
	}
	var first error
	for _, start := range starts {
		e, err := s.findAlike(start)
		if err == nil {
			return e, nil
		}
		if first == nil {
			first = err
		}
	}
	return edit{}, first
}

// findExact finds the hunk's lines as they are.
func (s search) findExact(start int, spots []spot) (edit, bool, error) {
	old := joinLines(s.hunk.Old())
	var found []int
	for at := start; at < len(s.content); at += strings.IndexByte(s.content[at:], '\n') + 1 {
		if strings.HasPrefix(s.content[at:], old) {
			found = append(found, at)
		}
	}
	if s.hunk.EOF && len(found) > 0 {
		found = found[len(found)-1:]
		if found[0]+len(old) < len(s.content) {
			found = nil
		}
	}
	if len(found) == 0 {
		return edit{}, false, nil
	}
	places := found
	if len(spots) > 0 {
		places = firstOfEach(found, spots)
	}
	if len(places) > 1 && len(places) != s.twins {
		if len(spots) > 0 {
			return edit{}, false, s.repeatedError(spots, places)
		}
		return edit{}, false, s.ambiguousError(len(places), s.lineNumbers(places))
	}
	return edit{start: found[0], end: found[0] + len(old), text: joinLines(s.hunk.New())}, true, nil
}

// firstOfEach keeps of the places those that come first below a spot.
func firstOfEach(found []int, spots []spot) []int {
	var out []int
	for i, sp := range spots {
		for _, at := range found {
			if at >= sp.start && (i+1 == len(spots) || at < spots[i+1].start) {
				out = append(out, at)
				break
			}
		}
	}
	if len(out) == 0 {
		return found[:1]
	}
	return out
}

// findAlike finds lines that are like the hunk's.
func (s search) findAlike(start int) (edit, error) {
	rest := s.content[start:]
	out, err := fuzzy.Replace(rest, joinLines(s.hunk.Old()), joinLines(s.hunk.New()), false)
	if err != nil {
		return edit{}, s.asPatchError(err, start)
	}
	sp := out.Spans[0]
	if sp.Start > 0 && rest[sp.Start-1] != '\n' {
		return edit{}, errors.New("its lines are only found inside a longer line: quote whole lines")
	}
	return edit{start + sp.Start, start + sp.End, sp.Text, "by " + out.Strategy}, nil
}

// asPatchError says in terms of a patch what the search for a quoted text says in its own.
func (s search) asPatchError(err error, start int) error {
	var many *fuzzy.AmbiguousError
	var none *fuzzy.NotFoundError
	var drift *fuzzy.DriftError
	missing := errors.As(err, &none)
	if missing && start > 0 { // the closest lines of all of the file, with their numbers there
		_, whole := fuzzy.Replace(s.content, joinLines(s.hunk.Old()), joinLines(s.hunk.New()), false)
		_ = errors.As(whole, &none)
	}
	switch {
	case errors.As(err, &many):
		before := strings.Count(s.content[:start], "\n")
		for i := range many.Lines {
			many.Lines[i] += before
		}
		return s.ambiguousError(many.Count, many.Lines)
	case missing && len(none.Closest) == 0:
		return errors.New("its context and - lines were not found, and nothing resembles them: read the file again")
	case missing:
		return fmt.Errorf("its context and - lines were not found. Closest lines:\n%s"+
			"Write the context and - lines as they are there, or read the file again", none.Excerpts())
	case errors.As(err, &drift):
		return fmt.Errorf("its lines contain %s but the file has no backslash there: "+
			"write them unescaped, as read_file shows them", drift.Escape)
	}
	return err
}

func (s search) ambiguousError(count int, lines []int) error {
	return fmt.Errorf("its context and - lines are there %d times (at lines %s): "+
		"add context lines, or an @@ line that says which", count, listNumbers(lines))
}

func (s search) repeatedError(spots []spot, places []int) error {
	return fmt.Errorf("the line after @@ is there %d times, and what the hunk changes follows at lines %s: "+
		"add context lines, or one more @@ line above that says which", len(spots), listNumbers(s.lineNumbers(places)))
}

// lineNumbers are the line numbers of places.
func (s search) lineNumbers(places []int) []int {
	out := make([]int, len(places))
	for i, at := range places {
		out[i] = 1 + strings.Count(s.content[:at], "\n")
	}
	return out
}

func listNumbers(lines []int) string {
	const most = 10
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(lines[:min(len(lines), most)]), "[]")), ", ")
}

// placeInsertion places lines that have no context: below the hint, at the end of the file, or into
// an empty file.
func (s search) placeInsertion(from int, spots []spot) (edit, error) {
	at := len(s.content)
	switch {
	case s.hunk.EOF || s.content == "" && len(spots) == 0:
	case len(spots) > 1 && len(spots) != s.twins:
		starts := make([]int, len(spots))
		for i, sp := range spots {
			starts[i] = sp.start
		}
		return edit{}, fmt.Errorf("the line after @@ is there %d times (at lines %s): "+
			"add context lines, or one more @@ line above that says which", len(spots), listNumbers(s.lineNumbers(starts)))
	case len(spots) > 0:
		at = max(from, spots[0].end)
	default:
		return edit{}, fmt.Errorf("only + lines and no place for them: add context lines, an @@ line, or %s", eof)
	}
	return edit{start: at, end: at, text: joinLines(s.hunk.New())}, nil
}
