package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hermes/core/approval"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/secret"
)

// turn is one run of the loop: from a prompt to an answer without tool calls.
type turn struct {
	a  *Agent
	w  *worker
	id string

	ctx    context.Context // ends with the interrupt
	cancel context.CancelFunc
	began  time.Time

	settings Settings
	info     event.SessionInfo
	route    *provider.Route
	model    provider.Model    // of the route's leg
	via      provider.Provider // the same
	whole    bool              // the next call asks for the answer in one piece
	left     []provider.Step   // how the route came to its leg
	held     *draft            // what came of a failed call, until another one brings as much
	hurry    chan struct{}     // ends a wait for the model
	system   string
	tools    *given
	specs    []provider.ToolSpec // the same, for the model
	history  []chat.Message      // as the store has it
	used     map[string]bool     // call ids of the session
	repeats  repeats
	denials  atomic.Int32 // in a row
	strange  atomic.Pointer[string]
	nearby   atomic.Pointer[string] // as strange, of servers of this machine
	scanning sync.Mutex
	scanned  map[int64]bool // results that hold no orders

	own    bool        // all of it is commands that the person typed: they run, and nobody answers
	prompt int64       // id of the user message, 0 for a compression
	asked  string      // what the turn began with, whoever said it
	author chat.Author // who did
	added  string      // by hooks, for the next model call
	summer string      // who wrote the newest summary in the model's place
	said   string      // what the person said last: nobody else's words allow anything
	steps  int
	looks  int // images that another model was asked about
	usage  chat.Usage
}

// outcome is how a turn ended.
type outcome struct {
	reason event.TurnReason
	err    string
	hint   string
	do     []event.Remedy
	class  string // provider.Class, when a provider failed
	silent bool   // not a turn: nothing is published but that its phases are over
}

var errInterrupted = errors.New("interrupted")

// stop ends a turn early with words for the person.
type stop struct{ outcome }

func (s stop) Error() string { return s.err }

func newTurn(w *worker) *turn {
	ctx, cancel := context.WithCancel(context.Background())
	return &turn{a: w.a, w: w, id: "t" + rand.Text()[:12], ctx: ctx, cancel: cancel, began: time.Now(), hurry: make(chan struct{})}
}

func (a *Agent) newQueueID() string { return "q" + rand.Text()[:12] }

func (t *turn) publish(e event.Event) {
	t.a.d.Bus.Publish(event.Header{Session: t.w.uid, Turn: t.id}, e)
}

func (t *turn) publishPhase(p event.TurnPhase) {
	p.Turn, p.Step = t.id, t.steps
	t.publish(p)
}

// storingContext returns a context for what must be stored although the turn was interrupted.
func (t *turn) storingContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.ctx), storeTime)
}

func (t *turn) runJob(j job) outcome { return j(t) }

func (t *turn) endTurn(out outcome) {
	if t.route != nil {
		t.route.Close()
	}
	if out.silent {
		t.publishPhase(event.TurnPhase{Kind: event.PhaseOver})
		return
	}
	t.publish(event.TurnEnded{
		Reason: out.reason, Usage: t.usage, Took: t.timeTaken(out.reason), Steps: t.steps, Err: out.err,
		Hint: out.hint, Do: out.do, Class: out.class, Foreign: t.foreignSource(),
	})
	t.publishChanged()
}

// timeTaken is how long the turn took. One that ended with an answer took what stands in the store
// with it: whoever reads the session again sees the same figure.
func (t *turn) timeTaken(reason event.TurnReason) time.Duration {
	if n := len(t.history); n > 0 && reason == event.TurnDone && t.history[n-1].Took > 0 {
		return t.history[n-1].Took
	}
	return time.Since(t.began)
}

// publishChanged tells lists what the turn made of the session's row: its messages, tokens and
// time.
func (t *turn) publishChanged() {
	ctx, cancel := t.storingContext()
	defer cancel()
	if info, err := t.a.d.Sessions.Get(ctx, t.w.uid); err == nil {
		t.w.seen.Store(int64(info.Messages))
		t.publish(event.SessionChanged{Info: info})
	}
}

