package backends

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/event"
	"hermes/ui/text"
)

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
	lines := p.lines()
	p.top = max(0, min(p.top, p.cursor))
	if p.cursor >= p.top+p.h {
		p.top = p.cursor - p.h + 1
	}
	out := make([]string, p.h)
	for i := range out {
		if n := p.top + i; n < len(lines) {
			out[i] = text.Fit(lines[n], p.w)
		} else {
			out[i] = strings.Repeat(" ", p.w)
		}
	}
	return strings.Join(out, "\n")
}

func (p *Pane) lines() []string {
	if len(p.rows) == 0 {
		return []string{"", p.styles.Dim.Render("The places where commands run appear here."), p.styles.Dim.Render("Configure them under terminal.backends.")}
	}
	name := 0
	for _, r := range p.rows {
		name = max(name, text.Width(r.Name))
	}
	name = min(name, max(6, p.w/3))
	lines := make([]string, 0, len(p.rows)+1)
	for i, r := range p.rows {
		line := p.line(r, name)
		if i == p.cursor {
			line = p.styles.Selection.Render(text.Fit(text.Sanitize(line), p.w))
		}
		lines = append(lines, line)
	}
	if len(lines) < p.h {
		lines = append(lines, p.detail()...)
	}
	return lines
}

// line is one back end: marker, glyph, name, image, word, and what matters now at the right end.
func (p *Pane) line(r Row, nameWidth int) string {
	marker := " "
	if r.Selected {
		marker = p.styles.Accent.Render(p.styles.Glyphs.Arrow)
	}
	glyph, word := p.state(r)
	right := p.right(r)
	left := marker + glyph + " " + text.Fit(text.Sanitize(r.Name), nameWidth) + " "
	rest := p.w - text.Width(left) - text.Width(right) - 1
	middle := p.styles.Dim.Render(text.Sanitize(place(r))) + "  " + word
	if text.Width(middle) > rest {
		middle = word
	}
	return left + text.Fit(middle, max(0, rest)) + " " + right
}

// state is the glyph and the word of a row: never colour alone.
func (p *Pane) state(r Row) (glyph, word string) {
	g := p.styles.Glyphs
	switch r.State {
	case event.BackendReady:
		if r.Refs > 0 {
			return p.styles.Good.Render(g.Up), "run"
		}
		return p.styles.Good.Render(g.Up), "idle"
	case event.BackendPulling:
		return p.styles.Warn.Render(g.Changing), "pull"
	case event.BackendCreating, event.BackendStarting:
		return p.styles.Warn.Render(g.Changing), "start"
	case event.BackendStopping:
		return p.styles.Warn.Render(g.Changing), "stop"
	case event.BackendRemoving:
		return p.styles.Warn.Render(g.Changing), "remove"
	case event.BackendStopped:
		return p.styles.Dim.Render(g.Stopped), "stopped"
	case event.BackendFailed:
		return p.styles.Bad.Render(g.Failed), "failed"
	case event.BackendLost:
		return p.styles.Bad.Render(g.Failed), "lost"
	case event.BackendAbsent:
		return p.styles.Dim.Render(g.Stopped), "not started"
	default:
		return p.styles.Dim.Render(g.Stopped), string(r.State)
	}
}

// right is what a person wants to know of this state.
func (p *Pane) right(r Row) string {
	switch {
	case r.Progress.Done > 0 && r.Progress.Total > 0:
		return fmt.Sprintf("%d%% %s", 100*r.Progress.Done/r.Progress.Total, size(r.Progress.Done))
	case r.Refs > 0:
		return fmt.Sprintf("%s%d", p.styles.Glyphs.Refs, r.Refs)
	case r.State == event.BackendFailed && !r.Retry.IsZero():
		return "retry in " + short(r.Retry.Sub(p.now()))
	}
	if left, ok := r.left(p.now()); ok {
		return short(left)
	}
	return ""
}

// left is the time until an idle back end is stopped.
func (r Row) left(now time.Time) (time.Duration, bool) {
	if r.State != event.BackendReady || r.Refs > 0 || r.IdleTTL <= 0 || r.IdleSince.IsZero() {
		return 0, false
	}
	return max(0, r.IdleTTL-now.Sub(r.IdleSince)), true
}

// detail tells more of the row under the cursor, below the list.
func (p *Pane) detail() []string {
	r := p.rows[p.cursor]
	var out []string
	add := func(s string) {
		out = append(out, p.styles.Dim.Render(text.Truncate("  "+text.Sanitize(s), p.w, p.styles.Glyphs.Ellipsis)))
	}
	out = append(out, "")
	if r.Command != "" {
		add("$ " + strings.ReplaceAll(r.Command, "\n", " "))
	}
	if r.Cause != "" {
		add(r.Cause)
	}
	if r.Stats.MemoryBytes > 0 {
		add(fmt.Sprintf("cpu %.0f%%  memory %s", r.Stats.CPUPercent, size(r.Stats.MemoryBytes)))
	}
	if !r.Since.IsZero() && r.State == event.BackendReady {
		add("up since " + r.Since.Format("15:04"))
	}
	return out
}

// place says what a back end is, in a word: image, host or this machine.
func place(r Row) string {
	switch {
	case r.Image != "":
		return r.Image
	case r.Kind == "local":
		return "this machine"
	default:
		return r.Kind
	}
}

func count(up, all int) string { return fmt.Sprintf("%d of %d up", up, all) }

// short shows a duration in minutes above one, in seconds below.
func short(d time.Duration) string {
	if d > time.Minute {
		return fmt.Sprintf("%d min", int((d+time.Minute-1)/time.Minute))
	}
	return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
}

func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1fG", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%dM", n>>20)
	default:
		return fmt.Sprintf("%dK", n>>10)
	}
}
