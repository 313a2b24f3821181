package output

import (
	"strings"

	"hermes/core/event"
	"hermes/ui/progress"
	"hermes/ui/text"
)

// followPull follows the images that are being pulled: a call whose back end is not there yet waits
// for one.
func (p *Pane) followPull(env event.Envelope) bool {
	if env.Session != "" && env.Session != p.session {
		return false
	}
	switch e := env.Event.(type) {
	case event.BackendChanged:
		if e.To == event.BackendPulling {
			p.pulls[e.Name] = &progress.Meter{}
		} else {
			delete(p.pulls, e.Name)
		}
	case event.Progress:
		m := p.pulls[strings.TrimPrefix(e.ID, "pull:")]
		if m == nil || !strings.HasPrefix(e.ID, "pull:") { // one that a person asked for: no command waits for it
			return false
		}
		m.Add(env.At, e)
	default:
		return false
	}
	c := p.currentCall()
	return c != nil && c.isRunning()
}

// waitsFor is the pull that a call waits for; nil when it waits for none. A call that names no back
// end waits for the only one.
func (p *Pane) waitsFor(c *call) (name string, m *progress.Meter) {
	if !c.isRunning() || c.waits != "" {
		return "", nil
	}
	if m = p.pulls[c.backend]; m != nil {
		return c.backend, m
	}
	if c.backend == "" && len(p.pulls) == 1 {
		for name, m := range p.pulls {
			return name, m
		}
	}
	return "", nil
}

// pullRows are the rows that tell of it.
func (p *Pane) pullRows(name string, m *progress.Meter) []string {
	first := text.Truncate("The image of "+text.Inline(name)+" is being pulled; the command runs then.", max(0, p.w-2), p.styles.Glyphs.Ellipsis)
	return []string{" " + p.styles.Dim.Render(first), " " + m.Line(p.styles, max(0, p.w-2))}
}
