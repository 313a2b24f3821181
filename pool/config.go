package pool

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Config says which back ends exist. The zero value is one back end called default of kind local.
type Config struct {
	Default  string          // name of the back end for calls that name none; "" means "default"
	Kind     string          // kind of back ends that name none; "" means "local"
	Backends map[string]Spec // by name; the default one is added when it is missing
	IdleTTL  time.Duration   // how long an unused back end stays up; 0 means 30 minutes; negative means for ever

	EnvPassthrough []string // variables that commands get although their names look secret
	Scrub          []string // variables that commands never get (what was loaded from .env)
}

// Spec is one back end of the configuration. Which fields mean something depends on the kind.
type Spec struct {
	Name    string            // set by New
	Kind    string            // "local", "docker", "ssh"; "" means Config.Kind
	Image   string            // image, or host for ssh
	Workdir string            // where a session starts; "" lets the kind choose
	Shell   string            // "" lets the kind choose
	Env     map[string]string // added for every command
	IdleTTL time.Duration     // 0 means Config.IdleTTL

	ForwardEnv []string // variables of this program that commands get, by exact name
	User       string   // in the container (name or uid[:gid]) or on the host; "" lets the kind choose

	// Containers.
	Engine    string        // address: unix://, tcp://, ssh://; "" means DOCKER_HOST, else docker's current context
	Pull      string        // "missing" (also ""), "always", "never"
	PullStall time.Duration // a pull without progress ends after this; 0 means 60 s
	Mounts    []string      // source:target[:ro], source being a path on the engine's machine or the name of a volume
	Network   string        // "none", "bridge" (also ""), or the name of a network
	Memory    int64         // bytes; 0 means 4 GB or half of the machine, whichever is less; negative: no limit
	CPUs      float64       // 0: no limit
	Pids      int64         // 0 means 1024; negative: no limit
	Shm       int64         // bytes of /dev/shm; 0 lets the engine choose
	GPUs      string        // "", "all", a number, "device=0,1"
	Tmpfs     []string      // path[:options], beside those that are always there
	ReadOnly  bool          // the root cannot be written

	EnvPassthrough []string // copied from Config by New
	Scrub          []string // copied from Config by New
}

const (
	// DefaultName is the back end that always exists.
	DefaultName    = "default"
	defaultKind    = "local"
	defaultIdleTTL = 30 * time.Minute
)

var nameRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })

// CheckName says why a name cannot be that of a back end, or nil.
func CheckName(name string) error {
	if nameRule().MatchString(name) {
		return nil
	}
	return fmt.Errorf("backend name %q: use 1 to 32 of a-z, 0-9, _ and -, beginning with a letter or digit", name)
}

// normal returns c with every default filled in.
func (c Config) normal() (Config, error) {
	if c.Default == "" {
		c.Default = DefaultName
	}
	if c.Kind == "" {
		c.Kind = defaultKind
	}
	if c.IdleTTL == 0 {
		c.IdleTTL = defaultIdleTTL
	}
	specs := make(map[string]Spec, len(c.Backends)+1)
	specs[c.Default] = Spec{}
	for name, s := range c.Backends {
		specs[name] = s
	}
	for name, s := range specs {
		if err := CheckName(name); err != nil {
			return c, err
		}
		specs[name] = c.fill(name, s)
	}
	c.Backends = specs
	return c, nil
}

func (c Config) fill(name string, s Spec) Spec {
	s.Name = name
	if s.Kind == "" {
		s.Kind = c.Kind
	}
	if s.IdleTTL == 0 {
		s.IdleTTL = c.IdleTTL
	}
	s.EnvPassthrough, s.Scrub = c.EnvPassthrough, c.Scrub
	return s
}

// names lists the back ends: the default first, then by name.
func (c Config) names() []string {
	names := make([]string, 0, len(c.Backends))
	for name := range c.Backends {
		if name != c.Default {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{c.Default}, names...)
}
