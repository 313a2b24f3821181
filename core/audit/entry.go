package audit

import (
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hermes/core/clip"
	"hermes/core/event"
	"hermes/core/logs"
)

// entryOf is what is recorded of an event; ok is false for events that are no act.
func entryOf(env event.Envelope) (e Entry, ok bool) {
	e = Entry{At: env.At.UTC(), Session: env.Session, Turn: env.Turn, Parent: env.Parent, User: owner(), PID: os.Getpid()}
	switch ev := env.Event.(type) {
	case event.ToolStarted:
		e.What, e.Call, e.Tool, e.Gist, e.Backend = Start, ev.Call.ID, ev.Call.Name, ev.Gist, ev.Backend
	case event.ApprovalAsked:
		e.What, e.Call, e.Tool, e.Backend = Ask, ev.Call.ID, ev.Call.Name, ev.Backend
		e.Gist, e.Effects, e.Reason = ev.Detail, slices.Clone(ev.Effects), ev.Reason
	case event.ApprovalSettled:
		e.What, e.Call, e.Decision, e.By = Decide, ev.CallID, string(ev.Decision), string(ev.By)
	case event.ToolEnded:
		r := ev.Result
		e.What, e.Call, e.Tool, e.Backend = End, r.CallID, r.Name, r.Backend
		e.ExitCode, e.Failed, e.TookMS = r.ExitCode, r.IsError, r.Took.Milliseconds()
		for _, d := range r.Diffs {
			e.Files = append(e.Files, d.Path)
		}
	case event.ProcessEnded:
		e.What, e.Call, e.Gist, e.Backend, e.TookMS = Process, ev.CallID, ev.Command, ev.Backend, ev.Took.Milliseconds()
		e.ExitCode = &ev.ExitCode
	case event.BackendChanged:
		if ev.From == ev.To {
			return e, false
		}
		e.What, e.Backend, e.Gist, e.Reason = Backend, ev.Name, string(ev.From)+" -> "+string(ev.To), ev.Cause
	case event.BackendSelected:
		e.What, e.Backend = Select, ev.Name
	case event.ConfigReloaded:
		e.What = Settings
		e.Reason = strings.Join(ev.Problems, "; ")
	case event.MemoryChanged:
		if ev.Action == event.MemoryOnDisk { // what the program did is told in another event, and what others do is nobody's act here
			return e, false
		}
		e.What, e.Tool, e.By, e.Decision, e.Failed = Memory, ev.Target, string(ev.By), string(ev.Action), ev.Action == event.MemoryRefused
		e.Gist, e.Reason = memoryGist(ev), ev.Reason
	case event.Resync:
		e.What, e.Lost = Gap, ev.Dropped
	default:
		return e, false
	}
	e.redactSecrets()
	return e, true
}

// memoryGist is what came and what went, a line each; of a refusal the text that was not written.
func memoryGist(ev event.MemoryChanged) string {
	var out []string
	for _, text := range ev.Added {
		out = append(out, "+ "+text)
	}
	for _, text := range ev.Removed {
		out = append(out, "- "+text)
	}
	if ev.Text != "" {
		out = append(out, ev.Text)
	}
	return strings.Join(out, "\n")
}

func (e *Entry) redactSecrets() {
	e.Gist, e.Reason = clip.Runes(logs.Redact(e.Gist), maxGist, "…"), clip.Runes(logs.Redact(e.Reason), maxGist, "…")
	for i, s := range e.Effects {
		e.Effects[i] = clip.Runes(logs.Redact(s), maxGist, "…")
	}
}

// owner is the name of the user that the program runs as.
var owner = sync.OnceValue(func() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
})
