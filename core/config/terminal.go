package config

import "time"

// Terminal is where commands run. Kinds of back ends add keys of their own: settings that hold for
// all of the kind, and those of the Python program, which describe the default back end where it
// does not say otherwise.
type Terminal struct {
	Backend               string             `key:"backend" refuses:"commands" also:"env_type" live:"yes" doc:"kind of back ends that show none ({kinds}), or the name of the one that is the default"`
	Cwd                   string             `key:"cwd" doc:"directory of new sessions; . is where hermes was started"`
	Timeout               time.Duration      `key:"timeout" min:"1" doc:"longest run of a foreground command"`
	Backends              map[string]Backend `key:"backends" refuses:"commands" live:"yes" doc:"named back ends"`
	IdleTTL               time.Duration      `key:"idle_ttl" also:"lifetime_seconds" min:"0" live:"yes" doc:"idle back ends stop after this long; 0: never"`
	Keep                  time.Duration      `key:"keep" min:"0" live:"yes" doc:"what was made in a container is kept for so long after the program that used it ended; 0: not at all"`
	MaxBackendsPerSession int                `key:"max_backends_per_session" strict:"1" min:"1" max:"100" live:"yes" doc:"back ends that one session may have up, the default one too; local ones do not count"`
	Fallback              string             `key:"fallback" strict:"error" oneof:"default|error" live:"yes" doc:"when a back end cannot start: the default one runs the command, or nothing does"`
	EnvPassthrough        []string           `key:"env_passthrough" strict:"" live:"yes" doc:"variables that commands may see, by exact name"`
	KindOptions           KindOptions        `own:"terminal"` // what kinds have of their own
}

// Backend is one named back end. Which keys count depends on its kind: one that does nothing there
// is a Problem.
type Backend struct {
	Kind        string            `key:"kind" refuses:"place" oneof:"kinds" live:"yes" doc:"empty: {signs}, else as terminal.backend"`
	Workdir     string            `key:"workdir" refuses:"place" also:"cwd" live:"yes" doc:"directory that commands start in"`
	Env         map[string]string `key:"env" refuses:"place" secret:"yes" live:"yes" doc:"variables set in the back end"`
	ForwardEnv  []string          `key:"forward_env" refuses:"place" live:"yes" doc:"variables copied from here or from .env, by exact name"`
	User        string            `key:"user" refuses:"place" live:"yes" some:"yes" doc:"user in the container (name or uid:gid) or on the host"`
	Shell       string            `key:"shell" refuses:"place" live:"yes" doc:"shell that runs commands"`
	IdleTTL     time.Duration     `key:"idle_ttl" min:"0" live:"yes" some:"yes" doc:"stops after this long idle; 0: as terminal.idle_ttl"`
	Timeout     time.Duration     `key:"timeout" refuses:"place" min:"0" live:"yes" doc:"longest run of a foreground command that asks for no time of its own; 0: as terminal.timeout"`
	KindOptions KindOptions       `own:"options"` // what kinds have of their own
}
