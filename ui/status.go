package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui/layout"
	"hermes/ui/text"
)

// status is what the bottom row knows, from events alone.
type status struct {
	sessions map[string]*sessionStatus
	provider string // of model
	model    string // that sessions without one of their own talk to
	window   int
}

type sessionStatus struct {
	busy      bool
	since     time.Time
	phase     string            // in words
	told      event.TurnPhase   // the newest
	heard     time.Time         // when something came from the model
	level     string            // of approval, when the session has one of its own
	effort    string            // of reasoning, likewise
	away      bool              // nobody answers: what would be asked is refused
	answering bool              // what comes says what the phase is
	call      event.ToolStarted // the newest call: the row says more of it than its name
	running   map[string]bool   // calls of the model that run
	provider  string            // of model
	model     string
	backend   string
	around    Surroundings
	context   int
	window    int
	cost      int64 // millionths of a dollar
	costSure  bool
	waits     map[string]bool // approvals and questions without an answer
}

func (s *status) statusOf(uid string) *sessionStatus {
	st := s.sessions[uid]
	if st == nil {
		st = &sessionStatus{waits: map[string]bool{}, running: map[string]bool{}}
		s.sessions[uid] = st
	}
	return st
}

// foldEvents folds events into the status row and returns what should be told outside of the
// screen.
func (f *frame) foldEvents(events []event.Envelope) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range events {
		f.observeProgram(e)
		if _, gone := e.Event.(event.SessionDeleted); e.Session != "" && !gone {
			f.dirty = true
			cmds = append(cmds, f.observeSession(e, f.status.statusOf(e.Session)))
		}
	}
	return tea.Batch(cmds...)
}

func (f *frame) observeProgram(e event.Envelope) {
	switch ev := e.Event.(type) {
	case event.Notice:
		if _, seen := f.plan.Find(layout.Conversation); !seen || e.Session == "" || e.Session != f.session { // else it stands in the conversation
			f.showToast(ev.Level, ev.Text, HintWords(ev.Hint, ev.Do))
		}
	case event.ConfigReloaded:
		if len(ev.Problems) > 0 {
			hint := "hermes config check says more"
			if more := len(ev.Problems) - 1; more > 0 {
				hint = fmt.Sprintf("and %d more: hermes config check lists them", more)
			}
			f.showToast(event.Warn, ev.Problems[0], hint)
		}
	case event.SkillsChanged:
		if ev.Untrusted != "" {
			f.showToast(event.Warn, ev.Untrusted, "")
		}
	case event.LearnProposed:
		f.showToast(event.Info, "learned: "+ev.Kind+" "+ev.Skill+": "+ev.Why, "/learn shows the change and asks")
	case event.LearnSettled:
		if ev.By == "auto" {
			f.showToast(event.Info, "learned: "+ev.Kind+" "+ev.Skill, "u in /skills takes it back")
		}
	case event.LearnReviewed:
		if ev.Ceiling {
			f.showToast(event.Info, "nothing more is learned now: "+ev.Why, "")
		}
	case event.ModelChanged:
		if e.Session == "" {
			f.status.provider, f.status.model, f.status.window, f.dirty = ev.Provider, ev.Model, ev.Window, true
		}
	case event.SessionDeleted:
		delete(f.status.sessions, e.Session)
	case event.Resync:
		f.reloadStanding(e.At)
	}
}

// reloadStanding asks how the sessions stand after a loss of events: the end of a turn may be among
// what was lost, and a spinner that nothing ends would turn for ever.
func (f *frame) reloadStanding(at time.Time) {
	f.dirty = true
	for uid, s := range f.status.sessions {
		was := s.busy
		s.busy = false
		clear(s.waits)
		clear(s.running)
		if f.opt.Standing == nil || uid == "" { // before the first session nobody is asked
			continue
		}
		var waits []string
		if s.busy, waits = f.opt.Standing(uid); s.busy && !was {
			s.since, s.phase, s.answering = at, "working", false
		}
		for _, id := range waits {
			s.waits[id] = true
		}
	}
}

