package workbench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/core/config"
)

// Bounds of what is looked at for the completion after @.
const (
	maxListed  = 200
	maxVisited = 20_000
)

// fileLister lists files for the completion after @.
type fileLister struct{}

// List walks the session's directory, nearest folders first, and leaves out what nobody means: hidden folders and the
// usual stores of dependencies.
func (fileLister) List(ctx context.Context, cwd, prefix string) []string {
	var out []string
	visited := 0
	low := strings.ToLower(prefix)
	queue := []string{"."}
	for len(queue) > 0 && len(out) < maxListed && visited < maxVisited && ctx.Err() == nil {
		dir := queue[0]
		queue = queue[1:]
		entries, err := os.ReadDir(filepath.Join(cwd, dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			visited++
			path := filepath.ToSlash(filepath.Join(dir, e.Name()))
			if e.IsDir() {
				if skipped(e.Name()) {
					continue
				}
				queue = append(queue, path)
				path += "/"
			}
			if subsequence(low, strings.ToLower(path)) {
				out = append(out, path)
			}
		}
	}
	return out
}

func skipped(name string) bool {
	switch name {
	case "node_modules", "vendor", "__pycache__", "target", "dist":
		return true
	default:
		return strings.HasPrefix(name, ".") && name != ".github"
	}
}

// subsequence reports whether all runes of part are in s, in order.
func subsequence(part, s string) bool {
	for _, r := range part {
		i := strings.IndexRune(s, r)
		if i < 0 {
			return false
		}
		s = s[i+len(string(r)):]
	}
	return true
}

// promptHistory keeps typed prompts, one JSON string a line.
type promptHistory struct{ path string }

// maxHistory is how many prompts are loaded; the file is cut to them when it has grown to twice as many.
const maxHistory = 1_000

// Load returns the newest prompts, oldest first.
func (h *promptHistory) Load(context.Context) ([]string, error) {
	f, err := os.Open(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s string
		if json.Unmarshal(lines.Bytes(), &s) == nil && s != "" { // a torn last line of a crash is passed over
			out = append(out, s)
		}
	}
	if len(out) > 2*maxHistory {
		out = out[len(out)-maxHistory:]
		err = h.replace(out)
	}
	return out[max(0, len(out)-maxHistory):], err
}

// Append adds one prompt.
func (h *promptHistory) Append(_ context.Context, text string) error {
	line, err := json.Marshal(text)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func (h *promptHistory) replace(prompts []string) error {
	var b strings.Builder
	for _, p := range prompts {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return writeFile(h.path, []byte(b.String()))
}

// stateFile keeps the arrangement of the panes.
type stateFile string

func layoutFile(p config.Paths) stateFile { return stateFile(filepath.Join(p.CacheDir, "layout.json")) }

// Load implements ui.StateStore.
func (s stateFile) Load() ([]byte, error) {
	data, err := os.ReadFile(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Save implements ui.StateStore.
func (s stateFile) Save(data []byte) error { return writeFile(string(s), data) }

// writeFile replaces a file as a whole.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
