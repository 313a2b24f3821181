package mcp

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/backend"
	"hermes/core/clip"
	"hermes/core/config"
	"hermes/core/realpath"
)

// files are those that a server sees.
type files interface {
	// resolve returns the file that a path means there, links followed.
	resolvePath(ctx context.Context, path string) (string, error)
	// size is that of a file, -1 when there is none or nobody knows.
	fileSize(ctx context.Context, path string) int64
}

// refusePaths holds every path in arguments against the folders and the size of the settings.
func (r *rules) refusePaths(ctx context.Context, args any, at files) string {
	p := r.p
	if len(p.AllowedPaths) == 0 && len(p.DeniedPaths) == 0 && p.MaxFileSize <= 0 {
		return ""
	}
	return eachText(args, "", func(key, text string) string {
		if p.MaxFileSize > 0 && int64(len(text)) > int64(p.MaxFileSize) {
			return fmt.Sprintf("%s has %s, more than max_file_size (%s)", key, config.Size(len(text)), p.MaxFileSize)
		}
		if !isPath(key, text) {
			return ""
		}
		file, err := at.resolvePath(ctx, fromURI(text))
		if err != nil {
			return fmt.Sprintf("the path %s cannot be followed: %v", clip.Runes(text, 40, "…"), err)
		}
		return r.refusePath(ctx, file, at)
	})
}

func (r *rules) refusePath(ctx context.Context, file string, at files) string {
	inside := func(list []string) (bool, error) {
		for _, dir := range list {
			real, err := at.resolvePath(ctx, dir)
			if err != nil {
				return false, fmt.Errorf("%s of the settings cannot be followed: %w", dir, err)
			}
			if realpath.Within(file, real) {
				return true, nil
			}
		}
		return false, nil
	}
	denied, err := inside(r.p.DeniedPaths)
	switch {
	case err != nil:
		return err.Error()
	case denied:
		return file + " is below denied_paths"
	}
	allowed, err := inside(r.p.AllowedPaths)
	switch {
	case err != nil:
		return err.Error()
	case len(r.p.AllowedPaths) > 0 && !allowed:
		return file + " is not below allowed_paths (" + joinNames(r.p.AllowedPaths) + ")"
	}
	if size := at.fileSize(ctx, file); r.p.MaxFileSize > 0 && size > int64(r.p.MaxFileSize) {
		return fmt.Sprintf("%s has %s, more than max_file_size (%s)", file, config.Size(size), r.p.MaxFileSize)
	}
	return ""
}

// isPath reports whether a text is a path: by the name that it stands under, or by its looks.
func isPath(key, text string) bool {
	const longest = 4096
	key = strings.ToLower(key)
	switch {
	case text == "" || len(text) > longest || strings.ContainsAny(text, "\n\r\x00"):
		return slices.Contains(known().Paths, key) && text != ""
	case strings.HasPrefix(strings.ToLower(text), "file:"):
		return true
	case strings.Contains(text, "://"):
		return false
	case slices.Contains(known().Paths, key):
		return true
	case slices.Contains(known().Texts, key):
		return false
	}
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "./") ||
		text == ".." || strings.HasPrefix(text, "../") || strings.Contains(text, "/../") || strings.HasSuffix(text, "/..")
}

// fromURI is the path of a file: address; any other text is a path already.
func fromURI(text string) string {
	if !strings.HasPrefix(strings.ToLower(text), "file:") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil || u.Path == "" {
		rest := text[len("file:"):]
		if plain, err := url.PathUnescape(rest); err == nil {
			return plain
		}
		return rest
	}
	return u.Path
}

// here are the files of this machine, seen from a folder.
type here struct{ home, dir string }

func (h here) resolvePath(_ context.Context, name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("it holds a NUL")
	}
	return realpath.Resolve(realpath.Absolute(h.home, h.dir, name))
}

func (h here) fileSize(_ context.Context, name string) int64 {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return -1
	}
	return info.Size()
}

// there are the files of a back end. Links are followed by a program in it.
type there struct {
	pool backend.Pool
	name string
	dir  string
}

func (t there) resolvePath(ctx context.Context, name string) (string, error) {
	out, err := t.runThere(ctx, "realpath", "-m", "--", name)
	if err != nil {
		return "", err
	}
	return path.Clean(out), nil
}

func (t there) fileSize(ctx context.Context, name string) int64 {
	out, err := t.runThere(ctx, "stat", "-L", "-c", "%s", "--", name)
	var n int64 = -1
	if err == nil {
		if _, err := fmt.Sscan(out, &n); err != nil {
			return -1
		}
	}
	return n
}

func (t there) runThere(ctx context.Context, argv ...string) (string, error) {
	res, err := t.pool.Exec(ctx, backend.Request{Session: poolSession, Backend: t.name, Argv: argv, Dir: t.dir})
	switch {
	case err != nil:
		return "", err
	case res.ExitCode != 0:
		return "", fmt.Errorf("%s in back end %s: %s", argv[0], t.name, strings.TrimSpace(string(res.Output)))
	}
	return strings.TrimRight(string(res.Output), "\n"), nil
}

// filesSeen are those that the server with these settings sees.
func (s *server) filesSeen(set Settings) files {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	dir := filepath.Clean(s.m.o.Cwd())
	if !set.usesStdio() {
		return here{home, dir}
	}
	place, err := s.backendOf(set)
	if err == nil && !place.Traits.Local {
		return there{s.m.o.Pool, place.Name, set.Cwd}
	}
	if set.Cwd != "" {
		dir = s.m.o.Expand(set.Cwd)
	}
	return here{home, dir}
}
