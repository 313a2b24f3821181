// Package realpath says which file a path means: where ~ is, and where symbolic links lead.
// Approvals, the file tools and the agent's check for overlapping calls must agree on it, or a link
// is a way round all three.
package realpath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links a path may go through, as in the kernel.
const maxLinks = 40

// Absolute makes path absolute: ~ is home (when home is not ""), and a relative path starts in dir.
func Absolute(home, dir, path string) string {
	if (path == "~" || strings.HasPrefix(path, "~/")) && home != "" {
		path = filepath.Join(home, path[1:])
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// Resolve follows the links of an absolute path, those that point to nothing too, so that the
// answer is where a write would land. What does not exist yet stays as it is written.
func Resolve(path string) (string, error) { return resolve(path, 0) }

// Of is Resolve of Absolute. A path that cannot be resolved (a circle of links) stays absolute:
// opening it will fail.
func Of(home, dir, path string) string {
	abs := Absolute(home, dir, path)
	if real, err := Resolve(abs); err == nil {
		return real
	}
	return abs
}

// Within reports whether path is dir or below it. Both are clean, and nothing is looked up.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func resolve(path string, links int) (string, error) {
	if links > maxLinks {
		return "", errors.New("too many levels of symbolic links")
	}
	dir, base := filepath.Split(path)
	if base == "" {
		return filepath.Clean(path), nil
	}
	dir, err := resolveDir(filepath.Clean(dir), links)
	if err != nil {
		return "", err
	}
	p := filepath.Join(dir, base)
	target, err := os.Readlink(p)
	if err != nil {
		return p, nil //nolint:nilerr // no link, or nothing there yet: opening it will say what is wrong
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return resolve(filepath.Clean(target), links+1)
}

func resolveDir(dir string, links int) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) {
		return resolve(dir, links)
	}
	return real, err
}
