package learn

import (
	"context"
	"fmt"
	"time"

	"hermes/skills"
)

// Trial is a script of a skill's own checks: bash in an empty folder with these files, without the
// network and without the person's things.
type Trial struct {
	Files  map[string]string
	Script string
	Time   time.Duration
}

// Bounds of what is tried for one version.
const (
	maxTrials = 8
	trialTime = 20 * time.Second
	triesTime = 2 * time.Minute // for all of it
)

// How a check of a skill ended.
const (
	Passes = "passes"
	Fails  = "fails"
	NotRun = "not run"
)

// Check is one of a skill's own checks, run with the text before and the one that is proposed.
type Check struct {
	ID     int    `json:"id"`
	Prompt string `json:"prompt"`
	Before string `json:"before"`
	After  string `json:"after"`
	Why    string `json:"why,omitempty"` // it does not pass now
}

// isWorse reports whether a version is not to be had unasked: it fails what the one before passed,
// or nobody knows.
func (c Check) isWorse() bool {
	return c.After != Passes && c.Before == Passes || c.After == NotRun || c.Before == NotRun
}

// Words tell of a check.
func (c Check) Words() string {
	out := fmt.Sprintf("check %d (%s): %s before, %s now", c.ID, cutText(oneLine(c.Prompt), 60), c.Before, c.After)
	if c.Why != "" {
		out += ": " + c.Why
	}
	return out
}

// tryVersion runs the checks that a skill brings with its text before and the one that is proposed.
// A version that does not pass what the other did is for a person to decide.
func (l *Learner) tryVersion(ctx context.Context, p *Proposal) {
	own := l.ownText(p.Skill)
	if own == nil || p.Kind != KindChange {
		return
	}
	list, err := own.checks()
	if err != nil {
		p.Ask, p.Checks = true, []Check{{Before: NotRun, After: NotRun, Why: oneLine(err.Error())}}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, triesTime)
	defer cancel()
	for _, e := range list {
		if !e.Check.Scripted() {
			continue
		}
		c := Check{ID: e.ID, Prompt: e.Prompt, Before: NotRun, After: NotRun, Why: fmt.Sprintf("at most %d are run", maxTrials)}
		if len(p.Checks) < maxTrials {
			c.Before, c.Why = l.tryCheck(ctx, e.Check, p.Before)
			if c.Before != NotRun {
				c.After, c.Why = l.tryCheck(ctx, e.Check, p.After)
			}
		}
		p.Ask = p.Ask || c.isWorse()
		p.Checks = append(p.Checks, c)
	}
}

// tryCheck runs a check as a text of its skill says; why is for people, where it does not pass.
func (l *Learner) tryCheck(ctx context.Context, c skills.EvalCheck, text string) (end, why string) {
	if line := c.Unsaid(text); line != "" {
		return Fails, "the text does not say " + cutText(line, 120)
	}
	return l.tryLines(ctx, c, c.With, skills.NamedBlocks(text))
}

func (l *Learner) tryLines(ctx context.Context, c skills.EvalCheck, lines []string, files map[string]string) (end, why string) {
	if l.o.Try == nil {
		return NotRun, "checks are not run here"
	}
	code, err := l.o.Try(ctx, Trial{Files: files, Script: c.Script(lines), Time: trialTime})
	switch {
	case err != nil:
		return NotRun, cutText(oneLine(err.Error()), 200)
	case code != 0:
		return Fails, ""
	default:
		return Passes, ""
	}
}
