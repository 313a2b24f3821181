package base

import (
	"fmt"
	"io"
	"strings"

	"hermes/ui/text"
)

// OrDash makes an empty cell visible.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Table prints columns for people. Cells are measured in terminal cells and made safe.
type Table struct {
	Head []string
	Rows [][]string
	Fit  int // cells that a line may have: the last column is cut to that; 0 is no bound
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write prints the table; the last column is not padded.
func (t *Table) Write(w io.Writer) error {
	rows := t.Rows
	if t.Head != nil {
		rows = append([][]string{t.Head}, rows...)
	}
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = OneLine(cell)
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
func (t *Table) narrow(rows [][]string, widths map[int]int) {
	const least = 12
	if t.Fit <= 0 || len(rows) == 0 {
		return
	}
	last, left := len(rows[0])-1, t.Fit
	for i := range last {
		left -= widths[i] + 2
	}
	for _, row := range rows {
		row[last] = text.Truncate(row[last], max(left, least), "…")
	}
}

// OneLine makes foreign text fit for a cell.
func OneLine(s string) string { return text.OneLine(s) }

// Cut is OneLine of at most so many cells.
func Cut(s string, cells int) string { return text.Truncate(OneLine(s), cells, "…") }

// ByteSize is a size for people.
func ByteSize(n int64) string {
	size, unit := float64(n), 0
	for size >= 1024 && unit < 4 {
		size, unit = size/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGT"[unit-1])
}
