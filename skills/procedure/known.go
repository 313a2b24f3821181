package procedure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes/core/clip"
	"hermes/core/nearest"
)

// takenArgs are the arguments that the built-in actions take; one that is not here takes any.
var takenArgs = map[string][]string{
	"git_diff": {"target"}, "analyze_files": {"files"}, "scan_api_usage": {"scan_paths", "version_indicators", "package"},
	"fetch_changelog": {"package", "from_version", "to_version"}, "parallel_health_check": {"endpoints"},
	"analyze_anomalies": {"results", "history"}, "auto_remediate": {"anomalies", "strategies", "max_attempts"},
	"execute_migration": {"plan", "dry_run"},
}

// closeTypo is how many letters a mistyped name has wrong at most.
const closeTypo = 2

// checkAction warns of an action that is nearly a built-in one, which a model would be asked to
// play, and of arguments that a built-in one does not take.
func (r *reader) checkAction(key string, n *yaml.Node, s *Step) {
	if s.Action == "" || s.Prompt != nil || s.Schema != nil {
		return
	}
	if s.builtin() == nil {
		for _, known := range slices.Sorted(maps.Keys(builtins)) {
			if nearest.Distance([]rune(strings.ToLower(s.Action)), []rune(known)) <= closeTypo {
				line := n.Line
				if v := valueOf(n, "action"); v != nil {
					line = v.Line
				}
				r.addWarning(line, key+".action", fmt.Sprintf("%s is no action of the program: a model that sees no file would be asked", clip.Runes(s.Action, 60, "…")),
					"did you mean "+known+"?")
				return
			}
		}
		return
	}
	taken, args := takenArgs[s.Action], valueOf(n, "args")
	if taken == nil || args == nil || args.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(args.Content); i += 2 {
		if k := args.Content[i]; !slices.Contains(taken, k.Value) {
			fix := "it takes " + strings.Join(taken, ", ")
			if near, ok := nearest.Name(k.Value, taken); ok {
				fix = "did you mean " + near + "?"
			}
			r.addWarning(k.Line, key+".args."+clip.Runes(k.Value, 60, "…"), fmt.Sprintf("%s takes no %s", s.Action, clip.Runes(k.Value, 60, "…")), fix)
		}
	}
}

// valueOf is what stands under a key of a step, nil for nothing.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
