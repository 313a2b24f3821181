package files

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"hermes/core/realpath"
)

// The operations. A host's allowed_commands and denied_commands judge them by these names.
const (
	opResolve = "resolve"
	opStat    = "stat"
	opRead    = "read"
	opList    = "list"
	opWrite   = "write"
	opRemove  = "remove"
	opSearch  = "search"
)

// Bounds of messages, in bytes.
const (
	MaxRequest = 2*MaxWrite + 1<<20 // a file in base64, and its path
	MaxReply   = 16 << 20
	chunk      = 1 << 20 // of a file that is read
)

// request is what a Far asks.
type request struct {
	Op     string         `json:"op"`
	Dir    string         `json:"dir,omitempty"`
	Path   string         `json:"path"`
	Offset int64          `json:"offset,omitempty"`
	Data   []byte         `json:"data,omitempty"`
	Old    *realpath.Stat `json:"old,omitempty"`
	Query  *Query         `json:"query,omitempty"`
}

// reply is what Serve answers.
type reply struct {
	Failure *failure       `json:"failure,omitempty"`
	Place   *Place         `json:"place,omitempty"`
	Stat    *realpath.Stat `json:"stat,omitempty"`
	Data    []byte         `json:"data,omitempty"`
	Entries []Entry        `json:"entries,omitempty"`
	Answer  *Answer        `json:"answer,omitempty"`
}

// Query is a search on the other side.
type Query struct {
	Pattern string   `json:"pattern"` // a regular expression of Go; of names when Names is set
	Names   []string `json:"names,omitempty"`
	Globs   []string `json:"globs,omitempty"`
	Context int      `json:"context,omitempty"`
	Single  bool     `json:"single,omitempty"` // the path is a file
	Most    int      `json:"most"`             // results, at most
}

// Answer is what a Query found. More says that there is more than it holds.
type Answer struct {
	Found  []Found  `json:"found,omitempty"`
	Listed []Listed `json:"listed,omitempty"`
	Total  int      `json:"total,omitempty"` // of files by name
	More   bool     `json:"more,omitempty"`
}

// maxHit is how much of a line is sent, and maxFound how much of all lines.
const (
	maxHit   = 4 << 10
	maxFound = 4 << 20
)

// searchTime is how long the other side searches.
const searchTime = 30 * time.Second

// failure is an error on its way: what it says, and what errors.Is is to say of it.
type failure struct {
	Text string `json:"text"`
	Is   string `json:"is,omitempty"`
}

// kinds are the errors that the other side is asked about.
var kinds = map[string]error{
	"missing": fs.ErrNotExist, "exists": fs.ErrExist, "permission": fs.ErrPermission, "moved": realpath.ErrMoved,
	"readonly": syscall.EROFS, "full": syscall.ENOSPC, "busy": syscall.EBUSY, "notempty": syscall.ENOTEMPTY, "folder": syscall.ENOTDIR,
}

func failureOf(err error) *failure {
	f := &failure{Text: Reason(err).Error()}
	for name, is := range kinds {
		if errors.Is(err, is) {
			f.Is = name
		}
	}
	return f
}

// farError is an error of the other side.
type farError struct {
	text string
	is   error
}

func (e *farError) Error() string { return e.text }
func (e *farError) Unwrap() error { return e.is }

func (f *failure) asError() error { return &farError{f.Text, kinds[f.Is]} }
