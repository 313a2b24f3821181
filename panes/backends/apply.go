package backends

import (
	"slices"
	"time"

	"hermes/core/event"
	"hermes/ui/progress"
)

// Apply implements ui.Pane.
func (p *Pane) Apply(events []event.Envelope) bool {
	changed := false
	for _, env := range events {
		changed = p.applyEvent(env) || changed
	}
	if changed {
		p.memoOK = false
	}
	return changed
}

func (p *Pane) applyEvent(env event.Envelope) bool {
	seen := p.noteOthers(env)
	if env.Session != "" && env.Session != p.session {
		return seen // another session's own back end, or its choice
	}
	switch e := env.Event.(type) {
	case event.BackendChanged:
		p.applyChange(env.At, e)
	case event.BackendActivity:
		r := p.rowNamed(e.Name)
		r.Refs, r.Command, r.User, r.IdleSince, r.IdleTTL = e.Refs, e.Command, e.Session, e.IdleSince, e.IdleTTL
	case event.BackendStats:
		p.rowNamed(e.Name).Stats = e
	case event.Progress:
		return p.applyProgress(env.At, e)
	case event.ToolStarted:
		if e.Backend != "" {
			p.calls[e.Call.ID] = e.Backend
		}
		return false
	case event.ToolEnded:
		return p.ranAt(env.At, e)
	case event.BackendSelected:
		return p.isSelected(e.Name)
	case event.Resync:
		p.reloadList()
	default:
		return false
	}
	return true
}

func (p *Pane) applyChange(at time.Time, e event.BackendChanged) {
	if e.From == e.To || !p.isKnown(e.Name, e.Kind) {
		p.reloadList() // an announcement: the pool has been opened, or its configuration changed
	}
	r := p.rowNamed(e.Name)
	if e.From != e.To {
		r.Since = at
		p.addToLog(at, e)
	}
	r.Kind, r.State, r.Cause, r.Retry = e.Kind, e.To, e.Cause, e.Retry
	if e.Image != "" {
		r.Image = e.Image
	}
	if e.To != event.BackendPulling {
		r.Pull = progress.Meter{}
	}
	p.sample.forget(e.Name)
	if e.To != event.BackendReady {
		r.Refs, r.Command, r.IdleSince, r.Stats = 0, "", time.Time{}, event.BackendStats{}
	}
}

func (p *Pane) isKnown(name, kind string) bool {
	return slices.ContainsFunc(p.rows, func(r Row) bool { return r.Name == name && r.Kind == kind })
}

// applyProgress belongs to a back end when its id is "pull:NAME".
func (p *Pane) applyProgress(at time.Time, e event.Progress) bool {
	const prefix = "pull:"
	if len(e.ID) <= len(prefix) || e.ID[:len(prefix)] != prefix {
		return false
	}
	r := p.rowNamed(e.ID[len(prefix):])
	if r.Pull.Add(at, e); r.State != event.BackendPulling && e.Total > 0 && e.Done >= e.Total {
		r.Pull = progress.Meter{} // asked for by hand and done: no state will follow that would say so
	}
	return true
}

// stray is a call that ran elsewhere than where it was asked to.
type stray struct {
	wanted, ran string
	at          time.Time
}

// ranAt notices a call that another back end took over, until one runs again where it should.
func (p *Pane) ranAt(at time.Time, e event.ToolEnded) bool {
	wanted, ran := p.calls[e.Result.CallID], e.Result.Backend
	delete(p.calls, e.Result.CallID)
	switch {
	case wanted == "" || ran == "":
		return false
	case wanted != ran:
		p.strayed = &stray{wanted, ran, at}
	case p.strayed != nil && p.strayed.wanted == wanted:
		p.strayed = nil
	default:
		return false
	}
	return true
}

func (p *Pane) isSelected(name string) bool {
	for i := range p.rows {
		p.rows[i].Selected = p.rows[i].Name == name
	}
	p.chosen = true
	p.followChoice()
	return true
}

// followChoice keeps the cursor on the back end that was chosen for the session, until a person
// moves it: what is told below the list is told of that one.
func (p *Pane) followChoice() {
	if p.chosen && !p.moved {
		p.cursor = max(0, slices.IndexFunc(p.rows, func(r Row) bool { return r.Selected }))
	}
}

// rowNamed returns the named row, making it when an event is the first to tell of it. Names stay
// sorted behind the default, and the cursor stays on its row.
func (p *Pane) rowNamed(name string) *Row {
	for i := range p.rows {
		if p.rows[i].Name == name {
			return &p.rows[i]
		}
	}
	at := 0
	for at < len(p.rows) && (p.rows[at].Default || p.rows[at].Name < name) {
		at++
	}
	p.rows = slices.Insert(p.rows, at, Row{Name: name, State: event.BackendAbsent})
	if at <= p.cursor && len(p.rows) > 1 && p.moved {
		p.cursor++
	}
	p.followChoice()
	return &p.rows[at]
}

// reloadList asks the pool anew. What only events tell (progress, retries, load) is kept.
func (p *Pane) reloadList() {
	if p.pool == nil {
		return
	}
	if !p.moved {
		p.cursor = 0
	}
	selected, old := "", map[string]Row{}
	for i, r := range p.rows {
		old[r.Name] = r
		if i == p.cursor {
			selected = r.Name
		}
	}
	p.rows = p.pool.List(p.session)
	for i := range p.rows {
		r := &p.rows[i]
		r.Pull, r.Stats = old[r.Name].Pull, old[r.Name].Stats
		if r.Retry.IsZero() && r.State == event.BackendFailed {
			r.Retry = old[r.Name].Retry
		}
		if r.Name == selected && p.moved {
			p.cursor = i
		}
	}
	p.cursor = max(0, min(p.cursor, len(p.rows)-1))
	p.followChoice()
	p.memoOK = false
}
