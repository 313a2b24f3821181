package procedure

import (
	"context"
	"errors"
	"fmt"
)

// Severities of what is wrong with an endpoint.
const (
	critical = "critical" // it does not answer
	warning  = "warning"  // it answers, and not as expected
	noIssue  = "none"
)

// analyzeAnomalies says what is wrong in the results of a health check, without a model.
func analyzeAnomalies(_ context.Context, _ *Run, _ *stepRun, args map[string]any) (any, error) {
	results, _ := args["results"].(map[string]any)
	endpoints, ok := results["endpoints"].([]any)
	if !ok {
		return nil, errors.New("results: what parallel_health_check left is wanted")
	}
	items, worst, most := []any{}, []any{}, noIssue
	for _, x := range endpoints {
		e, _ := x.(map[string]any)
		if e["ok"] == true {
			continue
		}
		item := map[string]any{"name": e["name"], "severity": warning, "message": asText(e["message"])}
		if e["status"] == nil {
			item["severity"] = critical
			worst = append(worst, item)
			most = critical
		} else if most == noIssue {
			most = warning
		}
		items = append(items, item)
	}
	return map[string]any{"count": len(items), "items": items, "critical": worst, "has_critical": len(worst) > 0, "max_severity": most}, nil
}

// autoRemediate repairs nothing, and says so: which command mends a service is for the person to
// write as a step. A model in its place could only claim to have done something.
func autoRemediate(_ context.Context, _ *Run, _ *stepRun, args map[string]any) (any, error) {
	list, _ := args["anomalies"].([]any)
	return map[string]any{
		"success": false, "actions": []any{}, "attempts": 0,
		"message": fmt.Sprintf("nothing was repaired (%d to look at): write a command for it as a step", len(list)),
	}, nil
}

// executeMigration hands a plan on as it is when it is a dry run; it changes no file.
func executeMigration(_ context.Context, _ *Run, _ *stepRun, args map[string]any) (any, error) {
	if args["dry_run"] != true {
		return nil, errors.New("execute_migration changes no files: with dry_run: true it gives the plan back; the agent carries a plan out")
	}
	return map[string]any{"executed": false, "dry_run": true, "plan": args["plan"]}, nil
}
