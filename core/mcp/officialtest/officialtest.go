// Package officialtest is for tests only: the programs of the model context protocol's authors, as
// the lock file says.
package officialtest

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"hermes/core/testskip"
)

//go:embed npm
var locked embed.FS

// unreachable are npm's words for a registry that cannot be asked.
var unreachable = regexp.MustCompile(`\b(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E(?:NET|HOST)UNREACH` +
	`|ERR_SOCKET_TIMEOUT|E40[37]|E5\d\d)\b`)

// Install installs the programs and returns their node_modules. A test may not need the internet:
// without npm, or where its registry cannot be asked, the test is skipped, also in CI. Anything
// else that goes wrong fails it.
func Install(t testing.TB) (modules string) {
	t.Helper()
	testskip.Long(t, "npm installs servers")
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed, and the tests may not need the internet: ", err)
	}
	dir := t.TempDir()
	files, err := fs.Sub(locked, "npm")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	limit, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(limit, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return filepath.Join(dir, "node_modules")
	case limit.Err() != nil, unreachable.Match(out):
		t.Skipf("npm's registry cannot be asked: %v %.500s", err, out)
	default:
		t.Fatalf("the lock file cannot be installed: %v %.2000s", err, out)
	}
	return ""
}
