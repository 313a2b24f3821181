package base

import (
	"hermes/core/event"
)

// HintSuffix puts a hint behind a sentence.
func HintSuffix(h string) string {
	if h == "" {
		return ""
	}
	return "; " + h
}

// HintWords says in one line what to do next: a hint of core, and how its remedies are done here.
func HintWords(hint string, do []event.Remedy) string { return event.JoinHints(hint, do, remedyWords) }

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
	case event.RemedyConnect:
		return "`hermes setup` tries another key"
	case event.RemedyLogs:
		return "`hermes logs` may say more"
	default:
		return string(r)
	}
}
