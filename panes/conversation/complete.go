package conversation

import (
	"context"
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui"
	"hermes/ui/compose"
	"hermes/ui/rank"
)

// maxOffers is how many completions are worth showing.
const maxOffers = 50

// completeWord offers what fits to the word at the cursor. Files are listed in a command; the rest
// is at hand.
func (p *Pane) completeWord() tea.Cmd {
	t := p.composer.Token()
	if p.composer.Recalled() && !p.tabbed { // up and down go on through the history
		p.composer.Offer(t, nil)
		p.last = t
		return nil
	}
	switch t.Kind {
	case '/':
		if p.tokenMoved(t) {
			p.composer.Offer(t, p.completeCommand(t.Text))
		}
	case ' ':
		return p.completeValue(t)
	case '@', '$':
		if p.deps.Files != nil && p.tokenMoved(t) && (t.Kind == '@' || p.tabbed) { // in a command enter runs it
			p.last = t
			if p.composer.Completing() { // until the list comes, what fits of the one before
				p.offerFiles(filesMsg{t.Text, p.paths})
			}
			return p.listFiles(t.Text, t.Kind == '$')
		}
	default:
		p.composer.Offer(t, nil)
	}
	p.last = t
	return nil
}

func (p *Pane) tokenMoved(t compose.Token) bool { return t != p.last }

func (p *Pane) completeCommand(prefix string) []compose.Item {
	if p.deps.Commands == nil {
		return nil
	}
	all := p.deps.Commands.List()
	entries, command := make([]rank.Entry, len(all)), make([]int, len(all))
	for i, c := range all {
		entries[i], command[i] = rank.Entry{Name: c.Name, More: c.Title, Off: c.Why != ""}, i
	}
	for i, c := range all {
		for _, other := range c.Also {
			entries, command = append(entries, rank.Entry{Name: other, Off: c.Why != ""}), append(command, i)
		}
	}
	var out []compose.Item
	offered := map[int]bool{}
	for _, m := range rank.Find(prefix, entries) {
		if at := command[m.Index]; !offered[at] {
			offered[at] = true
			guess := m.Guess || !strings.HasPrefix(strings.ToLower(entries[m.Index].Name), strings.ToLower(prefix))
			out = append(out, offerCommand(all[at], prefix, guess))
		}
	}
	return out
}

// offerCommand is a command as the completion shows it. Another name of it that stands there whole
// stays, so that enter runs it.
func offerCommand(c ui.SlashCommand, typed string, guess bool) compose.Item {
	name, label, hint := c.Name, "/"+c.Name, c.Title
	if slices.Contains(c.Also, typed) {
		name = typed
	}
	if c.Arg != "" {
		label += " " + c.Arg
	}
	if c.Why != "" {
		hint = "not now: " + c.Why
	}
	return compose.Item{Text: "/" + name + " ", Label: label, Hint: hint, Off: c.Why != "", Guess: guess}
}

// matchNames returns the places of the names that fit, best first; all of them for an empty
// pattern.
func matchNames(pattern string, names []string) []int {
	entries := make([]rank.Entry, len(names))
	for i, n := range names {
		entries[i] = rank.Entry{Name: n}
	}
	var out []int
	for _, m := range rank.Find(pattern, entries) {
		if out = append(out, m.Index); len(out) == maxOffers {
			break
		}
	}
	return out
}

// listFiles asks for the files once for each prefix.
func (p *Pane) listFiles(prefix string, command bool) tea.Cmd {
	deps, session := p.deps, p.session
	return withTimeout(func(ctx context.Context) tea.Msg {
		cwd := ""
		if deps.Cwd != nil { // it may ask the store
			cwd = deps.Cwd(session)
		}
		return filesMsg{prefix, deps.Files.List(ctx, Folder{session, cwd, command}, prefix)}
	})
}

func (p *Pane) offerFiles(m filesMsg) {
	t := p.composer.Token()
	if t.Kind != '@' && t.Kind != '$' || t.Text != m.prefix || p.composer.Recalled() && !p.tabbed {
		return
	}
	p.paths = m.paths
	out := specialMentions(t)
	for _, i := range matchNames(m.prefix, m.paths) {
		name := m.paths[i]
		end := " "
		if strings.HasSuffix(name, "/") {
			end = ""
		}
		text := mentionOf(name)
		if t.Kind == '$' {
			text = shellWord(name)
		}
		out = append(out, compose.Item{Text: text + end, Label: name})
	}
	p.composer.Offer(t, out)
	p.takeOnly()
}

// mentionOf names a file with @: in quotes, where a blank or a sign at its end would cut its name.
func mentionOf(name string) string {
	if strings.ContainsFunc(name, unicode.IsSpace) || strings.TrimRight(name, ".,;:!?)") != name {
		return `@"` + name + `"`
	}
	return "@" + name
}

// shellWord is a name as a shell takes it for one word.
func shellWord(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("_-./+=:,@%", r)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
