package backends

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/text"
)

// showWhole opens all that is known of the back end under the cursor, first what went wrong: the
// words of an engine or of ssh are often longer than a pane.
func (p *Pane) showWhole(string) tea.Cmd {
	r, now := p.rows[p.cursor], p.now()
	_, word := p.stateMark(r)
	var facts []ui.Fact
	add := func(name, s string, wrong bool) {
		if s != "" {
			facts = append(facts, ui.Fact{Name: name, Text: s, Wrong: wrong})
		}
	}
	wrong := isWrong(r)
	add("state", word, wrong)
	if wrong {
		add("why", r.Cause, true)
		if r.Retry.After(now) {
			add("next try", "at "+r.Retry.In(now.Location()).Format("15:04:05")+", or with r at once", false)
		}
	}
	add("kind", r.Kind, false)
	add("where", r.Image, false)
	add("used", p.usersText(r), false)
	add("running", r.Command, false)
	if !wrong {
		add("last change", r.Cause, false)
	}
	for i := len(p.log) - 1; i >= 0 && len(facts) < maxWhole; i-- {
		if c := p.log[i]; c.Name == r.Name {
			add(c.at.In(now.Location()).Format("15:04:05"), strings.TrimSuffix(fmt.Sprintf("%s: %s", c.To, c.Cause), ": "), c.To == event.BackendFailed || c.To == event.BackendLost)
		}
	}
	return func() tea.Msg { return ui.ShowOverlay{Overlay: ui.NewCard(text.Inline(r.Name), facts)} }
}

// maxWhole bounds the rows of the card.
const maxWhole = 40

// isWrong reports whether a back end stands still because something failed.
func isWrong(r Row) bool {
	return r.Cause != "" && (r.State == event.BackendFailed || r.State == event.BackendLost)
}

// usersText says who uses a back end besides this session: the one that its commands run for, or
// others that have one of their own by this name.
func (p *Pane) usersText(r Row) string {
	if r.Refs > 0 && r.User != "" && r.User != p.session {
		return "used by another session: " + p.sessionName(r.User)
	}
	names := p.elsewhere(r.Name)
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "another session has its own up: " + names[0]
	default:
		return fmt.Sprintf("%d other sessions have their own up: %s", len(names), strings.Join(names, ", "))
	}
}

// elsewhere names the other sessions in which a back end of this name is up.
func (p *Pane) elsewhere(name string) (out []string) {
	for _, o := range p.others {
		if o.name == name && o.session != p.session {
			out = append(out, p.sessionName(o.session))
		}
	}
	return out
}

func (p *Pane) sessionName(uid string) string {
	if title := p.titles[uid]; title != "" {
		return text.Inline(title)
	}
	return text.Inline(uid)
}

// other is a back end of another session that is up.
type other struct{ session, name string }

// noteOthers follows what the back ends of all sessions do, and what the sessions are called. It
// reports whether the picture may have changed.
func (p *Pane) noteOthers(env event.Envelope) bool {
	switch e := env.Event.(type) {
	case event.SessionOpened:
		p.titles[e.Info.UID] = e.Info.Title
	case event.SessionChanged:
		p.titles[e.Info.UID] = e.Info.Title
	case event.SessionDeleted:
		delete(p.titles, env.Session)
	case event.BackendChanged:
		if env.Session == "" {
			return false
		}
		at := -1
		for i, o := range p.others {
			if o.session == env.Session && o.name == e.Name {
				at = i
			}
		}
		switch up := e.To == event.BackendReady; {
		case up && at < 0:
			p.others = append(p.others, other{env.Session, e.Name})
		case !up && at >= 0:
			p.others = append(p.others[:at:at], p.others[at+1:]...)
		}
		return true
	}
	return false
}