func (f *frame) observeSession(e event.Envelope, s *sessionStatus) tea.Cmd {
	switch ev := e.Event.(type) {
	case event.SessionOpened:
		s.setModel(ev.Info.Provider, ev.Info.Model)
		s.cost, s.costSure = ev.Info.Usage.Cost, ev.Info.Usage.CostKnown
	case event.SessionConfigured:
		s.level, s.effort, s.away = ev.Level, ev.Effort, ev.Unattended
	case event.SessionChanged:
		s.setModel(ev.Info.Provider, ev.Info.Model)
	case event.TurnStarted:
		s.busy, s.since, s.phase, s.answering = true, e.At, "thinking", true
		if ev.Model != "" && ev.Model != s.model {
			s.setModel("", ev.Model)
		}
	case event.TurnPhase:
		if ev.Kind == event.PhaseOver {
			s.busy, s.phase, s.told = false, "", event.TurnPhase{}
			return nil
		}
		if !s.busy { // its start was lost
			s.busy, s.since = true, e.At
		}
		s.phase = s.phaseText(ev, e.At, f.w)
		s.answering = ev.Kind == event.PhaseStreaming
		s.told, s.heard = ev, e.At
	case event.ToolStarted:
		s.call = ev
		if e.Parent == "" {
			s.running[ev.Call.ID] = true
		}
	case event.ToolEnded:
		delete(s.running, ev.Result.CallID)
	case event.ReasoningDelta:
		s.setActivity("thinking")
		s.heard = e.At
	case event.TextDelta:
		s.setActivity("writing")
		s.heard = e.At
	case event.TurnEnded:
		took := e.At.Sub(s.since)
		s.busy, s.phase, s.told = false, "", event.TurnPhase{}
		clear(s.waits)
		clear(s.running)
		return f.turnEnded(ev, took)
	case event.UsageTick:
		s.context, s.window = ev.Context, cmp.Or(ev.Window, s.window) // what does not know it takes nothing away
		s.cost, s.costSure = ev.Total.Cost, ev.Total.CostKnown
	case event.ModelChanged:
		s.setModel(ev.Provider, ev.Model)
		s.window = ev.Window
	case event.BackendSelected:
		s.backend = ev.Name
	default:
		return f.observeWaits(e, s)
	}
	return nil
}

// How much of a command the status row says: a fifth of it, so that the price has room. A narrow
// row says more of what runs, and not where.
const (
	leastDoing = 12
	maxDoing   = 28
	narrowRow  = 50
)

// setActivity says what an answer brings now: a model that thinks for a minute shows nothing else
// in the meantime.
func (s *sessionStatus) setActivity(what string) {
	if s.answering {
		s.phase = what
	}
}

// phaseText is what a row of w cells says in a phase. That a tool runs is said with what it runs,
// and where.
func (s *sessionStatus) phaseText(p event.TurnPhase, at time.Time, w int) string {
	c, room := s.call, max(leastDoing, min(maxDoing, w/5))
	if w < narrowRow {
		room = w / 2
	}
	if c.Call.Name == "" || p.Kind != event.PhaseRunning || p.Tool != c.Call.Name {
		return phaseWords(p, at)
	}
	what := strings.TrimSpace(c.Gist)
	switch {
	case what == "" || what == c.Call.Name:
		what = c.Call.Name
	case c.Backend == "": // not a command: what it is that runs is in the name
		what = c.Call.Name + " " + what
	}
	what = "running " + text.Truncate(oneLine(text.Sanitize(what)), room, "…")
	if c.Backend != "" && w >= narrowRow {
		what += " in " + c.Backend
	}
	return what
}

// quietAfter is how long nothing may come from a model before the row says so.
const quietAfter = 5 * time.Second

// phaseNow is the phase with what the clock changes: the wait until a model is asked again, and how
// long nothing came from it.
func (s *sessionStatus) phaseNow(now time.Time) string {
	quiet := now.Sub(s.heard)
	switch {
	case s.told.Kind == event.PhaseRetrying:
		return phaseWords(s.told, now)
	case s.told.Kind == event.PhaseRunning && len(s.running) > 1:
		return fmt.Sprintf("running %d calls", len(s.running))
	case s.heard.IsZero(), quiet < quietAfter:
		return s.phase
	case s.told.Kind == event.PhaseWaiting, s.told.Kind == event.PhaseStreaming:
		return fmt.Sprintf("%s, no data for %d s", s.phase, int(quiet/time.Second))
	default:
		return s.phase
	}
}

// hurryModel ends the wait of the session on the screen for its model. Keys that follow each other
// are one: who types a message in the meantime does not ask with each letter.
func (f *frame) hurryModel(msg tea.KeyMsg) {
	now := f.opt.Now()
	last := f.keyed
	f.keyed = now
	s := f.status.sessions[f.session]
	if s == nil || s.told.Kind != event.PhaseRetrying || f.opt.Hurry == nil || now.Sub(last) < keysApart {
		return
	}
	if msg.Type != tea.KeyEsc && msg.Type != tea.KeyCtrlC {
		f.opt.Hurry(f.session)
	}
}

const keysApart = 1500 * time.Millisecond

func (f *frame) observeWaits(e event.Envelope, s *sessionStatus) tea.Cmd {
	switch ev := e.Event.(type) {
	case event.ApprovalAsked:
		s.waits[ev.ID] = true
		return f.notifyDesktop(oneLine(text.Sanitize(ev.Title)))
	case event.ApprovalSettled:
		delete(s.waits, ev.ID)
	case event.QuestionAsked:
		s.waits[ev.ID] = true
		return f.notifyDesktop(oneLine(text.Sanitize(ev.Text)))
	case event.QuestionAnswered:
		delete(s.waits, ev.ID)
	}
	return nil
}

