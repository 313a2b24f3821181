// Package audit keeps a record of what the agent was allowed to do and did: who approved what, why,
// what ran where, how it ended.
//
// The contract:
//
//   - One JSON object a line, appended to HERMES_HOME/logs/audit/YYYY-MM.jsonl, readable by the
//     owner only. Nothing here changes or removes a line; old months are the person's to keep or
//     delete.
//   - Each line carries the hash of the line before it. Verify finds a line that was changed,
//     removed or put in. Whoever can write the file can also write it anew from some line on: the
//     chain shows accidents and clumsy hands, it does not bind the machine's owner.
//   - Several programs may write at once: each append holds a lock on the file.
//   - Secrets are redacted as in the log. Output of commands is not kept.
//   - A decision is recorded once: those of a person and refusals as the bus tells them, those that
//     nobody was asked about as the gate does (Decided).
//   - A Writer subscribes to the bus like everybody else; it never delays the agent. What it cannot
//     write is counted, said once as a notice, and tried again with the next entry.
package audit

import (
	"encoding/json"
	"fmt"
	"time"
)

// What happened.
const (
	Start    = "start"    // a call was accepted
	Ask      = "ask"      // a person, a rule or a model is asked
	Decide   = "decide"   // the answer, or what let a call run unasked
	End      = "end"      // a call is over
	Process  = "process"  // a command in the background ended
	Backend  = "backend"  // a back end changed its state
	Select   = "select"   // the session's back end was chosen
	Settings = "settings" // the settings changed
	Memory   = "memory"   // something was remembered, forgotten, or refused
	Gap      = "gap"      // events that were lost because they came too fast
)

// Entry is one line. Which fields are set depends on What.
type Entry struct {
	At       time.Time `json:"at"`
	What     string    `json:"what"`
	Session  string    `json:"session,omitempty"`
	Turn     string    `json:"turn,omitempty"`
	Call     string    `json:"call,omitempty"`   // id of the tool call
	Parent   string    `json:"parent,omitempty"` // call that this one was made from
	Tool     string    `json:"tool,omitempty"`
	Gist     string    `json:"gist,omitempty"`    // the command, the path, the question; at most 4,000 characters
	Backend  string    `json:"backend,omitempty"` // where it ran, or would run
	Effects  []string  `json:"effects,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Decision string    `json:"decision,omitempty"`
	By       string    `json:"by,omitempty"` // user, rule, level, settings, smart, policy, timeout, interrupt, ...
	ExitCode *int      `json:"exit_code,omitempty"`
	Failed   bool      `json:"failed,omitempty"`
	TookMS   int64     `json:"took_ms,omitempty"`
	Files    []string  `json:"files,omitempty"` // changed by the call
	Lost     int       `json:"lost,omitempty"`
	User     string    `json:"user"` // of the system
	PID      int       `json:"pid"`
	Prev     string    `json:"prev"` // hash of the line before; empty in the first of a file
}

// maxGist bounds one entry: a whole file can be written by one call.
const maxGist = 4000

// encodeLine is the entry as it is written, without its end.
func (e Entry) encodeLine() ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("audit entry: %w", err)
	}
	return data, nil
}
