package sshdtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// program is the runner for this machine, built by the first test that wants it.
var program = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "hermes-runner-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "runner")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "hermes/pool/runner/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the runner: %w: %s", err, out)
	}
	return os.ReadFile(path)
})

// Program is the runner for this machine, as the sources are now, and its SHA-256.
func Program(t testing.TB) (sum string, data []byte) {
	t.Helper()
	data, err := program()
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:]), data
}

// Arch is the only architecture that Program is for.
const Arch = runtime.GOARCH
