package markdown

import "strings"

// splitter finds where top-level blocks end, line by line, looking at each line once. It is
// conservative: when it cannot be sure it does not cut (dead), and when meaning reaches over blocks
// (link definitions) the document is one block (whole).
type splitter struct {
	pos   int  // bytes seen
	start int  // of the open block; -1 when none is open
	end   int  // after the last line of the open block that is not blank
	whole bool // nothing may be cut
	block blockState
	fence fence
}

// blockState is what is known of the open block.
type blockState struct {
	blank   bool // blank lines since end
	list    bool // holds list markers
	offset  int  // where the content of the last outermost list item begins
	inner   int  // where the content of the last item of any depth begins
	html    bool // in HTML until a blank line
	bracket bool // may be in a link definition
	dead    bool // may not be cut any more
	unsure  bool // a marker may or may not have begun a list: an indented fence could belong to anything
	delim   byte // of the last list marker
	hard    bool // began with a fence of its own: ends with it
}

// fence is the open code fence; n is 0 when none is open.
type fence struct {
	c      byte
	n      int
	indent int
	inList bool
}

func newSplitter() splitter { return splitter{start: -1} }

// feedLines looks at the complete lines of src beyond pos and calls cut for each block that is
// closed.
func (s *splitter) feedLines(src string, cut func(from, to int)) {
	for {
		n := strings.IndexByte(src[s.pos:], '\n')
		if n < 0 || s.whole {
			return
		}
		from := s.pos
		s.pos += n + 1
		s.takeLine(src[from:from+n], from, cut)
	}
}

func (s *splitter) takeLine(line string, at int, cut func(from, to int)) {
	indent, rest := indentation(line)
	switch {
	case rest == "":
		s.block.blank, s.block.html = true, false
		if s.fence.n == 0 {
			s.block.bracket = false
		}
		return
	case s.start < 0, s.block.dead:
	case s.fence.n > 0:
		if !s.inFence(indent, rest, at, cut) {
			return
		}
	case indent == 0 && !s.block.html && s.startsFresh(rest):
		s.closeBlock(cut)
	}
	if s.start < 0 {
		s.start, s.block = at, blockState{}
	}
	s.end, s.block.blank = at+len(line)+1, false
	if s.block.dead {
		s.noteDefinition(rest)
		return
	}
	s.noteContent(line, indent, rest, cut)
}

// startsFresh reports that a line without indentation cannot belong to the open block.
func (s *splitter) startsFresh(rest string) bool {
	if s.block.blank {
		return !s.block.list || markerWidth(rest) == 0
	}
	_, _, opens := fenceOpener(rest)
	return opens || isHeading(rest)
}

// noteContent takes note of what a line opens.
func (s *splitter) noteContent(line string, indent int, rest string, cut func(from, to int)) {
	if w := markerWidth(rest); w > 0 && (indent < 4 || s.block.list) {
		s.noteMarker(rest, indent, w)
	} else if s.block.list && indent < s.block.offset {
		s.block.unsure = true // a lazy line of the item, or the end of the list
	}
	inner, quoted, marked := stripMarkers(rest)
	c, n, opens := fenceOpener(inner)
	switch {
	case quoted:
	case opens && (marked || s.block.html):
		s.block.dead = true
	case opens && s.openFence(c, n, indent):
		s.block.hard = indent == 0
		return
	case strings.HasPrefix(inner, "<"):
		s.block.html, s.block.unsure = true, true
		s.block.dead = s.block.dead || lastingHTML(inner)
	}
	s.noteDefinition(rest)
	if indent == 0 && isHeading(rest) && !s.block.dead && s.start+len(line)+1 == s.end {
		s.closeBlock(cut)
	}
}

// noteMarker takes note of a list item. Not every marker begins one: a number other than 1 cannot
// break a paragraph, and an item without text ends at the next empty line.
func (s *splitter) noteMarker(rest string, indent, w int) {
	number := strings.TrimRight(rest[:min(len(rest), w)], " \t")
	delim := number[len(number)-1]
	if len(number) == len(rest) || rest[w] == '>' || strings.Trim(rest, "-*_ \t") == "" || len(number) > 1 && number[:len(number)-1] != "1" && delim != s.block.delim {
		s.block.unsure = true
	}
	if !s.block.list || indent < s.block.offset {
		s.block.offset = indent + w
	}
	s.block.list, s.block.delim, s.block.inner = true, delim, indent+w
}

