// Package session holds the rules over the store: new, resume, fork, rename, search, export, import.
package session

import (
	"context"
	"errors"
	"io"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

// Service applies the rules. All methods are safe for concurrent use.
type Service struct {
	st  *store.Store
	bus *event.Bus
}

// New returns a service over st that publishes on bus.
func New(st *store.Store, bus *event.Bus) *Service { return &Service{st: st, bus: bus} }

// Kind says what a session is for. Lists show KindUser and KindBranch unless asked for more.
type Kind string

// Kinds of session.
const (
	KindUser       Kind = "user"
	KindBranch     Kind = "branch"
	KindCompaction Kind = "compaction"
	KindSubagent   Kind = "subagent"
	KindCron       Kind = "cron"
)

// NewSession describes a session to create. Every field is optional.
type NewSession struct {
	UID      string // empty: generated, like 20261121_142233_a1b2c3
	Title    string // empty: derived from the first exchange
	Source   string // "tui", "run", ...
	Cwd      string
	Project  string // empty: Cwd
	Provider string
	Model    string
	Parent   string // uid
	Kind     Kind   // empty: KindUser
}

// Filter selects and orders the session list: pinned first, then newest activity first.
type Filter struct {
	Limit    int // 0 means 50
	Offset   int
	Query    string // part of the title
	Project  string // part of the project path
	Source   string
	Since    time.Time
	Until    time.Time
	Archived bool   // include archived ones
	Kinds    []Kind // nil: KindUser and KindBranch
}

// Page selects messages by position; set at most one of the first three. The zero value is the newest page.
type Page struct {
	BeforeSeq int
	AfterSeq  int
	AroundID  int64
	Limit     int // 0 means 50
}

// Query is a search over all past messages.
//
// Text holds words and filter words: tool:terminal backend:analytics since:2w until:2026-01-01 in:project source:run role:user.
type Query struct {
	Text    string
	Limit   int  // sessions and hits at most; 0 means 20
	Typing  bool // the last word may be unfinished: match it as a prefix
	Project string
	Source  string
	Since   time.Time
	Until   time.Time
}

// Hit is one message found.
type Hit struct {
	Session   event.SessionInfo
	MessageID int64 // 0 when the title matched
	Seq       int
	Role      chat.Role
	At        time.Time
	Snippet   string
	Marks     [][2]int // byte ranges in Snippet
	Tool      string
}

// Results is the answer to a Query: the best hit of each session first.
type Results struct {
	Hits       []Hit
	Total      int     // matching messages, counted up to 5,000
	Bounded    bool    // there are more than Total; the newest were ranked
	Rebuilding float64 // 0 when the index is complete, else how much of it is (0..1, at least a little above 0)
}

// Format is a form of export.
type Format string

// Export formats.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"     // lossless, Import reads it
	ShareGPT Format = "sharegpt" // one line of JSON a session
)

// ImportReport says what an import did.
type ImportReport struct {
	Sessions, Messages int // new ones
	Skipped            int // sessions that were here already
	Problems           []string
}

// Stats counts what the store holds.
type Stats struct {
	Sessions, Archived, Messages, ToolCalls int
	Usage                                   chat.Usage
	Bytes                                   int64          // of the database file and its log
	BySource, ByModel                       map[string]int // sessions
	Oldest, Newest                          time.Time
}

// CheckReport is the outcome of Check. Problems is empty when all is well.
type CheckReport struct {
	Problems []string
	Messages int
	Took     time.Duration
}

var errUnfinished = errors.New("session: being written")

// Create makes a session and publishes SessionOpened.
func (s *Service) Create(ctx context.Context, n NewSession) (event.SessionInfo, error) {
	return event.SessionInfo{}, errUnfinished
}

// Resolve finds a session by uid, unique start of a uid, exact title, or "last".
func (s *Service) Resolve(ctx context.Context, ref string) (event.SessionInfo, error) {
	return event.SessionInfo{}, errUnfinished
}

// Get returns a session's row.
func (s *Service) Get(ctx context.Context, uid string) (event.SessionInfo, error) {
	return event.SessionInfo{}, errUnfinished
}

// Open makes a session live: it closes dangling tool calls and publishes SessionOpened.
func (s *Service) Open(ctx context.Context, uid, how string) (event.SessionInfo, error) {
	return event.SessionInfo{}, errUnfinished
}

// List returns sessions.
func (s *Service) List(ctx context.Context, f Filter) ([]event.SessionInfo, error) {
	return nil, errUnfinished
}

