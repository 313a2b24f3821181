package themes

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

//go:embed palettes/*.yaml
var builtin embed.FS

// The built-in themes that fill gaps in others.
const (
	DefaultDark  = "hermes"
	DefaultLight = "daylight"
)

// Builtin returns the names of the themes inside the program, sorted.
func Builtin() []string {
	entries, _ := builtin.ReadDir("palettes") // embedded: cannot fail
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Load returns the theme called name: a file NAME.yaml in one of dirs, the first found, else a
// built-in one. The error joins every Problem of the file; the Theme is usable only when it is nil.
func Load(name string, dirs ...string) (Theme, error) { return loadTheme(name, dirs, 0) }

func loadTheme(name string, dirs []string, depth int) (Theme, error) {
	if depth > 8 {
		return Theme{}, fmt.Errorf("theme %q: its bases go round in a circle", name)
	}
	file, data, err := readPalette(name, dirs)
	if err != nil {
		return Theme{}, err
	}
	t, err := parsePalette(file, data)
	if err != nil {
		return Theme{}, err
	}
	if t.Name != name {
		return Theme{}, Problem{File: file, Line: 1, Column: 1, Why: fmt.Sprintf("name is %q, but the file is called %s.yaml", t.Name, name)}
	}
	return t, t.fillFromBase(dirs, depth)
}

// fillFromBase fills the gaps of t from its base.
func (t *Theme) fillFromBase(dirs []string, depth int) error {
	base := t.Base
	switch {
	case base == t.Name:
		return Problem{File: t.File, Why: "a theme cannot be its own base"}
	case base == "" && t.Dark:
		base = DefaultDark
	case base == "":
		base = DefaultLight
	}
	if base == t.Name {
		return nil // the defaults are complete; a test sees to it
	}
	b, err := loadTheme(base, dirs, depth+1)
	if err != nil {
		return fmt.Errorf("%s: base: %w", t.File, err)
	}
	t.Colours.fillFrom(b.Colours)
	if t.Chroma == "" {
		t.Chroma = b.Chroma
	}
	return nil
}

func readPalette(name string, dirs []string) (file string, data []byte, err error) {
	if !validName(name) {
		return "", nil, fmt.Errorf("theme %q: a theme's name has letters, digits, - and _ only", name)
	}
	for _, dir := range dirs {
		file = filepath.Join(dir, name+".yaml")
		switch data, err = os.ReadFile(file); {
		case err == nil:
			return file, data, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", nil, fmt.Errorf("theme %q: %w", name, err)
		}
	}
	if data, err = builtin.ReadFile("palettes/" + name + ".yaml"); err == nil {
		return "", data, nil
	}
	all := Names(dirs...)
	return "", nil, fmt.Errorf("there is no theme %q%s; there are %s", name, meant(name, all), strings.Join(all, ", "))
}

// Names lists the built-in themes and the files in dirs, sorted, each name once.
func Names(dirs ...string) []string {
	names := Builtin()
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // a folder that is not there has no themes
		for _, e := range entries {
			if n, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && validName(n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Watch calls changed with the name of a theme whenever its file in dir was written, created or
// removed; several writes in a row make one call. It runs until ctx ends and returns nil then. A
// dir that does not exist yet is an error.
func Watch(ctx context.Context, dir string, changed func(name string)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch themes: %w", err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Add(dir); err != nil {
		return fmt.Errorf("watch themes in %s: %w", dir, err)
	}
	const settle = 50 * time.Millisecond // editors write a file in several steps
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	waiting := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.Events:
			name, ok := strings.CutSuffix(filepath.Base(e.Name), ".yaml")
			if ok && validName(name) && !e.Has(fsnotify.Chmod) {
				waiting[name] = true
				timer.Reset(settle)
			}
		case err := <-w.Errors:
			// An overflow loses events, not themes: the next write comes through.
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch themes in %s: %w", dir, err)
			}
		case <-timer.C:
			for name := range waiting {
				changed(name)
			}
			clear(waiting)
		}
	}
}
