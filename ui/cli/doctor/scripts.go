package doctor

import (
	"context"
	"strings"

	"hermes/core"
)

// checkScripts looks at what execute_code would run on, and tries how it would be kept in.
func (x *examination) checkScripts(ctx context.Context) {
	found, err := core.ProbeScripts(ctx, x.start.Config)
	if err != nil {
		x.addFinding("scripts", warn, "install python3, or name one with code_execution.python", "execute_code is left out: %v", err)
		return
	}
	if missing := found.Isolation.Missing(); len(missing) > 0 {
		x.addFinding("scripts", warn, "a newer Linux, or one that allows user namespaces, keeps scripts in", "Python %s at %s, kept in by %s only: %s",
			found.Version, found.Python, found.Isolation, strings.Join(missing, "; "))
		return
	}
	x.addFinding("scripts", good, "", "Python %s at %s, kept in by %s", found.Version, found.Python, found.Isolation)
}
