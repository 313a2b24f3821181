package quarantine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"hermes/core/atomicfile"
)

// Installed is one entry of a lock file: what came from elsewhere.
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

// lockFile is a lock file as it stands on the disk.
type lockFile struct {
	Version   int                        `json:"version"`
	Installed map[string]json.RawMessage `json:"installed"`
	rest      map[string]json.RawMessage
}

// Record writes into the lock file at a path what was installed. Entries of others, and keys that
// we do not know, stay.
func Record(at, name string, entry Installed) error {
	return change(at, func(l *lockFile) (err error) {
		l.Installed[name], err = json.Marshal(entry)
		return err
	})
}

// Drop removes the entry of what is not installed any more.
func Drop(at, name string) error {
	return change(at, func(l *lockFile) error {
		delete(l.Installed, name)
		return nil
	})
}

func change(at string, edit func(*lockFile) error) error {
	unlock, err := atomicfile.Lock(at + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	l, err := readLock(at)
	if err != nil {
		return err
	}
	if err := edit(&l); err != nil {
		return err
	}
	l.dropLogins()
	l.rest["version"], _ = json.Marshal(max(l.Version, 1)) // an int never fails
	if l.rest["installed"], err = json.Marshal(l.Installed); err != nil {
		return err
	}
	return atomicfile.WriteJSON(at, l.rest)
}

// dropLogins takes logins out of the addresses that earlier versions kept.
func (l *lockFile) dropLogins() {
	for name, raw := range l.Installed {
		entry := map[string]json.RawMessage{}
		var source string
		if json.Unmarshal(raw, &entry) != nil || json.Unmarshal(entry["source"], &source) != nil || withoutLogin(source) == source {
			continue
		}
		entry["source"], _ = json.Marshal(withoutLogin(source)) // a string never fails
		if raw, err := json.Marshal(entry); err == nil {
			l.Installed[name] = raw
		}
	}
}

// List is what a lock file says.
func List(at string) (map[string]Installed, error) {
	l, err := readLock(at)
	if err != nil {
		return nil, err
	}
	out := map[string]Installed{}
	for name, raw := range l.Installed {
		var e Installed
		if json.Unmarshal(raw, &e) == nil {
			e.Source = withoutLogin(e.Source)
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
