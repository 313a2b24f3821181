package backends

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/ui/progress"
	"hermes/ui/text"
)

// View implements ui.Pane.
func (p *Pane) View() string {
	now := p.now()
	if !p.memoOK || !p.memoUntil.IsZero() && !now.Before(p.memoUntil) {
		p.memoUntil = time.Time{}
		p.memo, p.memoOK = p.render(now), true
	}
	return p.memo
}

func (p *Pane) render(now time.Time) string {
	if p.w <= 0 || p.h <= 0 {
		return ""
	}
	if len(p.rows) == 0 {
		return text.Block(p.emptyText(), p.w, p.h)
	}
	detail, free := p.detailLines(now, maxFact), max(p.h-len(p.rows), p.h/3)
	if len(detail) > free { // a little of each says more than all of one; the most important stands first
		detail = p.detailLines(now, 1)
	}
	detail = detail[:min(len(detail), free)]
	room := p.h - len(detail)
	p.top = max(0, min(p.top, p.cursor, len(p.rows)-room))
	if p.cursor >= p.top+room {
		p.top = p.cursor - room + 1
	}
	shown := p.rows[p.top:min(len(p.rows), p.top+room)]
	lines := p.drawTable(shown, now)
	for len(lines) < room {
		lines = append(lines, "")
	}
	return text.Block(append(lines, detail...), p.w, p.h)
}

func (p *Pane) emptyText() []string {
	var out []string
	for _, s := range []string{"The places where commands run appear here.", "They are configured under terminal.backends: /config opens it."} {
		for _, line := range text.Wrap(s, max(1, p.w-2)) {
			out = append(out, " "+p.styles.Dim.Render(line))
		}
	}
	return out
}

// drawTable draws rows whose columns stand under each other: name, place, state, and what matters
// now at the right.
func (p *Pane) drawTable(rows []Row, now time.Time) []string {
	name, where, word, right := 0, 0, 0, 0
	for _, r := range rows {
		_, w := p.stateMark(r)
		name, where = max(name, text.Width(text.Inline(r.Name))), max(where, text.Width(p.placeText(r)))
		word, right = max(word, text.Width(w)), max(right, text.Width(p.rightText(r, now)))
	}
	name = min(name, max(6, p.w*2/5))
	where = max(0, min(where, p.w-3-name-1-word-2-right-2))
	if where < 4 {
		where = 0
	}
	out := make([]string, 0, len(rows))
	for i, r := range rows {
		out = append(out, p.drawLine(r, p.top+i == p.cursor, columns{name, where, word, right}, now))
	}
	return out
}

// columns are widths in cells.
type columns struct{ name, where, word, right int }

// drawLine is one back end. The arrow marks the one that the session uses.
func (p *Pane) drawLine(r Row, selected bool, c columns, now time.Time) string {
	mark := " "
	if r.Selected {
		mark = p.styles.Accent.Render(p.styles.Glyphs.Closed)
	}
	cursor := " " // without colours it stands here
	if selected && p.styles.Plain {
		cursor = p.styles.Glyphs.Prompt
	}
	glyph, word := p.stateMark(r)
	e := p.styles.Glyphs.Ellipsis
	line := mark + glyph + cursor + text.Fit(text.Truncate(text.Inline(r.Name), c.name, e), c.name) + " "
	switch {
	case c.where > 0 && r.Pull.Known():
		line += p.pullBar(r, c.where) + "  "
	case c.where > 0:
		line += p.styles.Dim.Render(text.Fit(text.Truncate(p.placeText(r), c.where, e), c.where)) + "  "
	}
	line += text.Fit(word, c.word) + " "
	rest := p.w - text.Width(line)
	line += text.FitLeft(text.Truncate(p.rightText(r, now), max(0, rest), ""), max(0, rest))
	switch {
	case !selected:
		return line
	case p.focus:
		return p.styles.Selection.Render(text.Fit(text.Sanitize(line), p.w))
	default:
		return p.styles.SelectionBlur.Render(text.Fit(text.Sanitize(line), p.w))
	}
}

