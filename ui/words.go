package ui

import (
	"fmt"
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
		return retryWords(p, at) + "; any key: now, esc: stop"
	case event.PhaseCompressing:
		if p.Count == 1 {
			return "compressing 1 message"
		}
		return fmt.Sprintf("compressing %d messages", p.Count)
	default:
		return string(p.Kind)
	}
}

// retryWords says which model is asked again, when, and why.
func retryWords(p event.TurnPhase, at time.Time) string {
	out := "retrying"
	if p.Model != "" {
		out += " " + p.Model
	}
	if d := p.Until.Sub(at); d >= time.Second {
		out += fmt.Sprintf(" in %d s, at %s", int(d.Round(time.Second)/time.Second), p.Until.Local().Format("15:04:05"))
	} else {
		out += " in a moment"
	}
	if p.Cause == nil {
		return out
	}
	return out + " (" + p.Cause.String() + ")"
}

// MovedWords says which model goes on with a turn, and why.
func MovedWords(m event.ModelMoved) string {
	why := m.From + " did not answer (" + m.Cause.String() + ")"
	if m.FromKey != "" {
		why += " with the key in " + m.FromKey
	}
	switch {
	case !m.Rested.IsZero():
		return fmt.Sprintf("%s did not answer before (%s) and is left alone until %s: %s answers in this turn",
			m.From, m.Cause.String(), m.Rested.Local().Format("15:04:05"), m.To)
	case m.From == m.To:
		return fmt.Sprintf("%s: key %d of %d is used now", why, m.Key, m.Keys)
	default:
		return why + ": " + m.To + " answers for the rest of this turn"
	}
}

// HintWords says in one line what to do next: a hint of core, and how its remedies are done here.
func HintWords(hint string, do []event.Remedy) string { return event.JoinHints(hint, do, remedyWords) }

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
