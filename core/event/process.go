package event

import "time"

// ProcessEnded says that a command in the background is over. Its output stays readable for a while under its ID.
type ProcessEnded struct {
	fact
	ID       string        `json:"id"`      // "p1", "p2", ... within the session
	CallID   string        `json:"call_id"` // the tool call that started it
	Backend  string        `json:"backend"`
	Command  string        `json:"command"`
	ExitCode int           `json:"exit_code"` // 128+n for signal n
	Took     time.Duration `json:"took"`
}