// openFence reports whether a line that looks like a fence opens one, and gives up where that
// depends on more than we know.
func (s *splitter) openFence(c byte, n, indent int) bool {
	inList := s.block.list && indent > 0 && indent >= s.block.offset
	if indent > 0 && s.block.unsure {
		s.block.dead = true
		return false
	}
	if !inList && indent >= 4 || inList && indent > s.block.inner+3 {
		return false // indented code, or more of a paragraph
	}
	s.fence = fence{c: c, n: n, indent: indent, inList: inList}
	return true
}

// inFence handles a line inside a fence and reports whether the line still has to be looked at, in
// a fresh block.
func (s *splitter) inFence(indent int, rest string, at int, cut func(from, to int)) bool {
	f := s.fence
	closes := closesFence(rest, f)
	s.end, s.block.blank = at+len(rest)+indent+1, false
	if i := strings.IndexByte(rest, '\t'); i >= 0 || indent > 0 {
		s.end = s.pos
	}
	switch {
	case f.inList && indent == 0: // the list item does not hold this line, so its fence is over
		s.fence = fence{}
		s.end = at
		if markerWidth(rest) == 0 {
			s.closeBlock(cut)
		}
		return true
	case f.inList && indent < f.indent, f.inList && closes && indent > f.indent && indent <= f.indent+3:
		s.block.dead, s.fence = true, fence{}
	case closes && (f.inList && indent == f.indent || !f.inList && indent < 4):
		s.fence = fence{}
		if s.block.hard {
			s.closeBlock(cut)
		}
	}
	return false
}

// noteDefinition watches for link definitions: they reach over the whole document.
func (s *splitter) noteDefinition(rest string) {
	inner, _, _ := stripMarkers(rest)
	if strings.HasPrefix(inner, "[") {
		s.block.bracket = true
	}
	if s.block.bracket && strings.Contains(rest, "]:") {
		s.whole = true
	}
}

func (s *splitter) closeBlock(cut func(from, to int)) {
	if s.start >= 0 {
		cut(s.start, s.end)
	}
	s.start, s.block, s.fence = -1, blockState{}, fence{}
}

// indentation returns the cells of leading blanks and what follows them, without trailing blanks.
func indentation(line string) (int, string) {
	cells, i := 0, 0
	for i < len(line) {
		switch line[i] {
		case ' ':
			cells++
		case '\t':
			cells += 4 - cells%4
		default:
			return cells, strings.TrimRight(line[i:], " \t")
		}
		i++
	}
	return cells, ""
}

// markerWidth returns the width of the list marker at the start of s with the blanks after it; 0
// when there is none.
func markerWidth(s string) int {
	n := 0
	switch {
	case s == "":
		return 0
	case s[0] == '-' || s[0] == '+' || s[0] == '*':
		n = 1
	default:
		for n < len(s) && n < 10 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == 10 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	}
	blanks, rest := indentation(s[n:])
	switch {
	case rest == "" || blanks > 4:
		return n + 1
	case blanks == 0:
		return 0
	default:
		return n + blanks
	}
}

// stripMarkers takes list markers and quote marks off the front of a line.
func stripMarkers(s string) (inner string, quoted, marked bool) {
	for s != "" {
		if s[0] == '>' {
			quoted = true
			_, s = indentation(s[1:])
			continue
		}
		w := markerWidth(s)
		if w == 0 {
			break
		}
		marked = marked || !quoted
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			return "", quoted, marked
		}
		_, s = indentation(s[i:])
	}
	return s, quoted, marked
}

func fenceOpener(s string) (c byte, n int, ok bool) {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return 0, 0, false
	}
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return s[0], n, n >= 3 && (s[0] == '~' || strings.IndexByte(s[n:], '`') < 0)
}

func closesFence(s string, f fence) bool {
	n := 0
	for n < len(s) && s[n] == f.c {
		n++
	}
	return n >= f.n && n == len(s)
}

func isHeading(s string) bool {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	return n > 0 && n <= 6 && (n == len(s) || s[n] == ' ' || s[n] == '\t')
}

// lastingHTML reports HTML that a blank line does not end.
func lastingHTML(s string) bool {
	s = strings.ToLower(s)
	for _, p := range []string{"<!", "<?", "<script", "<pre", "<style", "<textarea"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
