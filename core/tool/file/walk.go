package file

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
	pick  picker
	visit func(rel string) bool
}

// walk searches without ripgrep.
func (g grep) walk(ctx context.Context, root string, add func(found) bool) error {
	return walkFiles(ctx, root, g.globs, func(rel string) bool {
		more := true
		err := g.file(filepath.Join(root, rel), rel, func(f found) bool {
			more = add(f)
			return more
		})
		return more || err != nil // a file that cannot be read is passed over, as ripgrep does
	})
}

// walkFiles calls visit for each file until it returns false.
func walkFiles(ctx context.Context, root string, globs []string, visit func(rel string) bool) error {
	w := walker{root: root, pick: newPicker(globs), visit: visit}
	_, err := w.dir(ctx, "", outerIgnores(root))
	return err
}

func (w *walker) dir(ctx context.Context, rel string, outer []ignores) (more bool, err error) {
	if ctx.Err() != nil {
		return false, nil
	}
	entries, err := readDir(filepath.Join(w.root, rel))
	if err != nil {
		if rel == "" {
			return false, err
		}
		return true, nil
	}
	levels := slices.Concat(outer, []ignores{readIgnores(filepath.Join(w.root, rel))})
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		if !e.IsDir() && !e.Type().IsRegular() || !w.pick.wants(name, filepath.Join(w.root, name), e.IsDir(), levels) {
			continue
		}
		if e.IsDir() {
			more, err = w.dir(ctx, name, levels)
		} else {
			more = w.visit(name)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// file searches one file, line by line.
func (g grep) file(name, rel string, add func(found) bool) error {
	f, st, err := openRegular(name)
	if err != nil {
		return reason(err)
	}
	defer f.Close()
	if st.Size > grepLimit {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, grepLimit))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return reason(err)
	}
	if hits := g.lines(string(data)); hits != nil {
		add(found{path: rel, hits: hits})
	}
	return nil
}

func (g grep) lines(data string) []hit {
	var hits []hit
	before := make([]string, 0, g.context) // lines since the last hit, at most context
	number, after := 0, 0
	for line := range strings.Lines(data) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case g.re.MatchString(line):
			for i, s := range before {
				hits = append(hits, hit{number - len(before) + i, s, true})
			}
			hits = append(hits, hit{number, line, false})
			before, after = before[:0], g.context
		case after > 0:
			after--
			hits = append(hits, hit{number, line, true})
		case g.context > 0:
			if len(before) == g.context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, line)
		}
	}
	return hits
}

// readDir lists a folder by its resolved path.
func readDir(real string) ([]fs.DirEntry, error) {
	dir, err := realpath.OpenDir(real)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir()
}
