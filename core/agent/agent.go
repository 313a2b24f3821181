// Package agent is the loop: a prompt goes to a model, the model calls tools, their results go
// back, until it has answered.
//
// The contract:
//
//   - One Agent, many sessions at a time. Each session runs one turn at a time, in its own
//     goroutine, which exists only while there is something to do; what arrives meanwhile waits in
//     a queue that is stored and shown.
//   - Nothing that was accepted is lost. A prompt is stored before Submit returns, every message
//     before it is published, and a submitted text is at any moment either in the history or in the
//     visible queue. When the disk is full it is in the file that the store keeps beside the
//     database: it counts as accepted, and the turn ends with words that say so.
//   - Every turn ends with exactly one TurnEnded, whatever the model, a tool or the network does.
//     An interrupt ends it within about a second: what was written stays and is marked, calls that
//     did not finish get a made-up result.
//   - After a turn that did not end well, what was queued waits until a person says so; it is never
//     started by itself.
//   - The agent does not know who listens. It publishes on the bus, and the screen is one
//     subscriber of many.
//
// All methods are safe for concurrent use. Methods that touch the store may take milliseconds: call
// them outside of a screen's update loop. Busy, Queue, Interrupt and Answer do not wait.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/store"
	"hermes/core/tool"
)

// Sessions keeps conversations; core/session implements it. Append and Seal return once the message
// is safe on disk.
type Sessions interface {
	// Lease takes a session up: it keeps other processes out until release, and closes what an
	// interrupted program left half done. Its error says who works in it.
	Lease(ctx context.Context, uid string) (release func(), err error)
	Get(ctx context.Context, uid string) (event.SessionInfo, error)
	History(ctx context.Context, uid string) ([]chat.Message, error)
	// Volume sums up the same without reading it. Messages that it cannot sum up go to each.
	Volume(ctx context.Context, uid string, each func(*chat.Message)) (chat.Volume, error)
	Append(ctx context.Context, uid string, m *chat.Message) error
	UpdatePartial(ctx context.Context, id int64, text, reasoning string) error
	Seal(ctx context.Context, m *chat.Message) error
	Discard(ctx context.Context, id int64) error
	Undo(ctx context.Context, uid string, exchanges int) (prompt chat.Message, err error)
	Compact(ctx context.Context, uid string, through int64, summary *chat.Message) error
	SaveQueue(ctx context.Context, uid string, q []event.QueuedInput) error
	LoadQueue(ctx context.Context, uid string) ([]event.QueuedInput, error)
	Prompt(ctx context.Context, uid string) (string, error)
	SetPrompt(ctx context.Context, uid, text string) error
	SetModel(ctx context.Context, uid, provider, model string) error
	Meta(ctx context.Context, uid, key string) (string, error)
	SetMeta(ctx context.Context, uid, key, value string) error
	CountUsage(ctx context.Context, uid string, s store.Spent) error
	AddAttempt(ctx context.Context, message int64, a store.Attempt) error
	KeepParts(ctx context.Context, uid string, parts []chat.Part) []chat.Part
	Content(blob string) ([]byte, error)
}

// Models finds a model by name: "provider/model", "model", or "" for the default. provider.Set
// implements it.
type Models interface {
	Resolve(ctx context.Context, ref string) (provider.Provider, provider.Model, error)
	// Route is where the calls of a turn go, fallbacks included; tries is provider.Set's most.
	Route(ctx context.Context, ref string, tries int) (*provider.Route, error)
	// Aside is where work beside the conversation goes: along refs, then to own with its fallbacks.
	Aside(ctx context.Context, refs []string, own string, tries int) (*provider.Route, error)
}

// Tools is what the agent can do; tool.Registry implements it.
type Tools interface {
	Specs(session string, toolsets []string) []tool.Spec
	Lookup(name string) (tool.Spec, bool)
	Validate(name string, args json.RawMessage) (json.RawMessage, error)
	Run(ctx context.Context, name string, c tool.Call) chat.ToolResult
}

