// Package guard holds a host's allowed_commands and denied_commands against the text of a command,
// before it is sent.
//
// It is a guard rail, not a sandbox: it stops what a model does by mistake or habit. Whoever may
// run python, make or an editor can make those start anything. What a far host must be safe from
// belongs into its own user, its own permissions, its own sudoers.
//
// How a command is judged:
//
//   - It is parsed as the shell parses it; every simple command in it counts, also those in
//     substitutions, functions and sh -c '...'.
//   - What a wrapper (env, nohup, nice, timeout, xargs, find -exec ...) starts is judged itself.
//     sudo, doas, su and their like need to be allowed as well, because they change who acts:
//     either alone ("sudo") or with what they may start ("sudo systemctl *").
//   - A pattern of one word names a program with any arguments. A longer one is held against the
//     whole text, and a denied one against each beginning of it that ends with a word: "rm -rf"
//     stops "sudo rm -rf /x". * stands for any text, ? for one character, and " *" at the end also
//     for nothing. A name without a slash means the program in the usual directories when it is
//     allowed, and in any directory when it is denied.
//   - Denied wins. What cannot be judged (no shell syntax, a program name that is only known when
//     it runs) is refused.
//   - With allowed_commands, builtins that start nothing (cd, echo, test ...) need no pattern, and
//     variables that decide what a name starts (PATH, LD_PRELOAD ...) cannot be set.
//   - Files are not its business: redirections are not judged.
package guard

import (
	"fmt"
	"strings"

	"hermes/core/shelltext"
)

// Rules are the lists of one back end. The zero value and nil allow everything.
type Rules struct {
	allowed, denied []pattern
}

// New reads the lists. Errors name the pattern that is none.
func New(allowed, denied []string) (*Rules, error) {
	a, err := parsePatterns("allowed_commands", allowed)
	if err != nil {
		return nil, err
	}
	d, err := parsePatterns("denied_commands", denied)
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

func refuseLine(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// Command judges the text of a command. Errors are *Refused.
func (r *Rules) Command(text string) error {
	if r.isEmpty() {
		return nil
	}
	return r.judgeScript(shelltext.Script{Text: word{Text: text}}, 0)
}

// Argv judges an argument vector, which no shell reads.
func (r *Rules) Argv(argv []string) error {
	if r.isEmpty() || len(argv) == 0 {
		return nil
	}
	return r.judgeCall(shelltext.Words(argv), 0)
}

func (r *Rules) isEmpty() bool { return r == nil || len(r.allowed)+len(r.denied) == 0 }

// maxDepth bounds commands inside of commands.
const maxDepth = 12

// judgeCall judges one simple command and what it starts.
func (r *Rules) judgeCall(argv []word, depth int) error {
	if depth > maxDepth {
		return refuseLine("it is nested too deeply to be judged")
	}
	if !argv[0].Known() {
		return refuseLine("what %q starts is only known when it runs, and the lists of this back end cannot judge that", argv[0].Source)
	}
	for _, p := range r.denied {
		if p.mayMatch(argv) {
			return refuseLine("denied_commands has %q, which %q matches", p.text, showCommand(argv))
		}
	}
	inner, err := readWrapper(argv)
	if err != nil {
		return err
	}
	by := r
	if inner.Itself { // whoever allows it allows what it starts; what is denied stays so
		by = &Rules{denied: r.denied}
	}
	if err := by.judgeStarted(inner, depth); err != nil && !r.allowsWrapped(argv, inner) {
		return err
	}
	return r.checkAllowed(argv, inner)
}

// judgeStarted judges what the command starts.
func (r *Rules) judgeStarted(in shelltext.Started, depth int) error {
	for _, argv := range in.Commands {
		if err := r.judgeCall(argv, depth+1); err != nil {
			return err
		}
	}
	for _, s := range in.Scripts {
		if err := r.judgeScript(s, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkAllowed holds the command itself against the list.
func (r *Rules) checkAllowed(argv []word, in shelltext.Started) error {
	if len(r.allowed) == 0 || in.Only {
		return nil
	}
	if isHarmlessBuiltin(argv) {
		return checkSetsVariable(argv)
	}
	for _, p := range r.allowed {
		if p.mustMatch(argv) {
			return nil
		}
	}
	return refuseLine("%q is not among allowed_commands (%s)", showCommand(argv), joinPatterns(r.allowed))
}

// allowsWrapped says that a pattern allows a privileged wrapper together with what it starts: "sudo
// systemctl *". Denied still wins.
func (r *Rules) allowsWrapped(argv []word, in shelltext.Started) bool {
	if len(r.allowed) == 0 || !in.Rights || r.anyDenied(in) {
		return false
	}
	for _, p := range r.allowed {
		if len(p.words) > 1 && !strings.ContainsAny(p.words[1], "*?") && p.mustMatch(argv) {
			return true
		}
	}
	return false
}

// anyDenied judges what a command starts by the denied list alone.
func (r *Rules) anyDenied(in shelltext.Started) bool {
	only := &Rules{denied: r.denied}
	return only.judgeStarted(in, 1) != nil
}

func joinPatterns(all []pattern) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.text
	}
	return strings.Join(texts, ", ")
}
