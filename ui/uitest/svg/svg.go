// Package svg writes what a terminal shows as a picture in its colours.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"

	"hermes/ui/text"
	"hermes/ui/uitest/vt"
)

// Sizes of a cell, in units of the picture.
const (
	cellW, cellH = 8.4, 18
	margin       = 12
	baseline     = 13.5
)

// Ground and ink of a terminal that was not asked for any.
const (
	ground = "#101216"
	ink    = "#d7dae0"
)

// basic are the sixteen colours that terminals call by number.
var basic = [...]string{
	"#1b1e24", "#e06c75", "#7fb685", "#e0b155", "#6c9fd2", "#b48ead", "#6cb2c9", "#c3cad6",
	"#5c6370", "#ef8891", "#9fd0a4", "#f0c878", "#8fbbe8", "#cba9c6", "#8fd0e3", "#f2f4f8",
}

// Picture returns the rows of a terminal as an SVG document. What is said of it is for those who
// cannot see it.
func Picture(rows [][]vt.Cell, said string) []byte {
	w := 0
	for _, row := range rows {
		w = max(w, len(row))
	}
	var b bytes.Buffer
	width, height := float64(w)*cellW+2*margin, float64(len(rows)*cellH+2*margin)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" font-size="14" `+
		`font-family="'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,monospace">`+"\n<title>%s</title>\n", width, height, escape(said))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", ground)
	for y, row := range rows {
		drawRow(&b, row, float64(margin+y*cellH))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawRow writes the runs of one row: their ground, then their text, as wide as their cells.
func drawRow(b *bytes.Buffer, row []vt.Cell, top float64) {
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].Pen == row[from].Pen && !gap(row, from, to) {
			to++
		}
		drawRun(b, row[from:to], margin+float64(from)*cellW, top)
		from = to
	}
}

// gap reports whether a run of text ends before to: several blanks need no text.
func gap(row []vt.Cell, from, to int) bool {
	return blank(row[from]) != blank(row[to])
}

func blank(c vt.Cell) bool { return c.Text == " " }

func drawRun(b *bytes.Buffer, run []vt.Cell, x, top float64) {
	fg, bg := looks(run[0].Pen)
	wide := float64(len(run)) * cellW
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`, x, top, wide+0.3, cellH, bg)
	}
	said := ""
	for _, c := range run {
		said += c.Text
	}
	if blank(run[0]) || said == "" {
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		x, top+baseline, wide, fg, attributes(run[0].Pen), escape(said))
}

func attributes(p text.Pen) string {
	out := ""
	for _, a := range []struct {
		attr text.Attr
		said string
	}{
		{text.Bold, ` font-weight="bold"`},
		{text.Italic, ` font-style="italic"`},
		{text.Faint, ` opacity="0.6"`},
		{text.Underline, ` text-decoration="underline"`},
		{text.Strike, ` text-decoration="line-through"`},
	} {
		if p.Attr&a.attr != 0 {
			out += a.said
		}
	}
	return out
}

// looks are the colours of a pen; a ground of "" is the terminal's own.
func looks(p text.Pen) (fg, bg string) {
	fg, bg = colour(p.Fg), colour(p.Bg)
	if p.Attr&text.Reverse != 0 {
		fg, bg = bg, fg
		if fg == "" {
			fg = ground
		}
		if bg == "" {
			bg = ink
		}
	}
	if fg == "" {
		fg = ink
	}
	return fg, bg
}

func colour(c text.Colour) string {
	name := c.String()
	if name == "" || name[0] == '#' {
		return name
	}
	n, err := strconv.Atoi(name)
	switch {
	case err != nil:
		return ""
	case n < len(basic):
		return basic[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	steps := [...]int{0, 95, 135, 175, 215, 255}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", steps[n/36], steps[n/6%6], steps[n%6])
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // it writes to memory only
	return b.String()
}
