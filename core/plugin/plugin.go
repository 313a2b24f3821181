// Package plugin is folders with a program in each that brings tools, hooks, commands, a memory
// provider, a context engine.
//
// The contract:
//
//   - Nothing of a plugin runs in our process. Its program speaks the model context protocol over
//     a channel of the pool, as a server of tools does, and is kept by the same code (core/mcp).
//   - Nothing of it runs before a person enabled exactly this content of the folder. After any
//     change they are asked again.
//   - Hooks and commands are tools of its program that the manifest names; the agent is not told of
//     them. What the manifest does not name, it does not take part in.
package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/hook"
	"hermes/core/trust"
)

// Owner begins the owner of what plugins bring: "plugin:notes".
const Owner = "plugin:"

// Where plugins are: below the data folder, and below a project.
const (
	folderName    = "plugins"
	projectFolder = ".hermes/plugins"
)

// State is how a plugin stands.
type State string

// States of a plugin.
const (
	Enabled  State = "enabled"
	New      State = "new"      // nobody has said yes or no
	Disabled State = "disabled" // the person said no
	Changed  State = "changed"  // it is not what was enabled
	Broken   State = "broken"   // see Problem
)

// Plugin is one folder.
type Plugin struct {
	Name     string   `json:"name"`
	Folder   string   `json:"folder"`
	Project  bool     `json:"project,omitempty"` // the project brings it
	State    State    `json:"state"`
	Hash     string   `json:"hash,omitempty"` // of everything in the folder
	Problem  string   `json:"problem,omitempty"`
	Manifest Manifest `json:"manifest"`

	listed string // the folder, links not followed
}

// Library finds plugins and remembers which are enabled.
type Library struct {
	home string
	book *trust.Book

	before func(step string) error // see step
}

// NewLibrary returns the plugins of a data folder.
func NewLibrary(home string) *Library {
	return &Library{home: home, book: trust.New(filepath.Join(home, "plugin_trust.json"))}
}

// Folder is where the person's plugins are.
func (l *Library) Folder() string { return filepath.Join(l.home, folderName) }

// Data is the folder that a plugin may write to.
func (l *Library) Data(name string) string { return filepath.Join(l.home, "plugin-data", name) }

// List is every plugin of the person and of a project ("" for none), by name. One of the person's
// hides the project's of the same name.
func (l *Library) List(project string) ([]Plugin, error) {
	kept := l.restoreKept()
	out, err := l.in(l.Folder(), false)
	err = errors.Join(kept, err)
	if project == "" || filepath.Join(project, ".hermes") == filepath.Clean(l.home) {
		return out, err
	}
	brought, perr := l.in(filepath.Join(project, projectFolder), true)
	for _, p := range brought {
		if !slices.ContainsFunc(out, func(o Plugin) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Plugin) int { return cmp.Compare(a.Name, b.Name) })
	return out, errors.Join(err, perr)
}

// maxPlugins bounds a folder of plugins.
const maxPlugins = 200

func (l *Library) in(folder string, project bool) ([]Plugin, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(entries) > maxPlugins {
		return nil, fmt.Errorf("%s has more than %d entries: no plugin of it is taken", folder, maxPlugins)
	}
	var out []Plugin
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		p, err := l.readPlugin(path, project)
		out, errs = append(out, p), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// readPlugin is one plugin. Its error is about what is enabled; what is wrong with the plugin is in
// it.
func (l *Library) readPlugin(path string, project bool) (Plugin, error) {
	p := Plugin{Name: filepath.Base(path), Folder: path, Project: project, State: Broken, listed: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		p.Folder = real
	}
	var err error
	if p.Manifest, err = readManifest(p.Folder, p.Name); err == nil {
		p.Hash, err = hashFolder(p.Folder)
	}
	if err != nil {
		p.Problem = err.Error()
		return p, nil
	}
	said, err := l.book.State(path, p.Hash)
	p.State = map[trust.State]State{trust.Trusted: Enabled, trust.Refused: Disabled, trust.Outdated: Changed}[said]
	p.State = cmp.Or(p.State, New)
	return p, err
}

// Answer enables or disables a plugin as it was shown.
func (l *Library) Answer(shown Plugin, yes bool) error {
	if shown.State == Broken && yes {
		return fmt.Errorf("%s cannot be enabled: %s", shown.Name, shown.Problem)
	}
	if yes {
		if err := l.free(shown); err != nil {
			return err
		}
	}
	return l.book.Answer(l.place(shown), shown.Hash, yes)
}

// place is what the answer is about: the folder as it is listed, links not followed.
func (l *Library) place(p Plugin) string {
	if !p.Project {
		return filepath.Join(l.Folder(), p.Name)
	}
	return cmp.Or(p.listed, p.Folder)
}

// Unchanged says why an enabled plugin must not be started (any more), nil when it may.
func (l *Library) Unchanged(p Plugin) error {
	now, err := hashFolder(p.Folder)
	switch {
	case err != nil:
		return err
	case now != p.Hash:
		return fmt.Errorf("its files have changed since it was enabled: `hermes plugins enable %s` shows them", p.Name)
	}
	return nil
}

// Hooks are what the manifest names; run calls a tool of the plugin's program.
func (p Plugin) Hooks(run func(tool string) hook.Runner) []hook.Hook {
	var out []hook.Hook
	for _, d := range p.Manifest.Hooks {
		out = append(out, hook.Hook{
			Event: hook.Event(d.On), Name: p.Name + "." + d.Tool, Matcher: d.Matcher, Timeout: d.Timeout, OnError: d.OnError, Run: run(d.Tool),
		})
	}
	return out
}
