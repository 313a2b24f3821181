package agent

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hermes/core/chat"
)

// A summary keeps the words of the person as they are, in parts beside its text: what a model
// writes about a rule is another rule each time. No model decides what is kept.

const (
	quoteTokens = 8000 // of all quotes, at most a fifth of the window
	quoteBytes  = 2000 // of one, unless it is the request that is worked on
)

//go:embed rulewords.txt
var ruleWords string

// rules finds the words by which a sentence is a rule.
var rules = sync.OnceValue(func() *regexp.Regexp {
	var alone, anywhere []string
	for _, w := range strings.Split(strings.TrimSpace(ruleWords), "\n") {
		switch {
		case strings.HasPrefix(w, "#"):
		case strings.ContainsFunc(w, isUnspacedScript):
			anywhere = append(anywhere, regexp.QuoteMeta(w))
		default:
			alone = append(alone, regexp.QuoteMeta(w))
		}
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + strings.Join(alone, "|") + `)(?:[^\pL]|$)|` + strings.Join(anywhere, "|"))
})

// isUnspacedScript reports whether a character is of a script without blanks between words.
func isUnspacedScript(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isRule(text string) bool { return rules().MatchString(text) }

// Names of quotes: what began an exchange, and what was said while the agent was at work. Of
// somebody else's request the name is whose it is.
const (
	quotePrompt = "prompt"
	quoteSteer  = "steer"
)

func byPerson(q chat.Part) bool { return q.Name == quotePrompt || q.Name == quoteSteer }

// quotePerson are the words of the person in messages that a summary will stand for, those of an
// older summary included, with at most room tokens: the last request, whoever made it, then the
// first ones, then rules, then the newest.
func quotePerson(old []chat.Message, first, room int) []chat.Part {
	all := personWords(old)
	request := lastRequest(all)
	size := room
	chosen, seen := make([]bool, len(all)), map[string]bool{}
	take := func(i, bytes int) {
		text := excerpt(all[i].Text, bytes)
		if cost := countTokens(text) + 4; !chosen[i] && !seen[text] && cost <= room {
			chosen[i], seen[text], room, all[i].Text = true, true, room-cost, text
		}
	}
	for i := request; i < len(all); i++ {
		take(i, size)
	}
	for i := range min(first, len(all)) {
		take(i, min(quoteBytes, size/2))
	}
	for i, q := range slices.Backward(all) {
		if byPerson(q) && isRule(q.Text) {
			take(i, quoteBytes)
		}
	}
	for i, q := range slices.Backward(all) {
		if byPerson(q) {
			take(i, quoteBytes)
		}
	}
	var out []chat.Part
	for i, q := range all {
		if chosen[i] {
			out = append(out, q)
		}
	}
	return out
}

// lastRequest is the index of the last quote that began an exchange.
func lastRequest(all []chat.Part) int {
	for i, q := range slices.Backward(all) {
		if q.Name != quoteSteer {
			return i
		}
	}
	return 0
}

// personWords is what was asked for in messages, one quote for each, none empty.
func personWords(messages []chat.Message) []chat.Part {
	var out []chat.Part
	for i, m := range messages {
		if m.Role != chat.RoleUser {
			continue
		}
		if m.From.IsSummary() {
			out = append(out, slices.DeleteFunc(slices.Clone(m.Parts), func(p chat.Part) bool { return p.Kind != chat.PartQuote })...)
			continue
		}
		q := chat.Part{Kind: chat.PartQuote, Name: quoteSteer, Text: m.Text}
		switch {
		case m.From.Other():
			q.Name = m.From.Words()
		case isPrompt(messages, i):
			q.Name = quotePrompt
		}
		m.EachPart(func(p *chat.Part) { q.Text = strings.TrimPrefix(q.Text+"\n["+p.Describe()+howToSeeAgain(p)+"]", "\n") })
		if strings.TrimSpace(q.Text) != "" {
			out = append(out, q)
		}
	}
	return out
}

var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?]\s|[。！？\n]`) })

// excerpt is at most about limit bytes of text: its beginning, its end, and the rules between them.
func excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	short := shortenMiddle(text, limit/2)
	var b strings.Builder
	rest := text
	for rest != "" && b.Len() < limit/2 {
		end := len(rest)
		if at := sentenceEnd().FindStringIndex(rest); at != nil {
			end = at[1]
		}
		sentence := strings.TrimSpace(rest[:end])
		if len(sentence) <= limit/4 && isRule(sentence) && !strings.Contains(short, sentence) {
			b.WriteString("\n[…] " + sentence)
		}
		rest = rest[end:]
	}
	return short + b.String()
}
