package backends

import "hermes/core/event"

func (p *Pane) whyNoRow() string {
	if len(p.rows) == 0 {
		return "there is no back end"
	}
	return ""
}

func (p *Pane) whyNotUse() string {
	switch {
	case len(p.rows) == 0:
		return "there is no back end"
	case p.session == "":
		return "no session is open"
	case p.rows[p.cursor].Selected:
		return p.rows[p.cursor].Name + " is in use already"
	default:
		return ""
	}
}

func (p *Pane) whyNoShell() string {
	switch {
	case len(p.rows) == 0:
		return "there is no back end"
	case p.session == "":
		return "no session is open"
	case p.rows[p.cursor].State == event.BackendRemoving:
		return "it is being removed"
	default:
		return ""
	}
}

// whyNot is what forbids every verb.
func (p *Pane) whyNot() string {
	if len(p.rows) == 0 || p.pool == nil {
		return "there is no back end"
	}
	if why := p.pool.Can(); why != "" {
		return why
	}
	if e := p.doing[p.rows[p.cursor].Name]; e != nil {
		return "its " + e.what + " is not done yet"
	}
	return ""
}

// changingWord is the word for a state that passes by itself, or "".
func changingWord(s event.BackendState) string {
	switch s {
	case event.BackendPulling:
		return "its image is being pulled"
	case event.BackendCreating, event.BackendStarting:
		return "it is starting"
	case event.BackendStopping:
		return "it is stopping"
	case event.BackendRemoving:
		return "it is being removed"
	default:
		return ""
	}
}

func (p *Pane) whyNotStart() string {
	if why := p.whyNot(); why != "" {
		return why
	}
	r := p.rows[p.cursor]
	if r.State == event.BackendReady {
		return "it is up already"
	}
	return changingWord(r.State)
}

func (p *Pane) whyNotStop() string {
	if r := p.currentRow(); r != nil {
		if e := p.doing[r.Name]; e != nil && (e.what == "start" || e.what == "pull") {
			return ""
		}
	}
	if why := p.whyNot(); why != "" {
		return why
	}
	r := p.rows[p.cursor]
	switch {
	case r.Traits.Local:
		return "this machine is not ours to stop"
	case !r.Traits.Stoppable:
		return "it cannot be stopped"
	case r.State == event.BackendReady, r.State == event.BackendPulling, r.State == event.BackendCreating, r.State == event.BackendStarting:
		return ""
	case changingWord(r.State) != "":
		return changingWord(r.State)
	default:
		return "it is not up"
	}
}

func (p *Pane) whyNotRestart() string {
	if why := p.whyNot(); why != "" {
		return why
	}
	r := p.rows[p.cursor]
	switch {
	case r.Traits.Local && r.State != event.BackendFailed:
		return "this machine is not ours to restart"
	case r.State == event.BackendAbsent || r.State == event.BackendStopped:
		return "it is not up: start it"
	default:
		return changingWord(r.State)
	}
}

func (p *Pane) whyNotRemove() string {
	if why := p.whyNot(); why != "" {
		return why
	}
	r := p.rows[p.cursor]
	switch {
	case r.Traits.Local:
		return "this machine is not ours to remove"
	case !r.Traits.Removable:
		return "a host is not ours to remove; stop ends the connection"
	case r.State == event.BackendAbsent:
		return "there is nothing of it yet"
	default:
		return changingWord(r.State)
	}
}

func (p *Pane) whyNotPull() string {
	if why := p.whyNot(); why != "" {
		return why
	}
	r := p.rows[p.cursor]
	switch {
	case !r.Traits.Image:
		return "it has no image"
	case r.State == event.BackendPulling:
		return changingWord(r.State)
	default:
		return ""
	}
}
