package conversation

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"hermes/core/chat"
	"hermes/ui/markdown"
	"hermes/ui/text"
)

// What is drawn of the calls inside of a call.
const (
	maxInside     = 4 // while it is closed: the newest ones
	maxInsideOpen = 200
)

func (c *call) Lines(w int) []string {
	out := []string{c.drawLine(w)}
	pad := leftMargin(w) + "  "
	inner := max(1, w-len(pad))
	out = append(out, c.insideLines(w)...)
	if c.open {
		out = append(out, c.drawDetails(pad, inner)...)
	} else {
		out = append(out, c.lastRows(pad, inner)...)
	}
	if c.result == nil {
		return out
	}
	for _, part := range c.result.Parts {
		out = append(out, indentLines(c.e.drawPart(part, inner, c.open), pad)...)
	}
	for _, warn := range c.result.Warnings {
		out = append(out, c.drawWarning(warn, pad, inner)...)
	}
	for _, d := range c.result.Diffs {
		out = append(out, c.drawDiff(d, pad, inner)...)
	}
	return out
}

// maxWarning is how many lines a warning may take: the end of it often says what to do.
const maxWarning = 6

func (c *call) drawWarning(warn, pad string, w int) []string {
	lines := text.Wrap(oneLine(warn), max(1, w-2))
	if len(lines) > maxWarning {
		lines = append(lines[:maxWarning-1:maxWarning-1], text.Truncate(strings.Join(lines[maxWarning-1:], " "), max(1, w-2), c.e.s.Glyphs.Ellipsis))
	}
	lead := "! "
	for i, l := range lines {
		lines[i] = pad + c.e.s.Warn.Render(text.Truncate(lead+l, w, ""))
		lead = "  "
	}
	return lines
}

// maxLast is how many of the last lines of a finished command stand below it.
const maxLast = 4

// maxOwnLast is the same for what the person ran: they want to see it.
const maxOwnLast = 20

// lastRows are the last lines of a finished command, else the one line that tells most.
func (c *call) lastRows(pad string, w int) []string {
	st, e := c.e.s.Dim, c.e.s.Glyphs.Ellipsis
	if c.question && c.result != nil && !c.result.Interrupted {
		return c.drawAnswered(pad, w)
	}
	last := c.lastLines()
	if len(last) == 0 {
		if l := c.newestLine(); l != "" {
			last = c.wrapCause(l, w-2)
		}
	}
	var out []string
	lead := c.e.s.Glyphs.Arrow + " "
	for _, l := range last {
		out = append(out, pad+st.Render(text.Truncate(lead+l, w, e)))
		lead = text.Blank(text.Width(lead))
	}
	return out
}

// maxCause is how many lines the cause of a failure may take.
const maxCause = 3

// wrapCause is the line that tells most: whole where it says why a call failed, as far as it fits.
func (c *call) wrapCause(l string, w int) []string {
	if c.result == nil || !c.result.IsError || w < 1 {
		return []string{l}
	}
	lines := text.Wrap(l, w)
	if len(lines) > maxCause {
		lines = append(lines[:maxCause-1:maxCause-1], strings.Join(lines[maxCause-1:], " "))
	}
	return lines
}

// maxAnswered is how many lines of an answer stand below its question.
const maxAnswered = 8

// drawAnswered draws the question and what the person answered, for whoever reads it later.
func (c *call) drawAnswered(pad string, w int) []string {
	var out []string
	lines := text.Wrap(text.ExpandTabs(text.Sanitize(strings.TrimSpace(c.result.Text)), markdown.TabWidth), max(1, w-2))
	if more := len(lines) - maxAnswered; more > 0 {
		lines = append(lines[:maxAnswered:maxAnswered], c.e.s.Glyphs.Ellipsis)
	}
	lead := c.e.s.Glyphs.Arrow + " "
	for _, l := range lines {
		out = append(out, pad+c.e.s.Text.Render(lead+l))
		lead = text.Blank(text.Width(lead))
	}
	return out
}

// lastLines are the last lines that a finished command printed, or what came of a procedure that
// the person ran, and how many stand before them.
func (c *call) lastLines() []string {
	r, own := c.result, c.most > 0
	if r == nil || r.ExitCode == nil && !own || c.denied || r.Interrupted || errorIn(r.Text) != "" {
		return nil
	}
	var lines []string
	for l := range strings.SplitSeq(printedEnd(r, maxTail), "\n") {
		if l = strings.TrimRight(text.ExpandTabs(text.Sanitize(l), markdown.TabWidth), " \r"); l != "" {
			lines = append(lines, l)
		}
	}
	most := maxLast
	if c.most > 0 {
		most = c.most
	}
	if more := len(lines) - most; more > 0 {
		lines = append([]string{strconv.Itoa(more+1) + " lines above"}, lines[more+1:]...)
		if len(r.Text) > maxTail {
			lines[0] = "many lines above"
		}
	}
	return lines
}

// newestLine is the one line of output that tells most: the last one while it runs, and of a
// command that failed; the first one of an error.
func (c *call) newestLine() string {
	switch r := c.result; {
	case r == nil && (c.isRunning() || c.over != nil) && !c.waits:
		return c.lastLine()
	case r == nil || c.denied || r.Interrupted:
		return ""
	case (r.IsError || r.ExitCode != nil && *r.ExitCode != 0) && errorIn(r.Text) != "":
		return oneLine(errorIn(r.Text))
	case r.ExitCode != nil && *r.ExitCode != 0:
		return lastSaid(r)
	case r.IsError:
		first, _, _ := strings.Cut(strings.TrimSpace(r.Text), "\n")
		return oneLine(first)
	default:
		return ""
	}
}

