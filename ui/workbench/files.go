package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core"
	"hermes/core/atomicfile"
	"hermes/core/chat"
	"hermes/core/checkpoint"
	"hermes/core/config"
	"hermes/core/content"
	"hermes/core/secret"
	"hermes/panes/conversation"
	"hermes/ui/compose"
)

// Bounds of what is looked at for the completion after @.
const (
	maxListed  = 200
	maxVisited = 20_000
)

// fileLister lists files for the completion after @, and reads what is attached.
type fileLister struct {
	resources func() []string          // of servers, as they are mentioned; may be nil
	app       func() (*core.App, bool) // for the files of other back ends; may be nil
}

// Dropped implements conversation.Files.
func (fileLister) Dropped(paste string) (path string, ok bool) { return content.Dropped(paste) }

// Load implements conversation.Files.
func (fileLister) Load(_ context.Context, cwd, path string) (chat.Part, error) {
	return content.Load(cwd, path)
}

// Describe implements conversation.Files.
func (f fileLister) Describe(ctx context.Context, in conversation.Folder, text string) []string {
	out := content.Describe(in.Cwd, text)
	if app, ok := f.appIfKnown(); ok {
		out = append(out, app.DescribeThere(ctx, in.Session, text)...)
	}
	if f.resources != nil {
		known := f.resources()
		for _, word := range content.Words(text) {
			if slices.Contains(known, word) {
				out = append(out, word)
			}
		}
	}
	return out
}

func (f fileLister) appIfKnown() (*core.App, bool) {
	if f.app == nil {
		return nil, false
	}
	return f.app()
}

// List lists the files of the session: of its folder here and, by name:path, of the back end that
// it uses. A command sees those of its back end only.
func (f fileLister) List(ctx context.Context, in conversation.Folder, prefix string) []string {
	if app, ok := f.appIfKnown(); ok {
		backend, folder, list, far := app.FilesThere(ctx, in.Session)
		switch {
		case far && in.Command:
			return list
		case far:
			for i, name := range list {
				list[i] = checkpoint.FarPath(backend, path.Join(folder, name))
				if strings.HasSuffix(name, "/") {
					list[i] += "/"
				}
			}
			return append(f.listHere(ctx, in.Cwd, prefix), list...)
		}
	}
	return f.listHere(ctx, in.Cwd, prefix)
}

// listHere walks the session's directory, nearest folders first, and leaves out what nobody means:
// hidden folders and the usual stores of dependencies.
func (f fileLister) listHere(ctx context.Context, cwd, prefix string) []string {
	var out []string
	if f.resources != nil && strings.Contains(prefix, ":") {
		for _, r := range f.resources() {
			if len(out) < maxListed && isSubsequence(strings.ToLower(prefix), strings.ToLower(r)) {
				out = append(out, r)
			}
		}
	}
	visited := 0
	low := strings.ToLower(prefix)
	queue := []string{"."}
	for len(queue) > 0 && len(out) < maxListed && visited < maxVisited && ctx.Err() == nil {
		dir := queue[0]
		queue = queue[1:]
		for _, e := range readFolder(filepath.Join(cwd, dir), maxVisited-visited) {
			visited++
			name := filepath.ToSlash(filepath.Join(dir, e.Name()))
			if e.IsDir() {
				if isSkipped(e.Name()) {
					continue
				}
				queue = append(queue, name)
				name += "/"
			}
			if len(out) < maxListed && isSubsequence(low, strings.ToLower(name)) {
				out = append(out, name)
			}
		}
	}
	return out
}

// readFolder reads at most limit entries of a folder, in order; none when it cannot be read, as
// folders of others often cannot.
func readFolder(dir string, limit int) []fs.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(limit)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

func isSkipped(name string) bool {
	switch name {
	case "node_modules", "vendor", "__pycache__", "target", "dist":
		return true
	default:
		return strings.HasPrefix(name, ".") && name != ".github"
	}
}

// isSubsequence reports whether all runes of part are in s, in order.
func isSubsequence(part, s string) bool {
	for _, r := range part {
		i := strings.IndexRune(s, r)
		if i < 0 {
			return false
		}
		s = s[i+len(string(r)):]
	}
	return true
}

// promptHistory keeps typed prompts, one a line: a JSON string, or an object with what was pasted.
type promptHistory struct{ path string }

// Bounds of the history. The file is cut to maxHistory prompts when it holds twice as many; only
// its end is read.
const (
	maxHistory     = 1_000
	maxHistoryFile = 8 << 20
)

// Load returns the newest prompts, oldest first. Lines that are no prompt (torn by a crash) are
// passed over.
func (h *promptHistory) Load(context.Context) ([]compose.Prompt, error) {
	data, err := readEnd(h.path, maxHistoryFile)
	if err != nil {
		return nil, err
	}
	var out []compose.Prompt
	for line := range bytes.Lines(data) {
		var p compose.Prompt
		if json.Unmarshal(line, &p.Text) != nil && json.Unmarshal(line, &p) != nil {
			continue
		}
		if p.Text != "" || len(p.Parts) > 0 {
			out = append(out, p)
		}
	}
	keep := out[max(0, len(out)-maxHistory):]
	if len(out) > 2*maxHistory || len(data) == maxHistoryFile {
		err = h.replaceFile(keep)
	}
	return keep, err
}

// readEnd returns the last limit bytes of a file at most; nothing when there is no file.
func readEnd(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-limit), limit))
}

// Append adds one prompt, on a line of its own even behind a torn one.
func (h *promptHistory) Append(_ context.Context, p compose.Prompt) error {
	line, err := promptLine(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if endsTorn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// endsTorn reports a file whose last line has no end.
func endsTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// maxKeptPaste bounds what is kept of the pastes of one prompt, in bytes.
const maxKeptPaste = 512 << 10

// promptLine is a prompt as a line of the file, without secrets. Of what stood over the text pastes
// are kept; in the place of another file or a larger paste stands that it is missing.
func promptLine(p compose.Prompt) ([]byte, error) {
	kept, size := compose.Prompt{Text: secret.Clean(p.Text)}, 0
	for _, part := range p.Parts {
		if part.Kind != chat.PartPaste || size+len(part.Text) > maxKeptPaste {
			part = chat.Part{Kind: chat.PartPaste, Name: part.Name + " (not kept)", Text: part.Instead("it was not kept with the prompt, and has to be given again")}
		}
		size += len(part.Text)
		part.Name, part.Text = secret.Clean(part.Name), secret.Clean(part.Text)
		kept.Parts = append(kept.Parts, part)
	}
	if len(kept.Parts) == 0 {
		return json.Marshal(kept.Text)
	}
	return json.Marshal(kept)
}

func (h *promptHistory) replaceFile(prompts []compose.Prompt) error {
	var b strings.Builder
	for _, p := range prompts {
		line, err := promptLine(p)
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return atomicfile.Write(h.path, []byte(b.String()), 0o600)
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
func (s stateFile) Save(data []byte) error { return atomicfile.Write(string(s), data, 0o600) }