// Gate stands before every tool call; approval.Gate implements it.
type Gate interface {
	Check(ctx context.Context, r approval.Request) (approval.Verdict, error)
	Answer(id string, d event.Decision) error
	AnswerEdited(id, command string) error
}

// Deps is everything the agent needs. Log and Backend may be nil.
type Deps struct {
	Bus      *event.Bus
	Sessions Sessions
	Models   Models
	Tools    Tools
	Gate     Gate
	// Prompt builds the system prompt of a session. It is called once a session: the
	// same bytes go out with every call, so that providers can cache them.
	Prompt func(ctx context.Context, s event.SessionInfo, tools []provider.ToolSpec) (string, error)
	// Settings is asked at the start of every turn of a session, so that changes apply live.
	Settings func(session string) Settings
	// DocumentText reads the text of a PDF document; nil reads none.
	DocumentText func(ctx context.Context, pdf []byte) (string, error)
	// Backend says where a call of a session runs when it asks for "asked"; asked may be empty.
	Backend func(session, asked string) Place
	// Keep holds a session's back end up while somebody is asked whether a command may run in it; nil
	// holds nothing.
	Keep func(session, name string) (release func())
	// See asks a model that sees about an image; nil: there is none.
	See Sight
	// Checkpoints keeps files before they are changed; nil keeps nothing.
	Checkpoints Checkpoints
	// Autorun finds what calls leave for other programs to run; nil looks for nothing.
	Autorun Autorun
	// Await is called before a turn has its tools: those that are still on their way may come. First
	// says that the session is given its tools now. nil waits for nothing.
	Await func(ctx context.Context, session string, toolsets []string, first bool)
	// Defer says of which of the tools of a session a model with a window of so many tokens is told,
	// and which it has to search for. nil tells it of all.
	Defer func(window int, specs []tool.Spec) (listed, found []tool.Spec)
	// Hooks take part in turns; nil: none do.
	Hooks Hooks
	// Engine is who sums conversations up in the model's place; nil, or one that returns nil: nobody.
	Engine func() *Summariser
	Log    *slog.Logger
}

// Place is a back end and the folder in which the session's next command starts there; "" is the
// session's own.
type Place struct {
	Name, Dir string
	// Local says that its paths are those of this machine, Sandboxed that nothing of the machine can
	// be reached from it.
	Local, Sandboxed bool
	Sandbox          string // of commands on this machine: "project", "strict"
}

// Settings are what a person may change while the program runs. Zero fields mean the default.
type Settings struct {
	MaxTurns  int             // model calls a turn: 90
	Toolsets  []string        // none: the registry's default
	Effort    string          // reasoning effort
	EffortSet bool            // Effort is the session's own word: it wins over what is set for a model
	MaxTokens int             // of one answer
	Question  time.Duration   // how long the clarify tool waits for a person: 10 minutes
	Busy      event.InputMode // what an Input without a mode does while a turn runs: InputInterrupt
	Retries   int             // tries after a failed model call, at most; 0: as many as its kind is worth; < 0: none
	// Compress has conversations compressed before a call that would fill the window too far.
	Compress bool
	// CompressAt is the share of a model's window from which on that is done; 0: as the window asks
	// for.
	CompressAt float64
	// KeepShare is the share of what CompressAt allows that stays word for word, from the newest
	// message back; at least two exchanges do, and ProtectLast messages, unless they alone fill half
	// of it. /compress goes by the two exchanges only.
	KeepShare   float64
	ProtectLast int
	// ProtectFirst messages, the first that the person said, are quoted in every summary.
	ProtectFirst int
	// Summarisers are the models that write summaries, as Models.Resolve takes them, one after the
	// other; the session's own stands in for them.
	Summarisers []string
	// SummaryTime is how long a summary may take, with all that is tried for it; 0: a minute.
	SummaryTime time.Duration
	// KeepOnFailure leaves the conversation as it is when it cannot be summarised; otherwise a plain
	// extract is used.
	KeepOnFailure bool
}

const (
	defaultMaxTurns = 90
	defaultQuestion = 10 * time.Minute
)

