package ui

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/event"
)

// The screen's words for what core tells in codes. Other ways in have their own: core names no key
// and no command of the screen.

// phaseWords is a phase of a turn that was told at a moment.
func phaseWords(p event.TurnPhase, at time.Time) string {
	switch p.Kind {
	case event.PhaseWaiting:
		if p.Model == "" {
			return "waiting for the model"
		}
		return "waiting for " + p.Model
	case event.PhaseStreaming:
		return "streaming"
	case event.PhaseWritingCall:
		return "writing a call of " + p.Tool
	case event.PhaseApproval:
		return p.Tool + ": waiting for approval"
	case event.PhaseRunning:
		return "running " + p.Tool
	case event.PhaseRetrying:
		return retryWords(p, at) + ", esc stops"
	case event.PhaseCompressing:
		if p.Count == 1 {
			return "compressing 1 message"
		}
		return fmt.Sprintf("compressing %d messages", p.Count)
	default:
		return string(p.Kind)
	}
}

// retryWords says how long a turn waits until it asks the model again, and why.
func retryWords(p event.TurnPhase, at time.Time) string {
	wait := "a moment"
	if d := p.Until.Sub(at); d >= time.Second {
		wait = fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
	}
	if p.Cause == nil {
		return "retrying in " + wait
	}
	return "retrying in " + wait + " (" + p.Cause.String() + ")"
}

// HintWords says in one line what to do next: a hint of core, and how its remedies are done here.
func HintWords(hint string, do []event.Remedy) string {
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
		return "/retry tries again"
	case event.RemedyContinue:
		return "say \"continue\" to go on"
	case event.RemedyChooseModel:
		return "/model chooses another model"
	case event.RemedyConnect:
		return "/connect chooses a server and tries a key"
	case event.RemedyCompress:
		return "/compress makes room"
	case event.RemedyShowQueue:
		return "/queue shows them: there each one can be sent now, edited or dropped"
	case event.RemedyRollback:
		return "/rollback shows it, and can bring it back"
	case event.RemedyLogs:
		return "\"hermes logs\" may say more"
	default:
		return string(r)
	}
}

// LevelWords says what a level of approval asks about, in full and in brief.
func LevelWords(level string) (full, brief string) {
	switch level {
	case "plan":
		return "plans only, changes nothing", "plans only"
	case "read":
		return "asks before any change", "asks: changes"
	case "create":
		return "asks before changing what is there", "asks: changes"
	case "standard":
		return "asks for risky things", "asks: risky"
	case "sensitive":
		return "asks for the gravest things", "asks: gravest"
	case "smart":
		return "a model judges risky things", "a model judges"
	case "all":
		return "asks for nothing", "asks: nothing"
	default:
		return level, level
	}
}