// stateMark is the glyph and the word of a row: never colour alone.
func (p *Pane) stateMark(r Row) (glyph, word string) {
	g, s := p.styles.Glyphs, p.styles
	switch r.State {
	case event.BackendReady:
		if r.Refs > 0 {
			return s.Good.Render(g.Up), "run"
		}
		return s.Good.Render(g.Up), "idle"
	case event.BackendPulling:
		return s.Warn.Render(g.Changing), "pull"
	case event.BackendCreating:
		return s.Warn.Render(g.Changing), "create"
	case event.BackendStarting:
		return s.Warn.Render(g.Changing), "start"
	case event.BackendStopping:
		return s.Warn.Render(g.Changing), "stop"
	case event.BackendRemoving:
		return s.Warn.Render(g.Changing), "remove"
	case event.BackendStopped:
		return s.Dim.Render(g.Stopped), "stopped"
	case event.BackendFailed:
		return s.Bad.Render(g.Failed), "failed"
	case event.BackendLost:
		return s.Bad.Render(g.Failed), "lost"
	case event.BackendAbsent:
		return s.Dim.Render(g.Stopped), "unused"
	default:
		return s.Dim.Render(g.Stopped), text.Inline(string(r.State))
	}
}

// placeText says what a back end is: image, host or this machine; of a failed one, what went wrong.
func (p *Pane) placeText(r Row) string {
	switch {
	case r.Cause != "" && (r.State == event.BackendFailed || r.State == event.BackendLost):
		return text.Inline(r.Cause)
	case r.Image != "":
		return text.Inline(r.Image)
	case r.Traits.Local:
		return "this machine"
	default:
		return text.Inline(r.Kind)
	}
}

// rightText is what a person wants to know of this state. It notes when that changes by the clock.
func (p *Pane) rightText(r Row, now time.Time) string {
	switch {
	case r.Pull.Known() && p.w >= roomy:
		return strings.Join(r.Pull.Parts(), ", ")
	case r.Pull.Known():
		return r.Pull.Short()
	case r.State == event.BackendFailed && r.Retry.After(now): // later the next use tries at once
		return "retry in " + p.countdown(r.Retry.Sub(now), now)
	case r.State != event.BackendReady:
		return ""
	case r.Refs > 0:
		if r.User != "" && r.User != p.session {
			return fmt.Sprintf("other session %s%d", p.styles.Glyphs.Refs, r.Refs)
		}
		return fmt.Sprintf("%s%d", p.styles.Glyphs.Refs, r.Refs)
	case r.IdleTTL > 0 && !r.IdleSince.IsZero():
		return p.countdown(r.IdleTTL-now.Sub(r.IdleSince), now)
	default:
		return ""
	}
}

// countdown shows what is left: whole minutes while there are more than two, so that nothing ticks
// for half an hour, then seconds.
func (p *Pane) countdown(left time.Duration, now time.Time) string {
	if left <= 0 {
		return "0 s"
	}
	unit, words := time.Second, ""
	if left > 2*time.Minute {
		unit = time.Minute
		words = fmt.Sprintf("%d min", int((left+unit-1)/unit))
	} else {
		words = fmt.Sprintf("%d s", int((left+unit-1)/unit))
	}
	step := left % unit
	if step == 0 {
		step = unit
	}
	p.noteNextChange(now.Add(step))
	return words
}

// roomy is the width from which a row says all of a pull.
const roomy = 90

// pullBar is the pull of a row, in the place of its image.
func (p *Pane) pullBar(r Row, w int) string {
	most := min(w, 24)
	return r.Pull.Bar(p.styles, most) + text.Blank(w-most)
}

