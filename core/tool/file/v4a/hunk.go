package v4a

import "strings"

// parseUpdate reads the hunks of one file.
func (p *parser) parseUpdate(op Op) (Op, error) {
	op.Kind = Update
	p.at++
	if p.at < p.last {
		if to, ok := strings.CutPrefix(strings.TrimSpace(p.lines[p.at]), moveTo); ok {
			if op.To = strings.TrimSpace(to); op.To == "" {
				return op, p.syntaxError("a path is missing after Move to:")
			}
			p.at++
		}
	}
	for p.at < p.last && !p.atHeader() {
		if p.lines[p.at] == "" && p.blankToHeader() {
			p.at++
			continue
		}
		h, err := p.parseHunk()
		if err != nil {
			return op, err
		}
		op.Hunks = append(op.Hunks, h)
	}
	if len(op.Hunks) == 0 && op.To == "" {
		p.at--
		return op, p.syntaxError("the update has no lines: give context (blank first), - and + lines")
	}
	return op, nil
}

// parseHunk reads anchors and lines up to the next @@, end of file mark or file.
func (p *parser) parseHunk() (Hunk, error) {
	h := Hunk{At: p.at + 1}
	for ; p.at < p.last && strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		if a := anchorText(p.lines[p.at]); a != "" {
			h.Anchors = append(h.Anchors, a)
		}
	}
	for ; p.at < p.last && !p.atHeader(); p.at++ {
		s := p.lines[p.at]
		switch {
		case strings.TrimSpace(s) == eof:
			h.EOF = true
			p.at++
			return p.finishHunk(h)
		case strings.HasPrefix(s, "@@"):
			return p.finishHunk(h)
		case s == "" && p.blankToHeader():
			return p.finishHunk(h)
		case s == "":
			h.Lines = append(h.Lines, Line{' ', ""}) // editors strip the blank of an empty context line
		case strings.IndexByte(" +-", s[0]) >= 0:
			h.Lines = append(h.Lines, Line{s[0], s[1:]})
		default:
			return h, p.syntaxError("a line of a hunk starts with a blank (context), - or +")
		}
	}
	return p.finishHunk(h)
}

func (p *parser) finishHunk(h Hunk) (Hunk, error) {
	for _, l := range h.Lines {
		if l.Sign != ' ' {
			return h, nil
		}
	}
	return h, &SyntaxError{Line: h.At, Text: p.lines[h.At-1], Want: "this hunk changes nothing: it has no - and no + line"}
}

// anchorText is the text after @@; the line numbers of a unified diff are no anchor, what follows
// them is.
func anchorText(s string) string {
	s = strings.TrimPrefix(s, "@@")
	if rest := strings.TrimSpace(s); strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		if _, after, ok := strings.Cut(rest, "@@"); ok {
			return strings.TrimSpace(after)
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "@@"))
}
