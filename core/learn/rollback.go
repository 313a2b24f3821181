package learn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hermes/core/skill"
	"hermes/skills"
)

// From when a version counts as worse than the one before it.
const (
	minUses   = 5    // of the new version
	surelyBad = 0.98 // it is taken back in mode auto
	maybeBad  = 0.90 // a person is asked
)

// rollBackIfWorse takes a skill back, or proposes to, where its text does worse than the one
// before.
func (l *Learner) rollBackIfWorse(name string) {
	if err := l.compareVersions(name); err != nil {
		l.o.Log.Warn("the versions of a skill were not compared", "skill", name, "err", err)
	}
}

func (l *Learner) compareVersions(name string) error {
	own := l.ownText(name)
	if own == nil || l.o.Settings().isPinned(name) {
		return nil
	}
	raw, err := own.read()
	if err != nil {
		return err
	}
	st, err := l.file.readState()
	if err != nil {
		return err
	}
	h, err := l.o.Library.Edits.History(name)
	if err != nil {
		return err
	}
	hash := skills.HashOf(raw)
	now := h.Find(hash)
	to := versionBefore(h, now, hash)
	if now == 0 || to < 0 {
		return nil
	}
	n, o := st.Outcomes[name][hash], st.Outcomes[name][skills.HashOf(h.Text(to))]
	if n.Good+n.Bad < minUses || o.Good+o.Bad == 0 {
		return nil
	}
	sure := probabilityWorse(n.Good, n.Bad, o.Good, o.Bad)
	if sure <= maybeBad {
		return nil
	}
	p := Proposal{
		Kind: KindRollback, Skill: name, Before: string(raw), After: string(h.Text(to)), To: to,
		Why: fmt.Sprintf("version %d came out good in %.4g of %.4g turns, version %d in %.4g of %.4g: worse with a probability of %.3f",
			now, n.Good, n.Good+n.Bad, to, o.Good, o.Good+o.Bad, sure),
	}
	_, p.Waits = own.standing()
	p.Ask = sure <= surelyBad || p.Waits != ""
	p.Diff = skill.Diff(&skills.Change{
		Request: skills.Request{Op: skills.Edit, Name: name}, Rel: h.MainFile(now), Before: raw, After: []byte(p.After),
	}).Unified
	if q := st.takesBack(p); q == nil {
		_, err = l.keepProposal(p)
	} else if q.State == StateOpen && l.mayBeAuto(p) {
		err = l.rollBackNow(q.ID, p.Why)
	}
	return err
}

// takesBack is what was proposed already to take a text back.
func (st *state) takesBack(p Proposal) *Proposal {
	for i, q := range st.Proposals {
		if q.Kind == KindRollback && q.Skill == p.Skill && q.Before == p.Before && q.State != StateStale {
			return &st.Proposals[i]
		}
	}
	return nil
}

// rollBackNow carries a rollback out that a person was asked about when it was less sure.
func (l *Learner) rollBackNow(id, why string) error {
	err := l.file.editState(func(st *state) error {
		if p := st.findProposal(id); p != nil {
			p.Ask, p.Why = false, why
		}
		return nil
	})
	if err == nil {
		_, err = l.Accept(context.Background(), id, "auto", nil)
	}
	return err
}

// versionBefore is the version with the text that stood there before the current one, -1 for none.
func versionBefore(h skills.History, now int, hash string) int {
	for n := now - 1; n >= 0; n-- {
		if t := h.Text(n); t != nil && skills.HashOf(t) != hash {
			return n
		}
	}
	return -1
}

// retireStale says which learned skills are stale, and moves those away that nobody used for long.
// It does so once a day; nothing is deleted, and pinned skills are left alone.
func (l *Learner) retireStale() {
	s, now := l.o.Settings(), l.o.Now()
	st, err := l.file.readState()
	if s.Mode == Off || err != nil || now.Sub(st.Curated) < 24*time.Hour || len(st.Experiences) == 0 {
		return
	}
	if err := l.file.editState(func(st *state) error { st.Curated = now; return nil }); err != nil {
		return
	}
	for name, c := range l.o.Library.Usage.All() {
		if !l.wasLearned(name) || c.Pinned || s.isPinned(name) || l.ownText(name) == nil || c.Last.IsZero() {
			continue
		}
		if err := l.curateOne(st, s, name, c.Last, now.Sub(c.Last)); err != nil {
			l.o.Log.Warn("an old skill was not looked after", "skill", name, "err", err)
		}
	}
}

func (l *Learner) curateOne(st *state, s Settings, name string, last time.Time, age time.Duration) error {
	switch {
	case s.Archived > 0 && age > s.Archived:
		if slices.ContainsFunc(st.Proposals, func(p Proposal) bool { return p.Kind == KindArchive && p.Skill == name && p.At.After(last) }) {
			return nil
		}
		_, err := l.keepProposal(Proposal{Kind: KindArchive, Skill: name, Why: fmt.Sprintf("nobody used it for %d days", int(age.Hours()/24))})
		return err
	case s.Stale > 0 && age > s.Stale:
		return l.o.Library.Usage.Stale(name)
	default:
		return nil
	}
}
