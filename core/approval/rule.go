package approval

import (
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/intent"
	"hermes/core/realpath"
)

// Rule is one allowed action, exactly. Two calls that differ in anything that matters have
// different rules.
type Rule struct {
	Tool string `json:"tool"`
	// Owner and Definition are of a foreign tool: a decision holds for no other's tool, and for
	// none that says something else of itself.
	Owner      string `json:"owner,omitempty"`
	Definition string `json:"definition,omitempty"`
	Backend    string `json:"backend,omitempty"` // a command that is fine in a container is not fine on this machine
	Dir        string `json:"dir,omitempty"`     // the session's folder: the same command means another thing elsewhere
	Subject    string `json:"subject"`           // the command, or the paths, or the arguments
	Prefix     bool   `json:"prefix,omitempty"`  // Subject is the first words of commands, not a whole one
}

// anyArguments is the subject of a rule about a foreign tool.
const anyArguments = "any arguments"

// ruleOf returns what "this session" and "always" would remember of a call.
// The subject is empty when the call cannot be named exactly; then only "once" is offered.
func ruleOf(r Request) Rule {
	rule := Rule{Tool: r.Call.Name, Owner: r.Owner, Definition: r.Definition, Backend: r.Backend, Dir: r.Dir}
	beside := ""
	if r.Intent.OtherArgs != "" {
		beside = "\n" + r.Intent.OtherArgs
	}
	switch {
	case r.Intent.Consent == intent.Confirm: // each time
	case r.Owner != "":
		rule.Subject = anyArguments
	case r.shellCommand() != "":
		rule.Subject = canonicalCommand(r.shellCommand()) + beside
	case len(r.Intent.Paths) > 0:
		paths := absolutePaths(r.Dir, r.Intent.Paths)
		slices.Sort(paths)
		rule.Subject = strings.Join(paths, "\n")
	case beside != "":
		rule.Subject = beside
	case len(r.Intent.Effects) == 0: // its tool says nothing of it: the arguments as they are
		rule.Subject = string(r.Call.Args)
	}
	return rule
}

// canLast reports whether a call means the same in every session. Commands and files do, and so
// does a yes to a foreign tool; the ids in the arguments of other tools ("kill p1") name another
// thing tomorrow.
func canLast(r Request) bool {
	return r.Owner != "" || len(r.Intent.Paths) > 0 || r.shellCommand() != ""
}

// absolutePaths returns the files that are meant, links followed: a link in a project must not pass
// for a file of it.
func absolutePaths(dir string, paths []string) []string {
	home, _ := os.UserHomeDir() // without one, ~ stays as it is written
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = realpath.Of(home, dir, p)
	}
	return out
}

// canonicalCommand is a command as the shell reads it: printed back from its syntax tree, so that
// only white space that means nothing to the shell is lost. What does not parse, or does not print
// as itself, stays as it is.
func canonicalCommand(cmd string) string {
	printed, ok := printBack(cmd)
	if !ok {
		return cmd
	}
	if again, ok := printBack(printed); !ok || again != printed {
		return cmd
	}
	return printed
}

func printBack(cmd string) (string, bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd), "")
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, file); err != nil {
		return "", false
	}
	return strings.Trim(b.String(), " \t\n"), true
}

// inWords says what a rule covers.
func (rule Rule) inWords() string {
	if rule.Subject == "" {
		return ""
	}
	what, _, _ := strings.Cut(rule.Subject, "\n")
	if strings.Contains(rule.Subject, "\n") {
		what += " …"
	}
	words := rule.Tool + ": exactly " + quoteShort(what)
	if rule.Owner != "" {
		words = rule.Tool + " of " + rule.Owner + ", as it is defined now, with " + what
	}
	if rule.Prefix {
		words = rule.Tool + ": every command that begins with " + quoteShort(what) +
			" and does nothing worse"
	}
	if rule.Backend != "" {
		words += " in " + rule.Backend
	}
	if rule.Dir != "" {
		words += ", from " + rule.Dir
	}
	return words
}

func quoteShort(s string) string {
	if r := []rune(s); len(r) > 100 {
		s = string(r[:99]) + "…"
	}
	return "\"" + s + "\""
}
