// Package ask holds the clarify tool: a question to the person in the middle of a turn.
//
// The contract: whoever is asked shows the question, waits, and publishes both event.QuestionAsked
// and event.QuestionAnswered, whatever becomes of the question; the agent is one who can. This
// package only checks what the model asks and words what comes back.
package ask

import (
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"strconv"
	"strings"

	"hermes/core/intent"
	"hermes/core/tool"
)

//go:embed clarify.md
var clarifyDoc string

// Question is what is asked.
type Question struct {
	Session, Turn, CallID string
	Text                  string
	Choices               []string // none: free text
}

// Asker puts a question to the person and waits for the answer. Its error is written for the model:
// nobody answered in time, the turn was interrupted.
type Asker func(ctx context.Context, q Question) (answer string, err error)

type clarifyArgs struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

// Clarify returns the clarify tool. available hides it where nobody is there to answer; nil means
// that somebody always is.
func Clarify(ask Asker, available func() error) tool.Tool {
	return tool.Typed(tool.Spec{
		Name: "clarify", Toolset: "clarify", Description: clarifyDoc, Serial: true, Available: available,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["question"],"properties":{
			"question":{"type":"string","minLength":1,"maxLength":4000},
			"choices":{"type":"array","maxItems":4,"items":{"type":"string","minLength":1,"maxLength":200},"description":"Up to four answers to choose from; the person may still write another"}}}`),
		Intent: tool.Arg(func(a clarifyArgs) intent.Intent { return intent.ReadsOnly(a.Question) }),
	}, func(ctx context.Context, c tool.Call, a clarifyArgs) (tool.Result, error) {
		answer, err := ask(ctx, Question{Session: c.Session, Turn: c.Turn, CallID: c.ID, Text: a.Question, Choices: a.Choices})
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: "The person answered: " + chosenAnswer(answer, a.Choices)}, nil
	})
}

// chosenAnswer turns the number of a choice into the choice.
func chosenAnswer(text string, choices []string) string {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1]
	}
	if text == "" {
		return "(nothing)"
	}
	return text
}
