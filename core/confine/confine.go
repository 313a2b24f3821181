// Package confine keeps programs that are not trusted to a part of this machine: files by Landlock, system calls by seccomp, root's powers by
// its capabilities. It is what scripts (core/execcode) and local commands (pool/local) have in common.
//
// The contract: rules are put on a thread (OnThread), and hold for whatever that thread starts, for ever; nothing undoes them. A Policy is
// kept whole or is an error: there is no program with half a sandbox. Linux only; elsewhere every Policy is an error.
package confine

import (
	"os"
	"path/filepath"
)

// Mode says how much a command may do to this machine.
type Mode string

// Modes.
const (
	Off     Mode = "off"
	Project Mode = "project" // writes in the project, temporary folders and caches; reads all but secrets; no Unix sockets
	Strict  Mode = "strict"  // reads the system and the project only; no network
)

// Policy is what a command may do.
type Policy struct {
	Mode    Mode
	Project string   // absolute: the folder that may be changed
	Hide    []string // beside Private: our own folders
	Path    []string // in strict mode: more folders that can be read, those of PATH
}

// Private are the places of secrets in a person's home and on the system.
func Private() []string {
	out := []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/var/lib/docker", "/var/lib/containerd"}
	home, err := os.UserHomeDir()
	if err != nil {
		return out
	}
	for _, name := range []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc",
		".config/gcloud", ".config/gh", ".config/op", ".local/share/keyrings", ".password-store", ".mozilla", ".config/google-chrome",
		".config/chromium", ".bash_history", ".zsh_history", ".python_history",
	} {
		out = append(out, filepath.Join(home, name))
	}
	return out
}

// caches are folders that builds fill, in a person's home.
func caches() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var out []string
	for _, name := range []string{
		".cache", "go/pkg", ".npm", ".cargo/registry", ".cargo/git", ".rustup/tmp", ".m2", ".gradle", ".ivy2", ".nuget", ".bundle", ".yarn", ".pnpm-store",
		".local/share/pnpm", ".local/share/virtualenvs", ".local/share/uv", ".ccache",
	} {
		out = append(out, filepath.Join(home, name))
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		out = append(out, dir)
	}
	return out
}

func temps() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }
