// Package session holds the rules over the store: new, resume, fork, rename, undo, search, export,
// import.
//
// The contract: a method that changes something returns after the change was committed, and
// publishes its event after that and before it returns. Every error says which session or message
// it is about; one that wraps store.ErrNotFound lists what the person may have meant. A message is
// acknowledged once Append or Seal returned nil; if the error is a *store.SpilledError it is safe
// too, in a file beside the database.
package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/core/secret"
	"hermes/core/store"
)

// Service applies the rules. All methods are safe for concurrent use.
type Service struct {
	st  *store.Store
	bus *event.Bus
	now func() time.Time
}

// New returns a service over st that publishes on bus.
func New(st *store.Store, bus *event.Bus) *Service {
	return &Service{st: st, bus: bus, now: time.Now}
}

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

// Values of store.Session.TitleSrc.
const (
	titleDerived = "derived" // from the first user message
	titleModel   = "model"   // suggested by a model
	titleUser    = "user"    // chosen by a person: never changed by anything else
)

// NewSession describes a session to create. Every field is optional.
type NewSession struct {
	UID      string // empty: generated, like 20261121_142233_a1b2c3
	Title    string // empty: derived from the first user message
	Source   string // "tui", "run", ...
	Cwd      string
	Project  string // empty: Cwd
	Provider string
	Model    string
	Parent   string // uid
	Kind     Kind   // empty: KindUser
}

// Create makes a session and publishes SessionOpened.
func (s *Service) Create(ctx context.Context, n NewSession) (event.SessionInfo, error) {
	now := s.now()
	x := store.Session{
		UID: n.UID, Title: secret.Clean(oneLine(n.Title)), Source: n.Source, Cwd: n.Cwd, Project: n.Project, Provider: n.Provider,
		Model: n.Model, Parent: n.Parent, Kind: string(n.Kind), Started: now, Last: now,
	}
	if x.UID == "" {
		x.UID = newUID(now)
	}
	if x.Title != "" {
		x.TitleSrc = titleUser
	}
	if x.Project == "" {
		x.Project = x.Cwd
	}
	if x.Kind == "" {
		x.Kind = string(KindUser)
	}
	if err := s.st.CreateSession(ctx, x); err != nil {
		return event.SessionInfo{}, err
	}
	return s.publishOpened(ctx, x.UID, "new")
}

// newUID is a time for people and six random digits against two at the same second.
func newUID(now time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return now.Format("20060102_150405_") + hex.EncodeToString(b[:])
}

// Get returns a session's row.
func (s *Service) Get(ctx context.Context, uid string) (event.SessionInfo, error) {
	x, err := s.st.Session(ctx, uid)
	if err != nil {
		return event.SessionInfo{}, err
	}
	return s.infoOf(x), nil
}

// Open makes a stored session live: it takes it up (see Lease) for a moment, and publishes
// SessionOpened.
func (s *Service) Open(ctx context.Context, uid string, how event.Opening) (event.SessionInfo, error) {
	release, err := s.Lease(ctx, uid)
	if err != nil {
		return event.SessionInfo{}, err
	}
	defer release()
	return s.publishOpened(ctx, uid, how)
}

// Lease takes a session up: it keeps other processes from working in it until release, and closes
// what an interrupted program left half done (see closeDangling). A session in which another
// process works is refused with a *store.InUseError: what is half done there is not dangling.
// Neither is it when a turn runs in this process, which has its own lease.
func (s *Service) Lease(ctx context.Context, uid string) (release func(), err error) {
	release, first, err := s.st.Lease(ctx, uid)
	if err != nil || !first {
		return release, err
	}
	if err := s.closeDangling(ctx, uid); err != nil {
		release()
		return nil, fmt.Errorf("open session %s: %w", uid, err)
	}
	return release, nil
}

