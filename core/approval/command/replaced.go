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

// judgeReplacement asks before a file that is there gets new content, where that is a file of
// secrets or one of which there will be no copy. Sure says that a file that cannot be looked at
// counts as one that is there.
func (w *walker) judgeReplacement(f field, sure bool) {
	p := w.placeOf(f)
	there := sure && !w.ctx.Local
	if w.ctx.Local {
		info, err := os.Lstat(p.path)
		there = err == nil && info.Mode().IsRegular()
	}
	if !there || f.dyn || f.glob {
		return
	}
	if p.kind == placeCredential {
		w.addEffect(Credential, LevelSensitive, f.text,
			"writes over "+w.nameOf(f)+", where secrets are kept")
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
		w.addEffect(Delete, LevelSensitive, f.text, "writes over "+w.nameOf(f)+", of which there is no copy: "+why)
	}
}

// replacesIn is replaces for files that are copied or moved to a place, which may be a folder.
func (w *walker) replacesIn(from []field, to field) {
	p := w.placeOf(to)
	info, err := os.Stat(p.path)
	if !w.ctx.Local || err != nil || !info.IsDir() {
		w.judgeReplacement(to, false)
		return
	}
	for _, f := range from {
		for _, name := range w.copiedNames(f) {
			inside := partOf(to, strings.TrimSuffix(to.text, "/")+"/"+name)
			w.rememberChanged(inside, w.placeOf(inside))
			w.judgeReplacement(inside, false)
		}
	}
}

// copiedNames are the names that a file, or the files of a folder of this machine, get where they
// are copied to.
func (w *walker) copiedNames(f field) (names []string) {
	paths := []string{w.placeOf(f).path}
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
