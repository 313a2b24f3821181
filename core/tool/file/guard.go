package file

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"hermes/core/realpath"
)

// rule names a place: path itself, and all below it when tree is set.
type rule struct {
	path string
	tree bool
	why  string
}

// guard decides by resolved path what is never written and what is never read.
type guard struct {
	write, read []rule
	sshDir      []string
	homes       []string // of Hermes: this profile's, and the one that holds all profiles
}

func newGuard(hermesHome, userHome string) guard {
	g := guard{}
	deny := func(rules *[]rule, why string, tree bool, paths ...string) {
		for _, p := range paths {
			for _, form := range forms(p) {
				*rules = append(*rules, rule{form, tree, why})
			}
		}
	}
	deny(&g.write, "system configuration", true, "/etc", "/boot", "/usr/lib/systemd", "/lib/systemd")
	deny(&g.write, "the kernel's own files", true, "/proc", "/sys")
	deny(&g.write, "the container engine's socket", false, "/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock")
	deny(&g.read, "password hashes", false, "/etc/shadow", "/etc/gshadow", "/etc/master.passwd")
	if userHome != "" {
		in := func(name string) string { return filepath.Join(userHome, name) }
		deny(&g.write, "keys", true, in(".ssh"), in(".gnupg"))
		deny(&g.write, "credentials", false, in(".netrc"), in(".pgpass"), in(".npmrc"), in(".pypirc"), in(".git-credentials"))
		deny(&g.read, "credentials", false, in(".netrc"), in(".pgpass"), in(".git-credentials"), in(".npmrc"), in(".pypirc"),
			in(".aws/credentials"), in(".docker/config.json"), in(".kube/config"), in(".config/gh/hosts.yml"))
		deny(&g.read, "keys", true, in(".gnupg"), in(".config/gcloud"))
		g.sshDir = forms(in(".ssh"))
	}
	for _, home := range hermesHomes(hermesHome) {
		deny(&g.write, "Hermes' own home; settings change with `hermes config`", true, home)
		g.homes = append(g.homes, forms(home)...)
	}
	return g
}

// hermesHomes is the home and, for that of a profile, the one above it: a session of one profile must not get at the secrets
// of another.
func hermesHomes(home string) []string {
	if home == "" {
		return nil
	}
	if profiles := filepath.Dir(filepath.Clean(home)); filepath.Base(profiles) == "profiles" {
		return []string{home, filepath.Dir(profiles)}
	}
	return []string{home}
}

// forms are the ways a place can be named after resolution: as written, and with its own symlinks followed.
func forms(path string) []string {
	path = filepath.Clean(path)
	real, err := realpath.Resolve(path)
	if err != nil || real == path {
		return []string{path}
	}
	return []string{path, real}
}

// DeniedError says that a path is off limits.
type DeniedError struct{ Path, Verb, Why string }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s may not be %s: %s. Ask the person to do it if it is really needed", e.Path, e.Verb, e.Why)
}

func (g guard) mayWrite(p place) error {
	for _, path := range []string{p.abs, p.real} {
		if why, hit := match(g.write, path); hit {
			return &DeniedError{p.shown, "written", why}
		}
	}
	return nil
}

func (g guard) mayRead(p place) error {
	for _, path := range []string{p.abs, p.real} {
		if why, hit := g.secret(path); hit {
			return &DeniedError{p.shown, "read", why}
		}
	}
	return nil
}

// secret reports whether reading path would hand a secret to the model's provider.
func (g guard) secret(path string) (why string, hit bool) {
	if why, hit := match(g.read, path); hit {
		return why, true
	}
	path = fold(path)
	for _, home := range g.homes {
		if !under(path, fold(home)) {
			continue
		}
		if hermesSecret(filepath.Base(path)) {
			return "Hermes' secrets", true
		}
		if hermesSettings(fold(home), path) {
			return "Hermes' settings may hold keys; `hermes config show` prints them without", true
		}
	}
	if strings.HasPrefix(path, "/proc/") {
		switch filepath.Base(path) {
		case "environ", "mem", "kcore", "kmsg", "auxv":
			return "the memory or environment of a process", true
		}
	}
	for _, dir := range g.sshDir {
		if under(path, fold(dir)) && !publicSSH(filepath.Base(path)) && path != fold(dir) {
			return "a private key", true
		}
	}
	return "", false
}

func hermesSecret(name string) bool {
	return name == ".env" || strings.HasPrefix(name, ".env.") || name == "auth.json" || name == ".anthropic_oauth.json"
}

// hermesSettings reports whether path is a config.yaml of the home or of one of its profiles, or an editor's copy of it: config.yaml~,
// .config.yaml.swp.
func hermesSettings(home, path string) bool {
	dir := filepath.Dir(path)
	if dir != home && filepath.Dir(dir) != filepath.Join(home, "profiles") {
		return false
	}
	return strings.HasPrefix(strings.TrimPrefix(filepath.Base(path), "."), "config.yaml")
}

func publicSSH(name string) bool {
	return strings.HasSuffix(name, ".pub") || name == "config" || strings.HasPrefix(name, "known_hosts") || name == "authorized_keys"
}

func match(rules []rule, path string) (why string, hit bool) {
	path = fold(path)
	for _, r := range rules {
		if p := fold(r.path); path == p || r.tree && under(path, p) {
			return r.why, true
		}
	}
	return "", false
}

func under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// fold compares as the file system does: macOS and Windows ignore case by default.
func fold(path string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(path)
	}
	return path
}
