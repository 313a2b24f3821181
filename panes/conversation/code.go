package conversation

import (
	"strings"

	"hermes/ui/highlight"
	"hermes/ui/text"
)

// languages are those of arguments that are code, by their name.
var languages = map[string]string{"command": "bash", "code": "python"}

// maxPaintedGist bounds the one line of a call that is coloured.
const maxPaintedGist = 500

// drawShell draws a command of one line in at most w cells, in colours.
func (e *env) drawShell(command string, w int) string {
	cut := text.Truncate(command, w, e.s.Glyphs.Ellipsis)
	if e.code == nil || e.s.Plain || len(command) > maxPaintedGist {
		return cut
	}
	lines := highlight.Layout(e.code.Lines(cut, "bash")[0], max(w, 1))
	return lines[0]
}

// paintArguments colours arguments that are code, in a text of one argument a line.
func (e *env) paintArguments(arguments string) string {
	if e.code == nil || e.s.Plain {
		return arguments
	}
	rows := strings.Split(arguments, "\n")
	var out []string
	for i := 0; i < len(rows); i++ {
		name, value, _ := strings.Cut(rows[i], ": ")
		language := languages[strings.TrimSuffix(name, ":")]
		if language == "" {
			out = append(out, rows[i])
			continue
		}
		from := i + 1
		for i+1 < len(rows) && strings.HasPrefix(rows[i+1], "  ") {
			i++
		}
		body, lead := rows[from:i+1], "  "
		if len(body) == 0 {
			body, lead = []string{value}, name+": "
		} else {
			out = append(out, strings.TrimRight(rows[from-1], " "))
		}
		for k, line := range e.code.Lines(strings.ReplaceAll("\n"+strings.Join(body, "\n"), "\n  ", "\n"), language)[1:] {
			if k > 0 {
				lead = "  "
			}
			out = append(out, lead+runsToSGR(line))
		}
	}
	return strings.Join(out, "\n")
}

// runsToSGR is a line of code with its colours.
func runsToSGR(runs []highlight.Run) string {
	var b strings.Builder
	for _, r := range runs {
		if r.Pen == (text.Pen{}) {
			b.WriteString(r.Text)
			continue
		}
		b.WriteString(r.Pen.SGR() + r.Text + text.Reset)
	}
	return b.String()
}
