package file

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hermes/core/files"
	"hermes/core/ownhome"
	"hermes/core/realpath"
	"hermes/core/room"
)

// rule names a place: path itself, and all below it when tree is set.
type rule struct {
	path string
	tree bool
	why  string
}

// protectedPlaces decides by resolved path what is never written and what is never read.
type protectedPlaces struct {
	write, read []rule
	sshDir      []string
	homes       []string // of Hermes: this profile's, the one that holds all profiles, the usual one
	safe        []string // when set, nothing outside of these folders is written
	far         bool     // the paths are those of another machine: nothing can be looked up
}

func newProtectedPlaces(o Options, userHome string) protectedPlaces {
	g, names := protectedPlaces{}, placeNames{}
	add := func(rules *[]rule, list []denied, home string) {
		for _, d := range list {
			for _, p := range d.paths {
				for _, form := range names.everyForm(filepath.Join(home, p)) {
					*rules = append(*rules, rule{form, !d.file, d.why})
				}
			}
		}
	}
	add(&g.write, systemWrites(), "/")
	add(&g.read, systemReads(), "/")
	if userHome != "" {
		add(&g.write, homeWrites(), userHome)
		add(&g.write, credentialPaths(), userHome)
		add(&g.read, credentialPaths(), userHome)
		g.sshDir = names.everyForm(filepath.Join(userHome, ".ssh"))
	}
	for _, home := range ownhome.Homes(o.Home, userHome) {
		add(&g.write, []denied{{why: "Hermes' own home; settings change with `hermes config`", paths: []string{home}}}, "/")
		for _, form := range names.everyForm(home) {
			g.homes = append(g.homes, comparableName(form))
		}
	}
	for _, root := range filepath.SplitList(o.SafeRoot) {
		if strings.TrimSpace(root) != "" {
			g.safe = append(g.safe, realpath.Of(userHome, "/", root))
		}
	}
	return g
}

// placeNames are the folders that were resolved: places have most of theirs in common.
type placeNames map[string]string

// everyForm are the ways a place can be named after resolution: as written, and with its own
// symlinks followed.
func (n placeNames) everyForm(path string) []string {
	path = filepath.Clean(path)
	if real := n.resolve(path); real != path {
		return []string{path, real}
	}
	return []string{path}
}

// resolve is realpath.Resolve of a clean path; one that cannot be resolved stays as it is.
func (n placeNames) resolve(path string) string {
	if real, known := n[path]; known {
		return real
	}
	real := path
	if dir, base := filepath.Split(path); base != "" {
		real = filepath.Join(n.resolve(filepath.Clean(dir)), base)
		if _, err := os.Readlink(real); err == nil {
			if real, err = realpath.Resolve(real); err != nil {
				real = path
			}
		}
	}
	n[path] = real
	return real
}

// DeniedError says that a path is off limits.
type DeniedError struct{ Path, Verb, Why string }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s may not be %s: %s. Ask the person to do it if it is really needed", e.Path, e.Verb, e.Why)
}

func (g protectedPlaces) mayWrite(p place) error {
	for _, path := range []string{p.abs, p.real} {
		if why, hit := matchRules(g.write, path); hit {
			return &DeniedError{p.shown, "written", why}
		}
		if why, hit := gitInternals(path, g.far); hit {
			return &DeniedError{p.shown, "written", why}
		}
		if why, hit := g.secretReason(path); hit {
			return &DeniedError{p.shown, "written", why}
		}
	}
	if len(g.safe) > 0 && !slices.ContainsFunc(g.safe, func(root string) bool { return realpath.Within(comparableName(p.real), comparableName(root)) }) {
		return &DeniedError{p.shown, "written", "it is outside of security.write_safe_root, " + strings.Join(g.safe, ", ")}
	}
	return nil
}

func (g protectedPlaces) mayRead(p place) error {
	for _, path := range []string{p.abs, p.real} {
		if why, hit := g.secretReason(path); hit {
			return &DeniedError{p.shown, "read", why}
		}
	}
	return nil
}