func (s *Service) publishOpened(ctx context.Context, uid string, how event.Opening) (event.SessionInfo, error) {
	info, err := s.Get(ctx, uid)
	if err == nil {
		s.publish(uid, event.SessionOpened{Info: info, How: how})
	}
	return info, err
}

func (s *Service) publish(uid string, e event.Event) {
	if s.bus != nil {
		s.bus.Publish(event.Header{Session: uid}, e)
	}
}

// infoOf is the list row of x. A clock that was wrong must not keep a session at "in ten years".
func (s *Service) infoOf(x store.Session) event.SessionInfo {
	last := x.Last
	if now := s.now(); last.After(now) {
		last = now
	}
	return event.SessionInfo{
		UID: x.UID, Title: x.Title, Source: x.Source, Parent: x.Parent, Provider: x.Provider, Model: x.Model, Cwd: x.Cwd, Project: x.Project,
		Preview: x.Preview, Started: x.Started, Last: last, Messages: x.Messages, Usage: x.Usage,
		Archived: x.Archived, Pinned: x.Pinned, Elsewhere: s.st.IsWorkedElsewhere(x.ID),
	}
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
	Archived bool   // archived ones too
	Kinds    []Kind // nil: KindUser and KindBranch

	OnlyArchived bool // with Archived: the others not
}

// List returns sessions.
func (s *Service) List(ctx context.Context, f Filter) ([]event.SessionInfo, error) {
	q := store.ListQuery{
		TitleHas: f.Query, ProjectHas: f.Project, Source: f.Source, Since: f.Since, Until: f.Until,
		Archived: f.Archived, OnlyArchived: f.OnlyArchived, Limit: orDefault(f.Limit, 50), Offset: f.Offset,
	}
	for _, k := range f.Kinds {
		q.Kinds = append(q.Kinds, string(k))
	}
	rows, err := s.st.Sessions(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	out := make([]event.SessionInfo, len(rows))
	for i, x := range rows {
		out[i] = s.infoOf(x)
	}
	return out, nil
}

func orDefault(n, def int) int {
	if n <= 0 {
		return def
	}
	return n
}

// Meta returns a value kept with a session (todo list, back end, working directory), empty when
// unset.
func (s *Service) Meta(ctx context.Context, uid, key string) (string, error) {
	all, err := s.st.Meta(ctx, uid)
	return all[key], err
}

// SetMeta keeps a value with a session; "" removes it.
func (s *Service) SetMeta(ctx context.Context, uid, key, value string) error {
	return s.st.SetMeta(ctx, uid, key, value)
}

// Prompt returns the frozen system prompt of a session, empty when there is none.
func (s *Service) Prompt(ctx context.Context, uid string) (string, error) {
	return s.st.Prompt(ctx, uid)
}

// SetPrompt freezes the system prompt of a session. Equal prompts are stored once.
func (s *Service) SetPrompt(ctx context.Context, uid, text string) error {
	return s.st.SetPrompt(ctx, uid, secret.Clean(text))
}

// Spent is what one model call used, and for what.
type Spent = store.Spent

// CountUsage adds the tokens and cost of one model call to a session.
func (s *Service) CountUsage(ctx context.Context, uid string, x Spent) error {
	return s.st.CountUsage(ctx, uid, x)
}

// UsageBy sums up what model calls used.
func (s *Service) UsageBy(ctx context.Context, by store.UsageBy, f store.UsageFilter) ([]store.UsageRow, error) {
	return s.st.UsageBy(ctx, by, f)
}

// Attempt is one call of a model.
type Attempt = store.Attempt

// Attempts are the calls of models that a session made, the oldest first.
func (s *Service) Attempts(ctx context.Context, uid string) ([]Attempt, error) {
	return s.st.Attempts(ctx, uid)
}

// AddAttempt notes one try to have message id answered by a provider.
func (s *Service) AddAttempt(ctx context.Context, id int64, a store.Attempt) error {
	return s.st.AddAttempt(ctx, id, a)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
