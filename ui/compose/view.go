package compose

import (
	"strconv"
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
	if c.hasChips() && room > 1 {
		room--
	}
	shown := min(len(rows), room)
	c.scroll = min(max(c.scroll, cy-shown+1), cy, len(rows)-shown)
	c.scroll = max(c.scroll, 0)
	c.above, c.below = c.scroll, len(rows)-c.scroll-shown
	popup := c.popupView(c.width, maxH-shown)
	lines = append(lines, popup...)
	if c.hasChips() && len(lines)+shown < maxH {
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

func (c *Composer) hasChips() bool { return len(c.chips)+len(c.named) > 0 }

// chipLine is what will be sent with the text; where not all of it has room, how much more there
// is.
func (c *Composer) chipLine() string {
	var names []string
	for _, a := range c.chips {
		names = append(names, a.Name)
	}
	names = append(names, c.named...)
	line := text.Blank(text.Width(c.Prompt))
	for i, name := range names {
		more := ""
		if left := len(names) - i - 1; left > 0 {
			more = " +" + strconv.Itoa(left)
		}
		room := c.width - text.Width(line) - text.Width(more) - 3
		chip := "[" + text.Truncate(strings.ReplaceAll(text.Sanitize(name), "\n", " "), max(1, room), c.Styles.Glyphs.Ellipsis) + "]"
		if room < minChip && i > 0 {
			return text.Fit(line+c.Styles.Dim.Render("+"+strconv.Itoa(len(names)-i)), c.width)
		}
		line += c.Styles.Chip.Render(chip) + " "
	}
	return text.Fit(line, c.width)
}

// minChip is the cells of a name that are worth a chip.
const minChip = 8
