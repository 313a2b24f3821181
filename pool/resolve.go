package pool

import (
	"fmt"
	"slices"
	"strings"
)

// resolve decides which back end runs a call: the one that the call names, else the session's selected one, else def. A name that does not
// exist gives def and a warning. Names has def first.
func resolve(requested, selected, def string, names []string) (name, warning string) {
	for _, want := range []string{requested, selected} {
		switch {
		case want == "":
			continue
		case slices.Contains(names, want):
			return want, ""
		default:
			return def, notFound(want, names)
		}
	}
	return def, ""
}

func notFound(name string, names []string) string {
	return fmt.Sprintf("backend '%s' not found. Available: %s", name, strings.Join(names, ", "))
}

// mayReplace says whether def may run what was meant for failed: never on this machine, whatever the configuration says.
func mayReplace(failed, def Spec) bool {
	return failed.Name != def.Name && def.Kind != defaultKind
}
