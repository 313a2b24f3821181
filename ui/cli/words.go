package cli

import (
	"strings"
	"time"

	"hermes/core/event"
)

// The words of `hermes run` for what core tells in codes.

// retryWords says how long a turn waits until it asks the model again, and why.
func retryWords(p event.TurnPhase, at time.Time) string {
	out := "retrying in " + max(0, p.Until.Sub(at)).Round(time.Second).String()
	if p.Cause != nil {
		out += " (" + p.Cause.String() + ")"
	}
	return out
}

// hintWords says in one line what to do next: a hint of core, and how its remedies are done here.
func hintWords(hint string, do []event.Remedy) string {
	var all []string
	if hint != "" {
		all = append(all, hint)
	}
	for _, r := range do {
		all = append(all, remedyWords(r))
	}
	return strings.Join(all, "; ")
}

func remedyWords(r event.Remedy) string {
	switch r {
	case event.RemedyRetry:
		return "run it again"
	case event.RemedyContinue:
		return "go on with `hermes run -c \"continue\"`"
	case event.RemedyChooseModel:
		return "--model chooses another model"
	case event.RemedyCompress:
		return "/compress in the workbench makes room"
	case event.RemedyShowQueue:
		return "/queue in the workbench shows them"
	case event.RemedyRollback:
		return "`hermes rollback` shows it, and can bring it back"
	case event.RemedyLogs:
		return "`hermes logs` may say more"
	default:
		return string(r)
	}
}
