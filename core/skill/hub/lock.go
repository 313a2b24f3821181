package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/core/atomicfile"
)

// Installed is one entry of the lock file: a skill that came from elsewhere.
type Installed struct {
	Source      string    `json:"source"`
	Kind        string    `json:"kind"`
	Path        string    `json:"path,omitempty"`
	Ref         string    `json:"ref,omitempty"`
	Commit      string    `json:"commit,omitempty"`
	Hash        string    `json:"hash"` // SHA-256 over the files as they were installed
	InstalledAt time.Time `json:"installed_at"`
	Files       []string  `json:"files"`
}

// lockFile is skills/.hub/lock.json.
type lockFile struct {
	Version   int                        `json:"version"`
	Installed map[string]json.RawMessage `json:"installed"`
	rest      map[string]json.RawMessage
}

// LockPath is the lock file of a skills folder.
func LockPath(skillsDir string) string { return filepath.Join(skillsDir, folder, "lock.json") }

// Record writes what was installed down. Entries of others, and keys that we do not know, stay.
func Record(skillsDir, name string, entry Installed) error {
	at := LockPath(skillsDir)
	unlock, err := atomicfile.Lock(at + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	l, err := readLock(at)
	if err != nil {
		return err
	}
	if l.Installed[name], err = json.Marshal(entry); err != nil {
		return err
	}
	l.rest["version"], _ = json.Marshal(max(l.Version, 1)) // an int never fails
	if l.rest["installed"], err = json.Marshal(l.Installed); err != nil {
		return err
	}
	data, err := json.MarshalIndent(l.rest, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(at, append(data, '\n'), 0o600)
}

// List is what the lock file of a skills folder says.
func List(skillsDir string) (map[string]Installed, error) {
	l, err := readLock(LockPath(skillsDir))
	if err != nil {
		return nil, err
	}
	out := map[string]Installed{}
	for name, raw := range l.Installed {
		var e Installed
		if json.Unmarshal(raw, &e) == nil {
			out[name] = e
		}
	}
	return out, nil
}

func readLock(at string) (lockFile, error) {
	l := lockFile{Installed: map[string]json.RawMessage{}, rest: map[string]json.RawMessage{}}
	data, err := os.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &l.rest)
	}
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err != nil {
		return l, fmt.Errorf("%s cannot be read: %w; mend or remove it", at, err)
	}
	if l.Installed == nil {
		l.Installed = map[string]json.RawMessage{}
	}
	return l, nil
}
