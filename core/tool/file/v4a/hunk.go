package v4a

import "strings"

// update reads the hunks of one file.
func (p *parser) update(op Op) (Op, error) {
	op.Kind = Update
	p.at++
	if p.at < p.last {
		if to, ok := strings.CutPrefix(strings.TrimSpace(p.lines[p.at]), moveTo); ok {
			if op.To = strings.TrimSpace(to); op.To == "" {
				return op, p.fail("a path is missing after Move to:")
			}
			p.at++
		}
	}
	for p.at < p.last && !p.header() {
		if p.lines[p.at] == "" && p.blankToHeader() {
			p.at++
			continue
		}
		h, err := p.hunk()
		if err != nil {
			return op, err
		}
		op.Hunks = append(op.Hunks, h)
	}
	if len(op.Hunks) == 0 && op.To == "" {
		p.at--
		return op, p.fail("the update has no lines: give context (blank first), - and + lines")
	}
	return op, nil
}

// hunk reads anchors and lines up to the next @@, end of file mark or file.
func (p *parser) hunk() (Hunk, error) {
	h := Hunk{At: p.at + 1}
	for ; p.at < p.last && strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		if a := anchor(p.lines[p.at]); a != "" {
			h.Anchors = append(h.Anchors, a)
		}
	}
	for ; p.at < p.last && !p.header(); p.at++ {
		s := p.lines[p.at]
		switch {
		case strings.TrimSpace(s) == eof:
			h.EOF = true
			p.at++
			return p.finish(h)
		case strings.HasPrefix(s, "@@"):
			return p.finish(h)
		case s == "" && p.blankToHeader():
			return p.finish(h)
		case s == "":
			h.Lines = append(h.Lines, Line{' ', ""}) // editors strip the blank of an empty context line
		case strings.IndexByte(" +-", s[0]) >= 0:
			h.Lines = append(h.Lines, Line{s[0], s[1:]})
		default:
			return h, p.fail("a line of a hunk starts with a blank (context), - or +")
		}
	}
	return p.finish(h)
}

func (p *parser) finish(h Hunk) (Hunk, error) {
	for _, l := range h.Lines {
		if l.Sign != ' ' {
			return h, nil
		}
	}
	return h, &SyntaxError{Line: h.At, Text: p.lines[h.At-1], Want: "this hunk changes nothing: it has no - and no + line"}
}

// anchor is the text after @@; the line numbers of a unified diff are no anchor, what follows them
// is.
func anchor(s string) string {
	s = strings.TrimPrefix(s, "@@")
	if rest := strings.TrimSpace(s); strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		if _, after, ok := strings.Cut(rest, "@@"); ok {
			return strings.TrimSpace(after)
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "@@"))
}
