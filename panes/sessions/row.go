package sessions

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"hermes/core/chat"
	"hermes/ui/text"
)

// titleOf is how a session is called on one line.
func titleOf(r Hit) string {
	if t := strings.TrimSpace(text.Inline(r.Info.Title)); t != "" {
		return t
	}
	return "new session"
}

// drawRow is one session: its title and state, then the best line of a search, else counts and age.
// A further hit of a session that is listed above says so.
func (p *Pane) drawRow(i, w int, again bool, now time.Time) []string {
	r, selected := p.rows[i], i == p.cursor
	marker := "  "
	if selected {
		marker = p.styles.Accent.Render(p.styles.Glyphs.Closed) + " "
	}
	second := "  " + p.secondLine(r, max(1, w-2), now)
	if selected && p.rename != nil && r.Info.UID == p.renames {
		line, _ := p.rename.View(p.styles, p.styles.Glyphs.Closed, "a name", w)
		return []string{line, second}
	}
	glyph := p.stateGlyph(r)
	room := max(1, w-3-text.Width(glyph))
	name, style := titleOf(r), p.titleStyle(r.Info.UID, selected)
	if again {
		name = p.styles.Glyphs.Arrow + " " + name
		if !selected {
			style = p.styles.Dim
		}
	}
	head := style.Render(text.Truncate(name, room, p.styles.Glyphs.Ellipsis))
	return []string{marker + text.Fit(head, room) + " " + glyph, second}
}

func (p *Pane) titleStyle(uid string, selected bool) lipgloss.Style {
	switch {
	case selected && p.focus:
		return p.styles.Selection
	case selected:
		return p.styles.SelectionBlur
	case uid == p.focused:
		return p.styles.Accent
	default:
		return p.styles.Text
	}
}

// stateGlyph is the state of a session at the end of its title.
func (p *Pane) stateGlyph(r Hit) string {
	g := p.styles.Glyphs
	switch p.activityOf(r) {
	case waiting:
		return p.styles.Warn.Render(g.Waits)
	case working:
		return p.styles.Info.Render(g.Busy)
	case finished:
		return p.styles.Good.Render(g.Done)
	case quiet:
	}
	switch {
	case r.Info.UID == p.focused:
		return p.styles.Accent.Render(g.Up)
	case r.Info.Pinned:
		return p.styles.Dim.Render(g.Bullet)
	default:
		return " "
	}
}

// stateWord says what the glyph shows, and what it has no room for.
func (p *Pane) stateWord(r Hit) string {
	switch p.activityOf(r) {
	case waiting:
		return "waits for you"
	case working:
		if r.Info.Elsewhere {
			return "in another hermes"
		}
		return "working"
	case finished:
		return "done"
	case quiet:
	}
	switch {
	case r.Info.UID == p.focused:
		return "open"
	case r.Info.Archived:
		return "archived"
	case r.Info.Pinned:
		return "pinned"
	default:
		return ""
	}
}

// secondLine is the line under a title: what was found, else state, size and age, as far as there
// is room.
func (p *Pane) secondLine(r Hit, w int, now time.Time) string {
	if r.Snippet != "" {
		return p.drawSnippet(r, w)
	}
	ago, next := describeAge(now.Sub(r.Info.Last))
	if at := now.Add(next); p.memoUntil.IsZero() || at.Before(p.memoUntil) {
		p.memoUntil = at
	}
	left, word := text.Count(r.Info.Messages, "message", "messages"), p.stateWord(r)
	if word != "" {
		left = word + ", " + left
	}
	if text.Width(left)+text.Width(ago)+1 > w && word != "" {
		left = word
		r.Info.Model, r.Info.Usage = "", chat.Usage{}
	}
	for _, fact := range sessionFacts(r) { // as many as there is room for
		if text.Width(left)+text.Width(fact)+text.Width(ago)+4 <= w {
			left += ", " + fact
		}
	}
	left = text.Truncate(left, w-text.Width(ago)-1, p.styles.Glyphs.Ellipsis)
	return p.styles.Dim.Render(text.Truncate(left+text.FitLeft(ago, max(0, w-text.Width(left))), w, ""))
}

// drawSnippet shows the line that was found, its matches between marks; it starts shortly before
// the first one.
func (p *Pane) drawSnippet(r Hit, w int) string {
	var b strings.Builder
	s, marks := r.Snippet, joinMarks(r.Snippet, r.Marks)
	pos := 0
	if len(marks) > 0 {
		first, all := marks[0][0], text.Width(text.Inline(s))+2*len(marks)
		if all > w && text.Width(text.Inline(s[:first])) > min(w/4, 20) {
			pos = snippetStart(s, first, min(w/4, 20)-1)
			b.WriteString(p.styles.Dim.Render(p.styles.Glyphs.Ellipsis))
		}
	}
	open, shut := "«", "»"
	if p.styles.ASCII {
		open, shut = "[", "]"
	}
	for _, m := range marks {
		b.WriteString(p.styles.Dim.Render(text.Inline(s[pos:m[0]]) + open))
		b.WriteString(p.styles.Match.Render(text.Inline(s[m[0]:m[1]])))
		b.WriteString(p.styles.Dim.Render(shut))
		pos = m[1]
	}
	b.WriteString(p.styles.Dim.Render(text.Inline(s[pos:])))
	return text.Truncate(b.String(), w, p.styles.Glyphs.Ellipsis)
}

// joinMarks are the sound marks in order; those with nothing but blanks between them are one.
func joinMarks(s string, marks [][2]int) [][2]int {
	var out [][2]int
	end := 0
	for _, m := range marks {
		if m[0] < end || m[0] >= m[1] || m[1] > len(s) {
			continue
		}
		if n := len(out); n > 0 && strings.TrimSpace(s[end:m[0]]) == "" {
			out[n-1][1] = m[1]
		} else {
			out = append(out, m)
		}
		end = m[1]
	}
	return out
}

// snippetStart finds where to start so that at most some cells stand before byte first: at a word,
// if one begins there.
func snippetStart(s string, first, cells int) int {
	pos := first
	for pos > 0 && text.Width(s[pos:first]) < cells {
		pos--
		for pos > 0 && s[pos]&0xC0 == 0x80 { // stay on a rune's start
			pos--
		}
	}
	if i := strings.IndexByte(s[pos:first], ' '); i >= 0 && pos+i+1 < first {
		return pos + i + 1
	}
	return pos
}

// describeAge is how long ago, in one or two words, and when these words change.
func describeAge(d time.Duration) (words string, next time.Duration) {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "now", time.Minute - max(d, 0)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes())), time.Minute - d%time.Minute
	case d < day:
		return fmt.Sprintf("%d h", int(d.Hours())), time.Hour - d%time.Hour
	case d < 2*day:
		return "1 day", day - d%day
	case d < 60*day:
		return fmt.Sprintf("%d days", int(d/day)), day - d%day
	default:
		return fmt.Sprintf("%d months", int(d/(30*day))), day
	}
}
