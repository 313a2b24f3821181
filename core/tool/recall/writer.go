package recall

import (
	"fmt"
	"slices"
	"strings"

	"hermes/core/chat"
	"hermes/core/event"
)

// messageRunes is how much of one message is shown: tool output is most of what is stored and least
// of what is sought.
const messageRunes = 1500

// writer lays out results as text for a model.
type writer struct {
	b     strings.Builder
	roles []chat.Role
}

func (w *writer) writeLine(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) writeSession(i event.SessionInfo) {
	w.writeLine("\n## %s\nsession_id=%s, %s to %s, %d messages, %s", titleOf(i), i.UID,
		i.Started.Format("2006-01-02 15:04"), i.Last.Format("2006-01-02 15:04"), i.Messages, i.Project)
}

func titleOf(i event.SessionInfo) string {
	if i.Title != "" {
		return i.Title
	}
	return "(no title)"
}

// writePages writes pages of one session in order, each message once, with a mark where some are
// left out.
func (w *writer) writePages(anchor int64, pages ...[]chat.Message) {
	all := slices.Concat(pages...)
	slices.SortStableFunc(all, func(a, b chat.Message) int { return a.Seq - b.Seq })
	all = slices.CompactFunc(all, func(a, b chat.Message) bool { return a.ID == b.ID })
	last := 0
	for _, m := range all {
		if last > 0 && m.Seq > last+1 {
			w.writeLine("[... %d messages]", m.Seq-last-1)
		}
		last = m.Seq
		if m.ID == anchor || slices.Contains(w.roles, m.Role) {
			w.writeMessage(m, m.ID == anchor)
		}
	}
}

func (w *writer) writeMessage(m chat.Message, anchor bool) {
	mark := ""
	if anchor {
		mark = " <-- found here"
	}
	w.writeLine("[%d %s]%s %s", m.ID, m.Role, mark, bodyOf(m))
}

func bodyOf(m chat.Message) string {
	text := m.Text
	if m.Result != nil {
		text = m.Result.Name + ": " + m.Result.Text
	}
	for _, c := range m.Calls {
		text += fmt.Sprintf(" (calls %s %s)", c.Name, shortenText(string(c.Args), 200))
	}
	return shortenText(strings.TrimSpace(text), messageRunes)
}

func shortenText(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + fmt.Sprintf("... [%d more characters]", len(r)-n)
}
