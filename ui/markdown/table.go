package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"hermes/ui/text"
)

// minColumn is the narrowest column; a table that cannot have that becomes a list of fields.
const minColumn = 3

type cell []run

func (d *draw) drawTable(n *east.Table, w int) []string {
	var rows [][]cell
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		pen := text.Pen{}
		if r.Kind() == east.KindTableHeader {
			pen = d.pens.strong
		}
		rows = append(rows, d.drawRow(r, pen))
	}
	widths := columnWidths(rows, len(n.Alignments), w)
	if widths == nil {
		return d.drawFields(rows, w)
	}
	sep := withPen(" "+d.bar+" ", d.pens.faint)
	var out []string
	for i, r := range rows {
		out = append(out, layRow(r, widths, n.Alignments, sep)...)
		if i == 0 {
			out = append(out, d.drawUnderline(widths))
		}
	}
	return out
}

func (d *draw) drawRow(r ast.Node, pen text.Pen) []cell {
	var out []cell
	for c := r.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, d.drawInline(c, pen))
	}
	return out
}

// columnWidths shares w among the columns: each what it needs, the widest ones give first. nil when
// there is no room.
func columnWidths(rows [][]cell, n, w int) []int {
	if n == 0 || n*minColumn+3*(n-1) > w {
		return nil
	}
	widths := make([]int, n)
	for _, r := range rows {
		for i := range min(n, len(r)) {
			width := 0
			for _, x := range r[i] {
				width += text.Width(x.s)
			}
			widths[i] = max(widths[i], width, 1)
		}
	}
	total := 3 * (n - 1)
	for i := range widths {
		widths[i] = min(max(widths[i], 1), w)
		total += widths[i]
	}
	for total > w {
		widest, second := 0, minColumn
		for i, x := range widths {
			if x > widths[widest] {
				widest = i
			}
		}
		for i, x := range widths {
			if i != widest {
				second = max(second, min(x, widths[widest]-1))
			}
		}
		cut := min(total-w, max(1, widths[widest]-second))
		widths[widest] -= cut
		total -= cut
	}
	return widths
}

func layRow(r []cell, widths []int, align []east.Alignment, sep string) []string {
	cells, height := make([][]string, len(widths)), 1
	for i := range widths {
		if i < len(r) {
			f := flow{w: widths[i]}
			for _, x := range r[i] {
				f.addText(x.s, x.pen)
			}
			cells[i] = f.finish()
		}
		height = max(height, len(cells[i]))
	}
	out := make([]string, height)
	for y := range out {
		var b strings.Builder
		for i, w := range widths {
			if i > 0 {
				b.WriteString(sep)
			}
			line := ""
			if y < len(cells[i]) {
				line = cells[i][y]
			}
			b.WriteString(alignCell(line, w, align[i]))
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

func alignCell(s string, w int, a east.Alignment) string {
	switch free := w - text.Width(s); a {
	case east.AlignRight:
		return text.FitLeft(s, w)
	case east.AlignCenter:
		return text.Fit(text.Blank(free/2)+s, w)
	default:
		return text.Fit(s, w)
	}
}

func (d *draw) drawUnderline(widths []int) string {
	cross := "┼"
	if d.rule == "-" {
		cross = "+"
	}
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat(d.rule, w)
	}
	return withPen(strings.Join(parts, d.rule+cross+d.rule), d.pens.faint)
}

// drawFields shows a table that is too wide for the screen as one "column: value" line a cell.
func (d *draw) drawFields(rows [][]cell, w int) []string {
	if len(rows) == 0 {
		return nil
	}
	f := flow{w: w}
	for i, r := range rows {
		if i == 0 && len(rows) > 1 {
			continue
		}
		for c, value := range r {
			if i > 0 && c < len(rows[0]) {
				for _, x := range rows[0][c] {
					f.addText(x.s, x.pen)
				}
				f.addText(": ", text.Pen{})
			}
			for _, x := range value {
				f.addText(x.s, x.pen)
			}
			f.addText("\n", text.Pen{})
		}
	}
	return f.finish()
}
