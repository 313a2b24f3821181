package approval

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/approval/command"
)

// What is written to a running program comes in pieces: "rm -r", then "f ~" and the end of the
// line. A shell reads the line, so the line is judged, and with it what went to that process
// before: its folder and variables may come from there.

// Bounds of what is kept of the input of a process. A line that is longer than the analyser reads
// is asked about unread.
const (
	maxTyped     = 16 << 10
	maxTypedLine = 80 << 10
	maxProcesses = 512
)

// process is a running program that takes input.
type process struct{ session, id string }

// piece is one write. It counts from the moment when it is judged: two that are judged at the same
// time know of each other.
type piece struct{ text string }

// noteInput notes a piece of input and returns what the process was sent before. Unsent takes the
// piece back.
func (g *Gate) noteInput(to process, text string) (before string, unsent func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.input == nil {
		g.input = map[process][]*piece{}
	}
	if _, known := g.input[to]; !known && len(g.input) >= maxProcesses {
		for other := range g.input { // any of them: nobody writes to so many
			delete(g.input, other)
			break
		}
	}
	size := 0
	for _, p := range g.input[to] {
		before += p.text
		size++
	}
	if short := recentInput(before); len(short) < len(before) || size > 256 {
		before = short
		g.input[to] = []*piece{{before}}
	}
	last := &piece{text}
	g.input[to] = append(g.input[to], last)
	return before, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		last.text = ""
	}
}

// recentInput is the end of a long input, from the beginning of a line.
func recentInput(s string) string {
	if len(s) <= maxTyped {
		return s
	}
	if _, lines, found := strings.Cut(s[len(s)-maxTyped:], "\n"); found {
		return lines
	}
	line := s[strings.LastIndexByte(s, '\n')+1:]
	return line[:min(len(line), maxTypedLine)]
}

// unfinishedInput is the end of what a shell has read and not run yet: a line without its end, or
// lines that go on.
func unfinishedInput(before string) string {
	if before == "" {
		return ""
	}
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(before), "")
	if err != nil && syntax.IsIncomplete(err) || strings.HasSuffix(before, "\\\n") {
		return before
	}
	return before[strings.LastIndexByte(before, '\n')+1:]
}

// applyLineEditing makes of a text what a terminal hands on that takes some keys for corrections:
// backspace, Ctrl-W, Ctrl-U, Ctrl-C, Enter.
func applyLineEditing(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) < 0 {
		return s
	}
	var out []byte
	line := func() int { return strings.LastIndexByte(string(out), '\n') + 1 }
	for i := range len(s) {
		switch s[i] {
		case '\b', 0x7f:
			if len(out) > line() {
				_, n := utf8.DecodeLastRune(out)
				out = out[:len(out)-n]
			}
		case 0x15, 0x03:
			out = out[:line()]
		case 0x17:
			words := strings.TrimRight(string(out[line():]), " \t")
			out = out[:line()+strings.LastIndexAny(words, " \t")+1]
		case '\r':
			out = append(out, '\n')
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// analyseInput is text for the input of a process: it may be a shell, or anything else that runs
// what it is sent.
func analyseInput(before, text string, where Context) Analysis {
	line := unfinishedInput(before) + text
	all := before + text
	worst := command.Unexplained("what a process does with its input is not known", where)
	seen := map[string]bool{}
	for _, s := range []string{line, applyLineEditing(line), all, applyLineEditing(all)} {
		if seen[s] {
			continue
		}
		seen[s] = true
		a := Analyse(s, where)
		a.Span = [2]int{} // of a text that is not shown
		if a.Verdict == command.Refuse {
			return a
		}
		if s == all && s != line {
			continue // what was sent before was decided before
		}
		worst.Runs = append(worst.Runs, a.Runs...)
		for _, e := range a.Effects { // a shell would do this: it is asked about at every level
			if e.Level >= command.LevelAlways && e.Class != command.Unclear {
				e.Span = [2]int{}
				worst.Effects = append([]Effect{e}, worst.Effects...)
				worst.Verdict, worst.Level, worst.Reason = command.Ask, e.Level, "if it is a shell that reads this, "+e.Reason
			}
		}
	}
	return worst
}
