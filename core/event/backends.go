package event

import "time"

// BackendState is a state of the pool's state machine.
type BackendState string

// States of a back end.
const (
	BackendAbsent   BackendState = "absent"
	BackendPulling  BackendState = "pulling"
	BackendCreating BackendState = "creating"
	BackendStarting BackendState = "starting"
	BackendReady    BackendState = "ready"
	BackendStopping BackendState = "stopping"
	BackendStopped  BackendState = "stopped"
	BackendRemoving BackendState = "removing"
	BackendFailed   BackendState = "failed"
	BackendLost     BackendState = "lost"
)

// BackendChanged is one transition of a back end, with its cause.
type BackendChanged struct {
	fact
	Name  string       `json:"name"`
	Kind  string       `json:"kind"`
	From  BackendState `json:"from"`
	To    BackendState `json:"to"`
	Cause string       `json:"cause"`           // "first use", "idle for 30m", "image not found", ...
	Image string       `json:"image,omitempty"` // or host for ssh
	Retry time.Time    `json:"retry,omitzero"`  // next try after a failure
}

// BackendActivity is the latest load of a back end; the latest wins.
type BackendActivity struct {
	delta
	Name      string        `json:"name"`
	Refs      int           `json:"refs"` // calls and background processes now
	Command   string        `json:"command,omitempty"`
	Session   string        `json:"session,omitempty"`
	IdleSince time.Time     `json:"idle_since,omitzero"` // zero while in use
	IdleTTL   time.Duration `json:"idle_ttl,omitempty"`  // 0: never stopped for idleness
}

// BackendStats is the resource use of a running back end; the latest wins.
type BackendStats struct {
	delta
	Name        string  `json:"name"`
	CPUPercent  float64 `json:"cpu_percent"`
	MemoryBytes int64   `json:"memory_bytes"`
	MemoryLimit int64   `json:"memory_limit,omitempty"` // 0: none
	Pids        int64   `json:"pids,omitempty"`
}

// Progress is the advance of something long (a pull, a rebuild); the latest wins.
type Progress struct {
	delta
	ID    string `json:"id"`
	Label string `json:"label"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // 0 when unknown
	Unit  string `json:"unit"`  // "bytes", "messages"
}

// TerminalChanged says that a terminal that a person has attached shows something else, or has
// ended. It carries no cells: whoever shows the terminal has them.
type TerminalChanged struct {
	delta
	ID string `json:"id"`
}

// BackendSelected says which back end a session uses when a call names none.
type BackendSelected struct {
	fact
	Name string `json:"name"`
}

// Traits say what a kind of back end is and allows. Nobody asks for a kind by its name: what
// differs between kinds is here, or in the kind.
type Traits struct {
	Local     bool `json:"local,omitempty"`     // this machine, with the person's own files
	Isolated  bool `json:"isolated,omitempty"`  // reaches no files and networks but those it is given
	Image     bool `json:"image,omitempty"`     // made from an image, which can be fetched
	Stoppable bool `json:"stoppable,omitempty"` // stopped and started again; stops when it is idle
	Removable bool `json:"removable,omitempty"` // ours to remove, with its files
	Shared    bool `json:"shared,omitempty"`    // all sessions use the same one
}
