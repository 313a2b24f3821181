package core

import (
	"context"
	"time"
)

// judge lets a model answer for approvals.mode smart: that of auxiliary.approval, else the
// session's own; with no tools, no history, and no memory of the question.
type judge struct{ a *App }

// judgeTokens is room for one word, and for models that think before they say it.
const (
	judgeTokens = 1000
	judgeTime   = 30 * time.Second
)

// Answer implements approval.Judge.
func (j judge) Answer(ctx context.Context, session, instruction, question string) (string, error) {
	return j.a.runErrand(ctx, j.a.Config().Auxiliary.Approval, errand{
		task: "approval", session: session, system: instruction, text: question, most: judgeTokens, bytes: judgeTokens,
		time: judgeTime, own: true,
	})
}
