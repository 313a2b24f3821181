package local

import (
	"slices"
	"strings"

	"hermes/pool"
)

// What marks a variable as a secret, in any case. A word that holds one by chance (KEYBOARD, GIT_AUTHOR_NAME, XAUTHORITY) is in harmless.
var (
	secretWords = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PASSWD", "AUTH"}
	harmless    = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "SSH_AUTH_SOCK", "XAUTHORITY", "XKB_DEFAULT_LAYOUT"}
	ours        = []string{"HERMES_HOME"} // whose folder holds the .env
)

// clean returns the environment that commands get: the user's own, for this is the user's own machine, without variables whose names
// look secret or that were loaded from .env, unless the configuration lets them through by name.
func clean(env []string, s pool.Spec) []string {
	out := make([]string, 0, len(env))
	for _, kv := range env {
		if name, _, ok := strings.Cut(kv, "="); ok && passes(name, s) {
			out = append(out, kv)
		}
	}
	return out
}

func passes(name string, s pool.Spec) bool {
	switch {
	case slices.Contains(ours, name):
		return false
	case slices.Contains(s.EnvPassthrough, name):
		return true
	case slices.Contains(s.Scrub, name):
		return false
	}
	return !looksSecret(name)
}

func looksSecret(name string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains(harmless, upper) {
		return false
	}
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(upper, w) })
}
