package event

import "time"

// Level grades a Notice.
type Level string

// Notice levels.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// Notice is something a person should know.
type Notice struct {
	fact
	Level Level    `json:"level"`
	Text  string   `json:"text"`
	Hint  string   `json:"hint,omitempty"` // what to do next, said without any way in
	Do    []Remedy `json:"do,omitempty"`   // what to do next, in codes
}

// ConfigReloaded says that settings changed while the program runs.
type ConfigReloaded struct {
	fact
	Changed  []string `json:"changed"`  // dotted keys that took effect
	Problems []string `json:"problems"` // "config.yaml:12:3: unknown key ..." each
}

// SkillsChanged says what skills there are now.
type SkillsChanged struct {
	fact
	Count     int      `json:"count"`
	Problems  []string `json:"problems,omitempty"`  // "skills/x/SKILL.md:2: name: ..." each
	Untrusted string   `json:"untrusted,omitempty"` // what a project brings that nobody has said yes or no to
}

// SkillVersioned says that a skill has a new version.
type SkillVersioned struct {
	fact
	Name    string `json:"name"`
	Version int    `json:"version"`
	Op      string `json:"op"`             // "create", "edit", ..., "undo", "rollback", "outside"
	To      int    `json:"to,omitempty"`   // of undo and rollback: the version that is there again
	By      string `json:"by,omitempty"`   // "agent", "user", "learned"
	Why     string `json:"why,omitempty"`  // for people
	Hash    string `json:"hash,omitempty"` // of SKILL.md, sha256
	Gone    bool   `json:"gone,omitempty"` // there is no skill any more
}

// ProcedureRan says how a run of a procedure came out, by exit codes and postconditions. Its last
// one in a turn counts where it was taken up again.
type ProcedureRan struct {
	fact
	CallID string          `json:"call_id"`
	Run    string          `json:"run"`
	Name   string          `json:"name"`
	Source string          `json:"source"` // "user", "project", "built-in", ...
	Hash   string          `json:"hash"`   // of the file, sha256
	End    string          `json:"end"`    // "done", "failed", "unmet", "unchecked", "not begun", "refused", "interrupted"
	Why    string          `json:"why,omitempty"`
	Held   int             `json:"held,omitempty"` // postconditions that hold
	Steps  []ProcedureStep `json:"steps,omitempty"`
}

// ProcedureStep is a step that a run began.
type ProcedureStep struct {
	Name    string `json:"name"`
	Status  string `json:"status"`            // "done", "skipped", "failed", "refused", "interrupted"
	Command string `json:"command,omitempty"` // that it ran
	Exit    *int   `json:"exit,omitempty"`    // of the command
	Said    string `json:"said,omitempty"`    // the end of why it failed
}

// SkillLoaded says that a turn was given a skill.
type SkillLoaded struct {
	fact
	Name    string `json:"name"`
	Version int    `json:"version,omitempty"` // 0: not one that this program made
	Hash    string `json:"hash"`              // of SKILL.md, sha256
	By      string `json:"by"`                // who chose it: "model", "person"
}

// TurnJudged says what a turn came to, by exit codes and by what the person did. It was stored
// before.
type TurnJudged struct {
	fact
	Experience string   `json:"experience"`
	Outcome    string   `json:"outcome"` // "good", "bad", "unknown"
	Signals    []string `json:"signals,omitempty"`
}

// LearnProposed says that something was learned that waits for a person's word.
type LearnProposed struct {
	fact
	ID      string `json:"id"`
	Kind    string `json:"kind"` // "create", "change", "rollback", "archive"
	Skill   string `json:"skill"`
	Why     string `json:"why"`
	Tainted string `json:"tainted,omitempty"` // whose words besides the person's it comes from
	Open    int    `json:"open"`              // how many wait now
}

// LearnSettled says what became of a proposal.
type LearnSettled struct {
	fact
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Skill   string `json:"skill"`
	State   string `json:"state"`             // "accepted", "refused", "never", "stale"
	By      string `json:"by"`                // "user", "auto"
	Version int    `json:"version,omitempty"` // of the skill, that it made
	Open    int    `json:"open"`
}

// LearnReviewed says how a review ended that led to no proposal.
type LearnReviewed struct {
	fact
	Skill string `json:"skill,omitempty"`
	Why   string `json:"why"`
	// Ceiling says that none was begun, because of a limit of the settings.
	Ceiling bool `json:"ceiling,omitempty"`
}

// ServerChanged says how a server of tools is now.
type ServerChanged struct {
	fact
	Name    string    `json:"name"`
	State   string    `json:"state"`             // "starting", "ready", "retrying", "needs login", "failed", "off", "idle"
	Tools   int       `json:"tools"`             // that the agent can be given
	Changed int       `json:"changed,omitempty"` // of them are blocked until a person has seen what changed
	Error   string    `json:"error,omitempty"`
	Next    time.Time `json:"next,omitzero"` // the next try
}

// ModelChanged says which model a session uses from now on.
type ModelChanged struct {
	fact
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Window   int    `json:"window"`
}