// detailLines tells more of the row under the cursor, below the list: each fact in at most n lines.
func (p *Pane) detailLines(now time.Time, n int) []string {
	r := p.rows[p.cursor]
	out, wrong := []string{""}, isWrong(r)
	if wrong { // the row has no room for why, and nothing matters more
		why := p.wrapDetail(r.Cause, n*maxCause/maxFact)
		if strings.HasSuffix(why[len(why)-1], p.styles.Glyphs.Ellipsis) {
			why = append(why, "w shows all of it")
		}
		out = append(out, why...)
	}
	if users := p.usersText(r); users != "" {
		out = append(out, p.wrapDetail(users, n)...)
	}
	out = append(out, p.wrapDetail(p.factsText(r, now), n)...)
	if r.Pull.Known() {
		out = append(out, r.Pull.Line(p.styles, max(0, p.w-3)))
	}
	if r.Command != "" {
		out = append(out, p.wrapDetail("$ "+r.Command, n)...)
	}
	if r.Stats.MemoryBytes > 0 || r.Stats.CPUPercent > 0 {
		out = append(out, loadText(r.Stats))
	}
	if r.Cause != "" && !wrong {
		out = append(out, p.wrapDetail("last change: "+r.Cause, n)...)
	}
	for i, s := range out {
		if s != "" {
			out[i] = p.styles.Dim.Render("   " + text.Truncate(s, max(0, p.w-3), p.styles.Glyphs.Ellipsis))
		}
	}
	if s := p.strayed; s != nil {
		words := fmt.Sprintf("%s was not used at %s: %s ran the command", text.Inline(s.wanted), s.at.In(now.Location()).Format("15:04"), text.Inline(s.ran))
		mark := p.styles.Glyphs.Waits + " "
		for i, l := range p.wrapDetail(words, n) {
			out = slices.Insert(out, 1+i, " "+p.styles.Warn.Render(mark+l))
			mark = "  "
		}
	}
	return out
}

// How many lines one thing may take below the list.
const (
	maxFact  = 2
	maxCause = 6
)

// wrapDetail breaks s into lines that stand below the list; what has no room in n of them ends with
// a mark.
func (p *Pane) wrapDetail(s string, n int) []string {
	w := max(1, p.w-3)
	lines := text.Wrap(text.Inline(s), w)
	if len(lines) > n {
		e := p.styles.Glyphs.Ellipsis
		lines = append(lines[:n-1:n-1], text.Truncate(lines[n-1], w-text.Width(e), "")+e)
	}
	return lines
}

// factsText are how long a back end is up, whose it is and what it is: what the row above does not
// say, first.
func (p *Pane) factsText(r Row, now time.Time) string {
	facts := []string{text.Inline(r.Kind)}
	if e := p.doing[r.Name]; e != nil {
		facts = append(facts, e.what+" asked for")
	}
	if r.State == event.BackendReady && !r.Since.IsZero() {
		facts = append(facts, "up "+p.uptimeText(now.Sub(r.Since), now))
	}
	if r.Refs > 1 {
		facts = append(facts, fmt.Sprintf("%d commands", r.Refs))
	}
	if r.Selected {
		facts = append(facts, "in use here")
	}
	if r.IdleTTL > 0 && r.Traits.Stoppable {
		facts = append(facts, fmt.Sprintf("idle stop after %s", progress.Duration(r.IdleTTL)))
	}
	if r.Image != "" {
		facts = append(facts, text.Inline(r.Image))
	}
	return strings.Join(facts, ", ")
}

// loadText is what a back end uses now.
func loadText(s event.BackendStats) string {
	memory := "memory " + progress.Size(s.MemoryBytes)
	if s.MemoryLimit > 0 {
		memory += " of " + progress.Size(s.MemoryLimit)
	}
	out := fmt.Sprintf("cpu %.0f%%, %s", s.CPUPercent, memory)
	if s.Pids > 0 {
		out += fmt.Sprintf(", %d processes", s.Pids)
	}
	return out
}

// uptimeText shows minutes, hours or days, and notes when that changes: it ticks once a minute at
// most.
func (p *Pane) uptimeText(d time.Duration, now time.Time) string {
	d = max(d, 0)
	p.noteNextChange(now.Add(time.Minute - d%time.Minute))
	switch {
	case d < time.Minute:
		return "< 1 min"
	case d < 2*time.Minute:
		return "1 min"
	default:
		return progress.Duration(d)
	}
}

// noteNextChange notes when the picture changes by the clock alone.
func (p *Pane) noteNextChange(at time.Time) {
	if p.memoUntil.IsZero() || at.Before(p.memoUntil) {
		p.memoUntil = at
	}
}

func countUp(up, all int) string { return fmt.Sprintf("%d of %d up", up, all) }