// promptJob is the job of a prompt that is stored already.
func promptJob(prompt chat.Message) job {
	return func(t *turn) outcome {
		t.prompt, t.asked, t.author = prompt.ID, prompt.Text, prompt.From
		t.noteTyped(prompt)
		t.publish(event.MessageAdded{Message: prompt})
		return t.runConversation()
	}
}

// runConversation runs the loop and tells how it ended.
func (t *turn) runConversation() outcome {
	err := t.prepareRequests()
	t.publish(event.TurnStarted{Prompt: t.prompt, Model: t.model.ID})
	if err == nil {
		t.tellSkipped()
		if err = t.hookBegins(); err == nil {
			err = t.runLoop()
		}
	}
	if err == nil {
		t.hookEnded()
	}
	return t.outcomeOf(err)
}

func (t *turn) outcomeOf(err error) outcome {
	var s stop
	var pe *provider.Error
	switch {
	case err == nil:
		return outcome{reason: event.TurnDone}
	case errors.As(err, &s):
		return s.outcome
	case errors.Is(err, errInterrupted), t.ctx.Err() != nil:
		return outcome{reason: event.TurnInterrupted}
	case errors.As(err, &pe):
		return outcome{
			reason: event.TurnFailed, err: pe.Error() + t.failedModels(), hint: pe.Hint, do: remediesFor(pe.Class), class: string(pe.Class),
		}
	default:
		return outcome{reason: event.TurnFailed, err: err.Error(), do: []event.Remedy{event.RemedyRetry, event.RemedyLogs}}
	}
}

// prepareRequests gathers what the model calls of this turn have in common.
func (t *turn) prepareRequests() error {
	t.settings = t.a.d.Settings(t.w.uid)
	ctx, s := t.ctx, t.a.d.Sessions
	info, err := s.Get(ctx, t.w.uid)
	if err != nil {
		return err
	}
	t.info = info
	t.catchUp()
	ref := t.a.modelRef(ctx, info)
	if t.own = approval.OnlyCommands(t.said); t.own { // the model sees what came of it in its next turn, once
		ref = provider.Offline
	}
	if err := t.openRoute(ref); err != nil {
		out := outcome{reason: event.TurnFailed, err: err.Error(), do: []event.Remedy{event.RemedyChooseModel}}
		if pe := (*provider.Error)(nil); errors.As(err, &pe) {
			out.class, out.hint = string(pe.Class), cmp.Or(pe.Hint, out.hint)
		}
		return stop{out}
	}
	if err := t.noteModel(); err != nil {
		return err
	}
	info = t.info
	if t.tools, err = t.w.givenTools(ctx, t.settings.Toolsets); err != nil {
		return err
	}
	t.specs = t.tools.providerSpecs()
	if t.system, err = t.a.systemPrompt(ctx, info, t.specs); err != nil {
		return err
	}
	return t.reloadHistory()
}

// noteModel keeps with the session which model answers it: lists, statistics and the prompt tell
// it.
func (t *turn) noteModel() error {
	provider, model := t.via.Name(), t.model.ID
	if step, skipped := t.route.Skipped(); skipped { // for a turn only
		provider, model = step.From.Provider.Name(), step.From.Model.ID
	}
	if t.own || t.info.Provider == provider && t.info.Model == model {
		return nil
	}
	t.info.Provider, t.info.Model = provider, model
	return t.a.d.Sessions.SetModel(t.ctx, t.w.uid, provider, model)
}

// catchUp has screens read what another process added to the session since this one last looked;
// the turn's own prompt is one message.
func (t *turn) catchUp() {
	if t.prompt != 0 && int64(t.info.Messages) > t.w.seen.Load()+1 {
		t.publish(event.HistoryChanged{Why: event.HistoryElsewhere})
	}
}

// reloadHistory reads the history from the store.
func (t *turn) reloadHistory() error {
	history, err := t.a.d.Sessions.History(t.ctx, t.w.uid)
	if err != nil {
		return err
	}
	t.history, t.used = history, map[string]bool{}
	for _, m := range history {
		for _, c := range m.Calls {
			t.used[c.ID] = true
		}
	}
	return nil
}

