// Package fuzzy replaces a piece of text that a model quoted from memory. It tries nine ways to
// find the piece, the strictest first, and stops at the first that finds anything:
//
//	exact, line-trimmed, whitespace-normalised, indentation-flexible, escape-normalised,
//	trimmed-boundary, unicode-normalised, block-anchor, context-aware
//
// The contract: bytes outside the matched spans are never touched. The piece must be unique unless
// all is set; the last two ways are guesses and never run with all. Where the indentation of the
// text differs from that of the quote, the replacement gets the indentation of the text. Pure
// functions over strings; no files.
package fuzzy

import (
	"errors"
	"fmt"
	"strings"
)

// Span is one replaced piece: content[Start:End] became Text.
type Span struct {
	Start, End int
	Text       string
}

// Outcome is a successful replacement.
type Outcome struct {
	Text     string // the whole new content
	Strategy string // which way found the piece
	Guess    bool   // the way compares by similarity: people should look at the diff
	Spans    []Span // in order, not overlapping
}

// Mistakes of the caller.
var (
	ErrEmpty = errors.New("old_string is empty: quote the text to replace, or use write_file for a new file")
	ErrSame  = errors.New("old_string and new_string are the same: nothing to change")
)

// AmbiguousError says that the piece is there more than once.
type AmbiguousError struct {
	Strategy string
	Lines    []int // line numbers, 1-based, of the first matches
	Count    int
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("old_string was found %d times (%s match; lines %s): quote more lines around it so that it is unique, or set replace_all",
		e.Count, e.Strategy, strings.Trim(fmt.Sprint(e.Lines), "[]"))
}

// DriftError says that the quote carries backslashes that the text does not have: they came from a
// doubly escaped call.
type DriftError struct{ Escape string }

func (e *DriftError) Error() string {
	return fmt.Sprintf(`old_string and new_string contain %s but the file has no backslash there: send the text unescaped, as read_file shows it`, e.Escape)
}

type strategy struct {
	name  string
	guess bool
	find  func(q *query) []Span
}

func strategyChain() []strategy {
	return []strategy{
		{"exact", false, findExact},
		{"line-trimmed", false, lineTrimmed},
		{"whitespace-normalised", false, whitespaceNormalised},
		{"indentation-flexible", false, indentationFlexible},
		{"escape-normalised", false, escapeNormalised},
		{"trimmed-boundary", false, trimmedBoundary},
		{"unicode-normalised", false, unicodeNormalised},
		{"block-anchor", true, blockAnchor},
		{"context-aware", true, contextAware},
	}
}

// Replace replaces old by new in content, once, or everywhere when all is set.
func Replace(content, old, new string, all bool) (Outcome, error) {
	if old == "" {
		return Outcome{}, ErrEmpty
	}
	if old == new {
		return Outcome{}, ErrSame
	}
	q := newQuery(content, old, new)
	for i, s := range strategyChain() {
		if i > 0 && strings.TrimSpace(old) == "" || s.guess && all {
			break // blank lines are everywhere; guesses are for one place
		}
		spans := s.find(q)
		if len(spans) == 0 {
			continue
		}
		if len(spans) > 1 && !all {
			return Outcome{}, ambiguousError(content, s.name, spans)
		}
		if s.name != "exact" && s.name != "escape-normalised" {
			if err := refuseEscapeDrift(q, spans); err != nil {
				return Outcome{}, err
			}
		}
		return Outcome{Text: spliceSpans(content, spans), Strategy: s.name, Guess: s.guess, Spans: spans}, nil
	}
	q.spent = 0 // the hint has an effort of its own
	return Outcome{}, &NotFoundError{Closest: closestLines(q)}
}

func spliceSpans(content string, spans []Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(content[at:s.Start])
		b.WriteString(s.Text)
		at = s.End
	}
	b.WriteString(content[at:])
	return b.String()
}

func ambiguousError(content, name string, spans []Span) error {
	e := &AmbiguousError{Strategy: name, Count: len(spans)}
	for _, s := range spans[:min(len(spans), 10)] {
		e.Lines = append(e.Lines, 1+strings.Count(content[:s.Start], "\n"))
	}
	return e
}

// refuseEscapeDrift refuses quotes whose escapes are not in the text: writing new would put stray
// backslashes into the file.
func refuseEscapeDrift(q *query, spans []Span) error {
	for _, esc := range []string{`\'`, `\"`} {
		if !strings.Contains(q.old, esc) || !strings.Contains(q.new, esc) {
			continue
		}
		for _, s := range spans {
			if !strings.Contains(q.content[s.Start:s.End], esc) {
				return &DriftError{Escape: esc}
			}
		}
	}
	return nil
}