// lastSaid is the last line that a failed command printed.
func lastSaid(r *chat.ToolResult) string {
	t := printedEnd(r, 4<<10)
	return oneLine(t[strings.LastIndexByte(t, '\n')+1:])
}

// printedEnd is the end of what a command printed, without the lines below it that tell the model
// how it ended: the state says it, and warnings stand below.
func printedEnd(r *chat.ToolResult, most int) string {
	t := lastBytes(outputIn(r.Text), most)
	for {
		t = strings.TrimRight(t, "\r\n \t")
		at := strings.LastIndexByte(t, '\n') + 1
		line := t[at:]
		ended := r.ExitCode != nil &&
			(line == "[exit code "+strconv.Itoa(*r.ExitCode)+"]" || line == "[no output, exit code 0]" || line == "[ran in "+r.Backend+"]")
		warned := strings.HasPrefix(line, "[warning: ") && strings.HasSuffix(line, "]")
		if !ended && !warned {
			return t
		}
		t = t[:at]
	}
}

// outputIn is what a script printed, where a result is the object that tells of one; else the text
// as it is.
func outputIn(text string) string {
	var o struct {
		Output    string  `json:"output"`
		Isolation *string `json:"isolation"`
	}
	if !strings.HasPrefix(text, "{") || json.NewDecoder(strings.NewReader(text)).Decode(&o) != nil || o.Isolation == nil {
		return text
	}
	return o.Output
}

// errorIn is the error in a result that is an object for programs, as scripts have it; "" in any
// other.
func errorIn(text string) string {
	var o struct {
		Error string `json:"error"`
	}
	if !strings.HasPrefix(text, "{") || json.NewDecoder(strings.NewReader(text)).Decode(&o) != nil {
		return ""
	}
	last := strings.TrimSpace(o.Error)
	return last[strings.LastIndexByte(last, '\n')+1:]
}

// insideLines are the calls that happened inside of this one, set in under it.
func (c *call) insideLines(w int) []string {
	n, limit := len(c.inside), maxInside
	if c.open {
		limit = maxInsideOpen
	}
	if n == 0 || w < 12 {
		return nil
	}
	var out []string
	if n > limit {
		out = append(out, leftMargin(w)+"  "+c.e.s.Dim.Render(c.e.s.Glyphs.Ellipsis+" "+text.Count(n-limit, "call", "calls")+" before"))
	}
	for _, k := range c.inside[max(0, n-limit):] {
		lines := []string{k.drawLine(w - 2)}
		if c.open {
			lines = k.Lines(w - 2)
		}
		out = append(out, indentLines(lines, "  ")...)
	}
	return out
}

// stateMark is how the call stands: a mark, a word where the mark does not say it all, and their
// style.
func (c *call) stateMark() (glyph, word string, st lipgloss.Style) {
	g, s := c.e.s.Glyphs, c.e.s
	switch r := c.result; {
	case c.waits:
		return g.Waits, "waits for you", s.Warn
	case c.denied || r != nil && r.Denied:
		return g.Fail, "denied", s.Warn
	case r == nil && c.over != nil && c.over.Failed:
		return g.Fail, "", s.Bad
	case r == nil && c.over != nil:
		return g.OK, "", s.Good
	case r == nil && c.started.IsZero():
		return g.Stopped, "", s.Dim
	case r == nil:
		return g.Run, "", s.Info
	case r.Interrupted:
		return g.Stopped, "interrupted", s.Warn
	case r.ExitCode != nil && *r.ExitCode != 0:
		return g.Fail, "exit " + strconv.Itoa(*r.ExitCode), s.Bad
	case r.IsError:
		return g.Fail, "failed", s.Bad
	default:
		return g.OK, "", s.Good
	}
}

// drawLine draws state, tool, gist, back end and time. Where there is no room the back end goes
// first, then the time.
func (c *call) drawLine(w int) string {
	glyph, word, st := c.stateMark()
	pad, took := leftMargin(w), ""
	if clock := c.clockText(); clock != "" && !c.started.IsZero() && !c.waits {
		took = text.FitLeft(clock, 6)
	}
	head := pad + st.Render(glyph) + " " + c.e.s.Tool.Render(text.Truncate(c.name, max(4, w/3), c.e.s.Glyphs.Ellipsis))
	want := min(text.Width(c.gist), 10)
	for _, right := range [][]string{{word, c.backend, took}, {word, took}, {word}} {
		tail := strings.Join(nonEmpty(right), "  ")
		room := w - text.Width(head) - text.Width(tail) - 3
		if room >= want {
			return joinSides(head+"  "+c.shownGist(room), c.e.s.Dim.Render(tail), w)
		}
	}
	return text.Truncate(head+"  "+c.gist, w, c.e.s.Glyphs.Ellipsis)
}

// shownGist is the gist in at most w cells; a command is coloured as one.
func (c *call) shownGist(w int) string {
	if c.command != "" && c.command == c.gist {
		return c.e.drawShell(c.gist, w)
	}
	return text.Truncate(c.gist, w, c.e.s.Glyphs.Ellipsis)
}

// clockText is the time that the call took. While it runs it has no tenths: they would be old as
// soon as they are read. What was denied did not run.
func (c *call) clockText() string {
	if c.denied || c.result != nil && c.result.Denied {
		return ""
	}
	if d := c.timeTaken(); !c.isRunning() || d >= 10*time.Second {
		return text.Duration(d)
	}
	return strconv.Itoa(int(c.timeTaken().Seconds())) + " s"
}

func nonEmpty(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
