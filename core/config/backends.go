package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// DefaultBackend is the name of the back end that always exists, unless terminal.backend names another one.
const DefaultBackend = "default"

var kinds = []string{"local", "docker", "ssh"}

// Mount is a folder or file of the engine's machine that a container sees.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Place is one back end with everything resolved that the settings leave open: its kind, what it takes from the keys of the Python program,
// forwarded variables, ~ in paths.
type Place struct {
	Backend
	Mounts  []Mount
	Scratch map[string]string // tmpfs: options by path
	Problem string            // why it cannot be used as it is written, with file and line; "" when it can
}

// Places returns every back end by name, and the name of the default one, which is always among them.
func (c *Config) Places() (def string, places map[string]Place) {
	def = DefaultBackend
	if _, named := c.Terminal.Backends[c.Terminal.Backend]; named {
		def = c.Terminal.Backend
	}
	places = map[string]Place{def: c.resolve(def, c.inherit(c.Terminal.Backends[def]))}
	for name, b := range c.Terminal.Backends {
		if name != def {
			places[name] = c.resolve(name, b)
		}
	}
	return def, places
}

// kindOf is the kind that a back end says or shows: an image is a container, a host is ssh. What shows nothing is of the kind that
// terminal.backend names, or that the back end has which it names.
func (c *Config) kindOf(b Backend) string {
	switch {
	case b.Kind != "":
		return b.Kind
	case b.Image != "":
		return "docker"
	case b.Host != "":
		return "ssh"
	}
	def, named := c.Terminal.Backends[c.Terminal.Backend]
	switch {
	case !named:
		return cmp.Or(c.Terminal.Backend, "local")
	case def.Kind == "" && def.Image == "" && def.Host == "":
		return "local"
	default:
		return c.kindOf(def)
	}
}

// inherit gives the default back end what the keys of the Python program say and it does not.
func (c *Config) inherit(b Backend) Backend {
	t := c.Terminal
	switch c.kindOf(b) {
	case "docker":
		b.CPUs, b.Memory, b.Shm = cmp.Or(b.CPUs, t.ContainerCPU), cmp.Or(b.Memory, t.ContainerMemory), cmp.Or(b.Shm, t.DockerShmSize)
		if !t.DockerNetwork {
			b.Network = cmp.Or(b.Network, "none")
		}
		if t.DockerRunAsUser {
			b.User = cmp.Or(b.User, strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid()))
		}
		b.ExtraMounts = slices.Concat(t.DockerVolumes, b.ExtraMounts)
		b.ForwardEnv = slices.Concat(t.DockerForwardEnv, b.ForwardEnv)
		env := maps.Clone(t.DockerEnv)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, b.Env)
		b.Env = env
	case "ssh":
		b.Host, b.User, b.KeyFile = cmp.Or(b.Host, t.SSHHost), cmp.Or(b.User, t.SSHUser), cmp.Or(b.KeyFile, t.SSHKey)
		b.Port = cmp.Or(b.Port, t.SSHPort)
	}
	return b
}

// resolve fills in what one back end leaves open.
func (c *Config) resolve(name string, b Backend) Place {
	b.Kind = c.kindOf(b)
	b.Timeout = cmp.Or(b.Timeout, c.Terminal.Timeout)
	if b.Kind == "local" {
		b.Shell = cmp.Or(b.Shell, c.Terminal.Shell)
	}
	if b.Kind == "docker" {
		b.Image = cmp.Or(b.Image, c.Terminal.DockerImage)
	}
	b.KeyFile = c.untilde(b.KeyFile)
	b.Env = c.forward(b)
	p := Place{Backend: b}
	for _, text := range b.ExtraMounts {
		m, bad := ParseMount(text)
		if bad != "" {
			p.Problem = cmp.Or(p.Problem, fmt.Sprintf("%s: the mount %q %s", c.near(name, "extra_mounts"), text, bad))
			continue
		}
		m.Source = c.untilde(m.Source)
		p.Mounts = append(p.Mounts, m)
	}
	for _, text := range b.Tmpfs {
		at, options, _ := strings.Cut(text, ":")
		if !path.IsAbs(at) {
			p.Problem = cmp.Or(p.Problem, fmt.Sprintf("%s: the tmpfs %q does not begin with /", c.near(name, "tmpfs"), text))
			continue
		}
		if p.Scratch == nil {
			p.Scratch = map[string]string{}
		}
		p.Scratch[path.Clean(at)] = options
	}
	if b.Kind == "ssh" && b.Host == "" {
		p.Problem = cmp.Or(p.Problem, fmt.Sprintf("%s: it is of kind ssh and has no host", c.near(name, "kind")))
	}
	return p
}

