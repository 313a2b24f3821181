// Package guard holds a host's allowed_commands and denied_commands against the text of a command, before it is sent.
//
// It is a guard rail, not a sandbox: it stops what a model does by mistake or habit. Whoever may run python, make or an editor can
// make those start anything. What a far host must be safe from belongs into its own user, its own permissions, its own sudoers.
//
// How a command is judged:
//
//   - It is parsed as the shell parses it; every simple command in it counts, also those in substitutions, functions and sh -c '...'.
//   - What a wrapper (env, nohup, nice, timeout, xargs, find -exec ...) starts is judged itself. sudo, doas, su and their like need
//     to be allowed as well, because they change who acts: either alone ("sudo") or with what they may start ("sudo systemctl *").
//   - A pattern of one word names a program with any arguments. A longer one is held against the whole text; * stands for any text, ? for
//     one character, and " *" at the end also for nothing. A name without a slash means the program in the usual directories when it is
//     allowed, and in any directory when it is denied.
//   - Denied wins. What cannot be judged (no shell syntax, a program name that is only known when it runs) is refused.
//   - With allowed_commands, builtins that start nothing (cd, echo, test ...) need no pattern, and variables that decide what a name starts
//     (PATH, LD_PRELOAD ...) cannot be set.
//   - Files are not its business: redirections are not judged.
package guard

import (
	"fmt"
	"strings"
)

// Rules are the lists of one back end. The zero value and nil allow everything.
type Rules struct {
	allowed, denied []pattern
}

// New reads the lists. Errors name the pattern that is none.
func New(allowed, denied []string) (*Rules, error) {
	a, err := patterns("allowed_commands", allowed)
	if err != nil {
		return nil, err
	}
	d, err := patterns("denied_commands", denied)
	if err != nil {
		return nil, err
	}
	return &Rules{allowed: a, denied: d}, nil
}

// Refused says why a command is not sent.
type Refused struct{ Why string }

func (r *Refused) Error() string {
	return "the command was refused and did not start: " + r.Why
}

func refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// Command judges the text of a command. Errors are *Refused.
func (r *Rules) Command(text string) error {
	if r.empty() {
		return nil
	}
	return r.script(script{text: text}, 0)
}

// Argv judges an argument vector, which no shell reads.
func (r *Rules) Argv(argv []string) error {
	if r.empty() || len(argv) == 0 {
		return nil
	}
	return r.call(literals(argv), 0)
}

func (r *Rules) empty() bool { return r == nil || len(r.allowed)+len(r.denied) == 0 }

// maxDepth bounds commands inside of commands.
const maxDepth = 12

// call judges one simple command and what it starts.
func (r *Rules) call(argv []word, depth int) error {
	if depth > maxDepth {
		return refuse("it is nested too deeply to be judged")
	}
	if !argv[0].known() {
		return refuse("what %q starts is only known when it runs, and the lists of this back end cannot judge that", argv[0].source)
	}
	for _, p := range r.denied {
		if p.denies(argv) {
			return refuse("denied_commands has %q, which %q matches", p.text, show(argv))
		}
	}
	inner, err := unwrap(argv)
	if err != nil {
		return err
	}
	if err := r.started(inner, depth); err != nil && !r.named(argv, inner) {
		return err
	}
	return r.allows(argv, inner)
}

// started judges what the command starts.
func (r *Rules) started(in started, depth int) error {
	for _, argv := range in.commands {
		if err := r.call(argv, depth+1); err != nil {
			return err
		}
	}
	for _, s := range in.scripts {
		if err := r.script(s, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// allows holds the command itself against the list.
func (r *Rules) allows(argv []word, in started) error {
	if len(r.allowed) == 0 || in.transparent {
		return nil
	}
	if harmless(argv) {
		return shielded(argv)
	}
	for _, p := range r.allowed {
		if p.allows(argv) {
			return nil
		}
	}
	return refuse("%q is not among allowed_commands (%s)", show(argv), list(r.allowed))
}

// named says that a pattern allows a privileged wrapper together with what it starts: "sudo systemctl *". Denied still wins.
func (r *Rules) named(argv []word, in started) bool {
	if len(r.allowed) == 0 || !in.privileged || r.anyDenied(in) {
		return false
	}
	for _, p := range r.allowed {
		if len(p.words) > 1 && !strings.ContainsAny(p.words[1], "*?") && p.allows(argv) {
			return true
		}
	}
	return false
}

// anyDenied judges what a command starts by the denied list alone.
func (r *Rules) anyDenied(in started) bool {
	only := &Rules{denied: r.denied}
	return only.started(in, 1) != nil
}

func list(all []pattern) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.text
	}
	return strings.Join(texts, ", ")
}
