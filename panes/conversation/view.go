package conversation

import (
	"slices"
	"strconv"
	"strings"

	"hermes/core/event"
	"hermes/ui/text"
)

// View implements ui.Pane: the transcript, a rule, what waits, the composer, the queue.
func (p *Pane) View() string {
	if p.w <= 0 || p.h <= 0 {
		p.cursor = false
		return ""
	}
	if now := p.script.runningSeconds(); !p.memoOK || now != p.memoAt {
		p.memo, p.memoOK, p.memoAt = p.composeView(), true, now
	}
	return p.memo
}

func (p *Pane) composeView() string {
	below := p.drawBelow()
	above := max(0, p.h-len(below))
	lines := p.drawTranscript(above)
	p.cy += above
	if over := len(below) - (p.h - above); over > 0 {
		below = below[over:]
		p.cy -= over
	}
	p.cursor = p.cy >= 0 && p.cy < p.h
	var b strings.Builder
	b.Grow(p.h * (p.w + 16))
	for i := range above {
		if i < len(lines) {
			b.WriteString(lines[i])
		} else {
			b.WriteString(text.Blank(p.w))
		}
		b.WriteByte('\n')
	}
	for i, l := range below {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text.Fit(l, p.w))
	}
	return b.String()
}

// drawBelow draws everything under the transcript. It sets the cursor relative to its first line.
func (p *Pane) drawBelow() []string {
	p.composer.Placeholder = p.placeholderText()
	p.composer.Resize(p.w)
	field, x, y := p.composer.View(max(1, p.h*2/5))
	var head []string
	if p.h >= 4 {
		head = append(head, p.drawRule())
	}
	if bar := p.drawBar(); bar != "" {
		head = append(head, bar)
	}
	p.cx, p.cy = x, len(head)+y
	return slices.Concat(head, field, p.drawQueue(p.queueRoom()))
}

// queueRoom is how many lines of the queue are shown; more while somebody chooses among them.
func (p *Pane) queueRoom() int {
	if p.queue.choosing {
		return max(1, p.h/3)
	}
	return min(3, max(1, p.h/5))
}

func (p *Pane) placeholderText() string {
	switch {
	case p.queue.choosing:
		return ""
	case p.browsing:
		return p.keyOf("conversation.write", "i") + " goes back to writing"
	case p.instead != nil:
		return "the command that is to run instead"
	case p.queue.edits != "":
		return "the prompt that is to wait instead"
	case len(p.composer.Parts()) > 0:
		return "what about it? backspace takes it away"
	case p.running && p.w >= 60:
		return p.enterDoes() + ", " + p.keyOf("conversation.mode", "alt+q") + " changes that"
	case p.running:
		return p.enterDoes()
	case len(p.queue.items) > 0:
		return p.keyOf("conversation.queue.resume", "alt+s") + " sends on what is held; or ask something else"
	case p.w < 38:
		return "Ask, $ run, / command, @ file"
	default:
		return "Ask, or $ command, /command, @file"
	}
}

func (p *Pane) enterDoes() string {
	switch p.mode {
	case event.InputInterrupt:
		return "enter interrupts and sends"
	case event.InputSteer:
		return "enter steers the running turn"
	default:
		return "enter queues for after this turn"
	}
}

// drawRule parts the transcript from the composer and says what cannot be seen otherwise.
func (p *Pane) drawRule() string {
	s := p.env.s
	label := p.countOutside() + p.nameMode()
	label = text.Truncate(label, max(0, p.w-4), "")
	dash := s.Glyphs.Horizontal
	if dash == "" {
		dash = "─"
	}
	return s.Border.Inline(true).Render(strings.Repeat(dash, max(0, p.w-text.Width(label)-1))) + s.Dim.Render(label) + s.Border.Inline(true).Render(dash)
}

