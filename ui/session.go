package ui

// Session returns the uid of the session with the focus. Call it from the event loop: in an
// Action's Run.
func (p *Program) Session() string { return sessionOf(p.frame.convs.currentPane()) }