// Messages returns one page in Seq order; more says that the page's far end has further messages.
func (s *Service) Messages(ctx context.Context, uid string, p Page) (msgs []chat.Message, more bool, err error) {
	return nil, false, errUnfinished
}

// History returns the active messages, for the model.
func (s *Service) History(ctx context.Context, uid string) ([]chat.Message, error) {
	return nil, errUnfinished
}

// Append persists m at the end of a session and sets its ID, Session, Seq and, when zero, At.
func (s *Service) Append(ctx context.Context, uid string, m *chat.Message) error {
	return errUnfinished
}

// UpdatePartial replaces the text of a streaming message.
func (s *Service) UpdatePartial(ctx context.Context, id int64, text, reasoning string) error {
	return errUnfinished
}

// Seal writes the final state of a streamed message.
func (s *Service) Seal(ctx context.Context, m *chat.Message) error { return errUnfinished }

// Discard removes a message that a retry replaces.
func (s *Service) Discard(ctx context.Context, id int64) error { return errUnfinished }

// Rename sets a title for good.
func (s *Service) Rename(ctx context.Context, uid, title string) error { return errUnfinished }

// SetTitleIfDerived sets a title unless a person chose the present one; it reports whether it did.
func (s *Service) SetTitleIfDerived(ctx context.Context, uid, title string) (bool, error) {
	return false, errUnfinished
}

// Archive hides a session from lists, or shows it again.
func (s *Service) Archive(ctx context.Context, uid string, on bool) error { return errUnfinished }

// Pin keeps a session at the top of lists.
func (s *Service) Pin(ctx context.Context, uid string, on bool) error { return errUnfinished }

// SetModel notes which model a session uses.
func (s *Service) SetModel(ctx context.Context, uid, provider, model string) error {
	return errUnfinished
}

// Delete removes a session for good.
func (s *Service) Delete(ctx context.Context, uid string) error { return errUnfinished }

// Fork copies a session up to and including a message (0: all).
func (s *Service) Fork(ctx context.Context, uid string, atMessage int64) (event.SessionInfo, error) {
	return event.SessionInfo{}, errUnfinished
}

// Undo takes back the last exchanges and returns the text of the first prompt taken back.
func (s *Service) Undo(ctx context.Context, uid string, exchanges int) (prompt string, err error) {
	return "", errUnfinished
}

// Compact replaces the messages up to and including through by summary in what the model sees.
func (s *Service) Compact(ctx context.Context, uid string, through int64, summary *chat.Message) error {
	return errUnfinished
}

// Search finds past messages.
func (s *Service) Search(ctx context.Context, q Query) (Results, error) {
	return Results{}, errUnfinished
}

// Export writes a session to w.
func (s *Service) Export(ctx context.Context, uid string, w io.Writer, f Format) error {
	return errUnfinished
}

// Import reads what Export wrote as JSON.
func (s *Service) Import(ctx context.Context, r io.Reader) ([]event.SessionInfo, error) {
	return nil, errUnfinished
}

// ImportHermes reads the state.db of a Python hermes.
func (s *Service) ImportHermes(ctx context.Context, path string, progress func(done, total int)) (ImportReport, error) {
	return ImportReport{}, errUnfinished
}

// Stats counts.
func (s *Service) Stats(ctx context.Context) (Stats, error) { return Stats{}, errUnfinished }

// Check examines the database.
func (s *Service) Check(ctx context.Context) (CheckReport, error) {
	return CheckReport{}, errUnfinished
}

// Prompt returns the frozen system prompt of a session, empty when there is none.
func (s *Service) Prompt(ctx context.Context, uid string) (string, error) { return "", errUnfinished }

// SetPrompt freezes the system prompt of a session.
func (s *Service) SetPrompt(ctx context.Context, uid, text string) error { return errUnfinished }

// SaveQueue keeps waiting input over a restart.
func (s *Service) SaveQueue(ctx context.Context, uid string, q []event.QueuedInput) error {
	return errUnfinished
}

// LoadQueue returns what SaveQueue kept.
func (s *Service) LoadQueue(ctx context.Context, uid string) ([]event.QueuedInput, error) {
	return nil, errUnfinished
}

// Meta returns a value kept with a session (todo list, back end, working directory), empty when unset.
func (s *Service) Meta(ctx context.Context, uid, key string) (string, error) {
	return "", errUnfinished
}

// SetMeta keeps a value with a session.
func (s *Service) SetMeta(ctx context.Context, uid, key, value string) error { return errUnfinished }

// CountUsage adds the tokens and cost of one model call to a session.
func (s *Service) CountUsage(ctx context.Context, uid string, u chat.Usage) error {
	return errUnfinished
}
