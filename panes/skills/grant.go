package skills

import (
	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/skill"
	"hermes/core/trust"
	"hermes/skills"
)

// askTrust begins to ask whether a project, or what a skill asks for, is trusted.
func (v *Overlay) askTrust(key string, r skill.Row) tea.Cmd {
	if key == "t" {
		return v.toggleTrust()
	}
	if r.Asks != nil {
		v.mode, v.From = granting, 0
	}
	return nil
}

func (v *Overlay) toggleTrust() tea.Cmd {
	b := v.brought
	switch {
	case b == nil:
		return nil
	case b.State == skills.Accepted:
		return v.do.Untrust(b)
	default:
		return v.do.Preview(b)
	}
}

// grantKey takes the answer.
func (v *Overlay) grantKey(key string) tea.Cmd {
	r, ok := v.selectedRow()
	switch {
	case !ok || r.Asks == nil || key == "esc" || key == "q":
		v.mode = listing
	case key == "Y" || key == "N":
		v.mode = listing
		return v.do.Grant(r.Asks, key == "Y")
	default:
		v.TakePageKey(key)
	}
	return nil
}

// asksLine says what a skill wants to be passed, and what the person said.
func asksLine(a *skill.Wish) string {
	said := map[trust.State]string{
		trust.Unasked: "you were not asked yet", trust.Trusted: "you said yes", trust.Refused: "you said no",
		trust.Outdated: "it has changed since you answered",
	}[a.State]
	if a.Tainted {
		said = "written after strangers' words were read: asked about in each session"
	}
	return "asks for " + a.Asks() + ": " + said
}
