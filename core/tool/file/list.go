package file

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"hermes/core/files"
	"hermes/core/tool"
)

// listLimit bounds how many files are sorted by time.
const listLimit = 200_000

type listed = files.Listed

// findFiles finds files by name, the newest first.
func (s *search) findFiles(ctx context.Context) (tool.Result, error) {
	if s.single {
		return tool.Fail("%s is a file: search for files in a folder.", s.at.shown), nil
	}
	filter := files.NewPicker(files.Globs(s.args.Glob))
	var all []listed
	add := func(rel string) bool {
		if s.isSecret(rel) || !filter.Wants(rel, "", false, nil) {
			return true
		}
		if info, err := os.Lstat(s.fullPath(rel)); err == nil {
			all = append(all, listed{Path: rel, Mod: info.ModTime()})
		}
		return len(all) < listLimit
	}
	names := files.Globs(nameGlob(s.args.Pattern))
	if s.at.room.Name != "" {
		return s.filesThere(ctx, names)
	}
	var err error
	if rg := s.w.rg(); rg != "" {
		err = rgFiles(ctx, rg, s.at.real, names, add)
	} else {
		err = files.WalkFiles(ctx, s.at.real, names, add)
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(b.Mod.Compare(a.Mod), cmp.Compare(a.Path, b.Path))
	})
	return s.listResult(ctx, all, err)
}

// filesThere has files found by name where they are.
func (s *search) filesThere(ctx context.Context, names []string) (tool.Result, error) {
	far, ok := s.at.room.Files.(searcher)
	if !ok {
		return tool.Fail("Files of %s cannot be searched.", s.at.room.Name), nil
	}
	a, err := far.Search(ctx, s.at.real, files.Query{Names: names, Globs: files.Globs(s.args.Glob), Most: mostThere})
	all := slices.DeleteFunc(a.Listed, func(f listed) bool { return s.isSecret(f.Path) })
	if err == nil && a.More {
		err = fmt.Errorf("only the newest %d of %d are known here", len(a.Listed), a.Total)
	}
	return s.listResult(ctx, all, err)
}

// searcher searches where its files are.
type searcher interface {
	Search(ctx context.Context, root string, q files.Query) (files.Answer, error)
}

// mostThere is how many results are fetched from another place: what may not be told is left out
// here, and only then counted.
const mostThere = 5000

// listResult is a page of files.
func (s *search) listResult(ctx context.Context, all []listed, err error) (tool.Result, error) {
	from, to := s.pageWindow(len(all))
	hits := make([]map[string]any, 0, to-from)
	for _, f := range all[from:to] {
		hits = append(hits, map[string]any{"path": s.shownName(f.Path)})
	}
	s.giveData(hits, to < len(all))
	text, note := s.pageText(all)
	return s.finishAnswer(ctx, text, note, err)
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

// pageWindow is which of n files are on the page.
func (s *search) pageWindow(n int) (from, to int) {
	from = min(s.args.Offset, n)
	return from, min(from+s.args.Limit, n)
}

func (s *search) pageText(all []listed) (text, note string) {
	from, to := s.pageWindow(len(all))
	if s.args.Mode == "count" {
		return fmt.Sprintf("%d files", len(all)), ""
	}
	var b strings.Builder
	for _, f := range all[from:to] {
		b.WriteString(s.shownName(f.Path) + "\n")
	}
	switch {
	case to < len(all):
		note = fmt.Sprintf("[files %d-%d of %d, newest first; more with offset=%d]", from+1, to, len(all), to)
	case from == to && len(all) > 0:
		note = fmt.Sprintf("[only %d files: offset %d is behind the last]", len(all), s.args.Offset)
	}
	return b.String(), note
}
