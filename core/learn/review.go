package learn

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/core/secret"
	"hermes/skills"
)

//go:embed review.md
var reviewTask string

// maxDigest bounds what a model is shown, in bytes: about 8,000 tokens.
const maxDigest = 32_000

// near is from how much in common tasks are of one kind.
const near = 0.4

// claim is how long a process may take over a review before another one takes it up.
const claim = 10 * time.Minute

// wantReview notes that a review is wanted, where an experience gives reason for one.
func (l *Learner) wantReview(st *state, x Experience) {
	s := l.o.Settings()
	for _, k := range x.Skills {
		own := l.ownText(k.Name)
		if own == nil || s.isPinned(k.Name) || st.isRefusedForEver(k.Name, nil) {
			continue
		}
		if ids := own.wantedFor(st, x, k); len(ids) > 0 {
			st.addDue(Due{Kind: "change", Skill: k.Name, Experiences: ids})
		}
	}
	if !isReviewable(x, s) {
		return
	}
	mine := comparedWords(x)
	if st.isRefusedForEver("", mine) {
		return
	}
	var ids []string
	good := false
	for _, y := range st.Experiences {
		if isReviewable(y, s) && taskLikeness(mine, comparedWords(y)) >= near {
			ids, good = append(ids, y.ID), good || y.Outcome == Good
		}
	}
	if good && len(ids) >= max(s.Alike, 1) {
		st.addDue(Due{Kind: "create", Experiences: ids})
	}
}

// isReviewable reports whether an experience can be one of those that make a new skill. Whoever
// only ran a procedure knows already how it is done.
func isReviewable(x Experience, s Settings) bool {
	onlyRan := len(x.Calls) > 0 && !slices.ContainsFunc(x.Calls, func(c Step) bool { return c.Run == nil })
	return !x.Used && x.Ended && len(x.Skills) == 0 && !onlyRan && (x.Outcome != Unknown || len(x.Calls) >= s.Calls)
}

// addDue adds a review, unless one of the same kind waits.
func (st *state) addDue(d Due) {
	for i, w := range st.Due {
		if w.Kind == d.Kind && w.Skill == d.Skill && (d.Kind == "change" || slices.Contains(d.Experiences, w.Experiences[0])) {
			for _, id := range d.Experiences {
				if !slices.Contains(w.Experiences, id) {
					st.Due[i].Experiences = append(st.Due[i].Experiences, id)
				}
			}
			return
		}
	}
	if len(st.Due) < 20 {
		st.Due = append(st.Due, d)
	}
}

func (st *state) isRefusedForEver(skill string, task []string) bool {
	return slices.ContainsFunc(st.Never, func(n Never) bool {
		return skill != "" && n.Skill == skill || skill == "" && len(n.Words) > 0 && taskLikeness(n.Words, task) >= near
	})
}

// job is a review that was taken up.
type job struct {
	Due
	of []Experience
}

// claimReview claims the next review. why says why there is none now.
func (l *Learner) claimReview(ctx context.Context, asked bool) (j *job, why string, err error) {
	told := false
	err = l.file.editState(func(st *state) error {
		now := l.o.Now()
		i := slices.IndexFunc(st.Due, func(d Due) bool { return now.Sub(d.Taken) > claim })
		if i < 0 {
			why = "there is nothing to learn from yet"
			return nil
		}
		if why = l.whyNoReview(ctx, st, asked); why != "" {
			if day := now.Format(time.DateOnly); st.Told != day && why != tooSoon {
				st.Told, told = day, true
			}
			return nil
		}
		st.Due[i].Taken = now
		st.Reviews = append(st.Reviews, now)
		j = &job{Due: st.Due[i]}
		for _, id := range j.Experiences {
			if x := st.findExperience(id); x != nil {
				j.of = append(j.of, *x)
			}
		}
		return nil
	})
	if told {
		l.o.Publish(event.Header{}, event.LearnReviewed{Why: why, Ceiling: true})
	}
	return j, why, err
}

