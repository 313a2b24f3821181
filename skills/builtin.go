package skills

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed builtin
var builtin embed.FS

// addBuiltin adds the skills of the program.
func (l *loader) addBuiltin() {
	entries, _ := builtin.ReadDir("builtin") // embedded: cannot fail
	for _, e := range entries {
		dir := path.Join("builtin", e.Name())
		fsys, err := fs.Sub(builtin, dir)
		if err != nil {
			continue
		}
		l.takeSkill(inside{fsys}, Builtin, dir, ".")
	}
}
