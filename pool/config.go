package pool

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Config says which back ends exist. The zero value is one back end called default, this machine.
type Config struct {
	Default  string          // name of the back end for calls that name none; "" means "default"
	Kind     string          // kind of back ends that name none; "" means the one that is this machine
	Backends map[string]Spec // by name; the default one is added when it is missing
	IdleTTL  time.Duration   // how long an unused back end stays up; 0 means 30 minutes; negative means for ever

	// MaxPerSession is how many back ends of its own one session may have up, the default one too;
	// those that all sessions share do not count. 0 means 5.
	MaxPerSession int
	Keep          time.Duration // how long a later process can find what was made; 0: it is destroyed at Close
	Fallback      Fallback      // what happens when a back end cannot start; "" means FallbackDefault
}

// Fallback is what happens to a command whose back end cannot be brought up.
type Fallback string

// Values of Fallback.
const (
	FallbackDefault Fallback = "default" // the default back end runs it, when that is no wider
	FallbackError   Fallback = "error"   // it is an error
)

// Spec is one back end of the configuration. Zero values are what a kind finds sensible.
type Spec struct {
	Name    string            // set by New
	Kind    string            // "" means Config.Kind
	Workdir string            // where a session starts; "" lets the kind choose
	Shell   string            // "" lets the kind choose
	Env     map[string]string // added for every command
	User    string            // name or uid:gid in a container, name on a host
	IdleTTL time.Duration     // 0 means Config.IdleTTL
	Keep    time.Duration     // set by New: Config.Keep
	Timeout time.Duration     // of a foreground command that asks for none; told to the tools, not enforced here

	Options any    // pointer to the struct of the kind; nil when it has none
	about   About  // set by New, by the kind
	Invalid string // why the back end cannot be used as it is configured; it is failed then
}

// Mount is a folder or file of the engine's machine inside of a container.
type Mount struct {
	Source, Target string // absolute
	ReadOnly       bool
}

// OptionsOf is what a kind has in a Spec of its own, the zero value without.
func OptionsOf[T any](s Spec) (own T) {
	if p, ok := s.Options.(*T); ok {
		return *p
	}
	return own
}

// mountTexts are the mounts as people write them.
func (a About) mountTexts() []string {
	var list []string
	for _, m := range a.Mounts {
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

// withDefaults returns c with every default filled in, and described by the kinds.
func (c Config) withDefaults(kinds map[string]Kind) (Config, error) {
	if c.Default == "" {
		c.Default = DefaultName
	}
	if c.Kind == "" {
		c.Kind = firstKind(kinds)
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
	maps.Copy(specs, c.Backends)
	for name, s := range specs {
		if err := CheckName(name); err != nil {
			return c, err
		}
		specs[name] = c.fillSpec(name, s, kinds)
	}
	c.Backends = specs
	return c, nil
}

func (c Config) fillSpec(name string, s Spec, kinds map[string]Kind) Spec {
	s.Name, s.Keep = name, c.Keep
	if s.Kind == "" {
		s.Kind = c.Kind
	}
	if s.IdleTTL == 0 {
		s.IdleTTL = c.IdleTTL
	}
	if k, ok := kinds[s.Kind]; ok {
		s.about = k.Describe(s)
	}
	return s
}

// firstKind is the one that is this machine, else the first by name.
func firstKind(kinds map[string]Kind) string {
	names := slices.Sorted(maps.Keys(kinds))
	for _, name := range names {
		if kinds[name].Describe(Spec{Kind: name}).Local {
			return name
		}
	}
	return append(names, "")[0]
}

// Of lists the back ends of a kind: the default one first, then by name.
func (c Config) Of(kind string) (list []Spec) {
	for _, name := range c.backendNames() {
		if s := c.Backends[name]; s.Kind == kind {
			list = append(list, s)
		}
	}
	return list
}

// backendNames lists the back ends: the default first, then by name.
func (c Config) backendNames() []string {
	names := make([]string, 0, len(c.Backends))
	for name := range c.Backends {
		if name != c.Default {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{c.Default}, names...)
}
