package core

import (
	"context"
	"time"
)

// approvalModel lets a model answer for approvals.mode smart: that of auxiliary.approval, else the
// session's own; with no tools, no history, and no memory of the question.
type approvalModel struct{ a *App }

// approvalTokens is room for one word, and for models that think before they say it.
const (
	approvalTokens = 1000
	approvalTime   = 20 * time.Second
)

// Answer implements approval.Judge.
func (j approvalModel) Answer(ctx context.Context, session, instruction, question string) (string, error) {
	return j.a.runErrand(ctx, j.a.Config().Auxiliary.Approval, errand{
		task: "approval", session: session, system: instruction, text: question, most: approvalTokens, bytes: approvalTokens,
		time: approvalTime, own: true,
	})
}
