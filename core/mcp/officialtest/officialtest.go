// Package officialtest is for tests only: the programs of the model context protocol's authors, as
// the lock file says.
package officialtest

import (
	"embed"
	"io/fs"
	"path/filepath"
	"testing"

	"hermes/core/npmtest"
)

//go:embed npm
var locked embed.FS

// Install installs the programs and returns their node_modules, see npmtest.
func Install(t testing.TB) (modules string) {
	t.Helper()
	files, err := fs.Sub(locked, "npm")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(npmtest.Install(t, files), "node_modules")
}
