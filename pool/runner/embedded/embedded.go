// Package embedded holds the far program (pool/runner/program) for the systems that containers and far hosts run: `make build` compiles it
// into the folder programs before it compiles Hermes. Without make the folder is empty, everything compiles, and For says what to do.
package embedded

import (
	"bytes"
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

// Data returns the program's bytes. They are unpacked anew each time: it is wanted once for each container or host, and not kept in memory
// for the rest of the day.
func (b Binary) Data() []byte {
	data, _ := unpack(b.OS, b.Arch) // For has seen that it can be
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
	data, err := unpack(os, arch)
	if err != nil {
		return Binary{}, err
	}
	sum := sha256.Sum256(data)
	b := Binary{OS: os, Arch: arch, SHA256: hex.EncodeToString(sum[:]), Size: len(data)}
	known[system] = b
	return b, nil
}

func unpack(os, arch string) ([]byte, error) {
	system := os + "/" + arch
	if !slices.Contains(Systems, system) {
		return nil, fmt.Errorf("there is no runner for %s: back ends can be on %s", system, strings.Join(Systems, " and "))
	}
	packed, err := files.ReadFile("programs/" + os + "-" + arch + ".gz")
	if err != nil {
		return nil, fmt.Errorf("this hermes was built without the runner for %s: build it with make", system)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the runner for %s inside this hermes is damaged: %w", system, err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("the runner for %s inside this hermes is damaged: %w", system, err)
	}
	return data, nil
}