// countOutside says that more was written than the composer shows.
func (p *Pane) countOutside() string {
	above, below := p.composer.Outside()
	var parts []string
	if above > 0 {
		parts = append(parts, strconv.Itoa(above)+" more above")
	}
	if below > 0 {
		parts = append(parts, strconv.Itoa(below)+" more below")
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ") + " "
}

// nameMode says which of several things the keys mean now. The bottom row names the keys.
func (p *Pane) nameMode() string {
	switch {
	case p.queue.edits != "":
		return " editing what is queued · enter keeps it · esc goes back "
	case p.instead != nil:
		return " editing the command · enter runs it · esc goes back "
	case p.browsing:
		return " browsing "
	case p.queue.choosing:
		return " the queue "
	case p.running && p.composer.Text() != "":
		return " " + p.enterDoes() + " · " + p.keyOf("conversation.mode", "alt+q") + " changes "
	default:
		return ""
	}
}

// drawBar says what waits for the person, and the key that shows it where that key is heard: not
// below the open box, and not while another pane has the keys.
func (p *Pane) drawBar() string {
	s, n := p.env.s, len(p.asks)+len(p.question)
	if n == 0 {
		return ""
	}
	what := ""
	if len(p.asks) > 0 {
		what = oneLine(p.asks[0].Title) + " " + oneLine(p.asks[0].Detail)
	} else {
		what = oneLine(p.question[0].Text)
	}
	head := " " + s.Glyphs.Waits + " " + strconv.Itoa(n) + " waits for you  "
	name, key := "", ""
	if p.focused {
		name = p.keyOf("conversation.answer", "ctrl+y")
		key = "  " + name + " answers "
	}
	room := p.w - text.Width(head) - text.Width(key)
	if room < 8 {
		return s.Warn.Bold(true).Render(text.Truncate(head+name, p.w, ""))
	}
	return s.Warn.Bold(true).Render(head) + text.Fit(text.Truncate(what, room, s.Glyphs.Ellipsis), room) + s.Key.Render(key)
}

// drawTranscript draws the window of the list, with the selection and what is new.
func (p *Pane) drawTranscript(h int) []string {
	p.script.syncStreaming()
	p.list.Resize(p.w, h)
	if h == 0 {
		return nil
	}
	if p.list.Len() == 0 || p.failed != "" {
		return p.drawEmpty(h)
	}
	if p.list.Follow() {
		p.fresh = 0
	}
	lines := p.markSelected(p.list.View())
	if !p.list.More() {
		return lines
	}
	s, more := p.env.s, "more below"
	if p.fresh > 0 {
		more = strconv.Itoa(p.fresh) + " new"
	}
	chip := " " + s.Glyphs.Down + " " + more + " · " + p.endKey() + " "
	if last := len(lines) - 1; last >= 0 && text.Width(chip) < p.w {
		lines[last] = text.Fit(lines[last], p.w-text.Width(chip)) + s.Chip.Inline(true).Render(chip)
	}
	return lines
}

// endKey is the key that goes to the end now: with text in the line, end is a key of the line.
func (p *Pane) endKey() string {
	if p.browsing || p.composer.Text() == "" {
		return "end"
	}
	return p.keyOf("conversation.end", "ctrl+end")
}

// markSelected puts the selection's bar before the lines of the selected item, and marks what was
// searched for.
func (p *Pane) markSelected(lines []string) []string {
	s := p.env.s
	if !p.browsing && p.query == "" {
		return lines
	}
	bar := s.Accent.Render(s.Glyphs.Closed)
	for y, l := range lines {
		if p.query != "" {
			l = markHits(l, p.query, s.Match)
		}
		if p.browsing && p.selected >= 0 {
			pos, ok := p.list.Hit(y)
			if rest, cut := strings.CutPrefix(l, " "); cut && ok && pos.Item == p.selected {
				l = bar + rest
			}
		}
		lines[y] = l
	}
	return lines
}

// drawEmpty says what will be here, and how to begin.
func (p *Pane) drawEmpty(h int) []string {
	s := p.env.s
	body := []string{
		"Say what you want done. enter sends, alt+enter breaks the line.",
		"$ command runs it here, @ names a file, / lists the commands.",
		"esc browses what was said, ctrl+p finds everything, F1 helps.",
	}
	switch {
	case p.failed != "":
		body = []string{p.failed}
	case p.loading:
		body = []string{"Reading the conversation …"}
	}
	var out []string
	for _, l := range body {
		out = append(out, text.Wrap(l, max(1, p.w-4))...)
	}
	top := max(0, (h-len(out))/2)
	lines := make([]string, 0, h)
	for range top {
		lines = append(lines, text.Blank(p.w))
	}
	for _, l := range out {
		if len(lines) < h {
			lines = append(lines, text.Fit("  "+s.Dim.Render(l), p.w))
		}
	}
	return lines
}
