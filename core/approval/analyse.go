package approval

import (
	"os"

	"hermes/core/approval/command"
	"hermes/core/intent"
)

type (
	// Analysis is what the analyser says about a call.
	Analysis = command.Analysis
	// Context is where a command would run.
	Context = command.Context
	// Effect is one thing that a command does.
	Effect = command.Effect
	// Level is how far a session goes unasked.
	Level = command.Level
)

// Levels of a session, see package command.
const (
	LevelRead      = command.LevelRead
	LevelCreate    = command.LevelCreate
	LevelStandard  = command.LevelStandard
	LevelSensitive = command.LevelSensitive
)

// Analyse says what a shell command would do and whether it may run unasked. It runs nothing.
func Analyse(cmd string, c Context) Analysis { return command.Analyse(cmd, c) }

// ContextIn is the context of a command on this machine that starts in dir, at the standard level.
func ContextIn(dir string) Context { return command.ContextIn(dir) }

// Explanation is what `hermes approvals explain` says about one command.
type Explanation struct {
	Command string   `json:"command"`
	Verdict string   `json:"verdict"` // allow, ask, refuse
	Effects []Effect `json:"effects"`
	Span    [2]int   `json:"span"`   // bytes of Command that decided; zero when it is allowed
	Reason  string   `json:"reason"` // "" when it is allowed
	Loose   string   `json:"-"`
}

// Explain says what would happen to a command that nobody has decided about before.
func Explain(cmd string, mode Mode, c Context) Explanation {
	a := Analyse(cmd, c)
	e := Explanation{Command: cmd, Verdict: string(a.Verdict), Effects: a.Effects, Span: a.Span, Reason: a.Reason, Loose: a.Loose}
	if e.Effects == nil {
		e.Effects = []Effect{}
	}
	if mode == ModeOff && a.Verdict == command.Ask {
		e.Verdict, e.Span, e.Reason = string(command.Allow), [2]int{}, ""
	}
	return e
}

// analyseCall reads what a call would do from the call itself.
func (p Policy) analyseCall(r Request, before string) Analysis {
	in := r.Intent
	where := Context{
		Dir: r.Dir, Project: r.Project, Level: p.Level, Local: r.Local, Sandboxed: r.Sandboxed, Backend: r.Backend, DataDir: p.DataDir, Unkept: p.Unkept,
		Foreign: r.Foreign,
	}
	if where.Project == "" {
		where.Project = r.Dir
	}
	home, _ := os.UserHomeDir() // without one, a name that is nowhere stands for it
	where.Home = home
	switch {
	case len(in.Effects) > 0:
		return command.WithEffects(in.Effects, where)
	case r.shellCommand() != "":
		where.Dir = dirOf(r)
		if _, err := os.Stat(where.Dir); err != nil && r.Local { // it begins where the session does then
			where.Dir = where.Project
		}
		return Analyse(in.Shell.Command, where)
	case in.Stdin != nil && in.Stdin.Text != "":
		return analyseInput(before, in.Stdin.Text, where)
	case len(in.Paths) > 0:
		return command.Files(in.Paths, where)
	default:
		return command.WithEffects([]Effect{{Class: command.Run, Level: command.LevelAlways, Reason: whyUntold(r)}}, where)
	}
}

// whyUntold is why a call that says nothing is asked about.
func whyUntold(r Request) string {
	if r.Intent.Consent == intent.Confirm {
		return "your settings want each call of it confirmed (require_confirmation)"
	}
	if r.Owner != "" {
		return r.Call.Name + " is a tool of " + r.Owner + ": what it does is not known"
	}
	return "what " + r.Call.Name + " does is not known"
}
