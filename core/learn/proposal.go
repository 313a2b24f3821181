package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hermes/core/event"
	"hermes/core/skill"
	"hermes/skills"
)

// Kinds of proposal.
const (
	KindCreate   = "create"
	KindChange   = "change"
	KindRollback = "rollback"
	KindArchive  = "archive"
)

// State is how a proposal stands.
type State string

// States.
const (
	StateOpen     State = "open"
	StateAccepted State = "accepted"
	StateRefused  State = "refused"
	StateNever    State = "never" // refused, and not to be proposed again
	StateStale    State = "stale" // the skill is another one by now
)

// Proposal is something that was learned and waits for a word, or had it.
type Proposal struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Skill   string    `json:"skill"` // the key of the skill or procedure, see package skills
	Why     string    `json:"why"`
	State   State     `json:"state"`
	By      string    `json:"by,omitempty"`      // who said so: "user", "auto"
	Version int       `json:"version,omitempty"` // of the skill, that it made
	Tainted string    `json:"tainted,omitempty"` // whose words besides the person's it comes from
	Ask     bool      `json:"ask,omitempty"`     // it is for a person to decide, in every mode
	Waits   string    `json:"waits,omitempty"`   // why it is, where more is to be said of that
	Session string    `json:"session,omitempty"`
	Sources []string  `json:"sources,omitempty"` // experiences
	Deltas  []Delta   `json:"deltas,omitempty"`
	Before  string    `json:"before,omitempty"` // SKILL.md, or the procedure's YAML
	After   string    `json:"after,omitempty"`
	To      int       `json:"to,omitempty"`   // of a rollback
	Task    []string  `json:"task,omitempty"` // words, of a new skill
	Diff    string    `json:"diff,omitempty"`
	Checks  []Check   `json:"checks,omitempty"` // the skill's own, of a change
}

// ErrStale says that a proposal is for a text that is another one by now.
var ErrStale = errors.New("the text has changed since this was proposed; it is dropped, and may be proposed again")

// checkProposal makes what a proposal would write and refuses what must not be written.
func (l *Learner) checkProposal(ctx context.Context, p *Proposal) error {
	switch p.Kind {
	case KindChange:
		if err := l.checkDeltas(p); err != nil {
			return err
		}
	case KindCreate:
		if err := skills.CheckName(p.Skill); err != nil {
			return err
		}
		if len(p.After) > maxSkill {
			return fmt.Errorf("the skill would have %d bytes, at most %d are learned", len(p.After), maxSkill)
		}
	default:
		return nil
	}
	st, err := l.file.readState()
	if err != nil {
		return err
	}
	if st.Outcomes[p.Skill][skills.HashOf([]byte(p.After))].Worse {
		return errors.New("this text was tried before and did worse")
	}
	for _, q := range st.Proposals {
		if q.Skill == p.Skill && q.After == p.After && (q.State == StateOpen || q.State == StateRefused || q.State == StateNever) {
			return errors.New("the same was proposed before")
		}
	}
	c, err := l.planChange(ctx, *p)
	if err != nil {
		return err
	}
	p.Diff = skill.Diff(c).Unified
	return nil
}

// checkDeltas makes the new text of a change and refuses what its text may not become.
func (l *Learner) checkDeltas(p *Proposal) error {
	own := l.ownText(p.Skill)
	if own == nil {
		return errors.New(skills.DescribeKey(p.Skill) + " is not there any more")
	}
	after, err := Change(p.Before, own.lockedLines, p.Deltas)
	if err != nil {
		return err
	}
	p.After = after
	if err := checkSize(p.Before, p.After, p.Deltas); err != nil {
		return err
	}
	asks, err := own.checkLearned(p.Before, p.After)
	if err != nil {
		return err
	}
	_, waits := own.standing()
	p.Waits = joinReasons(append(asks, waits)...)
	p.Ask = p.Ask || p.Waits != ""
	return nil
}

// planChange is the change that a proposal makes.
func (l *Learner) planChange(ctx context.Context, p Proposal) (*skills.Change, error) {
	r := skills.Request{Op: skills.Edit, Name: p.Skill, Content: p.After}
	if p.Kind == KindCreate {
		r.Op, r.Category = skills.Create, "learned"
	}
	c, err := l.o.Library.Plan(ctx, r)
	if err != nil {
		return nil, err
	}
	if string(c.Before) != p.Before {
		return nil, ErrStale
	}
	c.From = p.provenanceOf()
	return c, nil
}

