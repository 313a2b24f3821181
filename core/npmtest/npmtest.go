// Package npmtest is for tests only: programs of npm, as a lock file says.
package npmtest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/core/testskip"
)

// unreachable are npm's words for a registry that cannot be asked.
var unreachable = regexp.MustCompile(`\b(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E(?:NET|HOST)UNREACH` +
	`|ERR_SOCKET_TIMEOUT|E40[37]|E5\d\d)\b`)

// oldest is the major version of Node that the programs want at least.
const oldest = 20

// Install installs what the package-lock.json among files names, and returns the folder that holds
// the files and node_modules. What npm has kept from an earlier time is not asked for again.
// Without npm, and where its registry cannot be asked, the test is skipped and named, see
// testskip.NeedsInternet. Anything else that goes wrong fails it.
func Install(t testing.TB, files fs.FS) (dir string) {
	t.Helper()
	testskip.Long(t, "npm installs programs")
	npm, err := exec.LookPath("npm")
	if err != nil {
		testskip.NeedsInternet(t, "npm is not installed")
	}
	if version, err := exec.Command("node", "--version").Output(); err != nil || major(string(version)) < oldest {
		testskip.NeedsInternet(t, fmt.Sprintf("Node %d or later is not installed, this is %q", oldest, version))
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	limit, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(limit, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
		"--fetch-retries=1")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
	case limit.Err() != nil, unreachable.Match(out):
		testskip.NeedsInternet(t, fmt.Sprintf("npm's registry cannot be asked: %v %.500q", err, out))
	default:
		t.Fatalf("the lock file %s cannot be installed: %v %.2000s", filepath.Join(dir, "package-lock.json"), err, out)
	}
	return dir
}

// major is 20 for v20.1.2, and 0 for what is no version.
func major(version string) int {
	first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}
