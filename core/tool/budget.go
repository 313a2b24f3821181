package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hermes/core/chat"
)

// DefaultMaxResult is how many characters of a result reach the model: 40 % head, 60 % tail, the
// rest is spilled to a file.
const DefaultMaxResult = 50_000

// Cut is a text reduced to its head and tail. Head and Tail are exact pieces of the text, cut
// between lines where a line end is near and else between characters. Without a cut Head is the
// whole text.
type Cut struct {
	Head, Tail string
	Left       int // characters left out between them
	Lines      int // line ends among them
}

// CutText keeps at most limit characters of s: 40 % from its head and 60 % from its tail.
func CutText(s string, limit int) Cut {
	n := utf8.RuneCountInString(s)
	if n <= limit || limit < 0 {
		return Cut{Head: s}
	}
	head := headOf(s, limit*2/5)
	tail := tailOf(s[len(head):], limit-limit*2/5)
	mid := s[len(head) : len(s)-len(tail)]
	return Cut{Head: head, Tail: tail, Left: utf8.RuneCountInString(mid), Lines: strings.Count(mid, "\n")}
}

// headOf returns the first n characters of s, shortened to a line end when one is in the last
// quarter.
func headOf(s string, n int) string {
	end := 0
	for i := 0; i < n && end < len(s); i++ {
		_, w := utf8.DecodeRuneInString(s[end:])
		end += w
	}
	if nl := strings.LastIndexByte(s[:end], '\n'); nl >= end*3/4 && nl >= 0 {
		return s[:nl+1]
	}
	return s[:end]
}

// tailOf returns the last n characters of s, shortened to a line start when one is in the first
// quarter.
func tailOf(s string, n int) string {
	start := len(s)
	for i := 0; i < n && start > 0; i++ {
		_, w := utf8.DecodeLastRuneInString(s[:start])
		start -= w
	}
	tail := s[start:]
	if nl := strings.IndexByte(tail, '\n'); nl >= 0 && nl < len(tail)/4 && start > 0 {
		return tail[nl+1:]
	}
	return tail
}

// HowToReadOn tells how a long text that was kept in a file is read.
const HowToReadOn = " (`read_file` with offset, or `search_files`)"

// fitBudget applies the result budget to out.
func (r *Registry) fitBudget(out *chat.ToolResult, c Call) {
	limit := r.budget
	if s, ok := r.Lookup(out.Name); ok && s.MaxResult > 0 {
		limit = s.MaxResult
	}
	limit = fitParts(out, limit)
	if utf8.RuneCountInString(out.Text) <= limit {
		return
	}
	if out.Spill == "" && r.spillDir != "" {
		path, err := Spill(r.spillDir, c.Session, out.Text)
		if err != nil {
			out.Warnings = append(out.Warnings, "the full result could not be kept: "+err.Error())
		}
		out.Spill = path
	}
	where := "The rest was not kept."
	if out.Spill != "" {
		what := "Full text: "
		if out.SpillCut {
			what = "The beginning: "
		}
		where = what + out.Spill + c.Advise(HowToReadOn) + "."
	}
	const counts = 80 // what the note takes beside where
	cut := CutText(out.Text, max(0, limit-counts-utf8.RuneCountInString(where)))
	note := fmt.Sprintf("[... %d characters, %d lines left out. %s]\n", cut.Left, cut.Lines, where)
	if !strings.HasSuffix(cut.Head, "\n") {
		note = "\n" + note
	}
	out.Text = cut.Head + note + cut.Tail
}

// Spill writes what a result had to leave out to a new file in dir that only this user can read,
// and returns its path. The registry does it with whole results; tools whose results must stay in
// one piece (JSON) do it with parts of them.
func Spill(dir, session, text string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "result-"+safeName(session)+"-*.txt") // 0600 by contract of CreateTemp
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return filepath.Clean(f.Name()), nil
}

// safeName keeps a session id from leaving the folder.
func safeName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s[:min(len(s), 36)])
}
