package file

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"hermes/core/tool"
)

// listLimit bounds how many files are sorted by time.
const listLimit = 200_000

type listed struct {
	path string
	mod  time.Time
}

// files finds files by name, the newest first.
func (s *search) files(ctx context.Context) (tool.Result, error) {
	if s.single {
		return tool.Fail("%s is a file: search for files in a folder.", s.at.shown), nil
	}
	filter := newPicker(globs(s.args.Glob))
	var all []listed
	add := func(rel string) bool {
		if s.secret(rel) || !filter.wants(rel, "", false, nil) {
			return true
		}
		if info, err := os.Lstat(s.full(rel)); err == nil {
			all = append(all, listed{rel, info.ModTime()})
		}
		return len(all) < listLimit
	}
	names := globs(nameGlob(s.args.Pattern))
	var err error
	if rg := s.w.rg(); rg != "" {
		err = rgFiles(ctx, rg, s.at.real, names, add)
	} else {
		err = walkFiles(ctx, s.at.real, names, add)
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(b.mod.Compare(a.mod), cmp.Compare(a.path, b.path))
	})
	from, to := s.window(len(all))
	hits := make([]map[string]any, 0, to-from)
	for _, f := range all[from:to] {
		hits = append(hits, map[string]any{"path": s.name(f.path)})
	}
	s.give(hits, to < len(all))
	text, note := s.page(all)
	return s.answer(ctx, text, note, err)
}

// nameGlob takes a pattern without wildcards for part of a file name, and one with a slash for the
// end of a path.
func nameGlob(pattern string) string {
	switch {
	case strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "**/"):
		return pattern
	case !strings.ContainsAny(pattern, "*?[{"):
		return path.Join("**", path.Dir(pattern), "*"+path.Base(pattern)+"*")
	case strings.Contains(pattern, "/"):
		return "**/" + pattern
	}
	return pattern
}

// window is which of n files are on the page.
func (s *search) window(n int) (from, to int) {
	from = min(s.args.Offset, n)
	return from, min(from+s.args.Limit, n)
}

func (s *search) page(all []listed) (text, note string) {
	from, to := s.window(len(all))
	if s.args.Mode == "count" {
		return fmt.Sprintf("%d files", len(all)), ""
	}
	var b strings.Builder
	for _, f := range all[from:to] {
		b.WriteString(s.name(f.path) + "\n")
	}
	switch {
	case to < len(all):
		note = fmt.Sprintf("[files %d-%d of %d, newest first; more with offset=%d]", from+1, to, len(all), to)
	case from == to && len(all) > 0:
		note = fmt.Sprintf("[only %d files: offset %d is behind the last]", len(all), s.args.Offset)
	}
	return b.String(), note
}
