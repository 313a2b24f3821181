package config

import (
	"fmt"
	"strings"
)

// FromFlags is the File of a problem, and the origin of a setting, that a flag of the command line
// brought.
const FromFlags = "flags"

// Problem is one thing that is wrong with the settings, and where. The setting it is about keeps
// its former value.
type Problem struct {
	File   string `json:"file"`             // base name: "config.yaml", ".env", or "environment", FromFlags
	Line   int    `json:"line,omitempty"`   // from 1; 0 when the whole file is meant
	Column int    `json:"column,omitempty"` // from 1, in characters
	Text   string `json:"text,omitempty"`   // what was found; never a secret
	Why    string `json:"why"`              // "unknown key", "expected a whole number", ...
	Fix    string `json:"fix,omitempty"`    // "did you mean \"model\"?"
	Until  string `json:"until,omitempty"`  // what holds until it is mended: "no command runs"
}

// String is the problem as one line: config.yaml:12:3: unknown key "modek": did you mean "model"?
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	b.WriteString(": " + p.Why)
	if p.Text != "" {
		fmt.Fprintf(&b, " %q", p.Text)
	}
	if p.Fix != "" {
		b.WriteString(": " + p.Fix)
	}
	if p.Until != "" {
		b.WriteString("; until it is mended " + p.Until)
	}
	return b.String()
}
