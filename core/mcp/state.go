package mcp

import (
	"errors"
	"time"
)

// State is how a server is.
type State string

// The states of a server.
const (
	StateOff      State = "off"         // the person switched it off
	StateIdle     State = "idle"        // nobody wanted it yet
	StateStarting State = "starting"    // it is being connected to
	StateReady    State = "ready"       // its tools can be called
	StateRetrying State = "retrying"    // it failed and is tried again at Next
	StateLogin    State = "needs login" // a person has to log in
	StateFailed   State = "failed"      // its settings are wrong: it is not tried
)

// Status is a server as it is now.
type Status struct {
	Name      string    `json:"name"`
	State     State     `json:"state"`
	Where     string    `json:"where"` // its command line, or its address
	From      string    `json:"from"`  // the file that names it
	Backend   string    `json:"backend,omitempty"`
	Transport string    `json:"transport"`
	Server    string    `json:"server,omitempty"` // what it calls itself, with its version
	Protocol  string    `json:"protocol,omitempty"`
	Tools     []Listed  `json:"tools"`
	Hidden    int       `json:"hidden"`  // tools that the settings leave out
	Changed   int       `json:"changed"` // tools that are blocked until their change was seen
	Tokens    int       `json:"tokens"`  // about what the definitions take of a model's window
	Calls     int       `json:"calls"`
	Prompts   int       `json:"prompts"`
	Resources int       `json:"resources"`
	Since     time.Time `json:"since,omitzero"` // of the state
	Next      time.Time `json:"next,omitzero"`  // the next try, when retrying
	LastError string    `json:"last_error,omitempty"`
	Warning   string    `json:"warning,omitempty"`

	Instructions string `json:"instructions,omitempty"` // what it says about itself
	Generation   int    `json:"generation"`             // connections so far
}

// Listed is a tool of a server.
type Listed struct {
	Name   string `json:"name"`            // as models call it
	Tool   string `json:"tool"`            // as the server calls it
	Gist   string `json:"gist,omitempty"`  // the first line of its description
	Says   string `json:"says,omitempty"`  // all of it, where that is more
	Rule   string `json:"rule"`            // what the settings say: "asked", "allowed", "confirmed", "denied"
	Reads  bool   `json:"reads,omitempty"` // it says that it only reads
	State  Pin    `json:"state"`           // of its definition
	Tokens int    `json:"tokens"`
	Why    string `json:"why,omitempty"` // it is blocked
}

// StateChanged is told of each change of a server.
type StateChanged struct {
	Name    string
	State   State
	Tools   int
	Changed int
	Error   string
	Next    time.Time
}

// stopError is one that trying again does not mend.
type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }

func stopFor(err error) error { return stopError{err} }

// loginError says that a person has to log in.
type loginError struct{ error }

func (e loginError) Unwrap() error { return e.error }

func stateOf(err error) State {
	var halt stopError
	var login loginError
	switch {
	case errors.As(err, &login):
		return StateLogin
	case errors.As(err, &halt):
		return StateFailed
	default:
		return StateRetrying
	}
}
