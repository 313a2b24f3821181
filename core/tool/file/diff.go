package file

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"hermes/core/chat"
)

// diffLimit is the largest file of which a diff is made: longer ones nobody reads, and comparing
// them takes seconds.
const diffLimit = 2 << 20

// describeChange describes a change for people. Line ends and byte order marks are left out: both
// sides have the same.
func describeChange(c change) chat.FileDiff {
	d := chat.FileDiff{Path: c.at.shown, Op: c.fileOp(), OldPath: c.movedFrom, Notes: c.notes}
	before, after := c.bytesBefore(), c.after
	if len(before) > diffLimit || len(after) > diffLimit {
		d.Notes = append(d.Notes, "too large for a diff")
		return d
	}
	if isBinary(before) || isBinary(after) {
		d.Notes = append(d.Notes, "binary")
		return d
	}
	from, to := "a/"+d.Path, "b/"+d.Path
	switch {
	case d.OldPath != "":
		from = "a/" + d.OldPath
	case d.Op == chat.FileCreated:
		from = "/dev/null"
	case d.Op == chat.FileDeleted:
		to = "/dev/null"
	}
	d.Unified, d.Added, d.Removed = unifiedDiff(from, to, plainText(before), plainText(after))
	return d
}

func plainText(data []byte) string { return unixNewlines(strings.TrimPrefix(string(data), bom)) }

func unifiedDiff(from, to, before, after string) (diff string, added, removed int) {
	u, err := udiff.ToUnifiedDiff(from, to, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil {
		return "", 0, 0 // only for edits that do not fit the text; these were made from it
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			case udiff.Equal:
			}
		}
	}
	return u.String(), added, removed
}