// systemPrompt returns the session's system prompt; the first turn builds it, the others get the
// same bytes.
func (a *Agent) systemPrompt(ctx context.Context, info event.SessionInfo, specs []provider.ToolSpec) (string, error) {
	text, err := a.d.Sessions.Prompt(ctx, info.UID)
	if err != nil || text != "" || a.d.Prompt == nil {
		return secret.Clean(text), err
	}
	if text, err = a.d.Prompt(ctx, info, specs); err != nil || text == "" {
		return text, err
	}
	text = secret.Clean(text)
	return text, a.d.Sessions.SetPrompt(ctx, info.UID, text)
}

// runLoop asks the model and runs its tools until it calls none.
func (t *turn) runLoop() error {
	limit := t.settings.MaxTurns
	if limit <= 0 {
		limit = defaultMaxTurns
	}
	for t.steps < limit {
		if err := t.takeSteers(); err != nil {
			return err
		}
		if err := t.makeRoomAhead(); err != nil {
			return err
		}
		msg, err := t.askHooked(t.specs, "")
		if err != nil {
			return err
		}
		if len(msg.Calls) == 0 {
			return turnFinished(msg)
		}
		if err := t.runCalls(msg.Calls); err != nil || t.own {
			return err
		}
	}
	return t.lastAnswer(limit)
}

// turnFinished is the end of a turn in which the model called nothing (more).
func turnFinished(msg chat.Message) error {
	switch msg.Finish {
	case chat.FinishLength:
		return stop{outcome{
			reason: event.TurnFailed, err: "the answer was cut: it reached the model's limit for one answer",
			hint: "raise the limit in the settings", do: []event.Remedy{event.RemedyContinue},
		}}
	case chat.FinishContentFilter:
		return stop{outcome{
			reason: event.TurnFailed, err: "the provider's content filter stopped the answer",
			hint: "ask in other words", do: []event.Remedy{event.RemedyChooseModel},
		}}
	default:
		return nil
	}
}

// lastAnswer is the last model call of a turn that used up its budget: without tools, so that it
// must say where it stands.
func (t *turn) lastAnswer(limit int) error {
	msg, err := t.askHooked(nil, fmt.Sprintf("You have used all %d steps of this turn and can call no more tools. "+
		"Say what was done, what was found and what is left to do, so that the work can go on later.", limit))
	if err != nil {
		return err
	}
	if err := t.closeCalls(msg.Calls, "[not run: the turn had no steps left]"); err != nil {
		return err
	}
	return stop{outcome{
		reason: event.TurnBudget, err: fmt.Sprintf("stopped after %d model calls, the limit of one turn", limit),
		hint: "agent.max_turns is the limit", do: []event.Remedy{event.RemedyContinue},
	}}
}

// noteTyped notes what a person said. A command that a person types runs without asking, whether it
// begins the turn or steers it.
func (t *turn) noteTyped(m chat.Message) {
	if m.From.IsPerson() {
		t.said = m.Text
	}
}

// takeSteers stores what was said to the running turn as user messages, right where the model will
// see them.
func (t *turn) takeSteers() error {
	t.w.change.Lock()
	defer t.w.change.Unlock()
	var items []event.QueuedInput
	for _, q := range t.a.Queue(t.w.uid) {
		if q.Mode == event.InputSteer {
			items = append(items, q)
		}
	}
	for len(items) > 0 {
		same := sameAuthor(items)
		if err := t.takeSteer(same); err != nil {
			return err
		}
		items = items[len(same):]
	}
	return nil
}

func (t *turn) takeSteer(items []event.QueuedInput) error {
	ctx, cancel := t.storingContext()
	defer cancel()
	m := joinInputs(items)
	if err := t.w.acceptPrompt(ctx, &m, items); err != nil {
		if keptInSpillFile(err) {
			return diskFull("what you said is safe", err)
		}
		return err
	}
	t.history = append(t.history, m)
	t.noteTyped(m)
	t.publish(event.MessageAdded{Message: m})
	return t.hookSaid(m.Text, m.From)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
