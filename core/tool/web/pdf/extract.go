package pdf

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// maxPages bounds a document; a page tree can name the same page for ever.
const maxPages = 2000

// extractText runs in the child only. A page that cannot be read is named in the text and does not
// spoil the others.
func extractText(data []byte) (text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the document is broken: %v", v)
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n := r.NumPage()
	for i := 1; i <= min(n, maxPages) && b.Len() < maxText; i++ {
		page, err := pageText(r, i)
		if err != nil {
			page = fmt.Sprintf("[page %d could not be read: %v]", i, err)
		}
		if page = strings.TrimSpace(page); page != "" {
			fmt.Fprintf(&b, "%s\n\n", page)
		}
	}
	if n > maxPages {
		fmt.Fprintf(&b, "[pages %d to %d were not read]\n", maxPages+1, n)
	}
	return strings.TrimSpace(b.String()), nil
}

// pageText prefers what is known about where the glyphs stand: words and lines come from it.
func pageText(r *pdf.Reader, i int) (string, error) {
	p := r.Page(i)
	if p.V.IsNull() {
		return "", nil
	}
	if text, ok := placedText(p); ok {
		return text, nil
	}
	return p.GetPlainText(nil)
}

func placedText(p pdf.Page) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	glyphs := p.Content().Text
	return joinGlyphs(glyphs), len(glyphs) > 0
}

// joinGlyphs puts glyphs together in the order of the document: a gap is a space, a step down a new
// line, a large one a new paragraph.
func joinGlyphs(glyphs []pdf.Text) string {
	var b strings.Builder
	var last pdf.Text
	for i, g := range glyphs {
		if i > 0 {
			b.WriteString(separatorBetween(last, g))
		}
		b.WriteString(g.S)
		last = g
	}
	return tidyBlanks(b.String())
}

func separatorBetween(last, g pdf.Text) string {
	em := math.Max(math.Max(last.FontSize, g.FontSize), 1)
	down, gap := math.Abs(last.Y-g.Y), g.X-(last.X+last.W)
	switch {
	case down > 1.8*em:
		return "\n\n"
	case down > 0.5*em || gap < -2*em:
		return "\n"
	case gap > 0.2*em && g.S != " " && last.S != " ":
		return " "
	}
	return ""
}

// tidyBlanks drops blanks at line ends and doubled empty lines.
func tidyBlanks(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
