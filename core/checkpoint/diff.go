package checkpoint

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Diff is one path of a record for reading.
type Diff struct {
	Path    Path   `json:"path"`
	Summary string `json:"summary"`           // "modified", "created", ..., with what text cannot show
	Unified string `json:"unified,omitempty"` // of texts
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// maxDiff is the largest content that is compared by lines.
const maxDiff = 2 << 20

// Diff compares what a record left with what was there before it.
func (s *Store) Diff(r *Record) []Diff {
	var out []Diff
	for _, f := range r.Files {
		after := State{Kind: Unknown}
		if f.After != nil {
			after = *f.After
		}
		out = append(out, s.diffStates(f.Path, f.Before, after))
	}
	return out
}

// Diff compares the files as they are with what they would be after the plan.
func (p *Plan) Diff(s *Store) []Diff {
	var out []Diff
	for _, st := range p.Steps {
		out = append(out, s.diffStates(st.Path, st.Now, st.To))
	}
	return out
}

func (s *Store) diffStates(path Path, from, to State) Diff {
	d := Diff{Path: path, Summary: summariseChange(from, to)}
	if from.Kind != Regular && from.Kind != None || to.Kind != Regular && to.Kind != None || from.Hash == to.Hash {
		return d
	}
	a, okA := s.textOf(path, from)
	b, okB := s.textOf(path, to)
	if !okA || !okB {
		d.Summary += fmt.Sprintf(" (not shown as text: %d bytes, then %d)", from.Size, to.Size)
		return d
	}
	d.Unified = s.o.Clean(udiff.Unified("a"+toSlash(path), "b"+toSlash(path), a, b))
	for line := range strings.SplitSeq(d.Unified, "\n") {
		switch {
		case strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			d.Added++
		case strings.HasPrefix(line, "-"):
			d.Removed++
		}
	}
	return d
}

func toSlash(p Path) string { return filepath.ToSlash(string(p)) }

// textOf is a content by lines: from the store, or the file itself while it is what it should be.
func (s *Store) textOf(path Path, st State) (string, bool) {
	if st.Kind == None {
		return "", true
	}
	if st.Size > maxDiff {
		return "", false
	}
	data, err := s.blobs.readBlob(st.Hash)
	if err != nil {
		if data, err = s.readInState(string(path), st); err != nil {
			return "", false
		}
	}
	return string(data), !isBinary(data)
}

func summariseChange(from, to State) string {
	mode := ""
	if from.Mode != to.Mode && from.Kind == to.Kind && from.Kind != Link {
		mode = fmt.Sprintf(", mode %o to %o", from.Mode, to.Mode)
	}
	switch {
	case to.Kind == Unknown:
		return "not known yet"
	case from.Kind == None:
		return "created" + kindWord(to)
	case to.Kind == None:
		return "deleted" + kindWord(from)
	case from.Kind != to.Kind:
		return fmt.Sprintf("%s became a %s", from.Kind, to.Kind)
	case from.Kind == Link:
		return fmt.Sprintf("link to %s, then to %s", from.Target, to.Target)
	case from.Hash == to.Hash && mode != "":
		return strings.TrimPrefix(mode, ", ")
	}
	return "modified" + mode
}

func kindWord(s State) string {
	switch s.Kind {
	case Folder:
		return " (folder)"
	case Link:
		return " (link to " + string(s.Target) + ")"
	case None, Regular, Other, Unknown:
	}
	return ""
}
