// Package v4a reads and applies patches over several files in the form that models were trained on:
//
//	*** Begin Patch
//	*** Update File: a.go
//	*** Move to: b.go          (optional)
//	@@ func main() {           (optional: skip to this line first)
//	 context
//	-old
//	+new
//	*** Add File: c.txt
//	+whole content
//	*** Delete File: d.txt
//	*** Move File: e.txt -> f.txt
//	*** End Patch
//
// Parse and Apply are pure; files are the caller's. Hostile input ends in an error that names the
// line of the patch.
package v4a

import (
	"fmt"
	"strings"

	"hermes/core/clip"
)

// Kind is what an Op does.
type Kind string

// Kinds of Op.
const (
	Add    Kind = "add"
	Update Kind = "update"
	Delete Kind = "delete"
	Move   Kind = "move"
)

// Op is what happens to one file.
type Op struct {
	Kind    Kind
	Path    string
	To      string // new path: Move, and Update with "Move to"
	Content string // Add
	Hunks   []Hunk // Update
	Line    int    // of the patch, 1-based
}

// Hunk is one place in a file.
type Hunk struct {
	Anchors []string // lines to skip to, in order
	Lines   []Line
	EOF     bool // the place is the end of the file
	At      int  // line of the patch, 1-based
}

// Line is one line of a hunk; Sign is ' ', '-' or '+'.
type Line struct {
	Sign byte
	Text string
}

// Old returns the lines that the file must have.
func (h Hunk) Old() []string { return h.linesWith('-') }

// New returns the lines that the file will have.
func (h Hunk) New() []string { return h.linesWith('+') }

func (h Hunk) linesWith(sign byte) []string {
	var out []string
	for _, l := range h.Lines {
		if l.Sign == ' ' || l.Sign == sign {
			out = append(out, l.Text)
		}
	}
	return out
}

// Paths lists every path that ops touch, targets of moves included, in order of first mention.
func Paths(ops []Op) []string {
	var out []string
	seen := map[string]bool{}
	for _, op := range ops {
		for _, p := range []string{op.Path, op.To} {
			if p != "" && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// SyntaxError is a fault of the patch text.
type SyntaxError struct {
	Line int
	Text string // the line
	Want string
}

func (e *SyntaxError) Error() string {
	text := e.Text
	text = clip.Runes(text, 80, "...")
	return fmt.Sprintf("patch line %d (%q): %s", e.Line, text, e.Want)
}

const (
	begin    = "*** Begin Patch"
	end      = "*** End Patch"
	eof      = "*** End of File"
	moveTo   = "*** Move to:"
	addFile  = "*** Add File:"
	update   = "*** Update File:"
	delFile  = "*** Delete File:"
	moveFile = "*** Move File:"
)

// Parse reads a patch. Text around Begin and End Patch (a code fence) is ignored; both lines may be
// missing.
func Parse(text string) ([]Op, error) {
	p := &parser{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	p.last = len(p.lines)
	for i, s := range p.lines {
		switch strings.TrimSpace(s) {
		case begin:
			p.at = i + 1
		case end:
			p.last = min(p.last, i)
		}
	}
	p.last = max(p.last, p.at)
	for p.at < p.last {
		if err := p.parseOp(); err != nil {
			return nil, err
		}
	}
	if len(p.ops) == 0 {
		p.at = 0
		return nil, p.syntaxError("the patch changes nothing: give *** Update File: PATH (or Add, Delete, Move) after *** Begin Patch")
	}
	return p.ops, nil
}

type parser struct {
	lines    []string
	at, last int
	ops      []Op
}

func (p *parser) syntaxError(want string) error {
	text := ""
	if p.at < len(p.lines) {
		text = p.lines[p.at]
	}
	return &SyntaxError{Line: p.at + 1, Text: text, Want: want}
}

func (p *parser) parseOp() error {
	s := strings.TrimSpace(p.lines[p.at])
	if s == "" {
		p.at++
		return nil
	}
	for _, k := range []struct {
		prefix string
		parse  func(op Op) (Op, error)
	}{{addFile, p.parseAdd}, {update, p.parseUpdate}, {delFile, p.parseDelete}, {moveFile, p.parseMove}} {
		rest, ok := strings.CutPrefix(s, k.prefix)
		if !ok {
			continue
		}
		op := Op{Path: strings.TrimSpace(rest), Line: p.at + 1}
		if op.Path == "" {
			return p.syntaxError("a path is missing after the colon")
		}
		op, err := k.parse(op)
		if err != nil {
			return err
		}
		p.ops = append(p.ops, op)
		return nil
	}
	return p.syntaxError("want *** Add File:, *** Update File:, *** Delete File: or *** Move File:")
}

func (p *parser) parseAdd(op Op) (Op, error) {
	op.Kind = Add
	var b strings.Builder
	for p.at++; p.at < p.last && !p.atHeader(); p.at++ {
		s := p.lines[p.at]
		if s == "" && p.blankToHeader() {
			continue
		}
		text, ok := strings.CutPrefix(s, "+")
		if !ok {
			return op, p.syntaxError("every line of a new file starts with +")
		}
		b.WriteString(text + "\n")
	}
	op.Content = b.String()
	return op, nil
}

func (p *parser) parseDelete(op Op) (Op, error) {
	op.Kind = Delete
	p.at++
	return op, nil
}

func (p *parser) parseMove(op Op) (Op, error) {
	op.Kind = Move
	from, to, ok := strings.Cut(op.Path, "->")
	op.Path, op.To = strings.TrimSpace(from), strings.TrimSpace(to)
	if !ok || op.Path == "" || op.To == "" {
		return op, p.syntaxError("want *** Move File: OLD -> NEW")
	}
	p.at++
	return op, nil
}

// atHeader reports whether the current line starts another file.
func (p *parser) atHeader() bool {
	s := strings.TrimSpace(p.lines[p.at])
	for _, h := range []string{addFile, update, delFile, moveFile} {
		if strings.HasPrefix(s, h) {
			return true
		}
	}
	return false
}

// blankToHeader reports whether only empty lines remain in this file's part.
func (p *parser) blankToHeader() bool {
	for i := p.at; i < p.last; i++ {
		if p.lines[i] != "" {
			q := parser{lines: p.lines, at: i}
			return q.atHeader()
		}
	}
	return true
}
