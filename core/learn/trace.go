package learn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/core/clip"
)

// Traced is a turn with what was proposed of it.
type Traced struct {
	Experience
	Then []Proposal
}

// Trace returns a turn by its id, that of its experience, or its session (the last turn), and what
// was proposed of it.
func (l *Learner) Trace(ref string) (Experience, []Proposal, error) {
	list, at, err := l.Traces(Turn{Ref: ref})
	if err != nil {
		return Experience{}, nil, err
	}
	return list[at].Experience, list[at].Then, nil
}

// Traces returns the turns of the session of the one that is meant, the newest first, and which of
// them that is. Turns that did nothing are among them while the program runs.
func (l *Learner) Traces(t Turn) (list []Traced, at int, err error) {
	st, err := l.file.readState()
	if err != nil {
		return nil, 0, err
	}
	l.addIdle(st)
	meant := st.findTurn(t)
	switch {
	case meant == nil && t.Ref != "":
		return nil, 0, fmt.Errorf("no turn %s is kept; `hermes trace` lists the last ones", t.Ref)
	case meant == nil:
		return nil, 0, errNotKept
	}
	for _, x := range slices.Backward(st.Experiences) {
		if x.Session != meant.Session {
			continue
		}
		if x.ID == meant.ID {
			at = len(list)
		}
		one := Traced{x, []Proposal{}}
		for _, p := range st.Proposals {
			if slices.Contains(p.Sources, x.ID) {
				one.Then = append(one.Then, p)
			}
		}
		list = append(list, one)
	}
	return list, at, nil
}

// addIdle adds the turns that did nothing to those that are kept.
func (l *Learner) addIdle(st *state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) == 0 {
		return
	}
	st.Experiences = append(st.Experiences, l.idle...)
	slices.SortStableFunc(st.Experiences, func(a, b Experience) int { return a.At.Compare(b.At) })
}

// TraceLine is a fact about a turn: "memory", "skill", "tool", ... and what of it.
type TraceLine struct{ What, Text string }

// TraceLines tells what a turn was given, did and came to, in that order: memory, skills with their
// versions, tools, signals, what was learned of it. The texts may hold anything: whoever shows them
// makes them safe.
func TraceLines(x Experience, then []Proposal) []TraceLine {
	var out []TraceLine
	line := func(what, format string, args ...any) {
		out = append(out, TraceLine{what, fmt.Sprintf(format, args...)})
	}
	line("turn", "%s  %s  session %s  %s", x.Turn, x.At.Local().Format(time.DateTime), x.Session, x.Model)
	line("asked", "%s", x.Task)
	for _, r := range x.Recalled {
		line("memory", "%s (unasked)", r)
	}
	for _, s := range x.Skills {
		line("skill", "%s, chosen by the %s, text %.12s", s.Title(), s.By, s.Hash)
	}
	for i, s := range x.Calls {
		line(s.kind(), "%d. %s %s -> %s", i+1, s.Tool, s.what(), s.result())
		if s.Run != nil {
			for _, r := range s.Run.Steps {
				line("step", "%s", r.Words())
			}
			line("run", "%s", joinReasons(s.Run.Name+" "+s.Run.End, oneLine(s.Run.Why)))
		}
	}
	if x.Tainted != "" {
		line("read", "%s", x.Tainted)
	}
	for _, s := range x.Signals {
		line("signal", "%s: %s", s.Says, s.Why)
	}
	if x.Outcome == Unknown {
		line("outcome", "%s: no exit code, no test and no word of yours says more", x.Outcome)
	} else {
		line("outcome", "%s", x.Outcome)
	}
	for _, p := range then {
		line("learned", "%s %s %s: %s", p.ID, p.Kind, p.Skill, p.State)
	}
	return out
}

// Title is the skill or procedure with its version, where it has one.
func (s Loaded) Title() string {
	if s.Version == 0 {
		return s.Name
	}
	return fmt.Sprintf("%s v%d", s.Name, s.Version)
}

func (s Step) kind() string {
	if strings.HasPrefix(s.Tool, "memory") || s.Tool == "session_search" {
		return "memory"
	}
	return "tool"
}

func (s Step) what() string {
	const most = 100 // characters
	text := s.Args
	if s.Ran != "" {
		text = s.Ran
	}
	return clip.Runes(text, most, "…")
}

func (s Step) result() string {
	switch {
	case s.Exit != nil:
		return fmt.Sprintf("exit code %d", *s.Exit)
	case s.Failed:
		return "failed"
	}
	return "ok"
}
