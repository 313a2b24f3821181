// Package memory keeps what the agent remembers from one session to the next: two small text files
// of a person's home folder.
//
// The contract:
//
//   - memories/MEMORY.md holds the agent's own notes, memories/USER.md what it knows of the person.
//     Entries stand between lines that hold nothing but "§"; the bytes are those of the Python
//     hermes-agent, and so is the lock (MEMORY.md.lock), so that both can work in one home.
//   - A write reads the file again under the lock and changes nothing but the entries that it
//     names: line ends, blank lines and whatever else a person wrote stay byte for byte. The new
//     file takes the place of the old one in one step, mode 0600, in a folder of mode 0700.
//   - Operations of one call are applied together and judged by what comes of them: the size limit,
//     text that gives orders to the agent, secrets. All of them happen or none.
//   - What cannot be used (not UTF-8, too large, no regular file) is an error that says what to do;
//     it is never written over.
//   - Every entry is scanned again when it is loaded: a hit stays on disk and is kept out of the
//     prompt (Snapshot).
//   - The last versions of each file are kept, so that a change can be taken back (Undo).
//
// Sizes are characters (Unicode code points) of the entries with their separators, as hermes-agent
// counts them. A Store holds no state between calls and is safe for concurrent use, also by several
// processes.
package memory

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hermes/core/injection"
)

// Target is one of the two files.
type Target string

// The targets.
const (
	Notes Target = "memory" // the agent's own notes
	User  Target = "user"   // what is known of the person
)

// Targets are both, in the order in which they are shown.
func Targets() []Target { return []Target{Notes, User} }

// File is the name of the target's file.
func (t Target) File() string {
	if t == User {
		return "USER.md"
	}
	return "MEMORY.md"
}

// Title says whose it is, for people and for the prompt.
func (t Target) Title() string {
	if t == User {
		return "USER PROFILE (who the user is)"
	}
	return "MEMORY (your personal notes)"
}

// ParseTarget reads a person's word for a target.
func ParseTarget(s string) (Target, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "memory", "memory.md", "notes", "":
		return Notes, nil
	case "user", "user.md", "profile":
		return User, nil
	}
	return "", fmt.Errorf("no memory %q: there are memory (MEMORY.md) and user (USER.md)", s)
}

// Limits are the sizes of the files, in characters.
type Limits struct{ Notes, User int }

func (l Limits) limitOf(t Target) int {
	if t == User {
		return l.User
	}
	return l.Notes
}

// DefaultLimits are those of hermes-agent.
func DefaultLimits() Limits { return Limits{Notes: 2200, User: 1375} }

// Store is the memory of one home folder. Nothing is touched before the first call.
type Store struct {
	dir    string
	limits func() Limits
}

// New is the memory below home (HERMES_HOME, or a profile's folder). limits is asked at every call;
// nil means DefaultLimits.
func New(home string, limits func() Limits) *Store {
	if limits == nil {
		limits = DefaultLimits
	}
	return &Store{dir: filepath.Join(home, "memories"), limits: limits}
}

// Dir is the folder of the files, as it is written; it may be a link.
func (s *Store) Dir() string { return s.dir }

// Path is where a target's file is.
func (s *Store) Path(t Target) string { return filepath.Join(s.dir, t.File()) }

// Hit is text of an entry that gives orders to the agent.
type Hit struct {
	Start  int    `json:"start"` // bytes of the entry's text
	End    int    `json:"end"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Text   string `json:"text"` // of the hit, on one line, with names for what cannot be seen
}

// Entry is one thing that is remembered.
type Entry struct {
	Text string // without white space around it, lines end in "\n"
	Line int    // of the file, from 1
	Hits []Hit  // why it is kept out of the prompt; empty when it is not

	start, end int // bytes of the file
}

// Blocked reports whether the entry is kept out of the prompt.
func (e Entry) Blocked() bool { return len(e.Hits) > 0 }

// Document is a target's file as it was read. It is not changed afterwards.
type Document struct {
	Target  Target
	Path    string
	Entries []Entry
	Used    int // characters
	Limit   int

	raw []byte
}

// Load reads a target. A file that is not there is empty.
func (s *Store) Load(t Target) (Document, error) {
	raw, err := s.readTarget(t)
	if err != nil {
		return Document{Target: t, Path: s.Path(t), Limit: s.limits().limitOf(t)}, err
	}
	d := s.newDocument(t, raw)
	d.scanEntries()
	return d, nil
}

func (s *Store) newDocument(t Target, raw []byte) Document {
	d := Document{Target: t, Path: s.Path(t), Limit: s.limits().limitOf(t), raw: raw, Entries: parseEntries(raw)}
	d.Used = countCharacters(d.Entries)
	return d
}

// Texts are the entries' texts.
func (d Document) Texts() []string {
	out := make([]string, len(d.Entries))
	for i, e := range d.Entries {
		out[i] = e.Text
	}
	return out
}

// Blocked are the entries that are kept out of the prompt.
func (d Document) Blocked() []Entry {
	var out []Entry
	for _, e := range d.Entries {
		if e.Blocked() {
			out = append(out, e)
		}
	}
	return out
}

// Over reports whether the file holds more than it may.
func (d Document) Over() bool { return d.Used > d.Limit }

// Bytes are the file as it was read.
func (d Document) Bytes() []byte { return append([]byte(nil), d.raw...) }

// Percent is how full it is; more than 100 when it is over its limit.
func (d Document) Percent() int {
	if d.Limit <= 0 {
		return 0
	}
	return d.Used * 100 / d.Limit
}

// Usage is "1,474/2,200 characters, 67%".
func (d Document) Usage() string {
	return fmt.Sprintf("%s/%s characters, %d%%", Number(d.Used), Number(d.Limit), d.Percent())
}

// Number is n with a comma between thousands.
func Number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// scanEntries marks what gives orders to the agent: in an entry, and across the border of entries,
// where each alone looks harmless.
func (d *Document) scanEntries() {
	for i := range d.Entries {
		d.Entries[i].Hits = findOrders(d.Entries[i].Text)
	}
	var joined strings.Builder
	at := make([]int, len(d.Entries))
	own := make([]bool, len(d.Entries)) // a hit by itself: it is out already
	for i, e := range d.Entries {
		joined.WriteByte('\n')
		at[i], own[i] = joined.Len(), e.Blocked()
		if !own[i] {
			joined.WriteString(e.Text)
		}
	}
	text := joined.String()
	for _, f := range injection.Scan(text) {
		if f.Score > 0 { // how much a text reads like an order is a question for each entry: many facts in a row are no sentence
			continue
		}
		for i := range d.Entries {
			e := &d.Entries[i]
			start, end := max(f.Start-at[i], 0), min(f.End-at[i], len(e.Text))
			if own[i] || start >= end {
				continue
			}
			e.Hits = append(e.Hits, Hit{start, end, f.Rule, asClause(f.Reason) + ", together with the entries beside it", injection.Excerpt(text, f)})
		}
	}
}

func findOrders(text string) []Hit {
	var out []Hit
	for _, f := range injection.Scan(text) {
		out = append(out, Hit{f.Start, f.End, f.Rule, asClause(f.Reason), injection.Excerpt(text, f)})
	}
	return out
}

// asClause makes a reason the rest of a sentence that begins with "it": some name a thing, not what
// the text does.
func asClause(reason string) string {
	if strings.HasPrefix(reason, "a ") || strings.HasPrefix(reason, "characters ") {
		return "holds " + reason
	}
	return reason
}

// ErrUnusable is wrapped by what Load returns for a file that is there and cannot be used.
var ErrUnusable = errors.New("the memory file cannot be used")
