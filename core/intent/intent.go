// Package intent is what a call of a tool means, as its tool says it: plain data that the approval
// gate, the agent, checkpoints and screens go by. None of them looks into the arguments of a call.
//
// The zero Intent says nothing. A call that says nothing is asked about at every level.
package intent

import (
	"encoding/json"

	"hermes/core/approval/command"
)

// Intent is what one call with validated arguments means.
type Intent struct {
	// Reads says that the call changes nothing. It runs unasked, and beside others that only read.
	Reads bool
	// Gist is one line that tells what the call does: the command, the path, the query.
	Gist string
	// Detail is what a question about the call shows; "" is Gist.
	Detail string

	// What it does. The gate goes by the first of these that is there: Lasting, Effects, Shell,
	// Stdin, Paths.
	Shell   *Shell
	Stdin   *Stdin
	Effects []command.Effect
	Lasting *Lasting
	// Paths are the files that it touches, as the arguments name them. OnlyPaths says that it
	// changes no others where a project may be: without it the call may change anything.
	Paths     []string
	OnlyPaths bool

	// InBackend says that it runs in a back end: the session's current one, or the one called
	// Backend. Folders and paths are those of that place then; else of this machine.
	InBackend bool
	Backend   string
	// Outlives says that what it starts goes on when the call is over.
	Outlives bool
	// Unread says that it runs code that nobody has judged: what it leaves for other programs to
	// run is put back.
	Unread bool
	// Consent is what the person's settings say about asking, of a tool that somebody else brought.
	Consent Consent
	// OtherArgs is what else it asks for: see the function of that name. A remembered decision
	// counts for the same OtherArgs only.
	OtherArgs string
}

// Consent is what the person said beforehand about calls of a foreign tool. It never comes from who
// brought the tool.
type Consent string

// What the person said.
const (
	Unsaid  Consent = ""
	Allowed Consent = "allowed" // it runs unasked
	Confirm Consent = "confirm" // it is asked about each time, in every mode
)

// Shell is a command that a shell runs.
type Shell struct {
	Command string
	Dir     string // where it starts; "" is where the last one ended
}

// Stdin is text for the standard input of a running process, which may be a shell.
type Stdin struct {
	Process string // id; "" when it is not known
	Text    string // with the line end that the call adds
}

// Lasting is a call that changes what later sessions are told, as memory and skills do. It is asked
// about when the turn has read what strangers wrote, unless the person said what is to be kept.
type Lasting struct {
	Title  string   // the question: "Change what is remembered?"
	Effect string   // what it does, for people
	Always string   // why it is asked about in any case; "" when it is not
	Texts  []string // what is to be kept
	Unfit  bool     // it is refused for its content by the tool itself: nobody need be asked
}

// ReadsOnly is a call that changes nothing.
func ReadsOnly(gist string) Intent { return Intent{Reads: true, Gist: gist} }

// UnknownAction are the effects of a call that changes something of which no rule knows more: a
// process is ended, a script runs.
func UnknownAction() []command.Effect {
	return []command.Effect{{Class: command.Run, Level: command.LevelSensitive, Reason: "only reading runs without asking"}}
}

// OtherArgs is the arguments of a call as JSON with sorted keys, without those called except and
// without what says the same as leaving it out. It is "" when nothing remains.
func OtherArgs(args any, except ...string) string {
	raw, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return string(raw)
	}
	for _, key := range except {
		delete(all, key)
	}
	for key, value := range all {
		switch string(value) {
		case `null`, `false`, `""`, `[]`, `{}`, `0`:
			delete(all, key)
		}
	}
	if len(all) == 0 {
		return ""
	}
	raw, err = json.Marshal(all)
	if err != nil {
		return ""
	}
	return string(raw)
}