// giveBackReview gives a review back, done or not. One that was interrupted does not count.
func (l *Learner) giveBackReview(j *job, done, interrupted bool) {
	err := l.file.editState(func(st *state) error {
		for i, d := range st.Due {
			if d.Kind != j.Kind || d.Skill != j.Skill || !d.Taken.Equal(j.Taken) {
				continue
			}
			if !done {
				st.Due[i].Taken = time.Time{}
				if interrupted {
					st.Reviews = st.Reviews[:max(len(st.Reviews)-1, 0)]
				}
				return nil
			}
			st.Due = slices.Delete(st.Due, i, i+1)
			break
		}
		for _, id := range j.Experiences {
			if x := st.findExperience(id); x != nil {
				x.Used = true
			}
		}
		for _, y := range j.of {
			st.noteMarkSeen(y)
		}
		return nil
	})
	if err != nil {
		l.o.Log.Warn("a review was not noted", "err", err)
	}
}

// noteMarkSeen notes that a review has seen the mark that a turn had then.
func (st *state) noteMarkSeen(then Experience) {
	x := st.findExperience(then.ID)
	if x == nil {
		return
	}
	for i, s := range x.Signals {
		if s.Mark && slices.Contains(then.Signals, s) {
			x.Signals[i].Seen = true
		}
	}
}

// ReviewNext does the next review that is wanted, if the ceilings allow one. It returns what was
// proposed, nil for nothing. One that was asked for by a person does not wait for the last one to
// be long ago, and says in a NothingError why there is nothing.
func (l *Learner) ReviewNext(ctx context.Context, asked bool) (*Proposal, error) {
	return l.reviewNext(ctx, ctx, asked)
}

// reviewNext is ReviewNext of which the model is interrupted when asking ends, the rest when life
// does.
func (l *Learner) reviewNext(life, ctx context.Context, asked bool) (*Proposal, error) {
	j, why, err := l.claimReview(ctx, asked)
	if err != nil || j == nil {
		return nil, errors.Join(err, whyNothing(asked, why))
	}
	p, why, err := l.runReview(ctx, j)
	if err != nil {
		if ctx.Err() != nil {
			l.waitWhileTurnsGoOn(life)
		}
		l.giveBackReview(j, ctx.Err() == nil && !isTransient(err), ctx.Err() != nil)
		return nil, err
	}
	if p != nil {
		l.tryVersion(life, p)
		if err := life.Err(); err != nil { // its checks were cut off; the model was paid for, so it counts
			l.giveBackReview(j, false, false)
			return nil, err
		}
	}
	l.giveBackReview(j, true, false)
	if p == nil {
		l.o.Publish(event.Header{}, event.LearnReviewed{Skill: j.Skill, Why: why})
		return nil, whyNothing(asked, why)
	}
	return l.keepProposal(*p)
}

// whyNothing tells a person who asked why nothing came of it.
func whyNothing(asked bool, why string) error {
	if !asked || why == "" {
		return nil
	}
	return &NothingError{why}
}

// NothingError says why there is no proposal.
type NothingError struct{ Why string }

func (e *NothingError) Error() string { return e.Why }

// failedError is a model that did not answer: the review is tried again.
type failedError struct{ error }

func isTransient(err error) bool { return errors.As(err, new(failedError)) }

// runReview asks the model and makes a proposal of its answer; why says why there is none.
func (l *Learner) runReview(ctx context.Context, j *job) (p *Proposal, why string, err error) {
	if len(j.of) == 0 {
		return nil, "what there was to learn from is not kept any more", nil
	}
	var shown subject
	if j.Kind == "change" {
		if shown, why, err = l.subjectOf(j.Skill); why != "" || err != nil {
			return nil, why, err
		}
	}
	said, err := l.o.Ask(ctx, j.of[len(j.of)-1].Session, reviewTask, Digest(shown, j.of))
	if err != nil {
		return nil, "", failedError{err}
	}
	a, err := ReadAnswer(said)
	if err != nil {
		return nil, whyRefused(err), nil //nolint:nilerr // that is how it ended
	}
	if a.Do == "nothing" {
		return nil, "the model found nothing worth keeping", nil
	}
	p = &Proposal{Why: oneLine(secret.Redact(a.Why)), Skill: j.Skill, Sources: j.Experiences, Session: j.of[0].Session}
	for _, x := range j.of {
		if x.Tainted != "" {
			p.Tainted = x.Tainted
		}
	}
	switch {
	case a.Do == "change" && j.Kind == "change":
		p.Kind, p.Deltas, p.Before = KindChange, a.Deltas, shown.text
	case a.Do == "create" && j.Kind == "create":
		p.Kind, p.Skill, p.Task = KindCreate, a.Name, comparedWords(j.of[0])
		p.After = newSkill(a)
	default:
		return nil, "refused: the answer does something else than was asked", nil
	}
	if err := l.checkProposal(ctx, p); err != nil {
		return nil, whyRefused(err), nil //nolint:nilerr // that is how it ended
	}
	return p, "", nil
}

