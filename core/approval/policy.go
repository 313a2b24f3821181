package approval

import (
	"path"
	"slices"
	"strings"
	"time"

	"hermes/core/intent"
	"hermes/core/shelltext"
)

// Policy is how a Gate behaves. It may change while the program runs.
type Policy struct {
	Mode       Mode          // "" means ModeManual
	Timeout    time.Duration // 0 means DefaultTimeout
	Unattended bool          // nobody can answer: what would be asked is refused at once
	Level      Level         // what runs unasked
	Remember   time.Duration // how long a decision for more than one session counts; 0 means for ever
	Judge      Judge         // for ModeSmart; nil asks a person
	DataDir    string        // our own data folder: nothing writes there unasked
	// Unkept says why a file that is replaced leaves no copy, see command.Context; nil knows of none.
	Unkept func(path string) string
	// Allow lists commands that run unasked, each exactly as it is written there, white space aside.
	Allow []string
	// Deny lists patterns of commands that never run, in no mode; * stands for any text. A pattern
	// is held against the line and against every command in it, without quotes, folders, wrappers
	// and shells around it: "git push*" finds `cd x && sudo /usr/bin/git push -f`.
	Deny []string
}

// denyingPattern returns the pattern that forbids a command, or "".
func (p Policy) denyingPattern(cmd string, runs [][]string) string {
	if len(p.Deny) == 0 || strings.TrimSpace(cmd) == "" {
		return ""
	}
	lines := commandsIn(cmd)
	for _, words := range runs {
		lines = append(lines, withoutOptions(words)...)
	}
	for _, pattern := range p.Deny {
		want := strings.Join(strings.Fields(pattern), " ")
		if want != "" && slices.ContainsFunc(lines,
			func(l string) bool { return matchesWildcard(want, l) }) {
			return pattern
		}
	}
	return ""
}

// withoutOptions are the forms of a command without the options in front of its verb: "git -C dir
// --no-pager push" is also "git push". Which options take a value is not known, so each way is one
// form.
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

// allowsByName reports whether Allow names the command of a call that asks for nothing beside it.
func (p Policy) allowsByName(in intent.Intent) bool {
	if len(p.Allow) == 0 || in.Shell == nil || in.Shell.Command == "" || in.OtherArgs != "" {
		return false
	}
	want := canonicalCommand(in.Shell.Command)
	return slices.ContainsFunc(p.Allow, func(cmd string) bool { return canonicalCommand(cmd) == want })
}

// commandsIn lists a command line and the commands in it, with and without their folders.
func commandsIn(cmd string) []string {
	out := []string{strings.Join(strings.Fields(cmd), " ")}
	list, _ := shelltext.Commands(cmd) // what cannot be read has no commands
	for _, c := range list {
		if len(c.Words) == 0 {
			continue
		}
		text := shelltext.Join(c.Words)
		out = append(out, text)
		if name := c.Words[0].Text; path.Base(name) != name {
			out = append(out, path.Base(name)+strings.TrimPrefix(text, shelltext.Join(c.Words[:1])))
		}
	}
	return out
}

// matchesWildcard reports whether text is pattern, in which * stands for any text.
func matchesWildcard(pattern, text string) bool {
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

// shellCommand is the command of a call, "" when it has none.
func (r Request) shellCommand() string {
	if r.Intent.Shell == nil {
		return ""
	}
	return r.Intent.Shell.Command
}

// shellTexts are what a shell would read of a call: a command, or input with what the process was
// sent before.
func (r Request) shellTexts(before string) []string {
	if in := r.Intent.Stdin; in != nil {
		return []string{in.Text, unfinishedInput(before) + in.Text}
	}
	return []string{r.shellCommand()}
}
