package learn

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/injection"
	"hermes/core/secret"
	"hermes/skills"
)

// Experience is what a turn came to. It holds no secrets.
type Experience struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Turn    string    `json:"turn"`
	Model   string    `json:"model,omitempty"`
	Task    string    `json:"task"`
	Calls   []Step    `json:"calls,omitempty"`
	Skills  []Loaded  `json:"skills,omitempty"`
	// Recalled is what long-term memory brought up unasked, by key.
	Recalled []string      `json:"recalled,omitempty"`
	Signals  []Signal      `json:"signals,omitempty"`
	Outcome  Outcome       `json:"outcome"`
	Tainted  string        `json:"tainted,omitempty"` // whose words besides the person's it had read
	Took     time.Duration `json:"took"`
	Tokens   int           `json:"tokens"`
	Ended    bool          `json:"ended"`           // the turn came to its end
	Used     bool          `json:"used,omitempty"`  // a review has seen it
	Later    string        `json:"later,omitempty"` // what the person said next, where that corrects it
	// First and Last are the ids of the messages that it has, 0 where they are not known.
	First int64 `json:"first,omitempty"`
	Last  int64 `json:"last,omitempty"`
}

// Step is a call of a tool.
type Step struct {
	Tool   string `json:"tool"`
	Args   string `json:"args"`
	Ran    string `json:"ran,omitempty"` // the command, where it is one
	Failed bool   `json:"failed,omitempty"`
	Exit   *int   `json:"exit,omitempty"`
	Said   string `json:"said,omitempty"` // the end of the result
	Run    *Run   `json:"run,omitempty"`  // of a procedure, where it ran one
}

// Loaded is a skill or procedure that was read or run in a turn.
type Loaded struct {
	Name    string `json:"name"`              // its key, see package skills
	Version int    `json:"version,omitempty"` // 0: not one that this program made
	Hash    string `json:"hash"`
	By      string `json:"by"` // "model", "person"
}

// Bounds of what is kept of a turn.
const (
	maxTask   = 2000
	maxArgs   = 600
	maxSaid   = 600
	maxSteps  = 60
	maxLoaded = 8
)

// turn is one that goes on.
type turn struct {
	Experience
	calls map[string]int    // by id, in Calls
	named map[string]string // by id of a call: the skill that it names
	saw   bool              // a prompt

	person bool            // who wrote the prompt
	inRuns map[string]bool // ids of calls that run a procedure, the person's own too
}

// collectEvent gathers what belongs to a turn, and returns the turn when it is over.
func (l *Learner) collectEvent(e event.Envelope) *turn {
	if e.Turn == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.turns[e.Turn]
	if t == nil {
		switch e.Event.(type) {
		case event.TurnStarted, event.MessageAdded:
		default:
			return nil // it began before somebody listened
		}
		t = &turn{inRuns: map[string]bool{}, calls: map[string]int{}, named: map[string]string{}, Experience: Experience{ID: "e" + rand.Text()[:10], At: e.At, Session: e.Session, Turn: e.Turn}}
		l.turns[e.Turn] = t
	}
	switch x := e.Event.(type) {
	case event.TurnStarted:
		t.Model = x.Model
	case event.MessageAdded:
		t.noteMessage(x.Message.ID)
		l.takeWords(t, x.Message)
	case event.MessageSealed:
		t.noteMessage(x.Message.ID)
		t.noteCalls(x.Message)
	case event.ProcedureRan:
		l.noteRun(t, e.Header, x)
	case event.ToolEnded:
		l.noteResult(t, e.Header, x.Result)
	case event.ApprovalSettled:
		if x.Decision == event.DecisionDeny && x.By == event.ByUser && !t.inRuns[e.Parent] {
			t.addSignal(Bad, "the person refused a call")
		}
	case event.TurnEnded:
		delete(l.turns, e.Turn)
		t.closeTurn(x)
		return t
	}
	return nil
}

