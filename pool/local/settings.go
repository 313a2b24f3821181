package local

import (
	"cmp"
	"path/filepath"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/pool"
)

// Settings are what this machine takes from section terminal; a back end has no keys of its own for
// it.
type Settings struct {
	Sandbox        string   // "", "off", "project", "strict"; see core/confine
	SandboxEngine  string   // "", "auto", "landlock", "bubblewrap"
	Hide           []string // folders that sandboxed commands cannot read
	EnvPassthrough []string // variables that commands get although their names look secret
	Scrub          []string // variables that commands never get (what was loaded from .env)
}

// terminal is the keys of section terminal.
type terminal struct {
	Sandbox       string `key:"sandbox" refuses:"local" oneof:"off|project|strict" live:"yes" doc:"what commands on this machine may do. project: write in the project, temporary folders and caches, read all but secrets; strict: read the system and the project only, no network; what the kernel cannot give is an error"`
	SandboxEngine string `key:"sandbox_engine" refuses:"local" oneof:"auto|landlock|bubblewrap" live:"yes" doc:"what keeps them in. auto: Landlock where the kernel has it, else bubblewrap where it is installed; bubblewrap hides more and holds hooks and editor tasks of the project fixed, and costs some milliseconds a command"`
	Shell         string `key:"shell" live:"yes" doc:"shell for local commands; empty: bash, else sh"`
}

// Declared is what the program knows of the kind before anything of it runs.
func Declared() config.Kind {
	return config.Kind{
		Name:     Name,
		Traits:   event.Traits{Local: true, Shared: true},
		Options:  Settings{},
		Terminal: terminal{Sandbox: "off", SandboxEngine: "auto"},
		Resolve:  resolveSettings,
	}
}

func resolveSettings(r *config.Resolving) {
	s, t, c := r.Options.(*Settings), r.Terminal.(*terminal), r.Config()
	r.Shell = cmp.Or(r.Shell, t.Shell)
	s.Sandbox, s.SandboxEngine = t.Sandbox, t.SandboxEngine
	s.EnvPassthrough, s.Scrub = c.Terminal.EnvPassthrough, c.SecretNames()
	paths := c.Paths()
	s.Hide = []string{paths.Home}
	if paths.Profile != "" { // our own folders are those of all profiles
		s.Hide = append(s.Hide, filepath.Dir(filepath.Dir(paths.Home)))
	}
}

// fullSpec is a back end's settings, those of the kind with them.
type fullSpec struct {
	pool.Spec
	Settings
}

func specOf(s pool.Spec) fullSpec { return fullSpec{s, pool.OptionsOf[Settings](s)} }
