// Package confine keeps programs that are not trusted to a part of this machine: files by Landlock,
// system calls by seccomp, root's powers by its capabilities. It is what scripts (core/execcode)
// and local commands (pool/local) have in common. Where the kernel has no Landlock, bubblewrap
// keeps local commands in: a view of the file system of their own, in a process namespace of their
// own.
//
// The contract: Landlock's rules are put on a thread (OnThread), and hold for whatever that thread
// starts, for ever; bubblewrap is a program that starts the command (Wrap). Nothing undoes either.
// A Policy is kept whole or is an error: there is no program with half a sandbox, and a mode means
// the same with each engine. Linux only; elsewhere every Policy is an error.
package confine

import (
	"fmt"
	"os"
	"path/filepath"
)

// Engine is what keeps a command in.
type Engine string

// Engines.
const (
	Auto       Engine = "auto" // Landlock where the kernel has it, else bubblewrap
	OfKernel   Engine = "landlock"
	Bubblewrap Engine = "bubblewrap"
)

// Choose returns the engine that keeps a mode on this machine. It tries once each. Asked is Auto
// (or ""), or the only one that may be taken; the error says what was tried, and why it is not to
// be had.
func Choose(m Mode, asked Engine) (Engine, error) {
	if m == Off || m == "" {
		return "", nil
	}
	kernel := error(nil)
	if asked != Bubblewrap {
		if kernel = Probe(OfKernel); kernel == nil {
			return OfKernel, nil
		}
		if asked == OfKernel {
			return "", kernel
		}
	}
	program := Probe(Bubblewrap)
	switch {
	case program == nil:
		return Bubblewrap, nil
	case asked == Bubblewrap:
		return "", program
	}
	return "", fmt.Errorf("%w; %w", kernel, program)
}

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

	Engine  Engine // that Choose returned; "" is OfKernel
	Lasting bool   // it may change what other programs run by themselves; else bubblewrap holds that fixed, where it is
}

// protectedPlaces are the places of a project whose files other programs run by themselves, and
// that no ordinary command changes. The settings of git are not among them: it notes there which
// branch follows which.
func (p Policy) protectedPlaces() []string {
	if p.Lasting {
		return nil
	}
	var out []string
	for _, name := range []string{".git/hooks", ".husky", ".envrc", ".vscode/tasks.json"} {
		out = append(out, filepath.Join(p.Project, name))
	}
	return out
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

// cacheFolders are folders that builds fill, in a person's home.
func cacheFolders() []string {
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

func tempFolders() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }

// Command is what Wrap has started in the sandbox.
type Command struct {
	Path string   // of the program
	Argv []string // Argv[0] is not given on: the program is told Path
	Dir  string   // where it starts
	TTY  bool     // it has a terminal
}

// Descriptors of a wrapped command's start; the command itself does not get them.
const (
	FilterFD = 19 // brings the filter of system calls
	InfoFD   = 20 // takes JSON objects: with "child-pid", the first process of the command's namespace, and "exit-code", if the command began
)