// near is where a key of a back end is written, or the back end itself.
func (c *Config) near(name, key string) place {
	prefix := "terminal.backends." + name + "."
	if at, ok := c.places[prefix+key]; ok {
		return at
	}
	if at, ok := c.places["terminal.docker_volumes"]; ok && key == "extra_mounts" {
		return at
	}
	best, found := c.places["terminal.backends"], false
	for _, k := range sortedKeys(c.places) {
		if at := c.places[k]; strings.HasPrefix(k, prefix) && (!found || at.line < best.line) {
			best, found = at, true
		}
	}
	if best.file == "" {
		best = c.places["terminal.backend"]
	}
	if best.file == "" {
		best.file = "config.yaml"
	}
	return best
}

// forward adds the forwarded variables that are set to the ones that are written down, which win.
func (c *Config) forward(b Backend) map[string]string {
	env := map[string]string{}
	for _, name := range b.ForwardEnv {
		if value, ok := c.env.lookup(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, b.Env)
	return env
}

func (c *Config) untilde(name string) string {
	home := c.env.process["HOME"]
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	if rest, ok := strings.CutPrefix(name, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return name
}

// ParseMount reads "host:container", ":ro" or ":rw" behind it. Bad says what is wrong and how to write it.
func ParseMount(text string) (m Mount, bad string) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		switch parts[2] {
		case "ro":
			m.ReadOnly = true
		case "rw":
		default:
			return m, "ends with " + strconv.Quote(parts[2]) + ": write host:container, host:container:ro or host:container:rw"
		}
		parts = parts[:2]
	}
	switch {
	case len(parts) != 2 || parts[0] == "" || parts[1] == "":
		return m, "is not host:container or host:container:ro"
	case !filepath.IsAbs(parts[0]) && parts[0] != "~" && !strings.HasPrefix(parts[0], "~/"):
		return m, "has a relative path on the host's side: begin it with / or ~/"
	case !path.IsAbs(parts[1]):
		return m, "has a relative path on the container's side: begin it with /"
	}
	m.Source, m.Target = parts[0], path.Clean(parts[1])
	return m, ""
}

// checkPlaces finds what does not fit together in the back ends.
func (c *Config) checkPlaces() []Problem {
	var out []Problem
	def, places := c.Places()
	for _, name := range sortedKeys(places) {
		p := places[name]
		for _, key := range c.useless(name, p.Kind) {
			at := c.near(name, key)
			why := fmt.Sprintf("does nothing for back end %s, which is of kind %s:", name, p.Kind)
			out = append(out, Problem{File: at.file, Line: at.line, Column: at.column, Text: key, Why: why, Fix: "remove it, or give the back end another kind"})
		}
		if p.Problem != "" {
			out = append(out, c.unusable(name, p))
		}
	}
	if at, ok := c.places["terminal.docker_extra_args"]; ok && len(c.Terminal.DockerExtraArgs) > 0 && places[def].Kind == "docker" {
		out = append(out, Problem{
			File: at.file, Line: at.line, Column: at.column, Text: "docker_extra_args", Why: "not used by this program:",
			Fix: "terminal.backends." + def + " has keys of its own for network, user, memory, tmpfs and the rest",
		})
	}
	return out
}

// unusable is a back end's Problem with its place taken apart again.
func (c *Config) unusable(name string, p Place) Problem {
	at, why, _ := strings.Cut(p.Problem, ": ")
	out := Problem{Why: "back end " + name + " cannot be used: " + why, Fix: "until then it refuses every command"}
	file, line, _ := strings.Cut(at, ":")
	out.File = file
	out.Line, _ = strconv.Atoi(line)
	return out
}

// useless lists the keys that were written for a back end and mean nothing to its kind.
func (c *Config) useless(name, kind string) []string {
	var out []string
	if !slices.Contains(kinds, kind) {
		return nil
	}
	for _, f := range fields(reflect.TypeFor[Backend]()) {
		only := f.tag.Get("for")
		if _, written := c.places["terminal.backends."+name+"."+f.name]; written && only != "" && !slices.Contains(strings.Fields(only), kind) {
			out = append(out, f.name)
		}
	}
	return out
}
