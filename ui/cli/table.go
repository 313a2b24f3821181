package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"hermes/ui/text"
)

// table prints columns for people. Cells are measured in terminal cells and made safe.
type table struct {
	head []string
	rows [][]string
	fit  int // cells that a line may have: the last column is cut to that; 0 is no bound
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table; the last column is not padded.
func (t *table) write(w io.Writer) error {
	rows := t.rows
	if t.head != nil {
		rows = append([][]string{t.head}, rows...)
	}
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(cell)
			widths[i] = max(widths[i], text.Width(row[i]))
		}
	}
	t.narrow(rows, widths)
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-text.Width(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// narrow cuts the last column so that lines fit, to a word or two at least.
func (t *table) narrow(rows [][]string, widths map[int]int) {
	const least = 12
	if t.fit <= 0 || len(rows) == 0 {
		return
	}
	last, left := len(rows[0])-1, t.fit
	for i := range last {
		left -= widths[i] + 2
	}
	for _, row := range rows {
		row[last] = text.Truncate(row[last], max(left, least), "…")
	}
}

// oneLine makes foreign text fit for a cell.
func oneLine(s string) string { return strings.Join(strings.Fields(text.Sanitize(s)), " ") }

func cut(s string, cells int) string { return text.Truncate(oneLine(s), cells, "…") }

func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// bytesText is a size for people.
func bytesText(n int64) string {
	size, unit := float64(n), 0
	for size >= 1024 && unit < 4 {
		size, unit = size/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGT"[unit-1])
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
