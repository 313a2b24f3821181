package files

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/realpath"
)

// walker visits the regular files below root that are not ignored, in path order.
type walker struct {
	root  string
	pick  Picker
	visit func(rel string) bool
}

// Walk searches the files below root without ripgrep.
func (g Grep) Walk(ctx context.Context, root string, add func(Found) bool) error {
	return WalkFiles(ctx, root, g.Globs, func(rel string) bool {
		more := true
		err := g.File(filepath.Join(root, rel), rel, func(f Found) bool {
			more = add(f)
			return more
		})
		return more || err != nil // a file that cannot be read is passed over, as ripgrep does
	})
}

// WalkFiles calls visit for each file until it returns false.
func WalkFiles(ctx context.Context, root string, globs []string, visit func(rel string) bool) error {
	w := walker{root: root, pick: NewPicker(globs), visit: visit}
	_, err := w.walkDir(ctx, "", outerIgnores(root))
	return err
}

func (w *walker) walkDir(ctx context.Context, rel string, outer []ignores) (more bool, err error) {
	if ctx.Err() != nil {
		return false, nil
	}
	entries, err := ReadDir(filepath.Join(w.root, rel))
	if err != nil {
		if rel == "" {
			return false, err
		}
		return true, nil
	}
	levels := slices.Concat(outer, []ignores{readIgnores(filepath.Join(w.root, rel))})
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		if !e.IsDir() && !e.Type().IsRegular() || !w.pick.Wants(name, filepath.Join(w.root, name), e.IsDir(), levels) {
			continue
		}
		if e.IsDir() {
			more, err = w.walkDir(ctx, name, levels)
		} else {
			more = w.visit(name)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// File searches one file, line by line.
func (g Grep) File(name, rel string, add func(Found) bool) error {
	f, st, err := OpenRegular(name)
	if err != nil {
		return Reason(err)
	}
	defer f.Close()
	if st.Size > MaxSearched {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSearched))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return Reason(err)
	}
	if hits := g.matchLines(string(data)); hits != nil {
		add(Found{Path: rel, Hits: hits})
	}
	return nil
}

func (g Grep) matchLines(data string) []Hit {
	var hits []Hit
	before := make([]string, 0, g.Context) // lines since the last hit, at most context
	number, after := 0, 0
	for line := range strings.Lines(data) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case g.Regexp.MatchString(line):
			for i, s := range before {
				hits = append(hits, Hit{number - len(before) + i, s, true})
			}
			hits = append(hits, Hit{number, line, false})
			before, after = before[:0], g.Context
		case after > 0:
			after--
			hits = append(hits, Hit{number, line, true})
		case g.Context > 0:
			if len(before) == g.Context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, line)
		}
	}
	return hits
}

// ReadDir lists a folder by its resolved path.
func ReadDir(real string) ([]fs.DirEntry, error) {
	dir, err := realpath.OpenDir(real)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir()
}
