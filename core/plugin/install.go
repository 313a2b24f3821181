package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/core/atomicfile"
	"hermes/core/injection"
	"hermes/core/quarantine"
	"hermes/core/secret"
)

// Folders below that of the plugins; names that begin with a dot hold none.
const (
	hubFolder = ".hub"
	maxDepth  = 12
	maxRead   = 1 << 20 // bytes of a file that is looked at
)

// LockPath is the lock file of what was installed from elsewhere.
func (l *Library) LockPath() string { return filepath.Join(l.Folder(), hubFolder, "lock.json") }

// Fetch brings what r names into the quarantine.
func (l *Library) Fetch(ctx context.Context, r quarantine.Request) (*quarantine.Fetched, error) {
	most := quarantine.Limits{What: "plugin", Files: maxFiles, Bytes: maxBytes, Depth: maxDepth}
	return quarantine.Fetch(ctx, filepath.Join(l.Folder(), hubFolder, "quarantine"), r, most)
}

// Report is what was found wrong with a plugin's folder.
type Report struct {
	Plugin
	Problems []string `json:"problems"` // it cannot be enabled
	Warnings []string `json:"warnings"` // a person should know
}

// Find looks for plugins in a folder and those below it.
func Find(folder string) ([]Report, error) {
	var out []Report
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != ManifestFile || len(out) == maxPlugins {
			return err
		}
		out = append(out, Lint(filepath.Dir(at)))
		return nil
	})
	return out, err
}

// Lint looks at a plugin without running anything of it.
func Lint(folder string) Report {
	r := Report{Plugin: Plugin{Folder: folder, State: New}, Problems: []string{}, Warnings: []string{}}
	wrong := func(err error) {
		if err != nil {
			r.Problems = append(r.Problems, err.Error())
		}
	}
	data, err := readManifestFile(folder)
	wrong(err)
	if err == nil {
		r.Manifest, err = parseManifest(data)
		wrong(err)
	}
	r.Name = r.Manifest.Name
	if r.Hash, err = hashFolder(folder); err != nil {
		wrong(err)
	}
	if len(r.Problems) > 0 {
		r.State = Broken
		return r
	}
	for _, f := range injection.ScanDocument(string(data)) {
		wrong(fmt.Errorf("%s reads like orders to the agent (%s)", ManifestFile, f.Reason))
	}
	wrong(r.Manifest.checkProgram(folder))
	r.Warnings = append(r.Warnings, scanFiles(folder)...)
	return r
}

// checkProgram says why the program cannot be started.
func (m *Manifest) checkProgram(folder string) error {
	name := m.Command[0]
	if !strings.Contains(name, "/") {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("command: %s is not installed on this machine", name)
		}
	} else if !filepath.IsAbs(name) {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return fmt.Errorf("command: %s is no program in its folder: it may have to be built first", name)
		}
	}
	for _, arg := range m.Command[1:] {
		if strings.HasPrefix(arg, "-") || !strings.Contains(arg, ".") || filepath.IsAbs(arg) {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, arg)); err != nil {
			return fmt.Errorf("command: there is no %s in its folder", arg)
		}
		return nil // the rest are arguments of the script
	}
	return nil
}

// scanFiles names the files that hold what looks like a secret, or like orders to the agent.
func scanFiles(folder string) []string {
	var out []string
	_ = filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || len(out) >= maxDeclared {
			return nil //nolint:nilerr // what cannot be read cannot be started either: the hash said so
		}
		data, err := os.ReadFile(at)
		if err != nil || len(data) > maxRead || !utf8.Valid(data) {
			return nil //nolint:nilerr // the same
		}
		rel, text := strings.TrimPrefix(at, folder+string(filepath.Separator)), string(data)
		if secret.Clean(text) != text {
			out = append(out, rel+" holds what looks like a secret")
		}
		if hits := injection.ScanDocument(text); len(hits) > 0 {
			out = append(out, rel+" has text that reads like orders to the agent ("+hits[0].Reason+")")
		}
		return nil
	})
	return out
}

// Install puts a plugin that was looked at in quarantine into its place, writes down where it came
// from, and enables it: the person said yes to exactly this content. Replace says that one of its
// name may be there.
func (l *Library) Install(r Report, from *quarantine.Fetched, req quarantine.Request, replace bool) error {
	if len(r.Problems) > 0 {
		return errors.New(r.Problems[0])
	}
	to := filepath.Join(l.Folder(), r.Name)
	if err := l.free(Plugin{Name: r.Name, Folder: to, Manifest: r.Manifest}); err != nil {
		return err
	}
	if now, err := hashFolder(r.Folder); err != nil || now != r.Hash {
		return errors.Join(errors.New("its files have changed since they were shown"), err)
	}
	unlock, err := atomicfile.Lock(l.swapLock())
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.restoreFolder(r.Name); err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil && !replace {
		return fmt.Errorf("there is a plugin %s: `hermes plugins update %s` fetches it again, `remove` removes it", r.Name, r.Name)
	}
	entry := quarantine.Installed{
		Source: from.Source, Kind: from.Kind, Path: req.Path, Ref: req.Ref, Commit: from.Commit, Hash: r.Hash,
		InstalledAt: time.Now().UTC(), Files: filesOf(r.Folder),
	}
	return l.swapIn(r, entry)
}

func filesOf(folder string) []string {
	var out []string
	_ = filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, strings.TrimPrefix(at, folder+string(filepath.Separator)))
		}
		return nil
	})
	slices.Sort(out)
	return out
}

// Remove removes a plugin of the person's. What it kept stays: see Data.
func (l *Library) Remove(p Plugin) error {
	if p.Project {
		return fmt.Errorf("%s is of this project (%s): `hermes plugins disable %s` does without it", p.Name, p.Folder, p.Name)
	}
	if err := l.book.Answer(l.place(p), p.Hash, false); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(l.Folder(), p.Name)); err != nil {
		return err
	}
	return quarantine.Drop(l.LockPath(), p.Name)
}
