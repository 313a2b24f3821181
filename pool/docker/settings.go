package docker

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hermes/core/config"
	"hermes/core/event"
	"hermes/pool"
)

// Settings are the keys of a back end that is a container. Zero values are what the kind finds
// sensible.
type Settings struct {
	Image       string      `key:"image" refuses:"place" short:"yes" live:"yes" doc:"container image; empty: terminal.docker_image"`
	Engine      string      `key:"engine" refuses:"place" live:"yes" doc:"address of the engine: unix://, tcp:// or ssh://; empty: DOCKER_HOST, else the one of this machine"`
	ExtraMounts []string    `key:"extra_mounts" refuses:"place" also:"mounts,volumes" live:"yes" doc:"host:container[:ro], each an absolute path, or ~ for the home folder here"`
	Network     string      `key:"network" refuses:"place" live:"yes" doc:"none, bridge, or the name of a network; empty: bridge"`
	Memory      config.Size `key:"memory" refuses:"place" min:"0" live:"yes" doc:"most memory; 0: 4g or half of the machine, whichever is less; none: no limit"`
	CPUs        float64     `key:"cpus" refuses:"place" also:"cpu" min:"0" live:"yes" doc:"processors; 0: no limit"`
	Pids        int         `key:"pids" refuses:"place" min:"-1" live:"yes" doc:"most processes and threads; 0: 1024; -1: no limit"`
	Shm         config.Size `key:"shm" also:"shm_size" min:"0" live:"yes" doc:"size of /dev/shm; 0: the engine's default"`
	GPUs        string      `key:"gpus" refuses:"place" live:"yes" doc:"all, a number, or device=0,1"`
	Tmpfs       []string    `key:"tmpfs" refuses:"place" live:"yes" doc:"path[:options] of file systems in memory, beside /tmp: /scratch:size=1g"`
	ReadOnly    bool        `key:"read_only" refuses:"place" live:"yes" doc:"nothing but mounts and tmpfs can be written"`
	Pull        Pull        `key:"pull" oneof:"|missing|always|never" live:"yes" doc:"when the image is fetched; empty: missing"`

	Mounts  []pool.Mount      // what ExtraMounts say; what they lead to is checked at each start
	Scratch map[string]string // what Tmpfs says: mount options by absolute path
}

// Pull says when an image is fetched.
type Pull string

// Values of Pull.
const (
	PullMissing Pull = "missing" // when it is not there
	PullAlways  Pull = "always"  // before each new container
	PullNever   Pull = "never"
)

// terminal is the keys of section terminal: those of the Python program for the default container.
type terminal struct {
	Image      string            `key:"docker_image" refuses:"place" live:"yes" doc:"image of containers that name none"`
	Volumes    []string          `key:"docker_volumes" refuses:"place" live:"yes" doc:"default container: extra_mounts"`
	Env        map[string]string `key:"docker_env" refuses:"place" secret:"yes" live:"yes" doc:"default container: env"`
	ForwardEnv []string          `key:"docker_forward_env" refuses:"place" live:"yes" doc:"default container: forward_env"`
	Network    bool              `key:"docker_network" refuses:"place" live:"yes" doc:"default container: no is network: none"`
	Shm        config.Size       `key:"docker_shm_size" min:"0" live:"yes" doc:"default container: shm"`
	RunAsUser  bool              `key:"docker_run_as_host_user" refuses:"place" live:"yes" doc:"default container: user is the one who runs hermes"`
	ExtraArgs  []string          `key:"docker_extra_args" refuses:"place" live:"yes" instead:"network, user, memory, tmpfs and the rest" doc:"not used: what it would say has keys of its own"`
	CPU        float64           `key:"container_cpu" refuses:"place" min:"0" live:"yes" doc:"default container: cpus"`
	Memory     config.Size       `key:"container_memory" refuses:"place" min:"0" live:"yes" doc:"default container: memory"`
}

// Declared is what the program knows of the kind before anything of it runs.
func Declared() config.Kind {
	return config.Kind{
		Name:      Name,
		Traits:    event.Traits{Isolated: true, Image: true, Stoppable: true, Removable: true},
		ImpliedBy: "image", CommonKeys: "user idle_ttl", Options: Settings{},
		Terminal: terminal{Network: true, Image: "nikolaik/python-nodejs:python3.11-nodejs20"},
		Python: `container_disk container_persistent docker_mount_cwd_to_workspace docker_snap_compat
			docker_shared_container_key docker_persist_across_processes docker_orphan_reaper`,
		Resolve: resolveSettings,
	}
}

func resolveSettings(r *config.Resolving) {
	s, t := r.Options.(*Settings), r.Terminal.(*terminal)
	if r.Default {
		inheritTerminal(r, s, t)
	}
	s.Image = cmp.Or(s.Image, t.Image)
	for _, text := range s.ExtraMounts {
		m, bad := parseMount(text)
		if bad != "" {
			r.Wrong("extra_mounts", "docker_volumes", "the mount %q %s", text, bad)
			continue
		}
		m.Source = r.Path(m.Source)
		s.Mounts = append(s.Mounts, m)
	}
	for _, text := range s.Tmpfs {
		at, options, _ := strings.Cut(text, ":")
		if !path.IsAbs(at) {
			r.Wrong("tmpfs", "", "the tmpfs %q does not begin with /", text)
			continue
		}
		if s.Scratch == nil {
			s.Scratch = map[string]string{}
		}
		s.Scratch[path.Clean(at)] = options
	}
}

// inheritTerminal gives the default back end what section terminal says and it does not.
func inheritTerminal(r *config.Resolving, s *Settings, t *terminal) {
	s.CPUs, s.Memory, s.Shm = cmp.Or(s.CPUs, t.CPU), cmp.Or(s.Memory, t.Memory), cmp.Or(s.Shm, t.Shm)
	if !t.Network {
		s.Network = cmp.Or(s.Network, pool.NoNetwork)
	}
	if t.RunAsUser {
		r.User = cmp.Or(r.User, strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid()))
	}
	s.ExtraMounts = slices.Concat(t.Volumes, s.ExtraMounts)
	r.ForwardEnv = slices.Concat(t.ForwardEnv, r.ForwardEnv)
	env := maps.Clone(t.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, r.Env)
	r.Env = env
}

// fullSpec is a back end's settings, those of the kind with them.
type fullSpec struct {
	pool.Spec
	Settings
}

func specOf(s pool.Spec) fullSpec { return fullSpec{s, pool.OptionsOf[Settings](s)} }

// parseMount reads "host:container", ":ro" or ":rw" behind it. Bad says what is wrong and how to
// write it.
func parseMount(text string) (m pool.Mount, bad string) {
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
