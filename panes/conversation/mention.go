package conversation

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/ui/compose"
)

// describedMsg brings what the @words of the line would attach.
type describedMsg struct {
	words string
	what  []string
}

// describeMentions asks what the line would attach, when the words with @ in it have changed.
func (p *Pane) describeMentions() tea.Cmd {
	if p.deps.Files == nil {
		return nil
	}
	words := ""
	if body := p.composer.Text(); strings.Contains(body, "@") && !strings.HasPrefix(body, "$") && p.instead == nil {
		words = mentionWords(body)
	}
	if words == p.mentions {
		return nil
	}
	p.mentions = words
	if words == "" {
		p.composer.Name(nil)
		return nil
	}
	deps, session := p.deps, p.session
	return withTimeout(func(ctx context.Context) tea.Msg {
		cwd := ""
		if deps.Cwd != nil { // it may ask the store
			cwd = deps.Cwd(session)
		}
		return describedMsg{words, deps.Files.Describe(ctx, Folder{Session: session, Cwd: cwd}, words)}
	})
}

// mentionWords are the words with @ of a text, and what a quote keeps together with them.
func mentionWords(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if at := strings.Index(line, "@"); at >= 0 && strings.Contains(line, `@"`) {
			out = append(out, strings.TrimSpace(line[at:]))
			continue
		}
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "@") {
				out = append(out, word)
			}
		}
	}
	return strings.Join(out, "\n")
}

// specialMentions are what can be named beside files.
func specialMentions(t compose.Token) []compose.Item {
	var out []compose.Item
	for _, s := range []struct{ word, end, hint string }{
		{"diff", " ", "what changed since the last commit"},
		{"https://", "", "a page of the web; its text is a stranger's"},
	} {
		if t.Kind == '@' && strings.HasPrefix(s.word, t.Text) {
			out = append(out, compose.Item{Text: "@" + s.word + s.end, Label: s.word, Hint: s.hint})
		}
	}
	return out
}
