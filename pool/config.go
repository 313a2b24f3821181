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

	// MaxPerSession is how many back ends of its own one session may have up; the default one and those that all sessions share do not
	// count. 0 means 5.
	MaxPerSession int
	Fallback      Fallback // what happens when a back end cannot start; "" means FallbackDefault

	EnvPassthrough []string // variables that commands get although their names look secret
	Scrub          []string // variables that commands never get (what was loaded from .env)

	Sandbox       string   // of commands on this machine: "", "off", "project", "strict"; see core/confine
	SandboxEngine string   // "", "auto", "landlock", "bubblewrap"
	Hide          []string // folders that sandboxed commands cannot read
}

// Fallback is what happens to a command whose back end cannot be brought up.
type Fallback string

// Values of Fallback.
const (
	FallbackDefault Fallback = "default" // the default back end runs it, when that is no wider
	FallbackError   Fallback = "error"   // it is an error
)

// Spec is one back end of the configuration. Which fields mean something depends on the kind. Zero values are what a kind finds sensible;
// for Memory, Pids and Shm -1 means no limit.
type Spec struct {
	Name    string            // set by New
	Kind    string            // "local", "docker", "ssh"; "" means Config.Kind
	Workdir string            // where a session starts; "" lets the kind choose
	Shell   string            // "" lets the kind choose
	Env     map[string]string // added for every command
	User    string            // name or uid:gid in a container, name on a host
	IdleTTL time.Duration     // 0 means Config.IdleTTL
	Timeout time.Duration     // of a foreground command that asks for none; told to the tools, not enforced here

	// Containers.
	Image    string
	Engine   string            // address of the engine (unix://, tcp://, ssh://); "" is that of the environment
	Mounts   []Mount           // sources are as they were written, but for ~; a kind checks what they lead to
	Network  string            // "none", "bridge", the name of one; "" means bridge
	Memory   int64             // bytes
	CPUs     float64           // processors
	Pids     int64             // processes and threads
	Shm      int64             // bytes of /dev/shm
	GPUs     string            // "all", a number, "device=0,1"; "" none
	Tmpfs    map[string]string // mount options by absolute path
	ReadOnly bool              // root file system
	Pull     Pull              // "" means PullMissing

	// Far hosts.
	Host            string
	Port            int      // 0 means what ssh finds
	KeyFile         string   // absolute; "" means the agent and the usual files
	AllowedCommands []string // when not empty nothing else runs; * stands for any text
	DeniedCommands  []string // never run

	Invalid string // why the back end cannot be used as it is configured; it is failed then

	EnvPassthrough []string // copied from Config by New
	Scrub          []string // copied from Config by New
	Sandbox        string   // copied from Config by New
	SandboxEngine  string   // the same
	Hide           []string // copied from Config by New
}

// Mount is a folder or file of the engine's machine inside of a container.
type Mount struct {
	Source, Target string // absolute
	ReadOnly       bool
}

// Pull says when an image is fetched.
type Pull string

// Values of Pull.
const (
	PullMissing Pull = "missing" // when it is not there
	PullAlways  Pull = "always"  // before each new container
	PullNever   Pull = "never"
)

// Where is what people are shown of what is behind the name: the image or the host.
func (s Spec) Where() string {
	if s.Kind == "ssh" {
		return s.Host
	}
	if s.Sandbox != "" && s.Sandbox != "off" {
		return s.Sandbox + " sandbox"
	}
	return s.Image
}

// mounts are the mounts as people write them.
func (s Spec) mounts() []string {
	var list []string
	for _, m := range s.Mounts {
		text := m.Source + ":" + m.Target
		if m.ReadOnly {
			text += ":ro"
		}
		list = append(list, text)
	}
	return list
}

const (
	// DefaultName is the back end that always exists.
	DefaultName    = "default"
	localKind      = "local"
	defaultIdleTTL = 30 * time.Minute
	defaultMax     = 5
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
		c.Kind = localKind
	}
	if c.IdleTTL == 0 {
		c.IdleTTL = defaultIdleTTL
	}
	if c.MaxPerSession <= 0 {
		c.MaxPerSession = defaultMax
	}
	if c.Fallback == "" {
		c.Fallback = FallbackDefault
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
	if s.Kind == "local" {
		s.Sandbox, s.SandboxEngine, s.Hide = c.Sandbox, c.SandboxEngine, c.Hide
	}
	return s
}

// Engines lists the addresses of a kind's back ends, each once.
func (c Config) Engines(kind string) []string {
	var list []string
	for _, s := range c.Backends {
		if s.Kind == kind && !slices.Contains(list, s.Engine) {
			list = append(list, s.Engine)
		}
	}
	return list
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
