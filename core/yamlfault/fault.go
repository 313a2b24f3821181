// Package yamlfault says in plain words what a YAML parser could not read, and where: for settings
// and for procedures.
package yamlfault

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Fault is what cannot be read.
type Fault struct {
	Line   int    // from 1
	Column int    // from 1; 0 when it is not known
	Text   string // the line
	Why    string
	Fix    string
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`) })

// Find explains an error of the parser about data.
func Find(data []byte, err error) Fault {
	at := Fault{Line: 1, Why: "cannot be understood"}
	message := err.Error()
	if m := yamlLine().FindStringSubmatch(strings.SplitN(message, "\n", 2)[0]); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			at.Line = n
		}
		message = m[2]
	}
	lines := strings.Split(string(data), "\n")
	if i, column := tabbed(lines); i >= 0 {
		return Fault{Line: i + 1, Column: column, Text: strings.TrimSpace(lines[i]), Why: "a tab indents this line", Fix: "use spaces"}
	}
	at.Line = max(1, min(at.Line, len(lines)))
	at.Text = strings.TrimSpace(lines[at.Line-1])
	at.Fix = remedy(message)
	return at
}

// tabbed finds the first line whose indentation holds a tab: its index and the tab's column, or -1.
func tabbed(lines []string) (int, int) {
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if at := strings.IndexByte(indent, '\t'); at >= 0 && strings.TrimSpace(line) != "" {
			return i, at + 1
		}
	}
	return -1, 0
}

func remedy(message string) string {
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		return "put a text that holds a colon in quotes, and check the indentation"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "block mapping"):
		return "check the indentation of this line and of the one above"
	case strings.Contains(message, "could not find expected ':'"):
		return "a key needs a colon and a space after it"
	case strings.Contains(message, "end of stream"), strings.Contains(message, "expected ',' or"):
		return "a quote or a bracket is not closed"
	case strings.Contains(message, "unknown anchor"):
		return "an alias (*name) needs its anchor (&name) above it"
	case strings.Contains(message, "cannot start any token"):
		return "put a text that begins with @, ` or % in quotes"
	case strings.Contains(message, "control characters"):
		return "remove the control characters"
	default:
		return message
	}
}
