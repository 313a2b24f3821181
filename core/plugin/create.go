package plugin

import (
	_ "embed" // the programs that a new plugin begins with
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed example/main.py
var examplePython string

//go:embed example/main.go.txt
var exampleGo string

//go:embed example/plugin.yaml
var exampleManifest string

// DefaultLanguage is the language of a new plugin that says none.
const DefaultLanguage = "python"

// language is what a new plugin begins with. NAME is the plugin's name in all texts.
type language struct {
	file, program string
	command       string // of the manifest
	build         string // what makes the command of the program; "": nothing has to
}

var languages = map[string]language{
	"python": {file: "main.py", program: examplePython, command: "[python3, main.py]"},
	"go":     {file: "main.go", program: exampleGo, command: "[./NAME]", build: "go build -o NAME main.go"},
}

// Languages are those in which a plugin can be begun, by name.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

// Create begins a plugin of a name in a language: a manifest and a program that works. It returns
// its folder and what has to be run there to build the program, "" when nothing has to.
func (l *Library) Create(name, in string) (folder, build string, err error) {
	with, known := languages[in]
	if !known {
		return "", "", fmt.Errorf("a plugin can be begun in %s, not in %q", strings.Join(Languages(), " or "), in)
	}
	folder, err = l.newFolder(name)
	if err != nil {
		return "", "", err
	}
	fill := strings.NewReplacer("COMMAND", with.command, "NAME", name)
	manifest := fill.Replace(fill.Replace(exampleManifest)) // the command has the name in it
	for file, text := range map[string]string{ManifestFile: manifest, with.file: fill.Replace(with.program)} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			return "", "", err
		}
	}
	return folder, fill.Replace(with.build), nil
}

// newFolder makes the folder of a plugin that is not there yet.
func (l *Library) newFolder(name string) (string, error) {
	if !validName().MatchString(name) {
		return "", fmt.Errorf("%q is no name for a plugin: use up to 32 of a-z, 0-9, dash and underscore", name)
	}
	folder := filepath.Join(l.Folder(), name)
	if err := os.MkdirAll(l.Folder(), 0o700); err != nil {
		return "", err
	}
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already", folder)
	} else if err != nil {
		return "", err
	}
	return folder, nil
}
