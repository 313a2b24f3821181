package run

import (
	"context"
	"errors"

	"hermes/core/client"
	"hermes/core/learn"
	"hermes/ui/cli/base"
)

// learnFrom looks at what there is to learn, in mode auto, after the answer is written and for a
// while at most. Elsewhere that waits for the workbench or `hermes learn run`: who only proposes
// needs a person anyway.
func (c *command) learnFrom(ctx context.Context, app client.Client, turn string) {
	l, s := app.Learning(), app.Config().Learning
	if l == nil || turn == "" || s.Mode != string(learn.Auto) || s.AfterRun <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.AfterRun)
	defer cancel()
	if err := l.Await(ctx, turn); err != nil {
		if !errors.Is(err, context.Canceled) {
			c.Note("hermes: nothing was learned: %s", base.OneLine(err.Error()))
		}
		return
	}
	st, err := l.Status(ctx)
	if err != nil || st.Due == 0 || st.Ceiling != "" || st.Next != nil {
		return
	}
	c.Note("hermes: looking for at most %s at what there is to learn; ctrl+c ends it (learning.after_run)", s.AfterRun)
	p, err := l.ReviewNext(ctx, false)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		c.Note("hermes: that took too long; `hermes learn run` does it")
	case err != nil:
		c.Note("hermes: nothing was learned: %s", base.OneLine(err.Error()))
	case p == nil:
	case p.State == learn.StateOpen:
		c.Note("hermes: %s %s %s waits for your word; `hermes learn show %s`", p.ID, p.Kind, base.OneLine(p.Skill), p.ID)
	default:
		c.Note("hermes: learned: %s %s, version %d; `hermes skills undo %s` takes it back", p.Kind, base.OneLine(p.Skill), p.Version, base.OneLine(p.Skill))
	}
}