// cutText is the beginning of a text without secrets.
func cutText(s string, n int) string {
	s = secret.Redact(s)
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// cleanTail is the end of a text without secrets.
func cleanTail(s string, n int) string {
	s = strings.TrimSpace(secret.Redact(s))
	if len(s) > n {
		s = "…" + strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}

// takeWords takes what somebody said.
func (l *Learner) takeWords(t *turn, m chat.Message) {
	if m.Role != chat.RoleUser {
		return
	}
	if m.From.Other() && !m.From.IsSummary() {
		t.taintTurn("it was asked for by " + m.From.Words())
	}
	if !t.saw {
		t.saw, t.Task, t.person = true, cutText(m.Text, maxTask), m.From.IsPerson()
	} else if m.From.IsPerson() && isCorrection(m.Text) {
		t.addSignal(Bad, "the person corrected it while it worked")
		t.Later = cutText(m.Text, maxSaid)
	}
	for _, p := range m.Parts {
		if p.Kind == chat.PartResource && p.URI == "memory:recall" && len(t.Recalled) < maxLoaded {
			t.Recalled = append(t.Recalled, cutText(strings.TrimPrefix(p.Name, "recalled: "), 200))
		}
		if name, ok := strings.CutPrefix(p.Name, "skill "); ok && p.Kind == chat.PartSkill {
			l.noteSkillRead(t, event.Header{Session: t.Session, Turn: t.Turn}, name, "person")
		}
	}
}

// noteMessage notes that a message belongs to the turn.
func (t *turn) noteMessage(id int64) {
	if id == 0 {
		return
	}
	if t.First == 0 {
		t.First = id
	}
	t.First, t.Last = min(t.First, id), max(t.Last, id)
}

func (t *turn) noteCalls(m chat.Message) {
	for _, c := range m.Calls {
		t.inRuns[c.ID] = c.Name == "skill_run"
		if len(t.Calls) < maxSteps && !m.From.IsPerson() {
			t.calls[c.ID] = len(t.Calls)
			var args struct{ Command, Name string }
			_ = json.Unmarshal(c.Args, &args) // another shape has neither
			t.Calls = append(t.Calls, Step{Tool: c.Name, Args: cutText(string(c.Args), maxArgs), Ran: cutText(args.Command, maxArgs)})
			t.named[c.ID] = args.Name
		}
	}
}

func (l *Learner) noteResult(t *turn, h event.Header, r chat.ToolResult) {
	i, ok := t.calls[r.CallID]
	if !ok {
		return
	}
	s := &t.Calls[i]
	s.Failed, s.Exit, s.Said = r.IsError, r.ExitCode, cleanTail(r.Text, maxSaid)
	if hits := injection.ScanDocument(r.Text); len(hits) > 0 && r.Name != "skill_view" {
		t.taintTurn("the result of " + r.Name + " " + hits[0].Reason)
	}
	if r.Name == "skill_view" && !r.IsError {
		l.noteSkillRead(t, h, t.named[r.CallID], "model")
	}
}

// noteSkillRead notes that a skill was read in a turn, with the version that it was.
func (l *Learner) noteSkillRead(t *turn, h event.Header, name, by string) {
	if skills.CheckName(name) != nil {
		return
	}
	own := l.ownText(name)
	if own == nil {
		return
	}
	if raw, err := own.read(); err == nil {
		l.noteUsed(t, h, name, skills.HashOf(raw), by)
	}
}

// noteUsed notes that a text was used in a turn, once.
func (l *Learner) noteUsed(t *turn, h event.Header, name, hash, by string) {
	if len(t.Skills) >= maxLoaded || slices.ContainsFunc(t.Skills, func(x Loaded) bool { return x.Name == name }) {
		return
	}
	x := Loaded{Name: name, Hash: hash, By: by}
	if past, err := l.o.Library.Edits.History(name); err == nil {
		x.Version = past.Find(x.Hash)
	}
	t.Skills = append(t.Skills, x)
	l.o.Publish(h, event.SkillLoaded{Name: name, Version: x.Version, Hash: x.Hash, By: by})
}

func (t *turn) taintTurn(why string) {
	if t.Tainted == "" {
		t.Tainted = why
	}
}

// addSignal notes what the person did.
func (t *turn) addSignal(o Outcome, why string) {
	t.Signals = append(t.Signals, Signal{Says: o, Why: why, Person: true})
}

func (t *turn) closeTurn(e event.TurnEnded) {
	t.Took, t.Tokens, t.Ended = e.Took, e.Usage.Input+e.Usage.Output, e.Reason == event.TurnDone
	if e.Foreign != "" {
		t.taintTurn(e.Foreign)
	}
	if e.Reason == event.TurnInterrupted {
		t.addSignal(Bad, "the person stopped it")
	}
	t.Signals = append(t.Signals, runSignals(t.Calls)...)
	t.Signals = append(t.Signals, verificationSignals(t.Task, withRunSteps(t.Calls))...)
	t.Outcome = judgeSignals(t.Signals)
}

// finishTurn keeps what a turn came to, and what follows of it.
func (l *Learner) finishTurn(t turn) {
	if t.person && isCorrection(t.Task) {
		l.blameLastTurn(t.Session, Signal{Says: Bad, Person: true, Why: "the person's next words correct it: " + cutText(t.Task, 200)})
	}
	x := t.Experience
	if len(t.Calls) == 0 && len(t.Skills) == 0 && len(t.Recalled) == 0 {
		l.keepIdle(x)
		return
	}
	err := l.file.editState(func(st *state) error {
		st.Experiences = append(st.Experiences, x)
		for _, s := range x.Skills {
			st.countOutcome(s.Name, s.Hash, x.Outcome, 1/float64(len(x.Skills)))
		}
		l.wantReview(st, x)
		return nil
	})
	if err != nil {
		l.o.Log.Warn("what a turn came to was not kept", "err", err)
		return
	}
	l.publishJudged(x)
	for _, s := range x.Skills {
		l.rollBackIfWorse(s.Name)
	}
}

// publishJudged tells what a turn came to.
func (l *Learner) publishJudged(x Experience) {
	e := event.TurnJudged{Experience: x.ID, Outcome: string(x.Outcome)}
	for _, s := range x.Signals {
		e.Signals = append(e.Signals, s.Why)
	}
	l.o.Publish(event.Header{Session: x.Session, Turn: x.Turn}, e)
}

// judgeAgain judges a turn anew whose signals changed, and counts it for its skills.
func (st *state) judgeAgain(x *Experience) {
	was := x.Outcome
	if x.Outcome = judgeSignals(x.Signals); x.Outcome == was {
		return
	}
	for _, k := range x.Skills {
		st.countOutcome(k.Name, k.Hash, was, -1/float64(len(x.Skills)))
		st.countOutcome(k.Name, k.Hash, x.Outcome, 1/float64(len(x.Skills)))
	}
}

// blameLastTurn adds a signal to the last turn of a session that is kept: what the person does next
// is about what came before.
func (l *Learner) blameLastTurn(session string, s Signal) {
	var about *Experience
	err := l.file.editState(func(st *state) error {
		from := max(len(st.Experiences)-20, 0)
		for i := len(st.Experiences) - 1; i >= from; i-- {
			x := &st.Experiences[i]
			if x.Session != session || l.o.Now().Sub(x.At) > time.Hour {
				continue
			}
			if slices.Contains(x.Signals, s) {
				return nil
			}
			x.Signals = append(x.Signals, s)
			x.Later = s.Why
			st.judgeAgain(x)
			l.wantReview(st, *x)
			about = x
			return nil
		}
		return nil
	})
	switch {
	case err != nil:
		l.o.Log.Warn("what the person did was not kept", "err", err)
	case about != nil:
		l.publishJudged(*about)
		for _, k := range about.Skills {
			l.rollBackIfWorse(k.Name)
		}
	}
}
