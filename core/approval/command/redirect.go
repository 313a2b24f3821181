package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walkRedirects looks at what a statement reads, and returns the files that it writes.
func (w *walker) walkRedirects(s *syntax.Stmt) (writes []field) {
	for _, r := range s.Redirs {
		w.setNode(s)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			w.walkHereDocument(r)
		case syntax.WordHdoc:
			f := w.expandOne(r.Word)
			w.in = f.from.mergedWith(traits{any: true})
			w.in.code, w.in.text, w.in.plain = false, f.text, !f.dyn
		case syntax.RdrIn:
			w.readInput(w.expandOne(r.Word))
		case syntax.DplIn:
			if f := w.expandOne(r.Word); f.text != "0" && f.text != "-" { // what was opened before, under this number
				w.in = w.in.mergedWith(traits{data: true})
			}
		case syntax.DplOut:
			if f := w.expandOne(r.Word); !isDescriptor(f.text) {
				writes = append(writes, f)
			}
		default:
			f := w.expandOne(r.Word)
			f.behind = r.Op == syntax.AppOut || r.Op == syntax.AppAll
			if f.behind || r.N != nil && r.N.Value == "2" {
				f.adds = true // it adds, or takes only messages: what is there is not emptied by an empty command
			}
			writes = append(writes, f)
		}
	}
	return writes
}

func isDescriptor(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" || s == "-" || strings.HasSuffix(s, "-") && strings.Trim(s, "0123456789-") == ""
}

func (w *walker) walkHereDocument(r *syntax.Redirect) {
	in := traits{any: true}
	if r.Hdoc != nil {
		var f field
		if quotedWord(r.Word) {
			f = field{text: r.Hdoc.Lit()}
			if f.text == "" && len(r.Hdoc.Parts) > 0 {
				f = w.expandHereDocument(r.Hdoc)
			}
		} else {
			f = w.expandHereDocument(r.Hdoc)
		}
		in.text, in.plain, in.secret, in.data, in.list = f.text, !f.dyn, f.from.secret, f.from.data, f.from.list
	}
	w.in = in
}

// expandHereDocument expands a here-document: as in double quotes.
func (w *walker) expandHereDocument(word *syntax.Word) field {
	g := gather{w: w, some: true}
	for _, p := range word.Parts {
		g.inQuotes(p)
	}
	g.endField()
	if len(g.out) == 0 {
		return field{}
	}
	return g.out[0]
}

func quotedWord(word *syntax.Word) bool {
	if word == nil {
		return false
	}
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// readInput reads < file.
func (w *walker) readInput(f field) {
	w.in = traits{any: true}
	if f.proc {
		w.in = f.from
		w.in.any, w.in.code = true, true
		return
	}
	w.judgeSocket(f)
	w.addRead(f, true)
	w.in.secret = w.placeOf(f).kind == placeCredential
	w.in.code = w.written[w.placeOf(f).path]
	w.in = w.in.mergedWith(w.fileFrom(f))
	w.in.plain = f.text == "/dev/null"
}

// judgeSocket judges /dev/tcp/host/port, which bash opens itself.
func (w *walker) judgeSocket(f field) {
	if strings.HasPrefix(f.text, "/dev/tcp/") || strings.HasPrefix(f.text, "/dev/udp/") {
		w.addEffect(NetOut, LevelAlways, f.text, "it opens a connection to "+f.text[len("/dev/tcp/"):])
	}
}

// fillRedirected writes what a statement has put out into the files that it was redirected to.
func (w *walker) fillRedirected(s *syntax.Stmt, writes []field) {
	for _, f := range writes {
		w.judgeSocket(f)
		if f.proc {
			continue
		}
		p := w.addWrite(f, "writes")
		if p.kind != placeStream && isEndless(s) {
			w.addEffect(System, LevelSensitive, f.text, "it writes until the disk is full")
		}
		if p.kind.mayHoldWork() && !f.adds && putsOutNothing(s) {
			w.addEffect(Delete, LevelSensitive, f.text, "empties "+w.nameOf(f))
		}
		if !f.behind {
			w.judgeReplacement(f, true)
		}
		w.noteWritten(f)
	}
}

// noteWritten remembers that the line wrote a file: what runs it later runs code that nobody has
// seen, and what is handed the names in it may be handed keys.
func (w *walker) noteWritten(f field) {
	if w.written == nil {
		w.written, w.listing = map[string]bool{}, map[string]bool{}
	}
	p := w.placeOf(f).path
	w.written[p] = true
	w.listing[p] = w.listing[p] || w.in.keys || w.out.keys
}

// isEndless reports whether a statement puts out without end.
func isEndless(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	if c.Args[0].Lit() == "cat" && len(c.Args) == 2 {
		return isOneOf("/dev/zero /dev/urandom /dev/random", c.Args[1].Lit())
	}
	return c.Args[0].Lit() == "yes"
}

// putsOutNothing reports whether a statement puts out nothing, so that a redirection only empties a
// file.
func putsOutNothing(s *syntax.Stmt) bool {
	if s.Cmd == nil {
		return true
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	if len(c.Args) == 0 {
		return true
	}
	words := " "
	for _, a := range c.Args[1:] {
		if words += a.Lit() + " "; emptyWord(a) {
			words += "'' "
		}
	}
	switch c.Args[0].Lit() {
	case ":", "true", "false":
		return true
	case "exec":
		return len(c.Args) == 1
	case "cat":
		return words == " /dev/null " || len(c.Args) == 1 && slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Op == syntax.RdrIn && r.Word.Lit() == "/dev/null" })
	case "cp":
		return words == " /dev/null "
	case "echo":
		return words == " " || words == "  '' " || words == " -n " || words == " -n  '' "
	case "head", "tail":
		return emptyHead(words)
	case "printf":
		return words == "  '' " || words == " %s  '' "
	default:
		return false
	}
}

// emptyHead knows options of head and tail that put out nothing.
func emptyHead(words string) bool {
	for _, start := range []string{" -c 0 ", " -c0", " -n 0 ", " -n0"} {
		if strings.HasPrefix(words, start) {
			return true
		}
	}
	return strings.HasSuffix(words, " /dev/null ")
}

// emptyWord is "" or ”.
func emptyWord(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	switch q := word.Parts[0].(type) {
	case *syntax.SglQuoted:
		return q.Value == ""
	case *syntax.DblQuoted:
		return len(q.Parts) == 0
	default:
		return false
	}
}
