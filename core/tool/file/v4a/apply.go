package v4a

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// HunkError says which hunk does not fit the file.
type HunkError struct {
	Number int // 1-based, within the file
	Line   int // of the patch
	Err    error
}

func (e *HunkError) Error() string {
	return fmt.Sprintf("hunk %d (patch line %d): %v", e.Number, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *HunkError) Unwrap() error { return e.Err }

// edit replaces content[start:end] by text.
type edit struct {
	start, end int
	text       string
	how        string // "" for an exact match where it was looked for first
}

// Apply applies hunks to content, whose lines end in "\n". Each hunk is looked for below the one
// before it, and where it is not there, in all of the file: it must have one place then. Notes tell
// which hunks did not match exactly. A last line without a line end stays without.
func Apply(content string, hunks []Hunk) (text string, notes []string, err error) {
	open := content != "" && !strings.HasSuffix(content, "\n")
	if open {
		content += "\n"
	}
	var edits []edit
	at := 0                  // the end of the hunk before
	left := map[string]int{} // hunks by what they look for
	for _, h := range hunks {
		left[h.targetText()]++
	}
	for i, h := range hunks {
		e, err := locateHunk(content, at, h, left[h.targetText()])
		left[h.targetText()]--
		if err == nil {
			err = clashError(edits, e)
		}
		if err != nil {
			return "", nil, &HunkError{i + 1, h.At, err}
		}
		if e.how != "" {
			notes = append(notes, fmt.Sprintf("hunk %d matched %s", i+1, e.how))
		}
		edits = append(edits, e)
		at = e.end
	}
	content = spliceEdits(content, edits)
	if open {
		content = strings.TrimSuffix(content, "\n")
	}
	return content, notes, nil
}

// targetText is what a hunk looks for. As many places as there are hunks with one target are
// theirs, in order.
func (h Hunk) targetText() string {
	return strings.Join(h.Anchors, "\n@@") + "\n" + strings.Join(h.Old(), "\n ")
}

func clashError(edits []edit, e edit) error {
	for i, o := range edits {
		if e.start < o.end && o.start < e.end {
			return fmt.Errorf("hunk %d changes these lines already: make one hunk of the two", i+1)
		}
	}
	return nil
}

func spliceEdits(content string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(content[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(content[at:])
	return b.String()
}

// locateHunk finds the place of a hunk: below the hunk before it, which ends at "at", else above.
func locateHunk(content string, at int, h Hunk, twins int) (edit, error) {
	s := search{content: content, hunk: h, twins: twins}
	if len(h.Anchors) == 0 {
		return s.belowOrAnywhere(at, nil)
	}
	below, missing := anchorSpots(content, at, h.Anchors)
	if missing == nil {
		e, err := s.placeHunk(at, below)
		if err == nil {
			return e, nil
		}
		if above, up := anchorSpots(content, 0, h.Anchors); up == nil && above[0].start < at {
			return s.belowOrAnywhere(at, above)
		}
		return e, err
	}
	above, missing := anchorSpots(content, 0, h.Anchors)
	if missing == nil {
		return s.belowOrAnywhere(at, above)
	}
	if len(h.Old()) == 0 {
		return edit{}, missing
	}
	e, err := s.placeHunk(0, nil)
	if err != nil {
		return edit{}, fmt.Errorf("%w, and without it %w", missing, err)
	}
	e.how = strings.TrimPrefix(e.how+", without its @@ line, which is not in the file", ", ")
	return e, nil
}

// belowOrAnywhere looks below the hunk before, then in all of the file.
func (s search) belowOrAnywhere(at int, spots []spot) (edit, error) {
	if len(s.hunk.Old()) == 0 && len(spots) > 0 {
		return s.placeHunk(0, spots)
	}
	var below []spot
	if len(spots) > 0 { // the hint was passed: what it means goes on below the hunk before
		last := spots[0]
		last.end = max(last.end, at)
		below = []spot{last}
	}
	e, err := s.placeHunk(at, below)
	if err == nil || at == 0 {
		return e, err
	}
	if up, err := s.placeHunk(0, spots); err == nil {
		up.how = strings.TrimPrefix(up.how+", above the hunk before it", ", ")
		return up, nil
	}
	return e, err
}

// spot is a line of the file.
type spot struct{ start, end int }

// anchorSpots finds the lines that the last @@ line means, below "at" and below the @@ lines before
// it.
func anchorSpots(content string, at int, anchors []string) (spots []spot, err error) {
	for _, a := range anchors {
		if spots = linesLike(content, at, a); len(spots) == 0 {
			return nil, fmt.Errorf("the line after @@ %q was not found", a)
		}
		at = spots[0].end
	}
	return spots, nil
}

// linesLike finds equal lines, else lines that are equal but for blanks around, else lines that
// contain it.
func linesLike(content string, at int, want string) []spot {
	trimmed := strings.TrimSpace(want)
	for _, same := range []func(line string) bool{
		func(line string) bool { return line == want },
		func(line string) bool { return strings.TrimSpace(line) == trimmed },
		func(line string) bool { return strings.Contains(line, trimmed) },
	} {
		var spots []spot
		from := at
		for line := range strings.Lines(content[at:]) {
			if same(strings.TrimRight(line, "\r\n")) {
				spots = append(spots, spot{from, from + len(line)})
			}
			from += len(line)
		}
		if spots != nil {
			return spots
		}
	}
	return nil
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
