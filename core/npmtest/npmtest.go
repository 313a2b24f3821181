// Package npmtest is for tests only: programs of npm, as a lock file says.
package npmtest

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"hermes/core/testskip"
)

// unreachable are npm's words for a registry that cannot be asked.
var unreachable = regexp.MustCompile(`\b(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E(?:NET|HOST)UNREACH` +
	`|ERR_SOCKET_TIMEOUT|E40[37]|E5\d\d)\b`)

// Install installs what the package-lock.json among files names, and returns the folder that holds
// the files and node_modules. A test may not need the internet: without npm, or where its registry
// cannot be asked, the test is skipped, also in CI. Anything else that goes wrong fails it.
func Install(t testing.TB, files fs.FS) (dir string) {
	t.Helper()
	testskip.Long(t, "npm installs programs")
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed, and the tests may not need the internet: ", err)
	}
	dir = t.TempDir()
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
	case limit.Err() != nil, unreachable.Match(out):
		t.Skipf("npm's registry cannot be asked: %v %.500s", err, out)
	default:
		t.Fatalf("the lock file %s cannot be installed: %v %.2000s", filepath.Join(dir, "package-lock.json"), err, out)
	}
	return dir
}
