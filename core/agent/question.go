package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hermes/core/event"
)

// questions are what tools asked the person and nobody has answered yet.
type questions struct {
	mu   sync.Mutex
	open map[string]*question
}

type question struct {
	session string
	order   int64
	asked   event.QuestionAsked
	answer  chan string
}

// Question is what a tool asks the person.
type Question struct {
	Session, Turn, CallID string
	Text                  string
	Choices               []string // none: free text
	Server                string   // the MCP server that asks; "": the model
}

// AskQuestion shows a question and waits for the answer. It returns an error when the turn is
// interrupted or nobody answers in time; the error is written for the model.
func (a *Agent) AskQuestion(ctx context.Context, q Question) (string, error) {
	id := a.nextID("question")
	asked := event.QuestionAsked{ID: id, CallID: q.CallID, Text: q.Text, Choices: q.Choices, Server: q.Server}
	pending := &question{session: q.Session, order: a.ids.Load(), asked: asked, answer: make(chan string, 1)}
	a.questions.mu.Lock()
	a.questions.open[id] = pending
	a.questions.mu.Unlock()
	header := event.Header{Session: q.Session, Turn: q.Turn}
	a.d.Bus.Publish(header, asked)
	answer, by := a.awaitAnswer(ctx, id, pending)
	a.d.Bus.Publish(header, event.QuestionAnswered{ID: id, Answer: answer, By: by})
	switch by {
	case event.ByInterrupt:
		return "", fmt.Errorf("the question was not answered: the turn was interrupted: %w", context.Canceled)
	case event.ByTimeout:
		return "", fmt.Errorf("nobody answered the question in time; go on with what is most likely meant and say what you assumed")
	default:
		return answer, nil
	}
}

func (a *Agent) awaitAnswer(ctx context.Context, id string, q *question) (answer string, by event.Decider) {
	patience := a.d.Settings(q.session).Question
	if patience <= 0 {
		patience = defaultQuestion
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case answer = <-q.answer:
		return answer, event.ByUser
	case <-timer.C:
		by = event.ByTimeout
	case <-ctx.Done():
		by = event.ByInterrupt
	}
	if a.questions.withdrawQuestion(id) == nil { // the answer won the race
		return <-q.answer, event.ByUser
	}
	return "", by
}

func (q *questions) withdrawQuestion(id string) *question {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.open[id]
	delete(q.open, id)
	return p
}

// Questions lists what waits for an answer in a session, oldest first: for a screen that comes to
// it late.
func (a *Agent) Questions(session string) []event.QuestionAsked {
	a.questions.mu.Lock()
	defer a.questions.mu.Unlock()
	var open []*question
	for _, q := range a.questions.open {
		if q.session == session {
			open = append(open, q)
		}
	}
	slices.SortFunc(open, func(x, y *question) int { return cmp.Compare(x.order, y.order) })
	var out []event.QuestionAsked
	for _, q := range open {
		out = append(out, q.asked)
	}
	return out
}

// AnswerQuestion answers an open question.
func (a *Agent) AnswerQuestion(id, text string) error {
	q := a.questions.withdrawQuestion(id)
	if q == nil {
		return fmt.Errorf("question %s is not open any more: it was answered, it timed out, or its turn was stopped", id)
	}
	q.answer <- text // has room for the one answer
	return nil
}
