package command

import (
	"os"
	"path/filepath"
)

// Files says what a tool does that writes these files itself.
func Files(paths []string, c Context) Analysis {
	c = c.Prepared()
	w := &walker{ctx: &c, dir: c.Dir, known: true}
	for _, p := range paths {
		before := len(w.effects)
		at := w.addWrite(field{text: p}, "writes")
		w.askLostContent(field{text: p}, at)
		if c.Local && len(w.effects) > before && w.effects[before].Level == LevelStandard {
			if _, err := os.Lstat(at.path); os.IsNotExist(err) {
				w.effects[before].Level = LevelCreate // nothing is there that it could replace
			}
		}
	}
	return w.judgeEffects()
}

// WithEffects is a call whose effects its tool names.
func WithEffects(effects []Effect, c Context) Analysis {
	w := &walker{ctx: &c, effects: effects}
	return w.judgeEffects()
}

// Unexplained is a call of which nothing is known but that it does not only read.
func Unexplained(reason string, c Context) Analysis {
	w := &walker{ctx: &c}
	w.addEffect(Run, LevelSensitive, "", reason)
	w.effects[0].Level = LevelSensitive // a sandbox around commands says nothing about other tools
	w.loose = ""
	return w.judgeEffects()
}

// repositoryRoot is the repository that dir is in, else dir.
func repositoryRoot(dir, home string) string {
	for d := dir; d != "/" && d != "." && d != home; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
	}
	return dir
}
