// Package profile keeps profiles: folders below profiles/ of the home, each with settings, secrets,
// skills, memory and conversations of its own. The home itself is the profile "default".
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/atomicfile"
	"hermes/core/config"
	"hermes/core/nearest"
)

// Default is the name of the home itself.
const Default = config.DefaultProfile

// Profile is one of them.
type Profile struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`
	Active bool   `json:"active"` // used when none is named
}

// Store is the profiles of a home.
type Store struct{ home string }

// Of returns the profiles of a home, which is the folder above profiles/.
func Of(home string) Store { return Store{home} }

func (s Store) folder(name string) string {
	if name == Default || name == "" {
		return s.home
	}
	return filepath.Join(s.home, "profiles", name)
}

// List returns the profiles, the default one first, then by name.
func (s Store) List() ([]Profile, error) {
	active := config.ActiveProfile(s.home)
	if active == "" {
		active = Default
	}
	out := []Profile{{Default, s.home, active == Default}}
	entries, err := os.ReadDir(filepath.Join(s.home, "profiles"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("the profiles cannot be read: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && name != Default && config.CheckProfileName(name) == nil {
			out = append(out, Profile{name, s.folder(name), name == active})
		}
	}
	return out, nil
}

// Exists reports whether there is a profile of that name.
func (s Store) Exists(name string) bool {
	info, err := os.Stat(s.folder(name))
	return name == Default || name == "" || err == nil && info.IsDir()
}

// Missing says that there is no such profile, with the nearest one and, where that can be, how to
// make it.
func (s Store) Missing(name string) error {
	list, _ := s.List() // without it there is no nearest one
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	near := ""
	if n, ok := nearest.Name(name, names); ok {
		near = " (did you mean " + n + "?)"
	}
	made := ""
	if config.CheckProfileName(name) == nil {
		made = "`hermes profile create " + name + "` makes one, "
	}
	return fmt.Errorf("there is no profile %q%s; %s`hermes profile list` shows those there are", name, near, made)
}

// Create makes an empty profile.
func (s Store) Create(name string) (Profile, error) {
	switch err := config.CheckProfileName(name); {
	case err != nil:
		return Profile{}, err
	case s.Exists(name):
		return Profile{}, fmt.Errorf("there is a profile %s already: %s", name, s.folder(name))
	}
	if err := os.MkdirAll(s.folder(name), 0o700); err != nil {
		return Profile{}, fmt.Errorf("make profile %s: %w", name, err)
	}
	return Profile{Name: name, Folder: s.folder(name)}, nil
}

// cloned are what a clone takes over: how the program works, and what it can. Conversations,
// memory, approvals and logs stay where they are.
func cloned() []string {
	return []string{"config.yaml", ".env", "mcp_config.json", "models.yaml", "SOUL.md", "themes", "skills"}
}

// Clone makes a profile with the settings, secrets, themes and skills of another one.
func (s Store) Clone(from, name string) (Profile, error) {
	if !s.Exists(from) {
		return Profile{}, s.Missing(from)
	}
	p, err := s.Create(name)
	if err != nil {
		return p, err
	}
	for _, what := range cloned() {
		if err := copyInto(filepath.Join(s.folder(from), what), filepath.Join(p.Folder, what)); err != nil {
			return p, errors.Join(fmt.Errorf("clone profile %s: %w", from, err), os.RemoveAll(p.Folder))
		}
	}
	return p, nil
}

// copyInto copies a file or a folder, readable by the owner only. What is not there is left out,
// and so are links: they could lead anywhere.
func copyInto(from, to string) error {
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular():
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600|info.Mode().Perm()&0o100)
	case !info.IsDir():
		return nil
	}
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, e := range entries {
		if err == nil {
			err = copyInto(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	return err
}

// Switch makes a profile the one that is used when none is named.
func (s Store) Switch(name string) error {
	if !s.Exists(name) {
		return s.Missing(name)
	}
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return fmt.Errorf("switch to profile %s: %w", name, err)
	}
	if err := atomicfile.Write(config.ActiveProfileFile(s.home), []byte(name+"\n"), 0o600); err != nil {
		return fmt.Errorf("switch to profile %s: %w", name, err)
	}
	return nil
}

// Remove deletes a profile with all that is in it. The default one and the active one are refused.
func (s Store) Remove(name string) error {
	list, err := s.List()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(p Profile) bool { return p.Name == name })
	switch {
	case i < 0:
		return s.Missing(name)
	case name == Default:
		return errors.New("the default profile is the home itself, and is not removed")
	case list[i].Active:
		return fmt.Errorf("profile %s is the active one: `hermes profile switch default` first", name)
	case strings.ContainsRune(name, filepath.Separator):
		return s.Missing(name)
	}
	if err := os.RemoveAll(list[i].Folder); err != nil {
		return fmt.Errorf("remove profile %s: %w", name, err)
	}
	return nil
}
