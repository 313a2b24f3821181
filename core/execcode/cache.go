package execcode

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// remembered is what looks at interpreters and at the kernel found, kept for the next start of the
// program: they take a fifth of a second. A script cannot write the file where it is kept in, and
// what the file says runs as a script does anyway.
type remembered struct {
	Pythons map[string]savedPython `json:"pythons"` // by key
	Levels  map[string]Isolation   `json:"levels"`  // by system
}

type savedPython struct {
	Path    string    `json:"path"`
	Version [2]int    `json:"version"`
	Code    []byte    `json:"code"`
	When    time.Time `json:"when"`
}

// freshFor bounds how long a look holds: a shim may lead somewhere else tomorrow without having
// changed itself.
const freshFor = 24 * time.Hour

// fileKey names a file as it is now, for this program.
func fileKey(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(bootstrap))
	return fmt.Sprintf("%s %d %d %s", path, info.Size(), info.ModTime().UnixNano(), hex.EncodeToString(sum[:6])), nil
}

// readCache reads the file; what cannot be read is looked at again.
func readCache(file string) remembered {
	m := remembered{}
	if raw, err := os.ReadFile(file); file != "" && err == nil {
		_ = json.Unmarshal(raw, &m)
	}
	if m.Pythons == nil {
		m.Pythons = map[string]savedPython{}
	}
	if m.Levels == nil {
		m.Levels = map[string]Isolation{}
	}
	for key, p := range m.Pythons {
		if _, err := os.Stat(p.Path); err != nil || time.Since(p.When) > freshFor || len(p.Code) == 0 {
			delete(m.Pythons, key)
		}
	}
	return m
}

// changeCache changes the file. That it could not is no reason to fail: the next start looks again.
func changeCache(file string, change func(*remembered)) {
	if file == "" {
		return
	}
	m := readCache(file)
	change(&m)
	raw, err := json.Marshal(m)
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".scripts-*") // 0600
	if err != nil {
		return
	}
	_, err = temp.Write(raw)
	if cerr := temp.Close(); err != nil || cerr != nil || os.Rename(temp.Name(), file) != nil {
		_ = os.Remove(temp.Name())
	}
}