// refreshAt says when the row changes by the clock alone: the spinner and the running time, while
// something runs.
func (s *status) refreshAt(now time.Time, blurred bool) time.Time {
	for _, st := range s.sessions {
		if st.busy {
			if blurred {
				return now.Truncate(time.Second).Add(time.Second)
			}
			return now.Truncate(spinEvery).Add(spinEvery)
		}
	}
	return time.Time{}
}

const spinEvery = 200 * time.Millisecond

// statusRow draws the last row.
func (f *frame) statusRow(w int) string {
	s := f.status.sessions[f.session]
	if s == nil {
		s = &sessionStatus{}
	}
	st, g := f.styles, f.styles.Glyphs
	sep := st.Faint.Render(" " + g.Bar + " ")
	left := f.statusLeft(s)
	// What is happening comes first: the right side gives way.
	for _, right := range f.statusRight(s) {
		tail := strings.Join(right, sep)
		if tail != "" {
			tail = sep + tail + " "
		}
		if text.Width(left)+text.Width(tail)+1 <= w {
			return text.Fit(" "+left, w-text.Width(tail)) + tail
		}
	}
	return text.Fit(" "+text.Truncate(left, max(0, w-2), g.Ellipsis), w)
}

// toastRoom is how many cells the status row has for a toast: beside what is at work and what that
// costs, and where there is room beside how much is asked.
func (f *frame) toastRoom() int {
	s := f.status.sessions[f.session]
	if s == nil {
		s = &sessionStatus{}
	}
	room := f.w - 2
	if s.busy {
		room -= 2 + len(formatClock(f.opt.Now().Sub(s.since))) + 2
	}
	switch {
	case f.w >= 100:
		room -= text.Width(f.modelFacts(s)+f.approvalFact(s, false)) + 7
	case f.w >= 60:
		room -= text.Width(f.modelFacts(s)) + 4
	}
	return room
}

// statusLeft is the spinner with what runs, what waits, and a toast that has room.
func (f *frame) statusLeft(s *sessionStatus) string {
	st, g, now := f.styles, f.styles.Glyphs, f.opt.Now()
	said := f.toasts.inRow(st, f.toastRoom())
	if said != "" && !s.busy {
		return said
	}
	var parts []string
	if s.busy {
		spin := st.Accent.Render(g.Spinner[int(now.UnixMilli()/spinEvery.Milliseconds())%len(g.Spinner)])
		ran := formatClock(now.Sub(s.since))
		if said != "" {
			return spin + " " + st.Status.Render(ran) + "  " + said
		}
		parts = append(parts, spin+" "+st.StatusStrong.Render(oneLine(text.Sanitize(s.phaseNow(now))))+st.Status.Render(" · "+ran))
	}
	waits, others := 0, 0
	for uid, x := range f.status.sessions {
		waits += len(x.waits)
		if x.busy && uid != f.session {
			others++
		}
	}
	if waits > 0 {
		parts = append(parts, st.Warn.Render(fmt.Sprintf("%s %d waits for you", g.Waits, waits)))
	}
	if others > 0 {
		parts = append(parts, st.Status.Render(fmt.Sprintf("%d more at work", others)))
	}
	if n := s.around.Background; n > 0 {
		parts = append(parts, st.Status.Render(fmt.Sprintf("%d in background", n)))
	}
	if len(parts) == 0 {
		parts = append(parts, st.Status.Render("ready"))
	}
	if n := s.around.Learned; n > 0 && !s.busy {
		parts = append(parts, st.Status.Render(fmt.Sprintf("%d learned: /learn", n)))
	}
	return strings.Join(parts, "  ")
}

// How many keys the row names.
const (
	oneKey   = iota // the one that is needed most: what stops the work, else the help
	someKeys        // those without which nobody gets further
	allKeys
)

// statusKeys names the keys that lead to everything else.
func (f *frame) statusKeys(s *sessionStatus, many int) string {
	st := f.styles
	var hints []string
	hint := func(id, usual, what string) {
		if key := f.keys.firstKey(id, usual); key != "" {
			hints = append(hints, st.Key.Render(key)+" "+st.Hint.Render(what))
		}
	}
	if _, shown := f.plan.Find(layout.Sessions); many == allKeys && !shown && !f.plan.Tabs && !f.plan.TooSmall {
		hint("focus.sessions", "alt+1", "sessions")
	}
	if many == allKeys {
		hint("palette", "ctrl+p", "commands")
	}
	if many > oneKey || !s.busy {
		hint("help", "F1", "help")
	}
	if s.busy {
		hint("conversation.stop", "esc", "stop")
	}
	return strings.Join(hints, "  ")
}

// formatClock writes a duration as 00:41 or 1:02:03.
func formatClock(d time.Duration) string {
	s := max(int(d/time.Second), 0)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}
