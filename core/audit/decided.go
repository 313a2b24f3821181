package audit

import (
	"os"
	"slices"

	"hermes/core/approval"
)

// Decided records a decision that no event tells of: what a rule, the level, a setting or the smart
// model let run unasked. What a person was asked, and every refusal, comes over the bus already.
// Safe for concurrent use; it never waits for the disk: the entry is written with the next event,
// and the end of the call is one.
func (w *Writer) Decided(r approval.Record) {
	v := r.Verdict
	if v.Asked || !v.Allowed {
		return
	}
	e := Entry{
		At: r.At.UTC(), What: Decide, Session: r.Request.Session, Turn: r.Request.Turn, Call: r.Request.Call.ID,
		Tool: r.Request.Call.Name, Backend: r.Request.Backend, Decision: string(v.Decision), By: string(v.By), Reason: v.Analysis.Reason,
		User: owner(), PID: os.Getpid(),
	}
	if v.Rule != "" {
		e.Reason = "remembered approval " + v.Rule
	}
	for _, effect := range v.Analysis.Effects {
		if !slices.Contains(e.Effects, effect.Reason) {
			e.Effects = append(e.Effects, effect.Reason)
		}
	}
	e.redactSecrets()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decided = append(w.decided, e)
}

// takeUnasked takes what was decided since the last time.
func (w *Writer) takeUnasked() []Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.decided
	w.decided = nil
	return out
}