// keepProposal keeps a proposal, and carries it out where that may be done unasked.
func (l *Learner) keepProposal(p Proposal) (*Proposal, error) {
	open := 0
	err := l.file.editState(func(st *state) error {
		p.ID, p.At, p.State = fmt.Sprintf("p%d", st.Next), l.o.Now(), StateOpen
		st.Next++
		st.Proposals = append(st.Proposals, p)
		open = st.countOpen()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if l.mayBeAuto(p) {
		return l.Accept(context.Background(), p.ID, "auto", nil)
	}
	l.o.Publish(event.Header{}, event.LearnProposed{ID: p.ID, Kind: p.Kind, Skill: p.Skill, Why: p.Why, Tainted: p.Tainted, Open: open})
	return &p, nil
}

// mayBeAuto reports whether a proposal is carried out unasked. No person's text is changed or moved
// away so. A version that this made may be taken back, whoever wrote the one before it.
func (l *Learner) mayBeAuto(p Proposal) bool {
	if l.o.Settings().Mode != Auto || p.Tainted != "" || p.Ask {
		return false
	}
	switch p.Kind {
	case KindCreate:
		return true
	case KindRollback:
		h, err := l.o.Library.Edits.History(p.Skill)
		n := h.Find(skills.HashOf([]byte(p.Before)))
		if err != nil || n == 0 {
			return false
		}
		by := h.Versions[n-1].By
		return by == "learned" || by == "agent" && l.wasLearned(p.Skill)
	default:
		return l.wasLearned(p.Skill)
	}
}

// wasLearned reports whether a skill was made by this program and not by a person.
func (l *Learner) wasLearned(name string) bool {
	by := l.o.Library.Usage.All()[name].CreatedBy
	return by == "agent" || by == "learned"
}

// Proposals returns those that are kept, the newest first.
func (l *Learner) Proposals() ([]Proposal, error) {
	st, err := l.file.readState()
	if err != nil {
		return nil, err
	}
	slices.Reverse(st.Proposals)
	return st.Proposals, nil
}

// Experiences returns what turns came to, the newest first.
func (l *Learner) Experiences() ([]Experience, error) {
	st, err := l.file.readState()
	if err != nil {
		return nil, err
	}
	slices.Reverse(st.Experiences)
	return st.Experiences, nil
}

// Outcomes returns what came of the texts of a skill, by their hashes.
func (l *Learner) Outcomes(name string) (map[string]Uses, error) {
	st, err := l.file.readState()
	if err != nil {
		return nil, err
	}
	return st.Outcomes[name], nil
}

// Find returns a proposal.
func (l *Learner) Find(id string) (Proposal, error) {
	st, err := l.file.readState()
	if err != nil {
		return Proposal{}, err
	}
	if p := st.findProposal(id); p != nil {
		return *p, nil
	}
	return Proposal{}, fmt.Errorf("there is no proposal %s; `hermes learn list` shows them", id)
}

// Accept carries out a proposal; edited, if it is not nil, is the person's own text in place of the
// proposed one. By is "user" or "auto".
func (l *Learner) Accept(ctx context.Context, id, by string, edited *string) (*Proposal, error) {
	p, err := l.Find(id)
	if err != nil {
		return nil, err
	}
	switch {
	case p.State != StateOpen:
		return nil, fmt.Errorf("%s is %s already", id, p.State)
	case by != "user" && !l.mayBeAuto(p):
		return nil, fmt.Errorf("%s is not carried out unasked", id)
	}
	author := "learned"
	if edited != nil && *edited != p.After {
		p.After, author = *edited, "user"
	}
	v, err := l.carryOut(ctx, p, author)
	if err != nil {
		if errors.Is(err, ErrStale) || errors.Is(err, skills.ErrStale) {
			_ = l.settleProposal(id, StateStale, by, 0) // that it is stale is what is told
			return nil, ErrStale
		}
		return nil, err
	}
	if err := l.settleProposal(id, StateAccepted, by, v.Number); err != nil {
		return nil, err
	}
	p, err = l.Find(id)
	return &p, err
}

// carryOut does what a proposal says; author is who wrote its text.
func (l *Learner) carryOut(ctx context.Context, p Proposal, author string) (skills.Version, error) {
	switch p.Kind {
	case KindRollback:
		if raw, err := l.readText(p.Skill); err != nil || string(raw) != p.Before {
			return skills.Version{}, cmp.Or(err, ErrStale)
		}
		return l.o.Library.Rollback(p.Skill, p.To, p.provenanceOf())
	case KindArchive:
		c, err := l.o.Library.Plan(ctx, skills.Request{Op: skills.Delete, Name: p.Skill})
		if err != nil {
			return skills.Version{}, err
		}
		c.From = p.provenanceOf()
		return l.o.Library.Make(c, "learned")
	default:
		c, err := l.planChange(ctx, p)
		if err != nil {
			return skills.Version{}, err
		}
		return l.o.Library.Make(c, author)
	}
}

// Refuse says no to a proposal; never says that nothing like it is to be proposed again.
func (l *Learner) Refuse(id string, never bool) error {
	p, err := l.Find(id)
	if err != nil {
		return err
	}
	if p.State != StateOpen {
		return fmt.Errorf("%s is %s already", id, p.State)
	}
	if never {
		return l.settleProposal(id, StateNever, "user", 0)
	}
	return l.settleProposal(id, StateRefused, "user", 0)
}

// settleProposal notes what became of a proposal and tells it.
func (l *Learner) settleProposal(id string, s State, by string, version int) error {
	var e event.LearnSettled
	err := l.file.editState(func(st *state) error {
		p := st.findProposal(id)
		if p == nil || p.State != StateOpen {
			return fmt.Errorf("%s was settled meanwhile", id)
		}
		p.State, p.By, p.Version = s, by, version
		if s == StateNever {
			n := Never{Skill: p.Skill}
			if p.Kind == KindCreate {
				n = Never{Words: p.Task}
			}
			st.Never = append(st.Never, n)
		}
		if p.Kind == KindRollback && s == StateAccepted {
			st.tookBack(p.Skill, skills.HashOf([]byte(p.Before)))
		}
		e = event.LearnSettled{ID: id, Kind: p.Kind, Skill: p.Skill, State: string(s), By: by, Version: version, Open: st.countOpen()}
		return nil
	})
	if err == nil {
		l.o.Publish(event.Header{}, e)
	}
	return err
}

// tookBack notes that a text did worse than the one before it: it is not proposed again.
func (st *state) tookBack(name, hash string) {
	if st.Outcomes[name] == nil {
		st.Outcomes[name] = map[string]Uses{}
	}
	u := st.Outcomes[name][hash]
	u.Worse = true
	st.Outcomes[name][hash] = u
}
