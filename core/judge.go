package core

import (
	"context"
	"strings"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/secret"
)

// judge lets the session's own model answer for approvals.mode smart: with no tools, no history, and no memory of the question.
type judge struct{ a *App }

// judgeTokens is room for one word, and for models that think before they say it.
const judgeTokens = 1000

// Answer implements approval.Judge.
func (j judge) Answer(ctx context.Context, session, instruction, question string) (string, error) {
	ref, err := j.a.Agent.Model(ctx, session)
	if err != nil {
		return "", err
	}
	p, m, err := j.a.Models.Resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	var said strings.Builder
	r := provider.Request{
		Model: m.ID, System: instruction, Session: session, MaxTokens: judgeTokens,
		Messages: []chat.Message{{Role: chat.RoleUser, Status: chat.StatusFinal, Text: secret.Clean(question)}},
	}
	for chunk, err := range p.Stream(ctx, r) {
		if err != nil {
			return "", err
		}
		if chunk.Kind == provider.ChunkText {
			said.WriteString(chunk.Text)
		}
		if said.Len() > judgeTokens {
			break // that is no answer to this question
		}
	}
	return said.String(), ctx.Err()
}
