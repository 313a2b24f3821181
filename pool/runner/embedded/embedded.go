// Package embedded holds the far program (pool/runner/program) for the systems that containers and
// far hosts run: `make build` compiles it into the folder programs before it compiles Hermes.
// Without make the folder is empty, everything compiles, and For says what to do.
package embedded

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

//go:embed programs
var files embed.FS

// Systems are those that programs are made for, as OS/ARCH.
var Systems = []string{"linux/amd64", "linux/arm64"}

// Binary is the program for one system.
type Binary struct {
	OS, Arch string
	SHA256   string // hexadecimal
	Size     int    // bytes
}

// Data returns the program's bytes. They are unpacked anew each time: it is wanted once for each
// container or host, and not kept in memory for the rest of the day.
func (b Binary) Data() []byte {
	r, err := openProgram(b.OS, b.Arch)
	if err != nil {
		return nil // For has seen that it can be opened and read
	}
	data := make([]byte, b.Size)
	_, _ = io.ReadFull(r, data)
	return data
}

var (
	mu    sync.Mutex
	known = map[string]Binary{}
)

// For returns the program for a system, named as Go does (linux, amd64).
func For(os, arch string) (Binary, error) {
	mu.Lock()
	defer mu.Unlock()
	system := os + "/" + arch
	if b, ok := known[system]; ok {
		return b, nil
	}
	r, err := openProgram(os, arch)
	if err != nil {
		return Binary{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, r)
	if err != nil {
		return Binary{}, damagedError(system, err)
	}
	b := Binary{OS: os, Arch: arch, SHA256: hex.EncodeToString(sum.Sum(nil)), Size: int(size)}
	known[system] = b
	return b, nil
}

func openProgram(os, arch string) (io.Reader, error) {
	system := os + "/" + arch
	if !slices.Contains(Systems, system) {
		return nil, fmt.Errorf("there is no runner for %s: back ends can be on %s", system, strings.Join(Systems, " and "))
	}
	packed, err := files.Open("programs/" + os + "-" + arch + ".gz") // in memory already: nothing to close
	if err != nil {
		return nil, fmt.Errorf("this hermes was built without the runner for %s: build it with make", system)
	}
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, damagedError(system, err)
	}
	return r, nil
}

func damagedError(system string, err error) error {
	return fmt.Errorf("the runner for %s inside this hermes is damaged: %w", system, err)
}