// whyRefused says why an answer is not used, without what it may hold.
func whyRefused(err error) string { return "refused: " + oneLine(secret.Redact(err.Error())) }

// newSkill is the SKILL.md of an answer.
func newSkill(a Answer) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(oneLine(s), "'", "''") + "'" }
	return "---\nname: " + oneLine(a.Name) + "\ndescription: " + quote(a.Description) + "\nversion: 1.0.0\n---\n\n" + closeText(strings.TrimSpace(a.Body))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// subject is the text that a model looks at; without a kind there is none.
type subject struct {
	kind, name, text string
	measured         []Metric
}

// subjectOf is a text with what was measured of it; why says why none is looked at.
func (l *Learner) subjectOf(key string) (s subject, why string, err error) {
	own := l.ownText(key)
	if own == nil {
		return s, skills.DescribeKey(key) + " is not there any more", nil
	}
	if closed, _ := own.standing(); closed != "" {
		return s, "nothing is proposed for " + skills.DescribeKey(key) + ": " + closed, nil
	}
	raw, err := own.read()
	if err != nil {
		return s, "", err
	}
	st, err := l.file.readState()
	if err != nil {
		return s, "", err
	}
	name, _ := skills.SplitKey(key)
	return subject{own.kind(), name, string(raw), st.measureText(key, skills.HashOf(raw), own.metricsOf())}, "", nil
}

// Digest is what a model is shown of experiences: no secrets, and not more than it may read.
func Digest(s subject, list []Experience) string {
	var b strings.Builder
	if s.kind != "" {
		fmt.Fprintf(&b, "The %s %s, with line numbers:\n<<<%s\n", s.kind, s.name, s.kind)
		for i, line := range splitLines(s.text) {
			fmt.Fprintf(&b, "%d: %s\n", i+1, strings.TrimRight(line, "\r\n"))
		}
		fmt.Fprintf(&b, "%s>>>\n\n", s.kind)
	}
	for _, m := range s.measured {
		fmt.Fprintf(&b, "measured over its turns: %s\n", m.Words())
	}
	for i, x := range slices.Backward(list) { // the newest first: the others fall off the end
		part := describeExperience(len(list)-i, x)
		if b.Len()+len(part) > maxDigest {
			break
		}
		b.WriteString(part)
	}
	return secret.Redact(strings.ToValidUTF8(b.String()[:min(b.Len(), maxDigest)], ""))
}

func describeExperience(n int, x Experience) string {
	var b strings.Builder
	fence := strings.NewReplacer("<<<", "< < <", ">>>", "> > >")
	fmt.Fprintf(&b, "Turn %d came out %s.\n<<<turn\nasked: %s\n", n, x.Outcome, fence.Replace(x.Task))
	for _, s := range x.Calls {
		how := ""
		switch {
		case s.Exit != nil:
			how = fmt.Sprintf(" -> exit code %d", *s.Exit)
		case s.Failed:
			how = " -> failed"
		}
		fmt.Fprintf(&b, "call %s %s%s\n", s.Tool, fence.Replace(s.Args), how)
		if s.Run != nil {
			describeRun(&b, s.Run, fence.Replace)
			continue // its result says the same again
		}
		if s.Said != "" {
			fmt.Fprintf(&b, "  said: %s\n", fence.Replace(indentLines(s.Said)))
		}
	}
	for _, s := range x.Signals {
		fmt.Fprintf(&b, "%s because: %s\n", s.Says, fence.Replace(oneLine(s.Why)))
	}
	if x.Later != "" {
		fmt.Fprintf(&b, "then the person said: %s\n", fence.Replace(x.Later))
	}
	b.WriteString("turn>>>\n\n")
	return b.String()
}

// FileName is what the text of a proposal is called in an editor.
func (p Proposal) FileName() string {
	if name, is := skills.SplitKey(p.Skill); is {
		return name + ".yaml"
	}
	return skills.File
}

// provenanceOf is where a version comes from that a proposal makes.
func (p Proposal) provenanceOf() skills.Provenance {
	return skills.Provenance{By: "learned", Why: p.Why, Session: p.Session, Source: p.ID, Tainted: p.Tainted != ""}
}
