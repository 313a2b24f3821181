package config

import "time"

// Terminal is where commands run. The keys that begin with docker_, container_ and ssh_ are those of the Python program: they describe
// the default back end, where it does not say otherwise itself.
type Terminal struct {
	Backend               string             `key:"backend" also:"env_type" live:"yes" doc:"kind of back ends that show none (local, docker, ssh), or the name of the one that is the default"`
	Cwd                   string             `key:"cwd" doc:"directory of new sessions; . is where hermes was started"`
	Timeout               time.Duration      `key:"timeout" min:"1" doc:"longest run of a foreground command"`
	Backends              map[string]Backend `key:"backends" live:"yes" doc:"named back ends"`
	IdleTTL               time.Duration      `key:"idle_ttl" also:"lifetime_seconds" min:"0" live:"yes" doc:"idle back ends stop after this long; 0: never"`
	MaxBackendsPerSession int                `key:"max_backends_per_session" min:"1" max:"100" live:"yes" doc:"back ends that one session may have up, without local ones and the default"`
	Fallback              string             `key:"fallback" oneof:"default|error" live:"yes" doc:"when a back end cannot start: the default one runs the command, or nothing does"`
	EnvPassthrough        []string           `key:"env_passthrough" live:"yes" doc:"variables that commands may see, by exact name"`
	Sandbox               string             `key:"sandbox" oneof:"off|project|strict" live:"yes" doc:"what commands on this machine may do. project: write in the project, temporary folders and caches, read all but secrets; strict: read the system and the project only, no network; what the kernel cannot give is an error"`
	SandboxEngine         string             `key:"sandbox_engine" oneof:"auto|landlock|bubblewrap" live:"yes" doc:"what keeps them in. auto: Landlock where the kernel has it, else bubblewrap where it is installed; bubblewrap hides more and holds hooks and editor tasks of the project fixed, and costs some milliseconds a command"`
	Shell                 string             `key:"shell" live:"yes" doc:"shell for local commands; empty: bash, else sh"`

	DockerImage      string            `key:"docker_image" live:"yes" doc:"image of containers that name none"`
	DockerVolumes    []string          `key:"docker_volumes" live:"yes" doc:"default container: extra_mounts"`
	DockerEnv        map[string]string `key:"docker_env" secret:"yes" live:"yes" doc:"default container: env"`
	DockerForwardEnv []string          `key:"docker_forward_env" live:"yes" doc:"default container: forward_env"`
	DockerNetwork    bool              `key:"docker_network" live:"yes" doc:"default container: no is network: none"`
	DockerShmSize    Size              `key:"docker_shm_size" min:"0" live:"yes" doc:"default container: shm"`
	DockerRunAsUser  bool              `key:"docker_run_as_host_user" live:"yes" doc:"default container: user is the one who runs hermes"`
	DockerExtraArgs  []string          `key:"docker_extra_args" live:"yes" doc:"not used: what it would say has keys of its own"`
	ContainerCPU     float64           `key:"container_cpu" min:"0" live:"yes" doc:"default container: cpus"`
	ContainerMemory  Size              `key:"container_memory" min:"0" live:"yes" doc:"default container: memory"`
	SSHHost          string            `key:"ssh_host" live:"yes" doc:"default host: host"`
	SSHUser          string            `key:"ssh_user" live:"yes" doc:"default host: user"`
	SSHPort          int               `key:"ssh_port" min:"0" max:"65535" live:"yes" doc:"default host: port"`
	SSHKey           string            `key:"ssh_key" live:"yes" doc:"default host: key_file"`
}

// Backend is one named back end. Which fields count depends on its kind: a key that does nothing there is a Problem.
type Backend struct {
	Kind            string            `key:"kind" oneof:"|local|docker|ssh" live:"yes" doc:"empty: docker with an image, ssh with a host, else as terminal.backend"`
	Image           string            `key:"image" short:"yes" live:"yes" for:"docker" doc:"container image; empty: terminal.docker_image"`
	Engine          string            `key:"engine" live:"yes" for:"docker" doc:"address of the engine: unix://, tcp:// or ssh://; empty: DOCKER_HOST, else the one of this machine"`
	Workdir         string            `key:"workdir" also:"cwd" live:"yes" doc:"directory that commands start in"`
	ExtraMounts     []string          `key:"extra_mounts" also:"mounts,volumes" live:"yes" for:"docker" doc:"host:container[:ro], each an absolute path, or ~ for the home folder here"`
	Env             map[string]string `key:"env" secret:"yes" live:"yes" doc:"variables set in the back end"`
	ForwardEnv      []string          `key:"forward_env" live:"yes" doc:"variables copied from here or from .env, by exact name"`
	User            string            `key:"user" live:"yes" for:"docker ssh" doc:"user in the container (name or uid:gid) or on the host"`
	Network         string            `key:"network" live:"yes" for:"docker" doc:"none, bridge, or the name of a network; empty: bridge"`
	Memory          Size              `key:"memory" min:"0" live:"yes" for:"docker" doc:"most memory; 0: 4g or half of the machine, whichever is less; none: no limit"`
	CPUs            float64           `key:"cpus" also:"cpu" min:"0" live:"yes" for:"docker" doc:"processors; 0: no limit"`
	Pids            int               `key:"pids" min:"-1" live:"yes" for:"docker" doc:"most processes and threads; 0: 1024; -1: no limit"`
	Shm             Size              `key:"shm" also:"shm_size" min:"0" live:"yes" for:"docker" doc:"size of /dev/shm; 0: the engine's default"`
	GPUs            string            `key:"gpus" live:"yes" for:"docker" doc:"all, a number, or device=0,1"`
	Tmpfs           []string          `key:"tmpfs" live:"yes" for:"docker" doc:"path[:options] of file systems in memory, beside /tmp: /scratch:size=1g"`
	ReadOnly        bool              `key:"read_only" live:"yes" for:"docker" doc:"nothing but mounts and tmpfs can be written"`
	Pull            string            `key:"pull" oneof:"|missing|always|never" live:"yes" for:"docker" doc:"when the image is fetched; empty: missing"`
	Host            string            `key:"host" live:"yes" for:"ssh" doc:"host name, address, or name in ~/.ssh/config"`
	Port            int               `key:"port" min:"0" max:"65535" live:"yes" for:"ssh" doc:"port; 0: 22"`
	KeyFile         string            `key:"key_file" also:"key,identity_file" live:"yes" for:"ssh" doc:"private key; empty: the agent, then the usual files"`
	AllowedCommands []string          `key:"allowed_commands" live:"yes" for:"ssh" doc:"when not empty nothing else runs there; * stands for any text"`
	DeniedCommands  []string          `key:"denied_commands" live:"yes" for:"ssh" doc:"never run there; * stands for any text"`
	Shell           string            `key:"shell" live:"yes" doc:"shell that runs commands"`
	IdleTTL         time.Duration     `key:"idle_ttl" min:"0" live:"yes" for:"docker ssh" doc:"stops after this long idle; 0: as terminal.idle_ttl"`
	Timeout         time.Duration     `key:"timeout" min:"0" live:"yes" doc:"longest run of a foreground command that asks for no time of its own; 0: as terminal.timeout"`
}
