package shell

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/core/backend"
)

// describeBackends describes the backend argument: what names there are, and what is behind them.
func describeBackends(list []backend.Status) string {
	const most = 20
	text := "Name of the back end; default is the session's current one."
	if len(list) < 2 {
		return text
	}
	var names []string
	for _, b := range list[:min(len(list), most)] {
		about := b.Kind
		if b.Traits.Local {
			about = "this machine"
		} else if b.Image != "" {
			about += " " + b.Image
		}
		if b.Default {
			about += ", the default"
		}
		names = append(names, fmt.Sprintf("%s (%s)", b.Name, about))
	}
	if n := len(list) - most; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return text + " There are: " + strings.Join(names, ", ")
}

// BackendsOfFiles describes the backend argument of the file tools; "" when all back ends are this
// machine.
func BackendsOfFiles(list []backend.Status) string {
	if !slices.ContainsFunc(list, func(s backend.Status) bool { return !s.Traits.Local }) {
		return ""
	}
	return "Name of the back end whose files are meant; default is the session's current one, as for terminal."
}

// whereThingsAre tells, when commands can run elsewhere than here, what is where.
func whereThingsAre(list []backend.Status) string {
	var b strings.Builder
	for _, s := range list {
		if s.Traits.Local {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n\nA back end has files of its own. `read_file`, `write_file`, `patch` and `search_files` work in the session's current one, as this tool does, or in the one that `backend` names.\n")
		}
		shared := "nothing of this machine"
		if len(s.Mounts) > 0 {
			shared = "of this machine only " + strings.Join(s.Mounts, ", ")
		}
		fmt.Fprintf(&b, "\n- %s sees %s", s.Name, shared)
	}
	if b.Len() > 0 {
		b.WriteString("\nA new container has none of an earlier one's files; a warning says so.")
	}
	return b.String()
}

func quoteText(text string) string {
	data, _ := json.Marshal(text) // a string never fails
	return string(data)
}

// timeLimits are the usual and the longest time of a foreground command where this call runs.
func (s *Shell) timeLimits(session, name string) (usual, most time.Duration) {
	usual = s.timeout
	for _, b := range s.pool.List(session) {
		if b.Name == name || name == "" && b.Selected {
			usual = cmp.Or(b.Timeout, usual)
		}
	}
	return usual, max(usual, s.most)
}
