package sessions

import (
	"slices"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/ui/text"
)

// Bounds of one message in the preview: a look, not the whole.
const (
	previewRows  = 8
	previewBytes = 4 << 10
)

// previewSide is the preview: the conversation around the hit, else its end.
func (p *Pane) previewSide(w, h int) []string {
	r := p.currentHit()
	switch {
	case r == nil:
		return nil
	case p.preview.err != "":
		return p.wrapProse(p.styles.Bad, w, "The conversation could not be read.", text.Sanitize(p.preview.err))
	case p.preview.uid != r.Info.UID || p.preview.loading:
		return nil
	}
	head := []string{p.styles.Strong.Render(text.Truncate(titleOf(*r), w, p.styles.Glyphs.Ellipsis))}
	for _, l := range text.Wrap(p.aboutLine(*r, p.now().Location()), w) {
		head = append(head, p.styles.Dim.Render(l))
	}
	head = append(head, "")
	body, hit := p.drawMessages(w, foundWords(*r))
	room := max(1, h-len(head))
	if len(body) <= room {
		return append(head, body...)
	}
	from := len(body) - room
	if p.preview.at != 0 {
		from = max(0, min(from, hit-room/3))
	}
	return append(head, body[from:from+room]...)
}

// aboutLine says where and with what a conversation was held.
func (p *Pane) aboutLine(r Hit, here *time.Location) string {
	parts := []string{r.Info.Last.In(here).Format("2006-01-02 15:04"), text.Count(r.Info.Messages, "message", "messages")}
	r.Info.Model = r.Info.ModelRef()
	parts = append(parts, sessionFacts(r)...)
	folder := r.Info.Cwd
	if folder == "" {
		folder = r.Info.Project
	}
	if folder != "" {
		parts = append(parts, text.Inline(p.shortPath(folder)))
	}
	return strings.Join(parts, " · ")
}

// foundWords are what a search found in the snippet, to be marked in the preview too.
func foundWords(r Hit) []string {
	var out []string
	for _, m := range joinMarks(r.Snippet, r.Marks) {
		if w := strings.ToLower(r.Snippet[m[0]:m[1]]); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// drawMessages draws the messages and returns the row where the one that was found begins. A call
// stands where its result does, and once.
func (p *Pane) drawMessages(w int, found []string) (out []string, hit int) {
	calls := map[string]chat.ToolCall{}
	own, done := map[string]bool{}, map[string]bool{} // calls of the person, and those with a result
	for _, m := range p.preview.messages {
		for _, c := range m.Calls {
			calls[c.ID], own[c.ID] = c, m.From.IsPerson()
		}
		if m.Result != nil {
			done[m.Result.CallID] = true
		}
	}
	for _, m := range p.preview.messages {
		isHit := m.ID == p.preview.at && m.ID != 0
		if isHit {
			hit = len(out)
		}
		if r := m.Result; r != nil {
			if !own[r.CallID] || isHit { // what a person ran stands above it, in their words
				out = append(out, p.callLine(calls[r.CallID], r, w-text.Width(p.foundHere(isHit)))+p.foundHere(isHit))
			}
			out = append(out, p.drawMessage(r.Text, w, isHit, found)...)
			continue
		}
		open := slices.DeleteFunc(slices.Clone(m.Calls), func(c chat.ToolCall) bool { return done[c.ID] })
		if m.Text == "" && len(open) == 0 && !isHit {
			continue
		}
		out = append(out, p.speakerLine(m)+p.foundHere(isHit))
		if m.Text != "" {
			out = append(out, p.drawMessage(m.Text, w, isHit, found)...)
		}
		for _, c := range open {
			out = append(out, "  "+p.callLine(c, nil, w-2))
		}
	}
	return out, hit
}

// callLine says what a call asked for, and how it went.
func (p *Pane) callLine(c chat.ToolCall, r *chat.ToolResult, w int) string {
	g := p.styles.Glyphs
	mark, name := g.Run, c.Name
	switch {
	case r == nil:
	case r.Interrupted:
		mark, name = g.Stopped, r.Name
	case r.Denied, r.IsError, r.ExitCode != nil && *r.ExitCode != 0:
		mark, name = g.Fail, r.Name
	default:
		mark, name = g.OK, r.Name
	}
	line := text.Inline(mark + " " + name + "  " + chat.Gist(c.Args))
	return p.styles.Tool.Render(text.Truncate(strings.TrimRight(line, " "), max(1, w), p.styles.Glyphs.Ellipsis))
}

// foundHere stands behind the first line of the message that a search found.
func (p *Pane) foundHere(hit bool) string {
	if !hit {
		return ""
	}
	return p.styles.Dim.Render("  found here")
}

// drawMessage is a message in a few rows. Of the one that was found, the rows around the first
// match.
func (p *Pane) drawMessage(s string, w int, hit bool, found []string) []string {
	lines := text.Wrap(text.ExpandTabs(text.Sanitize(cutAroundMatch(s, hit, found)), 4), max(1, w-2))
	from := 0
	if hit {
		from = max(0, min(firstMatch(lines, found)-previewRows/2, len(lines)-previewRows))
	}
	more := len(lines) > from+previewRows
	lines = lines[from:min(len(lines), from+previewRows)]
	out := make([]string, 0, len(lines)+1)
	for _, line := range lines {
		out = append(out, "  "+p.markFound(line, found))
	}
	if more {
		out = append(out, p.styles.Faint.Render("  "+p.styles.Glyphs.Ellipsis))
	}
	return out
}

// cutAroundMatch cuts what is too long to be wrapped each time: around the match in the message
// that was found.
func cutAroundMatch(s string, hit bool, found []string) string {
	if len(s) <= previewBytes {
		return s
	}
	from := 0
	if hit {
		low := strings.ToLower(s)
		for _, w := range found {
			if i := strings.Index(low, w); i >= 0 && len(low) == len(s) {
				from = max(0, i-previewBytes/2)
				break
			}
		}
	}
	return strings.ToValidUTF8(s[from:min(len(s), from+previewBytes)], "")
}

func firstMatch(lines, found []string) int {
	for i, line := range lines {
		low := strings.ToLower(line)
		for _, w := range found {
			if strings.Contains(low, w) {
				return i
			}
		}
	}
	return 0
}

// markFound draws a line with every word that was found in it marked.
func (p *Pane) markFound(line string, found []string) string {
	low := strings.ToLower(line)
	if len(low) != len(line) { // a few letters change their length: leave the line as it is
		return p.styles.Text.Render(line)
	}
	var b strings.Builder
	for len(line) > 0 {
		at, n := -1, 0
		for _, w := range found {
			if i := strings.Index(low, w); i >= 0 && (at < 0 || i < at) {
				at, n = i, len(w)
			}
		}
		if at < 0 {
			break
		}
		b.WriteString(p.styles.Text.Render(line[:at]) + p.styles.Match.Render(line[at:at+n]))
		line, low = line[at+n:], low[at+n:]
	}
	return b.String() + p.styles.Text.Render(line)
}

func (p *Pane) speakerLine(m chat.Message) string {
	switch m.Role {
	case chat.RoleUser:
		return p.styles.User.Render(text.Inline(m.From.Words()))
	case chat.RoleAssistant:
		return p.styles.Assistant.Render("Hermes")
	case chat.RoleTool, chat.RoleSystem:
	}
	return p.styles.Dim.Render(string(m.Role))
}

// shortPath shows a path as shells do: the person's own folder is ~.
func (p *Pane) shortPath(path string) string {
	if rest, ok := strings.CutPrefix(path, p.home); ok && p.home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
