package sessions

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"hermes/core/chat"
	"hermes/ui"
	"hermes/ui/text"
)

const (
	headRows  = 2 // the search field and a blank row
	rowHeight = 2 // title, then what there is to say
)

// Title implements ui.Pane.
func (p *Pane) Title() ui.Title {
	t := ui.Title{Text: "Sessions"}
	switch {
	case p.partial > 0:
		t.Right = fmt.Sprintf("index %d%%", int(100*p.partial))
	case p.more:
		t.Right = fmt.Sprintf("%d+", p.total)
	case p.total > 0:
		t.Right = fmt.Sprint(p.total)
	}
	return t
}

// previewWidth is how many columns the preview takes; 0 when there is no room for one.
func (p *Pane) previewWidth() int {
	if p.w < 90 {
		return 0
	}
	return p.w * 3 / 5
}

// Cursor implements ui.Cursorer.
func (p *Pane) Cursor() (x, y int, ok bool) {
	switch {
	case p.rename != nil:
		return min(p.w-1, 2+p.rename.cells()), headRows + (p.cursor-p.top)*rowHeight, true
	case p.typing:
		return min(p.w-1, 2+p.query.cells()), 0, true
	default:
		return 0, 0, false
	}
}

// View implements ui.Pane.
func (p *Pane) View() string {
	if !p.memoOK {
		p.memo, p.memoOK = p.render(), true
	}
	return p.memo
}

func (p *Pane) render() string {
	if p.w <= 0 || p.h <= 0 {
		return ""
	}
	pw := p.previewWidth()
	lw := p.w - pw
	lines := p.list(lw)
	var side []string
	if pw > 0 {
		side = p.previewLines(pw - 2)
	}
	out := make([]string, p.h)
	for i := range out {
		out[i] = text.Fit(at(lines, i), lw)
		if pw > 0 {
			out[i] += p.styles.Border.Render(p.styles.Glyphs.Bar) + " " + text.Fit(at(side, i), pw-2)
		}
	}
	return strings.Join(out, "\n")
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// list is the field and the rows that fit.
func (p *Pane) list(w int) []string {
	lines := []string{p.field(), ""}
	if p.err != "" {
		return append(lines, p.styles.Bad.Render(text.Truncate(text.Sanitize(p.err), w, p.styles.Glyphs.Ellipsis)))
	}
	if len(p.rows) == 0 {
		return append(lines, p.nothing(w)...)
	}
	fit := max(1, (p.h-headRows)/rowHeight)
	p.top = max(0, min(p.top, p.cursor))
	if p.cursor >= p.top+fit {
		p.top = p.cursor - fit + 1
	}
	for i := p.top; i < len(p.rows) && i < p.top+fit; i++ {
		lines = append(lines, p.row(i, w)...)
	}
	return lines
}

func (p *Pane) field() string {
	q := text.Sanitize(p.query.String())
	switch {
	case q == "" && !p.typing:
		return p.styles.Dim.Render("/ search all sessions")
	case p.typing:
		return p.styles.Accent.Render("/ ") + q
	default:
		return p.styles.Dim.Render("/ ") + q
	}
}

func (p *Pane) nothing(w int) []string {
	if p.query.String() != "" {
		return []string{p.styles.Dim.Render("Nothing found."), p.styles.Dim.Render(text.Truncate("Fewer words find more; esc shows all sessions.", w, p.styles.Glyphs.Ellipsis))}
	}
	if p.request == 0 {
		return nil
	}
	return []string{p.styles.Dim.Render("Your conversations will be"), p.styles.Dim.Render("listed here."), p.styles.Dim.Render("n starts a new one.")}
}

// row is one session: its title and state, then the best line of a search, else counts and age.
func (p *Pane) row(i, w int) []string {
	r := p.rows[i]
	title := text.Sanitize(strings.ReplaceAll(r.Info.Title, "\n", " "))
	if title == "" {
		title = "new session"
	}
	selected := i == p.cursor
	if selected && p.rename != nil {
		title = p.rename.String()
	}
	marker := "  "
	if selected {
		marker = p.styles.Accent.Render(p.styles.Glyphs.Arrow) + " "
	}
	glyph := p.glyph(r.Info.UID, r.Info.Pinned)
	room := max(1, w-3-text.Width(glyph))
	head := p.titleStyle(r.Info.UID, selected).Render(text.Truncate(title, room, p.styles.Glyphs.Ellipsis))
	return []string{marker + text.Fit(head, room) + " " + glyph, "  " + p.second(r, max(1, w-2))}
}

func (p *Pane) titleStyle(uid string, selected bool) lipgloss.Style {
	switch {
	case selected:
		return p.styles.Strong
	case uid == p.focused:
		return p.styles.Accent
	default:
		return p.styles.Text
	}
}

// glyph is the state of a session at the end of its title.
func (p *Pane) glyph(uid string, pinned bool) string {
	g := p.styles.Glyphs
	switch p.state(uid) {
	case waiting:
		return p.styles.Warn.Render(g.Waits)
	case working:
		return p.styles.Info.Render(g.Busy)
	case finished:
		return p.styles.Good.Render(g.Done)
	case quiet:
	}
	switch {
	case uid == p.focused:
		return p.styles.Accent.Render(g.Up)
	case pinned:
		return p.styles.Dim.Render(g.Bullet)
	default:
		return " "
	}
}

func (p *Pane) second(r Hit, w int) string {
	if r.Snippet != "" {
		return p.snippet(r, w)
	}
	left := fmt.Sprintf("%d messages", r.Info.Messages)
	switch {
	case r.Info.Archived:
		left = "archived"
	case r.Info.Messages == 1:
		left = "1 message"
	}
	right := age(p.now().Sub(r.Info.Last))
	gap := max(1, w-text.Width(left)-text.Width(right))
	return p.styles.Dim.Render(text.Truncate(left+strings.Repeat(" ", gap)+right, w, ""))
}

// snippet shows the line that was found with its marks; it starts shortly before the first one.
func (p *Pane) snippet(r Hit, w int) string {
	var b strings.Builder
	pos, s := 0, r.Snippet
	if len(r.Marks) > 0 {
		if first := r.Marks[0][0]; first > 0 && first <= len(s) && text.Width(s[:first]) > w/3 {
			pos = lead(s, first, w/3)
			b.WriteString(p.styles.Dim.Render(p.styles.Glyphs.Ellipsis))
		}
	}
	for _, m := range r.Marks {
		if m[0] < pos || m[1] > len(s) || m[0] >= m[1] {
			continue
		}
		b.WriteString(p.styles.Dim.Render(oneLine(s[pos:m[0]])))
		b.WriteString(p.styles.Match.Render(oneLine(s[m[0]:m[1]])))
		pos = m[1]
	}
	b.WriteString(p.styles.Dim.Render(oneLine(s[pos:])))
	return text.Truncate(b.String(), w, p.styles.Glyphs.Ellipsis)
}

// lead finds where to start so that about cells columns stand before byte first.
func lead(s string, first, cells int) int {
	pos := first
	for pos > 0 && text.Width(s[pos:first]) < cells {
		pos--
		for pos > 0 && s[pos]&0xC0 == 0x80 { // stay on a rune's start
			pos--
		}
	}
	return pos
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, text.Sanitize(s))
}

