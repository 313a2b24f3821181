package agent

import (
	"cmp"

	"hermes/core/chat"
)

const keepTurns = 2 // the newest exchanges stay word for word, unless they alone are too long

// tail is what stays word for word.
type tail struct {
	messages int // at least so many
	tokens   int // and so many tokens
	most     int // tokens that they may have; one group of a call and its results stays whatever it has
}

// tailStart is the index of the first message that stays. No call is parted from its results there.
// It is a prompt with keepTurns exchanges from there on, where these leave the tail small enough;
// else it is within an exchange. 0 means that all stays, because what is wanted of the tail is more
// than there is.
func (k tail) tailStart(history []chat.Message) int {
	whole := wholeBefore(history)
	inner, prompt, last := 0, 0, 0 // boundaries: the newest with all that is wanted; the oldest prompt; the oldest
	size, turns := 0, 0
	for i := len(history) - 1; i > 0; i-- {
		size += estimateTokens(history[i : i+1])
		if !whole[i] {
			continue
		}
		if size > k.most {
			if prompt <= inner && prompt > 0 {
				return prompt
			}
			return cmp.Or(inner, prompt, last, i)
		}
		last = i
		enough := size >= k.tokens && len(history)-i >= k.messages
		if enough {
			inner = cmp.Or(inner, i)
		}
		if isPrompt(history, i) {
			turns++
			prompt = i
			if turns >= keepTurns && enough {
				return i
			}
		}
	}
	return inner
}

// isPrompt reports whether an exchange begins at i: somebody says something, and it is not said to
// a running turn.
func isPrompt(history []chat.Message, i int) bool {
	m := history[i]
	return m.Role == chat.RoleUser && !m.From.IsSummary() && (i == 0 || history[i-1].Role != chat.RoleTool)
}

// wholeBefore tells for each message whether every call before it has its result there, and none of
// its own is behind it.
func wholeBefore(history []chat.Message) []bool {
	whole := make([]bool, len(history))
	last := map[string]int{} // where a call's result is
	for i, m := range history {
		if m.Result != nil {
			last[m.Result.CallID] = i
		}
	}
	open := -1 // the furthest result of a call so far
	for i, m := range history {
		whole[i] = i > open && m.Role != chat.RoleTool
		for _, c := range m.Calls {
			if at, ok := last[c.ID]; ok {
				open = max(open, at)
			}
		}
	}
	return whole
}
