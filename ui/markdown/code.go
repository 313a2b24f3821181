package markdown

import (
	"strings"

	"hermes/ui/highlight"
	"hermes/ui/style"
	"hermes/ui/text"
)

// drawCode draws a code block behind a gutter, below the name of its language. Long lines are
// broken, not lost: what goes on stands behind a mark.
func (d *draw) drawCode(src, lang string, w int) []string {
	bar, inner := d.bar, w-2
	if inner < minWidth {
		bar, inner = "", w
	}
	src = strings.TrimSuffix(text.ExpandTabs(src, TabWidth), "\n")
	var out []string
	if name := label(lang); name != "" && bar != "" && !d.unnamed {
		out = append(out, withPen(d.corner+" "+text.Truncate(name, inner, ""), d.pens.faint))
	}
	first, more := d.gutters(bar)
	if lang := strings.ToLower(lang); lang == "diff" || lang == "patch" {
		return append(out, d.drawPatch(src, first, more, inner)...)
	}
	for _, line := range d.highlight.Lines(src, lang) {
		out = append(out, behind(highlight.Layout(line, inner), first, more)...)
	}
	return out
}

// gutters are what stands before a line of code, and before what of it goes on below.
func (d *draw) gutters(bar string) (first, more string) {
	if bar == "" {
		return "", ""
	}
	return withPen(bar+" ", d.pens.faint), withPen(bar+d.goesOn, d.pens.faint)
}

func behind(lines []string, first, more string) []string {
	for i, l := range lines {
		if i == 0 {
			lines[i] = first + l
		} else {
			lines[i] = more + l
		}
	}
	return lines
}

// label is what of the words behind a fence names the language.
func label(lang string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(text.Sanitize(lang)), " ")
	return strings.Trim(name, "{}.")
}

// drawPatch draws a fenced diff: what is added and removed on bands as wide as the block.
func (d *draw) drawPatch(src, first, more string, w int) []string {
	var out []string
	for _, line := range strings.Split(src, "\n") {
		pen, band := d.pens.codeBlock, true
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
			pen, band = style.Over(d.pens.codeBlock, text.Pen{Attr: text.Bold}), false
		case strings.HasPrefix(line, "@@"):
			pen, band = d.pens.hunk, false
		case strings.HasPrefix(line, "+"):
			pen = d.pens.add
		case strings.HasPrefix(line, "-"):
			pen = d.pens.del
		default:
			band = false
		}
		for i, l := range highlight.Layout([]highlight.Run{{Text: line, Pen: pen}}, w) {
			if band {
				l = highlight.Band(l, w, pen)
			}
			if i == 0 {
				l = first + l
			} else {
				l = more + l
			}
			out = append(out, l)
		}
	}
	return out
}