// Input is what a person (or a program) says to a session.
type Input struct {
	From  chat.Author // whose words they are; the zero Author is trusted with nothing that a person is
	Text  string
	Parts []chat.Part
	Mode  event.InputMode // what to do when a turn runs; "" means Settings.Busy
	// Own is what the person wrote of the text, when that is not all of it: only there does @word
	// name something. Nil means the whole text.
	Own *string
}

// Names is the text in which @word names something; "" where nobody may name anything.
func (in Input) Names() string {
	switch {
	case !in.From.IsPerson():
		return ""
	case in.Own != nil:
		return *in.Own
	default:
		return in.Text
	}
}

// ErrClosed is returned by everything that would start work after Close.
var ErrClosed = errors.New("the agent is closed: the program is ending")

// ErrBusy is returned by what needs a session without a running turn.
var ErrBusy = errors.New("a turn is running in this session: stop it first, or wait until it ends")

// Agent runs the turns of all sessions.
type Agent struct {
	d Deps

	mu      sync.Mutex
	workers map[string]*worker
	closed  bool

	windows   sync.Map // by "provider/model": context windows that servers told: of a model that nobody knew, or when theirs was too small
	asked     sync.Map // by "provider/model": whose server was asked for the window
	asks      sync.WaitGroup
	stopAsks  []context.CancelFunc // under mu
	questions questions
	ids       atomic.Int64
	calls     atomic.Int64 // that were numbered
}

// New returns an agent. It starts nothing.
func New(d Deps) *Agent {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Settings == nil {
		d.Settings = func(string) Settings { return Settings{} }
	}
	if d.Keep == nil {
		d.Keep = func(string, string) func() { return func() {} }
	}
	if d.Backend == nil {
		d.Backend = func(_, asked string) Place { return Place{Name: asked} }
	}
	return &Agent{d: d, workers: map[string]*worker{}, questions: questions{open: map[string]*question{}}}
}

// Close interrupts every turn and waits until all have ended, or until ctx is done.
func (a *Agent) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	workers := make([]*worker, 0, len(a.workers))
	for _, w := range a.workers {
		workers = append(workers, w)
	}
	for _, stop := range a.stopAsks {
		stop()
	}
	a.mu.Unlock()
	a.asks.Wait()
	for _, w := range workers {
		w.interruptTurn()
	}
	for _, w := range workers {
		if err := w.waitIdle(ctx); err != nil {
			return fmt.Errorf("session %s did not end in time: %w", w.uid, err)
		}
	}
	return nil
}

// workerOf returns the worker of a session and loads what waits in its stored queue at first use.
func (a *Agent) workerOf(ctx context.Context, session string) (*worker, error) {
	a.mu.Lock()
	w := a.workers[session]
	if w == nil {
		w = &worker{a: a, uid: session}
		a.workers[session] = w
	}
	closed := a.closed
	a.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	return w, w.loadQueue(ctx)
}

// knownWorker returns the worker of a session that was used before, or nil.
func (a *Agent) knownWorker(session string) *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.workers[session]
}

func (a *Agent) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// Interrupt stops the running turn of a session and reports whether there was one.
func (a *Agent) Interrupt(session string) bool {
	w := a.knownWorker(session)
	return w != nil && w.interruptTurn()
}

// Busy reports whether a turn (or a compression) runs in the session.
func (a *Agent) Busy(session string) bool {
	w := a.knownWorker(session)
	return w != nil && w.isBusy()
}

// Wait blocks until nothing runs in the session, or until ctx is done.
func (a *Agent) Wait(ctx context.Context, session string) error {
	if w := a.knownWorker(session); w != nil {
		return w.waitIdle(ctx)
	}
	return nil
}

// Answer settles an approval.
func (a *Agent) Answer(approvalID string, d event.Decision) error {
	return a.d.Gate.Answer(approvalID, d)
}

// AnswerEdited settles an approval with a command that runs in place of the call's own, as that
// call.
func (a *Agent) AnswerEdited(approvalID, command string) error {
	return a.d.Gate.AnswerEdited(approvalID, command)
}

func (a *Agent) nextID(prefix string) string { return fmt.Sprintf("%s%d", prefix, a.ids.Add(1)) }
