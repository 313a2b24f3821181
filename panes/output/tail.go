package output

import (
	"fmt"
	"strings"
	"time"

	"hermes/core/chat"
	"hermes/ui/diff"
	"hermes/ui/style"
	"hermes/ui/text"
)

// tailRows below the output of a call that has ended: its changes of files, warnings, where all of
// it is, and how it went. They depend on the width, and are made once for each.
func (c *call) tailRows(w int, s *style.Styles) []string {
	if c.isRunning() || w <= 0 || s == nil {
		return nil
	}
	if c.tail == nil || c.tailWidth != w || c.tailStyles != s {
		c.tail, c.tailWidth, c.tailStyles = c.endingRows(w, s), w, s
	}
	return c.tail
}

func (c *call) endingRows(w int, s *style.Styles) []string {
	var out []string
	for i, d := range c.result.Diffs {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, text.Truncate(s.Strong.Render(diffHead(d))+"  "+s.DiffAdd.Render(fmt.Sprintf("+%d", d.Added))+" "+s.DiffDel.Render(fmt.Sprintf("-%d", d.Removed)), w, s.Glyphs.Ellipsis))
		out = append(out, diff.Render(d.Unified, w, s)...)
		for _, n := range d.Notes {
			out = append(out, s.Dim.Render(text.Truncate(text.Inline(n), w, s.Glyphs.Ellipsis)))
		}
	}
	if len(out) > 0 || c.buf.endNumber() > 0 {
		out = append(out, "")
	}
	for _, x := range c.result.Warnings {
		if strings.Contains(c.said, "["+x+"]\n") {
			continue // it stands above the output already
		}
		for _, line := range text.Wrap(s.Glyphs.Waits+" "+text.Inline(x), w) {
			out = append(out, s.Warn.Render(line))
		}
	}
	if n := c.buf.first; n > 0 {
		out = append(out, s.Dim.Render(text.Truncate(fmt.Sprintf("%d older lines are not kept here", n), w, s.Glyphs.Ellipsis)))
	}
	if c.result.Spill != "" {
		what := "all of it"
		if c.result.SpillCut {
			what = "the beginning of it"
		}
		for _, line := range text.Wrap(what+" (enter opens it): "+text.Inline(c.result.Spill), w) {
			out = append(out, s.Dim.Render(line))
		}
	}
	return append(out, c.verdictRow(w, s))
}

// verdictRow is the last row: glyph, word, time and place.
func (c *call) verdictRow(w int, s *style.Styles) string {
	mark := s.Good.Render(s.Glyphs.OK)
	switch r := c.result; {
	case r.Interrupted, r.Denied:
		mark = s.Warn.Render(s.Glyphs.Fail)
	case r.IsError:
		mark = s.Bad.Render(s.Glyphs.Fail)
	case r.ExitCode != nil && *r.ExitCode != 0: // an exit code that is an answer: grep found nothing
		mark = s.Dim.Render(s.Glyphs.Bullet)
	}
	line := c.outcomeText()
	if c.hasClock() {
		line += " after " + text.Duration(c.elapsedAt(time.Time{}))
	}
	if c.backend != "" {
		line += " in " + c.backend
	}
	return text.Truncate(mark+" "+s.Dim.Render(line), w, s.Glyphs.Ellipsis)
}

// plainTail is the tail as text, for the clipboard.
func (c *call) plainTail() string {
	if c.isRunning() {
		return ""
	}
	var b strings.Builder
	for _, d := range c.result.Diffs {
		b.WriteString(diffHead(d) + "\n" + text.Sanitize(d.Unified))
	}
	return b.String()
}

func diffHead(d chat.FileDiff) string {
	s := string(d.Op) + " " + text.Inline(d.Path)
	if d.OldPath != "" {
		s += ", was " + text.Inline(d.OldPath)
	}
	return s
}
