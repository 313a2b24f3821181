package childenv

import (
	"slices"
	"strings"

	"hermes/core/secret"
)

// Commands is the rule for commands on the person's own machine, which get the person's
// environment: their editor, their agent's socket, their proxies, their tools' folders. In this
// order:
//
//  1. HERMES_HOME never passes: its folder holds the keys.
//  2. What was let through by its exact name passes (terminal.env_passthrough).
//  3. What came from our .env does not.
//  4. A name that says secret does not (LooksSecret), but for SSH_AUTH_SOCK, XAUTHORITY and a few
//     others that hold none.
//  5. A value that holds a secret does not, whatever the name: an address with a password, a key of
//     a known shape, a private key. Proxies pass: without them nothing gets out.
//
// The zero Commands is ready.
type Commands struct {
	Passthrough []string // exact names
	Scrub       []string // exact names, of what came from .env
}

// Clean returns the variables of env ("NAME=value") that pass, and the names of those that do not:
// named where the name says why, valued where only the value does.
func (c Commands) Clean(env []string) (kept, named, valued []string) {
	kept = make([]string, 0, len(env))
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok:
		case name == "HERMES_HOME":
		case slices.Contains(c.Passthrough, name):
			kept = append(kept, kv)
		case slices.Contains(c.Scrub, name), LooksSecret(name) && !isHarmless(name):
			named = append(named, name)
		case !isProxy(name) && HoldsSecret(value):
			valued = append(valued, name)
		default:
			kept = append(kept, kv)
		}
	}
	return kept, named, valued
}

// HoldsSecret reports whether a value is or holds what no program of a model's should have by
// accident.
func HoldsSecret(value string) bool {
	return len(value) >= 8 && (passwordInside(value) || secret.Redact(value) != value)
}

func isProxy(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY":
		return true
	}
	return false
}

// passwordInside reports an address like postgres://me:secret@host.
func passwordInside(value string) bool {
	for rest := value; ; {
		_, after, ok := strings.Cut(rest, "://")
		if !ok {
			return false
		}
		place := after
		if end := strings.IndexAny(place, "/?#"); end >= 0 {
			place = place[:end]
		}
		if user, _, ok := cutLast(place, "@"); ok {
			if _, password, ok := strings.Cut(user, ":"); ok && password != "" && !strings.HasPrefix(password, "$") {
				return true
			}
		}
		rest = after
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
