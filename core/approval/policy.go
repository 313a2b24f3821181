package approval

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// Policy is how a Gate behaves. It may change while the program runs.
type Policy struct {
	Mode       Mode          // "" means ModeManual
	Timeout    time.Duration // 0 means DefaultTimeout
	Unattended bool          // nobody can answer: what would be asked is refused at once
	Level      Level         // what runs unasked
	Remember   time.Duration // how long a decision for more than one session counts; 0 means for ever
	Judge      Judge         // for ModeSmart; nil asks a person
	Own        string        // our own data folder: nothing writes there unasked
	// Allow lists commands that run unasked, each exactly as it is written there, white space aside.
	Allow []string
	// Deny lists patterns of commands that never run, in no mode; * stands for any text. A pattern is held against the
	// line and against every command in it, without quotes, folders, wrappers and shells around it: "git push*" finds
	// `cd x && sudo /usr/bin/git push -f`.
	Deny []string
}

// denied returns the pattern that forbids a command, or "".
func (p Policy) denied(cmd string, runs [][]string) string {
	if len(p.Deny) == 0 || strings.TrimSpace(cmd) == "" {
		return ""
	}
	lines := commandsIn(cmd, 0)
	for _, words := range runs {
		lines = append(lines, withoutOptions(words)...)
	}
	for _, pattern := range p.Deny {
		want := strings.Join(strings.Fields(pattern), " ")
		if want != "" && slices.ContainsFunc(lines, func(l string) bool { return wildcard(want, l) }) {
			return pattern
		}
	}
	return ""
}

// withoutOptions are the forms of a command without the options in front of its verb: "git -C dir --no-pager push" is also "git push".
// Which options take a value is not known, so each way is one form.
func withoutOptions(words []string) []string {
	name := path.Base(words[0])
	out := []string{strings.Join(append([]string{name}, words[1:]...), " ")}
	for i := 2; i < len(words); i++ {
		if option := strings.HasPrefix(words[i-1], "-"); !option && (i < 3 || !strings.HasPrefix(words[i-2], "-")) {
			break
		}
		out = append(out, strings.Join(append([]string{name}, words[i:]...), " "))
	}
	return out
}

// allowed reports whether Allow names the command of a call that asks for nothing beside it.
func (p Policy) allowed(c call) bool {
	if len(p.Allow) == 0 || c.command == "" || c.more {
		return false
	}
	want := canonical(c.command)
	return slices.ContainsFunc(p.Allow, func(cmd string) bool { return canonical(cmd) == want })
}

// commandsIn lists a command line and the simple commands in it, in every form that a pattern may be written for.
func commandsIn(cmd string, depth int) []string {
	out := []string{strings.Join(strings.Fields(cmd), " ")}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd), "")
	if err != nil || depth > maxNesting {
		return out
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			words := make([]string, len(c.Args))
			for i, w := range c.Args {
				words[i] = word(w)
			}
			out = append(out, strings.Join(words, " "))
			if words = unwrap(words); len(words) > 0 {
				words[0] = path.Base(words[0])
				out = append(out, strings.Join(words, " "))
				out = append(out, inside(words, depth)...)
			}
		}
		return true
	})
	return out
}

// inside lists the commands in the text of sh -c and eval.
func inside(words []string, depth int) []string {
	switch words[0] {
	case "sh", "bash", "dash", "zsh", "ksh", "ash":
		if text, ok := script(words[1:]); ok {
			return commandsIn(text, depth+1)
		}
	case "eval":
		return commandsIn(strings.Join(words[1:], " "), depth+1)
	}
	return nil
}

// wildcard reports whether text is pattern, in which * stands for any text.
func wildcard(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// call is what the gate reads in the arguments of a tool call.
type call struct {
	command string // a shell command
	input   string // text for the standard input of a process, which may be a shell
	process string // that process
	before  string // what it was sent before
	backend string // the back end that is asked for
	more    bool   // something beside the command, its back end and how long it may take
}

func callOf(args json.RawMessage) call {
	var c call
	ends := false
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return c
	}
	for key, value := range all {
		switch key {
		case "command":
			c.command = text(value)
		case "data":
			c.input, c.more = text(value), true
		case "session_id":
			c.process, c.more = text(value), true
		case "action":
			c.more = c.more || !empty(value)
			ends = text(value) == "submit" || text(value) == "close"
		case "backend":
			c.backend = text(value)
		case "timeout":
		default:
			c.more = c.more || !empty(value)
		}
	}
	if ends && c.process != "" { // what was written before becomes a line now
		c.input += "\n"
	}
	return c
}

func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// empty reports whether a value says the same as leaving the argument out.
func empty(value json.RawMessage) bool {
	switch string(value) {
	case `null`, `false`, `""`, `[]`, `{}`:
		return true
	default:
		return false
	}
}
