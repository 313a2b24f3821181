package plugin

import (
	_ "embed" // the program that a new plugin begins with
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed example/main.py
var exampleProgram string

//go:embed example/plugin.yaml
var exampleManifest string

// Create begins a plugin of a name: a manifest and a program that works. It returns its folder.
func (l *Library) Create(name string) (string, error) {
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
	for file, text := range map[string]string{ManifestFile: exampleManifest, "main.py": exampleProgram} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(strings.ReplaceAll(text, "NAME", name)), 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}
