package learn

import (
	"errors"
	"fmt"
	"slices"
)

// maxIdle bounds the turns that are remembered only while the program runs.
const maxIdle = 50

// keepIdle remembers a turn that did nothing, in case that the person says how it went.
func (l *Learner) keepIdle(x Experience) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, x)
	l.idle = l.idle[max(len(l.idle)-maxIdle, 0):]
}

// Turn names a turn: by its id, that of its experience or a session (its last turn), "last" being
// the last one of all; or by a message of a session.
type Turn struct {
	Ref     string
	Session string
	Message int64
}

func (t Turn) fits(x Experience) bool {
	if t.Message != 0 {
		return x.Session == t.Session && x.First <= t.Message && t.Message <= x.Last
	}
	return t.Ref == "last" || t.Ref != "" && (x.Turn == t.Ref || x.ID == t.Ref || x.Session == t.Ref)
}

var errNotKept = errors.New("nothing is kept of this turn (yet, if it goes on); `hermes trace` lists the turns that are kept")

// Marked is a turn with what the person says of it now, and said before; nil: nothing.
type Marked struct {
	Of       Experience
	Now, Was *Signal
}

// Words say what was done with which turn.
func (m Marked) Words() string {
	what := "marked " + string(m.Of.Outcome)
	if m.Now == nil {
		what = "no mark any more, " + string(m.Of.Outcome)
	}
	return what + ": " + cutText(oneLine(m.Of.Task), 60)
}

// Mark keeps a person's own word about a turn, which decides what it came to: Good, Bad, or "" to
// take the word back.
func (l *Learner) Mark(t Turn, says Outcome, why string) (Marked, error) {
	var s *Signal
	switch says {
	case Good, Bad:
		s = &Signal{Says: says, Why: markWords(says, why), Mark: true}
	case "":
	case Unknown:
		fallthrough
	default:
		return Marked{}, fmt.Errorf("a turn is marked good or bad, not %q", says)
	}
	return l.SetMark(t, s)
}

// ToggleMark is Mark for a key: where the turn is marked just so and there is no reason to add, the
// mark is taken away.
func (l *Learner) ToggleMark(t Turn, says Outcome, why string) (Marked, error) {
	m, err := l.Mark(t, says, why)
	if err != nil || why != "" || m.Was == nil || m.Was.Says != says {
		return m, err
	}
	off, err := l.SetMark(Turn{Ref: m.Of.ID}, nil)
	off.Was = m.Was
	return off, err
}

// markWords say who says so, and why.
func markWords(says Outcome, why string) string {
	out := "the person marked it " + string(says)
	if why = cutText(oneLine(why), maxSaid); why != "" {
		out += ": " + why
	}
	return out
}

// SetMark puts a mark in the place of the one that a turn has; nil takes it away. It is how a mark
// is taken back: with what was there before.
func (l *Learner) SetMark(t Turn, s *Signal) (m Marked, err error) {
	idle, used := l.takeIdle(t), false
	err = l.file.editState(func(st *state) error {
		x := st.findTurn(t)
		if idle != nil && (x == nil || x.At.Before(idle.At)) {
			used = true
			st.Experiences = append(st.Experiences, *idle)
			x = &st.Experiences[len(st.Experiences)-1]
		}
		if x == nil {
			return errNotKept
		}
		if i := slices.IndexFunc(x.Signals, isMark); i >= 0 {
			was := x.Signals[i]
			m.Was, x.Signals = &was, slices.Delete(x.Signals, i, i+1)
		}
		if s != nil {
			if w := m.Was; w != nil && w.Says == s.Says && w.Why == s.Why {
				s.Seen = w.Seen
			}
			x.Signals = append(x.Signals, *s)
		}
		st.judgeAgain(x)
		st.dropWanted(*x, l.o.Settings())
		if s != nil && !s.Seen {
			l.wantReview(st, *x)
		}
		m.Of, m.Now = *x, s
		return nil
	})
	if idle != nil && (!used || err != nil) {
		l.keepIdle(*idle)
	}
	if err != nil {
		return m, err
	}
	l.publishJudged(m.Of)
	for _, k := range m.Of.Skills {
		l.rollBackIfWorse(k.Name)
	}
	return m, nil
}

// takeIdle returns the newest turn that did nothing, if it is meant.
func (l *Learner) takeIdle(t Turn) *Experience {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range slices.Backward(l.idle) {
		if t.fits(x) {
			l.idle = slices.Delete(l.idle, i, i+1)
			return &x
		}
	}
	return nil
}

// findTurn finds the newest turn that is meant, nil when none is kept.
func (st *state) findTurn(t Turn) *Experience {
	for i := range slices.Backward(st.Experiences) {
		if t.fits(st.Experiences[i]) {
			return &st.Experiences[i]
		}
	}
	return nil
}

// dropWanted takes a turn out of the reviews that wait, where it gives no reason any more: not bad,
// or looked at already, for a change; not fresh, for a new skill. A review without a reason goes.
func (st *state) dropWanted(x Experience, s Settings) {
	for i, d := range st.Due {
		if !d.Taken.IsZero() || d.Kind == "change" && x.Outcome == Bad && !x.Used || d.Kind == "create" && isReviewable(x, s) {
			continue
		}
		st.Due[i].Experiences = slices.DeleteFunc(d.Experiences, func(id string) bool { return id == x.ID })
	}
	good := func(id string) bool {
		y := st.findExperience(id)
		return y != nil && y.Outcome == Good
	}
	st.Due = slices.DeleteFunc(st.Due, func(d Due) bool {
		few := len(d.Experiences) == 0 || d.Kind == "create" && (len(d.Experiences) < s.Alike || !slices.ContainsFunc(d.Experiences, good))
		return d.Taken.IsZero() && few
	})
}
