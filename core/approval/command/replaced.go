package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxTouched bounds the files that a command is known to change.
const maxTouched = 200

// rememberChanged remembers files of this machine that are there and that the line is seen to
// change or delete.
func (w *walker) rememberChanged(f field, p place) {
	if !w.ctx.Local || p.kind == placeStream || p.kind == placeTemp || p.kind == placeUnknown || strings.Contains(p.path, unknown) {
		return
	}
	list := []string{p.path}
	if f.glob {
		list, _ = filepath.Glob(p.path) // a pattern that is none finds nothing
	}
	for _, file := range list {
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && len(w.touched) < maxTouched && !slices.Contains(w.touched, file) {
			w.touched = append(w.touched, file)
		}
	}
}

// replaces asks before a file that is there gets new content, where that is a file of secrets or
// one of which there will be no copy. Sure says that a file that cannot be looked at counts as one
// that is there.
func (w *walker) replaces(f field, sure bool) {
	p := w.place(f)
	there := sure && !w.ctx.Local
	if w.ctx.Local {
		info, err := os.Lstat(p.path)
		there = err == nil && info.Mode().IsRegular()
	}
	if !there || f.dyn || f.glob {
		return
	}
	if p.kind == placeCredential {
		w.add(Credential, LevelSensitive, f.text, "writes over "+w.name(f)+", where secrets are kept")
		return
	}
	w.askLostContent(f, p)
}

// askLostContent asks about a file whose content would be lost for good.
func (w *walker) askLostContent(f field, p place) {
	if !w.ctx.Local || w.ctx.Unkept == nil || p.kind != placeProject && p.kind != placeCredential || f.dyn || f.glob {
		return
	}
	if why := w.ctx.Unkept(p.path); why != "" {
		w.add(Delete, LevelSensitive, f.text, "writes over "+w.name(f)+", of which there is no copy: "+why)
	}
}

// replacesIn is replaces for files that are copied or moved to a place, which may be a folder.
func (w *walker) replacesIn(from []field, to field) {
	p := w.place(to)
	info, err := os.Stat(p.path)
	if !w.ctx.Local || err != nil || !info.IsDir() {
		w.replaces(to, false)
		return
	}
	for _, f := range from {
		for _, name := range w.copied(f) {
			inside := part(to, strings.TrimSuffix(to.text, "/")+"/"+name)
			w.rememberChanged(inside, w.place(inside))
			w.replaces(inside, false)
		}
	}
}

// copied are the names that a file, or the files of a folder of this machine, get where they are
// copied to.
func (w *walker) copied(f field) (names []string) {
	paths := []string{w.place(f).path}
	if f.glob {
		paths, _ = filepath.Glob(paths[0]) // a pattern that is none finds nothing
	}
	for _, p := range paths {
		base := filepath.Base(p)
		if info, err := os.Stat(p); err != nil || !info.IsDir() || f.dyn {
			names = append(names, base)
			continue
		}
		if strings.HasSuffix(f.text, "/.") || strings.HasSuffix(f.text, "/") || f.text == "." {
			base = ""
		}
		_ = filepath.WalkDir(p, func(file string, d fs.DirEntry, err error) error { // what cannot be read is not copied either
			if len(names) >= maxTouched {
				return filepath.SkipAll
			}
			if rel, at := filepath.Rel(p, file); err == nil && at == nil && d.Type().IsRegular() {
				names = append(names, filepath.Join(base, rel))
			}
			return nil
		})
	}
	return names
}
