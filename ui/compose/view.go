package compose

import (
	"strings"

	"hermes/ui/text"
)

// View draws the field: the popup over it, the chips, the text; at most maxH lines, each exactly
// Resize's width. The cursor stands at column x of line y.
func (c *Composer) View(maxH int) (lines []string, x, y int) {
	maxH = max(maxH, 1)
	rows := c.buf.breakRows(c.innerWidth())
	cy, cx := c.buf.cursorPlace(rows)
	room := maxH
	if len(c.chips) > 0 && room > 1 {
		room--
	}
	shown := min(len(rows), room)
	c.scroll = min(max(c.scroll, cy-shown+1), cy, len(rows)-shown)
	c.scroll = max(c.scroll, 0)
	c.above, c.below = c.scroll, len(rows)-c.scroll-shown
	popup := c.popupView(c.width, maxH-shown)
	lines = append(lines, popup...)
	if len(c.chips) > 0 && len(lines)+shown < maxH {
		lines = append(lines, c.chipLine())
	}
	top := len(lines)
	for i, r := range rows[c.scroll : c.scroll+shown] {
		lines = append(lines, text.Fit(c.linePrompt(i+c.scroll)+c.rowText(r), c.width))
	}
	return lines, min(text.Width(c.Prompt)+cx, max(0, c.width-1)), top + cy - c.scroll
}

// Outside is how many lines of the text the last View had no room for, over and under those that it
// showed.
func (c *Composer) Outside() (above, below int) { return c.above, c.below }

func (c *Composer) linePrompt(i int) string {
	if i > 0 {
		return text.Blank(text.Width(c.Prompt))
	}
	return c.Styles.Prompt.Inline(true).Render(c.Prompt)
}

func (c *Composer) rowText(r row) string {
	if c.buf.s == "" {
		return c.Styles.Placeholder.Render(text.Truncate(c.Placeholder, c.innerWidth(), ""))
	}
	return c.buf.s[r.from:r.to]
}

func (c *Composer) chipLine() string {
	names := make([]string, len(c.chips))
	for i, a := range c.chips {
		names[i] = c.Styles.Chip.Render("[" + text.Sanitize(a.Name) + "]")
	}
	return text.Fit(text.Blank(text.Width(c.Prompt))+strings.Join(names, " "), c.width)
}
