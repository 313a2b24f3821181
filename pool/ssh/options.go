package ssh

import (
	"cmp"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/pool"
)

// Settings are the keys of a back end that is a far host.
type Settings struct {
	Host            string   `key:"host" refuses:"place" live:"yes" doc:"host name, address, or name in ~/.ssh/config"`
	Port            int      `key:"port" refuses:"place" min:"0" max:"65535" live:"yes" doc:"port; 0: 22"`
	KeyFile         string   `key:"key_file" refuses:"place" also:"key,identity_file" live:"yes" doc:"private key; empty: the agent, then the usual files"`
	AllowedCommands []string `key:"allowed_commands" refuses:"place" live:"yes" doc:"when not empty nothing else runs there; * stands for any text"`
	DeniedCommands  []string `key:"denied_commands" refuses:"place" live:"yes" doc:"never run there; * stands for any text"`
}

// terminal is the keys of section terminal: those of the Python program for the default host.
type terminal struct {
	Host string `key:"ssh_host" refuses:"place" live:"yes" doc:"default host: host"`
	User string `key:"ssh_user" refuses:"place" live:"yes" doc:"default host: user"`
	Port int    `key:"ssh_port" refuses:"place" min:"0" max:"65535" live:"yes" doc:"default host: port"`
	Key  string `key:"ssh_key" refuses:"place" live:"yes" doc:"default host: key_file"`
}

// Declared is what the program knows of the kind before anything of it runs.
func Declared() config.Kind {
	return config.Kind{
		Name:      Name,
		Traits:    event.Traits{Shared: true, Stoppable: true},
		ImpliedBy: "host", CommonKeys: "user idle_ttl", Options: Settings{}, Terminal: terminal{}, Resolve: resolveOptions,
	}
}

func resolveOptions(r *config.Resolving) {
	s, t := r.Options.(*Settings), r.Terminal.(*terminal)
	if r.Default {
		s.Host, s.KeyFile = cmp.Or(s.Host, t.Host), cmp.Or(s.KeyFile, t.Key)
		s.Port, r.User = cmp.Or(s.Port, t.Port), cmp.Or(r.User, t.User)
	}
	s.KeyFile = r.Path(s.KeyFile)
	if s.Host == "" {
		r.Wrong("kind", "", "it is of kind %s and has no host", Name)
	}
}

// fullSpec is a back end's settings, those of the kind with them.
type fullSpec struct {
	pool.Spec
	Settings
}

func specOf(s pool.Spec) fullSpec { return fullSpec{s, pool.OptionsOf[Settings](s)} }
