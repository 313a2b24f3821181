package conversation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/event"
	"hermes/ui"
	"hermes/ui/diff"
	"hermes/ui/style"
	"hermes/ui/text"
)

// deaf is how long an approval ignores enter and space: what was typed for something else must not decide.
const deaf = 500 * time.Millisecond

// openWaiting shows the oldest approval or question.
func (p *Pane) openWaiting() tea.Cmd {
	var o ui.Overlay
	switch {
	case len(p.asks) > 0:
		o = newApproval(p.asks[0], p.deps.Agent, p.deps.Now)
	case len(p.question) > 0:
		o = newQuestion(p.question[0], p.deps.Agent, p.deps.Now)
	default:
		return nil
	}
	return func() tea.Msg { return ui.ShowOverlay{Overlay: o} }
}

// approval is the box that asks whether a call may run. Deny is the default; nothing but its own letter, or enter on a
// button that was moved to, allows anything.
type approval struct {
	ask     event.ApprovalAsked
	agent   Agent
	now     func() time.Time
	shown   time.Time
	choices []event.Decision
	at      int
	top     int
	styles  *style.Styles
}

func newApproval(ask event.ApprovalAsked, agent Agent, now func() time.Time) *approval {
	a := &approval{ask: ask, agent: agent, now: now, shown: now(), choices: []event.Decision{event.DecisionDeny}}
	for _, d := range []event.Decision{event.DecisionOnce, event.DecisionSession, event.DecisionAlways} {
		if slices.Contains(ask.Choices, d) {
			a.choices = append(a.choices, d)
		}
	}
	return a
}

// Title implements ui.Overlay.
func (a *approval) Title() string { return oneLine(a.ask.Title) }

// Size implements ui.Overlay.
func (a *approval) Size(w, h int) (ow, oh int) {
	ow = min(w-4, 100)
	return ow, min(h-2, max(6, len(a.body(ow))+3))
}

// Restyle implements ui.Overlay.
func (a *approval) Restyle(s *style.Styles) { a.styles = s }

// Hint implements ui.Overlay.
func (a *approval) Hint() string {
	left := ""
	if !a.ask.Deadline.IsZero() {
		left = " · denies itself in " + countdown(a.ask.Deadline.Sub(a.now()))
	}
	return "d deny  o once  s session  a always  esc deny" + left
}

// RefreshAt implements ui.Refresher: the countdown.
func (a *approval) RefreshAt(now time.Time) time.Time {
	if a.ask.Deadline.IsZero() {
		return time.Time{}
	}
	return now.Truncate(time.Second).Add(time.Second)
}

func countdown(d time.Duration) string {
	s := max(0, int(d.Round(time.Second).Seconds()))
	return strconv.Itoa(s/60) + ":" + two(s%60)
}

// Update implements ui.Overlay.
func (a *approval) Update(msg tea.Msg) (tea.Cmd, bool) {
	if !a.ask.Deadline.IsZero() && !a.now().Before(a.ask.Deadline) {
		return nil, true // it has denied itself
	}
	k, ok := msg.(tea.KeyMsg)
	if !ok || k.Paste {
		return nil, false
	}
	switch k.String() {
	case "esc", "d", "n":
		return a.decide(event.DecisionDeny)
	case "o":
		return a.choose(event.DecisionOnce)
	case "s":
		return a.choose(event.DecisionSession)
	case "a":
		return a.choose(event.DecisionAlways)
	case "left", "shift+tab":
		a.at = (a.at + len(a.choices) - 1) % len(a.choices)
	case "right", "tab":
		a.at = (a.at + 1) % len(a.choices)
	case "up":
		a.top = max(0, a.top-1)
	case "down":
		a.top++
	case "enter", " ":
		if a.now().Sub(a.shown) >= deaf {
			return a.decide(a.choices[a.at])
		}
	}
	return nil, false
}

func (a *approval) choose(d event.Decision) (tea.Cmd, bool) {
	if !slices.Contains(a.choices, d) || a.now().Sub(a.shown) < deaf {
		return nil, false
	}
	return a.decide(d)
}

func (a *approval) decide(d event.Decision) (tea.Cmd, bool) {
	agent, id := a.agent, a.ask.ID
	return func() tea.Msg {
		if err := agent.Answer(id, d); err != nil {
			return ui.ShowToast{Level: event.Warn, Text: "The answer came too late: " + oneLine(err.Error())}
		}
		return nil
	}, true
}

// View implements ui.Overlay.
func (a *approval) View(w, h int) string {
	body := a.body(w)
	room := max(0, h-2)
	a.top = max(0, min(a.top, len(body)-room))
	lines := append([]string(nil), body[a.top:min(len(body), a.top+room)]...)
	for len(lines) < room {
		lines = append(lines, "")
	}
	return text.Block(append(lines, "", a.buttons()), w, h)
}

func (a *approval) buttons() string {
	words := map[event.Decision]string{event.DecisionDeny: "Deny", event.DecisionOnce: "Once", event.DecisionSession: "This session", event.DecisionAlways: "Always"}
	var b strings.Builder
	b.WriteString("  ")
	for i, c := range a.choices {
		if i == a.at {
			b.WriteString(a.styles.Selection.Inline(true).Render("[ "+words[c]+" ]") + " ")
		} else {
			b.WriteString("  " + words[c] + "   ")
		}
	}
	return b.String()
}

// body is the command with its dangerous part underlined, what it does, and what "session" and "always" would cover.
func (a *approval) body(w int) []string {
	inner := max(1, w-4)
	s := a.styles
	if s == nil {
		s = &style.Styles{}
	}
	var out []string
	for _, l := range text.Wrap(a.detail(s), inner) {
		out = append(out, "  "+l)
	}
	add := func(st func(...string) string, body string) {
		for _, l := range text.Wrap(text.ExpandTabs(text.Sanitize(body), 4), inner) {
			if l != "" {
				out = append(out, "  "+st(l))
			}
		}
	}
	if len(out) > 0 {
		out = append(out, "")
	}
	for _, e := range a.ask.Effects {
		add(s.Warn.Render, e)
	}
	add(s.Dim.Render, a.ask.Reason)
	if a.ask.Backend != "" {
		add(s.Dim.Render, "runs in "+a.ask.Backend)
	}
	if a.ask.Scope != "" {
		add(s.Dim.Render, "session and always cover: "+a.ask.Scope)
	}
	for _, l := range diff.Render(a.ask.Diff, inner, s) {
		out = append(out, "  "+l)
	}
	return out
}

func (a *approval) detail(s *style.Styles) string {
	d, from, to := a.ask.Detail, a.ask.Span[0], a.ask.Span[1]
	clean := func(s string) string { return text.ExpandTabs(text.Sanitize(s), 4) }
	if from < 0 || to > len(d) || from >= to {
		return clean(d)
	}
	return clean(d[:from]) + s.Bad.Underline(true).Inline(true).Render(clean(d[from:to])) + clean(d[to:])
}

func (p *Pane) sendInstead(string) tea.Cmd { return nil }
