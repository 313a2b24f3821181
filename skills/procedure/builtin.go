package procedure

import (
	"embed"
	"io/fs"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// Builtin are the procedures of the program, as files.
func Builtin() map[string][]byte {
	out := map[string][]byte{}
	names, _ := fs.Glob(builtinFiles, "builtin/*.yaml") // a good pattern
	for _, name := range names {
		if data, err := builtinFiles.ReadFile(name); err == nil { // embedded
			out[name] = data
		}
	}
	return out
}
