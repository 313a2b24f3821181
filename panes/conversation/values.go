package conversation

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/crash"
	"hermes/ui/compose"
	"hermes/ui/rank"
)

// values are what the argument of a slash command can be.
type values struct {
	command string
	list    []string // the newest that is known
	asking  bool     // for newer ones, for so long already that the person is told
}

// valuesMsg brings the values of a command. More is what waits for them, when they take their time.
type valuesMsg struct {
	command string
	list    []string
	more    tea.Cmd
}

// tellAfter is how long values may take before a row says that they come.
const tellAfter = 100 * time.Millisecond

// completeValue offers what fits to the argument of a command, and asks for the values when the
// person begins with it.
func (p *Pane) completeValue(t compose.Token) tea.Cmd {
	if p.deps.Commands == nil || !p.tokenMoved(t) {
		return nil
	}
	begins := p.last.Kind != ' ' || p.last.Command != t.Command
	p.last = t
	if p.values.command != t.Command {
		p.values = values{command: t.Command}
	}
	p.offerValues()
	find := p.deps.Commands.Complete(t.Command)
	if !begins || find == nil {
		return nil
	}
	return findValues(t.Command, find)
}

// findValues finds the values of a command, and says so when that takes its time.
func findValues(command string, find func(context.Context) []string) tea.Cmd {
	return func() tea.Msg {
		found := make(chan []string, 1)
		crash.Go("values of /"+command, func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			found <- find(ctx)
		})
		arrived := func() tea.Msg { return valuesMsg{command: command, list: <-found} }
		select {
		case list := <-found:
			return valuesMsg{command: command, list: list}
		case <-time.After(tellAfter):
			return valuesMsg{command: command, more: arrived}
		}
	}
}

// takeValues takes values that were found, or says that they come.
func (p *Pane) takeValues(m valuesMsg) tea.Cmd {
	if p.values.command != m.command {
		return m.more
	}
	if p.values.asking = m.more != nil; !p.values.asking {
		p.values.list = m.list
	}
	if p.composer.Token() == p.last && (!p.composer.Recalled() || p.tabbed) {
		p.offerValues()
	}
	if !p.values.asking {
		p.takeOnly()
	}
	return m.more
}

// offerValues offers the values that are known and fit, best first, else that they come.
func (p *Pane) offerValues() {
	entries := make([]rank.Entry, len(p.values.list))
	for i, v := range p.values.list {
		entries[i] = rank.Entry{Name: v}
	}
	var out []compose.Item
	for _, m := range rank.Find(p.last.Text, entries) {
		if len(out) < maxOffers {
			out = append(out, compose.Item{Text: p.values.list[m.Index], Guess: m.Guess})
		}
	}
	if len(out) == 0 && p.values.asking {
		out = append(out, compose.Item{Text: "asking for the list…", Off: true})
	}
	p.composer.Offer(p.last, out)
}
