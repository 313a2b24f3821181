package event

import (
	"time"

	"hermes/core/chat"
)

// SessionInfo is the list row of a session.
type SessionInfo struct {
	UID      string     `json:"uid"`
	Title    string     `json:"title"`
	Source   string     `json:"source"`             // "tui", "run", "import:hermes", ...
	Parent   string     `json:"parent,omitempty"`   // uid of the session it was forked from
	Provider string     `json:"provider,omitempty"` // of Model
	Model    string     `json:"model"`
	Cwd      string     `json:"cwd"`
	Project  string     `json:"project"` // repository root, else Cwd
	Preview  string     `json:"preview"` // first user message, at most 120 runes
	Started  time.Time  `json:"started"`
	Last     time.Time  `json:"last"`
	Messages int        `json:"messages"`
	Usage    chat.Usage `json:"usage"`
	Archived bool       `json:"archived,omitempty"`
	Pinned   bool       `json:"pinned,omitempty"`

	Elsewhere bool `json:"elsewhere,omitempty"` // another hermes works in it
}

// ModelRef is the model as provider/model, which names it everywhere; "" when none was asked.
func (s SessionInfo) ModelRef() string {
	if s.Provider == "" || s.Model == "" {
		return s.Model
	}
	return s.Provider + "/" + s.Model
}

// SessionOpened says that a session exists and is live (new, resumed, forked or imported).
type SessionOpened struct {
	fact
	Info SessionInfo `json:"info"`
	How  Opening     `json:"how"`
}

// Opening says how a session came up.
type Opening string

// Openings.
const (
	OpeningNew    Opening = "new"
	OpeningResume Opening = "resume"
	OpeningFork   Opening = "fork"
	OpeningImport Opening = "import"
)

// SessionChanged says that a session's row changed (title, archive, pin, model, ...).
type SessionChanged struct {
	fact
	Info SessionInfo `json:"info"`
}

// SessionConfigured says what holds for a session in place of the settings. What is empty is as
// they say.
type SessionConfigured struct {
	fact
	Level    string   `json:"level,omitempty"` // of approval: "plan", "read", "create", "standard", "sensitive", "all"
	Toolsets []string `json:"toolsets,omitempty"`
	Effort   string   `json:"effort,omitempty"` // of reasoning: "low", "medium", "high", ...

	// Unattended says that nobody can answer: what would be asked is refused.
	Unattended bool `json:"unattended,omitempty"`
}

// SessionDeleted says that a session is gone for good.
type SessionDeleted struct{ fact }

// HistoryChanged says that messages were removed or replaced: reload the transcript.
type HistoryChanged struct {
	fact
	Why HistoryChange `json:"why"`
}

// HistoryChange says why messages were removed or replaced.
type HistoryChange string

// Changes of the history.
const (
	HistoryUndone     HistoryChange = "undo"        // an exchange was taken back, or is asked for again
	HistoryCompressed HistoryChange = "compression" // a summary stands for old messages
	HistoryElsewhere  HistoryChange = "elsewhere"   // another process worked in this session
)