// previewLines shows who said what around the hit.
func (p *Pane) previewLines(w int) []string {
	if p.preview.err != "" {
		return []string{p.styles.Bad.Render(text.Truncate(text.Sanitize(p.preview.err), w, ""))}
	}
	var out []string
	for _, m := range p.preview.messages {
		body := m.Text
		if m.Result != nil {
			body = m.Result.Text
		}
		if body == "" && len(m.Calls) == 0 {
			continue
		}
		out = append(out, p.speaker(m))
		style := p.styles.Text
		if m.ID == p.preview.at && m.ID != 0 {
			style = p.styles.Match
		}
		for n, line := range text.Wrap(text.ExpandTabs(text.Sanitize(body), 4), max(1, w-2)) {
			if n == 6 {
				out = append(out, p.styles.Faint.Render("  "+p.styles.Glyphs.Ellipsis))
				break
			}
			out = append(out, "  "+style.Render(line))
		}
		for _, c := range m.Calls {
			out = append(out, p.styles.Tool.Render(text.Truncate("  "+p.styles.Glyphs.Run+" "+text.Sanitize(c.Name), w, "")))
		}
	}
	return out
}

func (p *Pane) speaker(m chat.Message) string {
	switch m.Role {
	case chat.RoleUser:
		return p.styles.User.Render("You")
	case chat.RoleAssistant:
		return p.styles.Assistant.Render("Hermes")
	case chat.RoleTool:
		name := "tool"
		if m.Result != nil {
			name = text.Sanitize(m.Result.Name)
		}
		return p.styles.Tool.Render(name)
	case chat.RoleSystem:
	}
	return p.styles.Dim.Render(string(m.Role))
}

// age is how long ago, in one or two words.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 48*time.Hour:
		return "1 day"
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	default:
		return fmt.Sprintf("%d months", int(d.Hours()/24/30))
	}
}
