package local

import (
	"os"
	"slices"
	"strings"
	"sync"

	"hermes/core/childenv"
	"hermes/pool/runner"
)

// told remembers which variables a session was told about. The zero told is ready.
type told struct{ sync.Map }

// commandEnv is what a command gets (core/childenv has the rule), and a note on what it does not
// get and may look for: variables that were withheld for their values, and those that the command
// names. Each is told once a session.
func (t *told) commandEnv(s runner.Spec, spec fullSpec) (env []string, note string) {
	env, named, valued := childenv.Commands{Passthrough: spec.EnvPassthrough, Scrub: spec.Scrub}.Clean(os.Environ())
	text := s.Command + " " + strings.Join(s.Argv, " ")
	named = slices.DeleteFunc(named, func(name string) bool {
		_, given := spec.Env[name]
		_, extra := s.Extra[name]
		return given || extra || !mentionsVar(text, name) && userIn(text, name) == ""
	})
	var fresh []string
	for _, name := range append(valued, named...) {
		if _, before := t.LoadOrStore(s.Session+"\x00"+name, true); !before {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) == 0 {
		return env, ""
	}
	slices.Sort(fresh)
	return env, withheldNote(text, fresh)
}

// withheldNote says which variables a command does not get, which program would use each, and the
// setting that passes them.
func withheldNote(text string, names []string) string {
	var parts []string
	for _, name := range names {
		if user := userIn(text, name); user != "" {
			name += " (" + user + " would use it)"
		}
		parts = append(parts, name)
	}
	it := "it looks like a secret. The person can let it through by name"
	if len(names) > 1 {
		it = "they look like secrets. The person can let them through by name"
	}
	return "commands do not get " + strings.Join(parts, ", ") + ": " + it + ": terminal.env_passthrough: [" + strings.Join(names, ", ") + "]"
}

// userIn is a program in a command that takes a secret from a variable; "" when there is none.
func userIn(text, name string) string {
	for _, program := range childenv.UsersOf(name) {
		if mentionsVar(text, program) {
			return program
		}
	}
	return ""
}

// mentionsVar reports whether a command uses a variable: $NAME, or the name as a word of its own.
func mentionsVar(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !isWordByte(rest[i-1])) && (end == len(rest) || !isWordByte(rest[end]) && rest[end] != '=') {
			return true
		}
		rest = rest[end:]
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
