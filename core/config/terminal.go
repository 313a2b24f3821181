package config

import "time"

// Terminal is where commands run.
type Terminal struct {
	Backend               string             `key:"backend" also:"env_type" doc:"kind, or name from backends, used when a call names none"`
	Cwd                   string             `key:"cwd" doc:"directory of new sessions; . is where hermes was started"`
	Timeout               time.Duration      `key:"timeout" min:"1" doc:"longest run of a foreground command"`
	Backends              map[string]Backend `key:"backends" doc:"named back ends"`
	IdleTTL               time.Duration      `key:"idle_ttl" also:"lifetime_seconds" min:"0" doc:"idle back ends stop after this long; 0: never"`
	MaxBackendsPerSession int                `key:"max_backends_per_session" min:"1" max:"100" later:"yes" doc:"back ends one session may keep running"`
	Fallback              string             `key:"fallback" oneof:"default|error" later:"yes" doc:"when a back end cannot start: use the default one, or fail"`
	EnvPassthrough        []string           `key:"env_passthrough" doc:"variables that commands may see, by exact name"`
	DockerImage           string             `key:"docker_image" later:"yes" doc:"image of the default container"`
	Shell                 string             `key:"shell" doc:"shell for local commands; empty: bash, else sh"`
}

// Backend is one named back end. Which fields count depends on Kind.
type Backend struct {
	Kind        string            `key:"kind" oneof:"|local|docker|ssh" doc:"this version has local only; empty: docker with an image, ssh with a host, else local"`
	Image       string            `key:"image" short:"yes" later:"yes" doc:"container image"`
	Workdir     string            `key:"workdir" also:"cwd" doc:"directory that commands start in"`
	ExtraMounts []string          `key:"extra_mounts" also:"mounts,volumes" later:"yes" doc:"host:container[:ro]"`
	Env         map[string]string `key:"env" secret:"yes" doc:"variables set in the back end"`
	ForwardEnv  []string          `key:"forward_env" later:"yes" doc:"variables copied from here, by exact name"`
	User        string            `key:"user" later:"yes" doc:"user in the container or on the host"`
	Network     string            `key:"network" later:"yes" doc:"container network; none cuts it off"`
	Memory      int               `key:"memory" min:"0" later:"yes" doc:"megabytes; 0: no limit"`
	CPU         float64           `key:"cpu" also:"cpus" min:"0" later:"yes" doc:"processors; 0: no limit"`
	Pids        int               `key:"pids" min:"0" later:"yes" doc:"processes; 0: the built-in limit"`
	Host        string            `key:"host" later:"yes" doc:"host for ssh"`
	Port        int               `key:"port" min:"0" max:"65535" later:"yes" doc:"port for ssh; 0: 22"`
	Key         string            `key:"key" later:"yes" doc:"path of the private key for ssh"`
	Shell       string            `key:"shell" doc:"shell that runs commands"`
	IdleTTL     time.Duration     `key:"idle_ttl" min:"0" doc:"stops after this long idle; 0: as terminal.idle_ttl"`
	Timeout     time.Duration     `key:"timeout" min:"0" later:"yes" doc:"longest run of a command; 0: as terminal.timeout"`
}