// secretReason reports whether reading path would hand a secret to the model's provider.
func (g protectedPlaces) secretReason(path string) (why string, hit bool) {
	if why, hit := matchRules(g.read, path); hit {
		return why, true
	}
	path = comparableName(path)
	if rel, in := g.inDataFolder(path); in && ownhome.Secret(rel) {
		if strings.HasPrefix(strings.TrimPrefix(filepath.Base(path), "."), "config.yaml") {
			return "Hermes' settings may hold keys; `hermes config show` prints them without", true
		}
		return "Hermes' secrets", true
	}
	if strings.HasPrefix(path, "/proc/") {
		switch filepath.Base(path) {
		case "environ", "mem", "kcore", "kmsg", "auxv":
			return "the memory or environment of a process", true
		}
	}
	for _, dir := range g.sshDir {
		if realpath.Within(path, comparableName(dir)) && !publicSSH(filepath.Base(path)) && path != comparableName(dir) {
			return "a private key", true
		}
	}
	return "", false
}

// inDataFolder returns where path is in a data folder of Hermes. On this machine one that is not
// known is found by its files, where the path is one of those that hold secrets.
func (g protectedPlaces) inDataFolder(path string) (rel string, in bool) {
	switch base := filepath.Base(path); {
	case g.far, base != "config.yaml" && base != "auth.json" && !strings.HasPrefix(base, ".env") && !strings.HasPrefix(base, "approvals") && !strings.HasPrefix(base, "workbench"):
		return ownhome.Below(path, g.homes)
	}
	return ownhome.BelowAny(path, g.homes, func(p string) bool {
		_, err := os.Lstat(p)
		return err == nil
	})
}

func publicSSH(name string) bool {
	return strings.HasSuffix(name, ".pub") || name == "config" || strings.HasPrefix(name, "known_hosts") || name == "authorized_keys"
}

func matchRules(rules []rule, path string) (why string, hit bool) {
	path = comparableName(path)
	for _, r := range rules {
		if p := comparableName(r.path); path == p || r.tree && realpath.Within(path, p) {
			return r.why, true
		}
	}
	return "", false
}

// comparableName compares as the file system does: macOS and Windows ignore case by default.
func comparableName(path string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(path)
	}
	return path
}

// mayRead judges a place where it is.
func (w *Workspace) mayRead(p place) error {
	if p.room.Name == "" {
		return w.protected.mayRead(p)
	}
	if err := w.placesThere(p.home).mayRead(p); err != nil {
		return err
	}
	for _, h := range hostPlaces(p) {
		if err := w.protected.mayRead(h); err != nil {
			return err
		}
	}
	return nil
}

// mayWrite judges a place where it is. What a container has for itself is its own, as it is for
// commands; what it sees of the machine stays guarded as it is there.
func (w *Workspace) mayWrite(p place) error {
	if p.room.Name == "" {
		return w.protected.mayWrite(p)
	}
	if !p.room.Isolated {
		return w.placesThere(p.home).mayWrite(p)
	}
	if err := w.placesThere(p.home).mayRead(p); err != nil {
		return err
	}
	for _, h := range hostPlaces(p) {
		if err := w.protected.mayWrite(h); err != nil {
			return err
		}
	}
	return nil
}

// hostPlaces are the places of the machine that a mount shows a container at a place.
func hostPlaces(p place) (out []place) {
	for _, path := range []string{p.abs, p.real} {
		if host, ok := p.room.Host(path); ok {
			out = append(out, place{shown: p.shown, abs: host, real: realpath.Of("", "/", host)})
		}
	}
	return out
}

// placesThere are those of another machine, by the home there.
func (w *Workspace) placesThere(home string) protectedPlaces {
	if g, ok := w.there.Load(home); ok {
		return g.(protectedPlaces)
	}
	g := newProtectedPlaces(Options{SafeRoot: w.safeRoot}, home)
	g.far = true
	w.there.Store(home, g)
	return g
}

// secretAt reports whether a path of the place's room may not be read.
func (w *Workspace) secretAt(p place, real string) bool {
	at := place{room: p.room, home: p.home, shown: real, abs: real, real: real}
	return w.mayRead(at) != nil
}

// MayBeNamed says why a place of a room is kept from the model, whoever names it; nil when it is
// not. Home is a data folder of this machine.
func MayBeNamed(home string, r room.Room, at files.Place) error {
	shown := r.Show(at.Abs)
	return New(Options{Home: home}).mayRead(place{room: r, shown: shown, abs: at.Abs, real: at.Real, home: at.Home})
}
