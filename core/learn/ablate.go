package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes/skills"
)

// Ablation is what a skill is worth by what can be told without a model: its own checks, done as it
// says and as one does who has not read it; and what turns came to that used it, beside turns like
// them that used no skill.
type Ablation struct {
	Skill  string    `json:"skill"`
	Checks []Ablated `json:"checks"`
	With   Uses      `json:"with"`             // turns that used it
	Other  Uses      `json:"without"`          // turns like them that used no skill
	Better *float64  `json:"better,omitempty"` // how likely turns go better with it; nil: it cannot be said
}

// Ablated is a check with and without the skill.
type Ablated struct {
	ID      int    `json:"id"`
	Prompt  string `json:"prompt"`
	With    string `json:"with"`
	Without string `json:"without"`
	Why     string `json:"why,omitempty"` // one of them was not run
}

// Ablate tells what a skill is worth. It asks no model and does no task again: what a recorded task
// would do a second time, nobody knows.
func (l *Learner) Ablate(ctx context.Context, name string) (Ablation, error) {
	if _, err := l.o.Library.Find(ctx, "", name); err != nil {
		name = l.o.Library.KeyOf(ctx, name)
	}
	out := Ablation{Skill: name, Checks: []Ablated{}}
	raw, list, err := l.textAndChecks(ctx, name)
	if err != nil {
		return out, err
	}
	for _, e := range list[:min(len(list), maxTrials)] {
		if e.Check.Scripted() {
			out.Checks = append(out.Checks, l.ablateCheck(ctx, e, string(raw)))
		}
	}
	st, err := l.file.readState()
	if err != nil {
		return out, err
	}
	st.compareTurns(&out)
	if with, other := out.With.Good+out.With.Bad, out.Other.Good+out.Other.Bad; with > 0 && other > 0 {
		p := probabilityWorse(out.Other.Good, out.Other.Bad, out.With.Good, out.With.Bad)
		out.Better = &p
	}
	return out, nil
}

// textAndChecks is what a skill of any source, or a procedure of the person's, says and is checked
// by.
func (l *Learner) textAndChecks(ctx context.Context, key string) ([]byte, []skills.Eval, error) {
	var own text
	if _, is := skills.SplitKey(key); is {
		if own = l.ownText(key); own == nil {
			return nil, nil, errors.New("there is not " + skills.DescribeKey(key) + " in your own folder")
		}
	} else {
		s, err := l.o.Library.Find(ctx, "", key)
		if err != nil {
			return nil, nil, err
		}
		own = skillText{s}
	}
	raw, err := own.read()
	if err != nil {
		return nil, nil, err
	}
	list, err := own.checks()
	return raw, list, err
}

func (l *Learner) ablateCheck(ctx context.Context, e skills.Eval, text string) Ablated {
	a := Ablated{ID: e.ID, Prompt: e.Prompt}
	a.With, a.Why = l.tryCheck(ctx, e.Check, text)
	why := ""
	if a.Without, why = l.tryLines(ctx, e.Check, e.Check.Without, nil); a.Why == "" {
		a.Why = why
	}
	return a
}

// compareTurns counts the turns that used a skill, and those like them that used none.
func (st *state) compareTurns(a *Ablation) {
	var tasks [][]string
	for _, x := range st.Experiences {
		if !slices.ContainsFunc(x.Skills, func(s Loaded) bool { return s.Name == a.Skill }) {
			continue
		}
		tasks = append(tasks, comparedWords(x))
		a.With = a.With.countOutcome(x.Outcome)
	}
	for _, x := range st.Experiences {
		words := comparedWords(x)
		if len(x.Skills) == 0 && slices.ContainsFunc(tasks, func(t []string) bool { return taskLikeness(t, words) >= near }) {
			a.Other = a.Other.countOutcome(x.Outcome)
		}
	}
}

func (u Uses) countOutcome(o Outcome) Uses {
	switch o {
	case Good:
		u.Good++
	case Bad:
		u.Bad++
	case Unknown:
		u.Unknown++
	}
	return u
}

// Words tell of an ablation, a line each.
func (a Ablation) Words() (out []string) {
	for _, c := range a.Checks {
		line := fmt.Sprintf("check %d (%s): %s with the skill, %s without it", c.ID, cutText(oneLine(c.Prompt), 60), c.With, c.Without)
		if c.Why != "" {
			line += " (" + c.Why + ")"
		}
		out = append(out, line)
	}
	if len(a.Checks) == 0 {
		out = append(out, "it brings no check that can be run without a model (evals/evals.json)")
	}
	say := func(what string, u Uses) {
		out = append(out, fmt.Sprintf("%s: %g good, %g bad, %g unknown", what, u.Good, u.Bad, u.Unknown))
	}
	say("turns that used it", a.With)
	say("turns like them that used no skill", a.Other)
	if a.Better != nil {
		out = append(out, fmt.Sprintf("better with it with a probability of %.2f; who chose to use it was no coin, so this is a hint and no proof", *a.Better))
	} else {
		out = append(out, "there are not both kinds of turns with a known outcome, so they say nothing")
	}
	return out
}
